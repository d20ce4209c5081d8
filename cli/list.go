package cli

// `retainscope list`: one scan, then the store as a table or as JSON lines, and an exit code that tells how much of it
// was seen.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/readings"
)

// leaveWithin bounds how long connections may take to say goodbye.
const leaveWithin = 5 * time.Second

type listOptions struct {
	where, sort   string
	json, payload bool
	limit         time.Duration
}

func (p *program) listCommand() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Scan once and print what is retained",
		Long: `Scan once and print what is retained: a table, or JSON lines with --json. The end of the list tells how much
of the store was seen, and so does the exit code: 0 verified, or no sign of loss; 3 incomplete; 4 unverified, each of
these two with the reason on stderr; 1 failed; 2 wrong usage or settings; 130 interrupted.

--where takes what / takes in the screen: words, globs with *, MQTT filters, is:never is:expiring is:unknown is:due
is:live is:changed is:fell is:odd is:cut is:empty is:served is:differs is:notseen is:left
is:hazard is:marked is:approved (to be cleared by the manifest, the approval not used up, the value as approved),
owner:NAME, finding:NAME, size>1k, expiry<10m, payload:text, re:EXPR, and a minus in front of any of them. --sort takes
topic, expiry, size, live, received or reading, with a minus in front for descending.

JSON, one object a line:
  topic            text; bytes that are not UTF-8 are replaced, and topic_hex then has the exact bytes
  qos              of the stored message, null where it is not known (a scan at QoS 0 cannot tell)
  size, sha256     of the whole payload
  fingerprint      of payload, content type, payload format, response topic, correlation data, user properties in
                   order, and whether an expiry was present; never of its value
  expiry_seconds   Message Expiry Interval as it was received at received_at; null where there was none, or where it
                   cannot be told (flag "unknown"): the broker sets its own, or MQTT 3.1.1 is spoken
  received_at      UTC, as every time here
  first_seen_at    when the topic was first seen: in this scan, or as the journal knows
  last_live_at     last publication seen live, null where none was; live_count: how many since first_seen_at
  silent_seconds   of watching since last_live_at, or since first_seen_at, and silent_gaps: how often nobody watched
                   in between; both only where there is a journal of this broker
  content_type     null where there was none
  payload_format, response_topic, correlation_data_base64   only where they were sent
  user_properties  list of [key, value] in the order sent
  flags            list of: never expiring unknown due still-served live changed fell-to-never empty-replay
                   looks-empty cut odd-name live-differs not-seen left-behind hazard approved
  reading          one phrase, such as "left behind: renamed"; never that something may go
  owner            a guess, null where nobody is known; owner_rule: what decided
  left, hazard     whether it looks left behind, and whether the message does something by itself
  spared           why it is not called left behind although a finding speaks against it: what was published live,
                   and when; null where that is not so
  liveness         of the owner: {state: unknown, online or offline, topic, value, note}
  findings         list of {kind, strength: weak medium strong or hazard, reason};
                   reading to findings are missing with --readings=false
  payload          with --payload; payload_base64 where it is not UTF-8. kept: its bytes, where the flag is "cut"
  NAME_hex         beside content_type, response_topic, user_properties where their text is not the bytes
The last line has "summary": true, and the claim ("verified", "no sign of loss", "unverified", "incomplete") with what
it rests on: rule, listed, seen, known (the broker's own count or null), missing, dropped, filters with the answer of
the broker, gaps, remedies, notes; where (the expression, or null), only_topic and only_branch (null in a list: what an
export of the screen was limited to), watched_since, ended_at of the scan and age_seconds (how old that was when the
line was written); counted_at, the instant that claim, rule, seen and known are of: the end of the scan, or of the
broker's figures that came after it. A claim is about that instant and about this login: what the
broker counts beyond it is told on stderr as well, and the exit code stays 0. protocol is "5", or "3.1.1" where that is
set: then limited says what such a list lacks; it is null otherwise.

On a terminal the table is cut at its width; --wide, a pipe or a file has whole topics. Sizes count in thousands: 1.5 kB
is 1500 bytes, and in --where k = 1000, Ki = 1024.

It takes 2 seconds of silence after the last retained copy (--quiet-time), and where the broker's own count decides, the
wait for its next $SYS figures (10 s on mosquitto, at most --sys-wait). Progress is shown where stderr is a terminal;
otherwise nothing is written until the end.`,
		Example: `  retainscope list
  retainscope list --filter 'zigbee2mqtt/#' --where 'is:never size>1k' --sort -size
  retainscope list --json --payload > store.jsonl
  retainscope list --json | jq -r 'select(.topic and .expiry_seconds == null) | .topic'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runList(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.where, "where", "", "only what matches `EXPR`, as / in the screen")
	f.StringVar(&o.sort, "sort", "topic", "`KEY`: topic, expiry, size, live, received or reading; a minus in front turns it round")
	f.BoolVar(&o.json, "json", false, "JSON lines")
	f.BoolVar(&p.wide, "wide", false, "whole topics on a terminal too, as in a pipe")
	f.BoolVar(&o.payload, "payload", false, "with the payloads: in JSON, or as a last column of the table")
	f.DurationVar(&o.limit, "timeout", 0, "stop scanning after the `TIME` and list what came (0 waits for the end)")
	p.manifestFlag(cmd)
	_ = cmd.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions(sortWords(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *program) runList(ctx context.Context, o listOptions) error {
	filter, err := parseFilter(o.where)
	if err != nil {
		return usage(fmt.Errorf("--where: %w", err))
	}
	key, desc, err := inventory.ParseSort(o.sort)
	if err != nil {
		return usage(fmt.Errorf("--sort: %w", err))
	}
	if o.limit < 0 {
		return usage(errors.New("--timeout cannot be negative"))
	}
	r, log, closeLog, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer closeLog()

	inv := inventory.New(r.inventoryOptions())
	reader, err := r.reader()
	if err != nil {
		return &exit{ExitFailed, err}
	}
	s, err := p.scan(ctx, r, r.watchConfig(log), inv, o.limit)
	if err != nil {
		return err
	}
	if err := p.markApproved(ctx, r, log, inv, filter); err != nil {
		return err
	}
	memory := p.warns(r.remember(inv, log)).known(ctx)
	if reader != nil {
		if err := newFeeder(inv, reader, slices.Concat(r.Scan.Filters, r.Scan.ExtraFilters)).catchUp(ctx, s.Link, s.Coverage, time.Now()); err != nil {
			return failed(ctx, err)
		}
	}
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	spec := inventory.Spec{Filter: filter, Sort: key, Desc: desc, Now: time.Now().UnixMilli()}
	if o.json {
		err = writeJSON(ctx, out, inv, reader, memory, spec, o.payload, s)
	} else {
		err = p.writeTable(ctx, out, inv, reader, memory, spec, o.payload, s)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return failed(ctx, err)
	}
	if text := forThisLogin(s.Coverage); text != "" {
		p.say("%s", text)
	}
	return verdict(s.Coverage)
}

// scan watches until the first scan has ended, and leaves. A limit that passes ends it with what came.
func (p *program) scan(ctx context.Context, r *resolved, c broker.WatchConfig, inv *inventory.Inventory, limit time.Duration) (Summary, error) {
	c.Once = true
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	var limited <-chan time.Time
	line := newProgress(p.stderr)
	defer line.clear()
	line.show("connecting to " + c.URL)
	connecting := func() bool { return true }
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		limited = t.C
		connecting = time.AfterFunc(limit, cancel).Stop
	}
	w, err := broker.Watch(within, c, inv)
	if inTime := connecting(); err != nil {
		line.clear()
		if !inTime && ctx.Err() == nil {
			err = fmt.Errorf("no connection to %s within --timeout %s", c.URL, showDuration(limit))
		}
		return Summary{}, failed(ctx, r.withHint(err))
	}
	since := time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	stopped := false
	for done := false; !done; {
		select {
		case <-w.Scanned():
			done = true
		case <-limited:
			stopped, done = true, true
		case <-ctx.Done():
			done = true
		case <-tick.C:
			link, _ := w.Status()
			line.show(progressText(link, inv.Counts().Topics))
		}
	}
	s := Summary{Since: since}
	s.Link, s.Coverage = w.Status()
	leave(ctx, w)
	line.clear()
	if ctx.Err() != nil {
		return s, failed(ctx, ctx.Err())
	}
	if stopped {
		s.Coverage = cutShort(s.Coverage, limit, inv.Counts().Topics)
	}
	return s, nil
}

// leave closes every connection and waits for every goroutine.
func leave(ctx context.Context, w *broker.Watcher) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	_ = w.Close(ctx)
}

// cutShort turns the coverage of a scan that was stopped into one that says so.
func cutShort(c inventory.Coverage, limit time.Duration, seen int64) inventory.Coverage {
	if !c.EndedAt.IsZero() {
		return c
	}
	c.Claim, c.Seen = inventory.Incomplete, seen
	if c.Known < seen {
		c.Known, c.KnownFrom = -1, "" // of an earlier look: no total that this could be a part of
	}
	c.Rule = fmt.Sprintf("stopped by --timeout %s before the scan had ended", showDuration(limit))
	gaps := append([]inventory.Gap{}, c.Gaps...)
	c.Gaps = append(gaps, inventory.Gap{Count: -1, Text: c.Rule})
	return c
}

func writeJSON(ctx context.Context, w io.Writer, inv *inventory.Inventory, reader *readings.Reader, m *memory, spec inventory.Spec, payload bool, s Summary) error {
	e := NewEncoder(w, payload)
	e.Read(reader, func() int64 { return spec.Now })
	e.memory = m
	if err := inv.Walk(ctx, spec, func(d inventory.Detail) error { return e.Detail(&d) }); err != nil {
		return err
	}
	s.Listed, s.Now, s.Where = e.Lines(), time.Now(), spec.Filter.String()
	return e.Summary(s)
}

// progress is one line on a terminal that is written over again and again and is gone at the end.
type progress struct {
	w     io.Writer // nil when stderr is no terminal
	width int       // of what stands there now
	limit int
}

func newProgress(stderr io.Writer) *progress {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return &progress{}
	}
	limit := 79
	if w, _, err := term.GetSize(f.Fd()); err == nil && w > 1 {
		limit = w - 1
	}
	return &progress{w: f, limit: limit}
}

// show replaces the line. The text is ours or made printable; it is cut at the width of the terminal.
func (p *progress) show(text string) {
	if p.w == nil {
		return
	}
	text = ansi.Truncate(text, p.limit, "")
	n := textWidth(text)
	// Spaces over the rest, not an escape sequence: it works on a dumb terminal too.
	fmt.Fprintf(p.w, "\r%s%s", text, strings.Repeat(" ", max(0, p.width-n)))
	p.width = n
}

// clear removes the line.
func (p *progress) clear() {
	if p.w != nil && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

func progressText(l inventory.Link, topics int64) string {
	what := l.Progress
	if what == "" {
		what = "scanning"
	}
	if l.ScanOf > 0 {
		return fmt.Sprintf("%s, %s of %s", what, thousands(l.ScanDone), thousands(l.ScanOf))
	}
	return fmt.Sprintf("%s, %s topics", what, thousands(topics))
}
