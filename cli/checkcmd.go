package cli

// `retainscope check`: what a manifest would clear, preserve, hold and refuse. Publishes nothing.

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/inventory"
	"retainscope/tui"
)

type checkOptions struct {
	list          string
	offline, json bool
}

func (p *program) checkCommand() *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check [MANIFEST]",
		Short: "Tell what a manifest would clear, preserve, hold and refuse; publishes nothing",
		Long: `Tell for each entry of a manifest what a clear of it would do: clear, preserve, hold, refuse (and why), changed since it
was approved, used up, absent, or cleared (when, and by which operation of the record); with the value's fingerprint as it is now,
and the neighbours that would be read as controls. An approval is for one clear: what is there again is approved anew.
Nothing is published. Without MANIFEST it is the one of the settings.

What the topics hold is taken from a scan of the broker, as "retainscope list" makes it, with the login of the observer;
or from a saved "list --json" with --list FILE (- is stdin), without any broker; or is not looked at with --offline.

A faulty manifest is told line by line. A wildcard, an empty name and the like are no fault of the file: such an entry is
refused.

--json prints one object for each entry: topic, topic_hex, line, decision (clear, preserve, hold, refuse, changed, "used up", absent, cleared),
why, provisional, controls, disposition, owner, approved_by, fingerprint (approved), fingerprint_now and size_now (null
where nothing was seen), undo (false where the value is larger than clear.undo_payload), expect (where the journal knows how often it is published:
until when a return must be expected). The last line has "summary": true,
manifest, broker, how many of each decision, unlisted (topics seen that are not listed: on hold), looked, notes.

Exit codes: 0 everything that is marked clear would be cleared or was; 20 something that is marked clear would not be; 1 the
manifest is wrong, or there is none, or the broker or the list cannot be read; 2 wrong usage or settings; 130 interrupted.`,
		Example: `  retainscope check home.toml
  retainscope list --json > store.jsonl && retainscope check home.toml --list store.jsonl
  retainscope check --offline
  retainscope check --json | jq -r 'select(.decision == "changed") | .fingerprint_now'`,
		Args: atMostOne("check takes one manifest"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if f := p.given["clear.manifest"]; len(f.texts) > 0 {
					return usage(errors.New("the manifest is named twice, as an argument and with --manifest"))
				}
				p.given["clear.manifest"].texts = args
			}
			if o.offline && o.list != "" {
				return usage(errors.New("--offline looks at no store, and --list names one: give one of them"))
			}
			return p.runCheck(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.list, "list", "", "take what is retained from a saved list, a `FILE` of list --json; - is stdin")
	f.BoolVar(&o.offline, "offline", false, "only the file: what the topics hold is not looked at")
	f.BoolVar(&o.json, "json", false, "JSON lines")
	p.retireFlags(cmd)
	return cmd
}

func (p *program) runCheck(ctx context.Context, o checkOptions) error {
	r, log, closeLog, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer closeLog()
	t, err := p.retiring(r, log)
	if err != nil {
		return usage(err)
	}
	p.warns(t.past)
	m, err := t.desk.Manifest()
	if err != nil {
		return p.badManifest(t, err)
	}
	var store *actions.Model
	var b actions.BrokerID // not known with --offline
	var notes []string
	switch {
	case o.list != "":
		if store, err = p.readList(o.list); err != nil {
			return &exit{ExitFailed, err}
		}
		// Whoever made the list needs no right to clear: only where it was made counts.
		b = actions.BrokerID{URL: store.Broker().URL, User: m.Broker().User, Identity: store.Broker().Identity}
	case o.offline:
	default:
		if t.off != nil {
			return usage(t.off)
		}
		var link inventory.Link
		if store, link, notes, err = p.look(ctx, r, t, m, log); err != nil {
			return err
		}
		b = t.broker(link.Broker)
	}
	listed, err := t.list(ctx, newProgress(p.stderr))
	if err != nil {
		return failed(ctx, err)
	}
	d := actions.Check(m, store, t.guard, b, actions.PastOf(listed), time.Now().UnixMilli())
	d.Notes = append(d.Notes, notes...)
	out := bufio.NewWriter(p.stdout)
	write := writeCheck
	if o.json {
		write = writeCheckJSON
	}
	err = write(ctx, out, t, m, d)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return failed(ctx, err)
	}
	back := 0
	for _, c := range d.Entries {
		if c.Entry.Disposition == actions.Clear && c.Decision != actions.WouldClear && c.Decision != actions.WasCleared {
			back++
		}
	}
	if back == 0 {
		return nil
	}
	return p.ends(ExitHeldBack, fmt.Sprintf("%d of %d entries marked clear would not be cleared", back, back+d.Count(actions.WouldClear)))
}

func (p *program) readList(path string) (_ *actions.Model, err error) {
	in := p.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("the saved list cannot be read: %w", unreadable(path, err))
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	return actions.ReadList(in)
}

// look scans the broker with the login that verifies, and also asks for what the manifest names and the filters of the
// settings leave out.
func (p *program) look(ctx context.Context, r *resolved, t *retiring, m *actions.Manifest, log *slog.Logger) (*actions.Model, inventory.Link, []string, error) {
	c := r.watchConfig(log)
	c.Config = t.reads
	further, notes, err := beyond(r.Scan.Filters, m)
	if err != nil {
		return nil, inventory.Link{}, nil, &exit{ExitFailed, err}
	}
	c.Filters = slices.Concat(c.Filters, further)
	inv := inventory.New(r.inventoryOptions())
	s, err := p.scan(ctx, r, c, inv, 0)
	if err != nil {
		return nil, inventory.Link{}, nil, err
	}
	if err := verdict(s.Coverage); err != nil {
		notes = append(notes, "the scan is "+err.Error()+" A topic that was not seen may be there nevertheless")
	}
	store, err := actions.ModelOf(ctx, inv)
	if err != nil {
		return nil, inventory.Link{}, nil, failed(ctx, err)
	}
	return store, s.Link, notes, nil
}

// beyond returns the topics of the manifest that a scan under filters does not see, and a note for each of them that no
// filter can ask for.
func beyond(filters []string, m *actions.Manifest) (further, notes []string, err error) {
	// What a set of filters protects is what it names, but for the names that begin with $.
	named, err := actions.Protect(filters)
	for _, e := range m.Entries() {
		if e.Refusal != nil {
			continue
		}
		_, covered := named.Match(e.Topic)
		switch {
		case covered && e.Topic[0] != '$':
		case !utf8.Valid(e.Topic):
			notes = append(notes, fmt.Sprintf("%s is outside of the filters that were looked under, and no filter can ask for its bytes", actions.Quote(e.Topic)))
		default:
			further = append(further, string(e.Topic))
		}
	}
	return further, notes, err
}

var decisions = []actions.Decision{actions.WouldClear, actions.WouldPreserve, actions.WouldHold, actions.WouldRefuse, actions.HasChanged, actions.IsUsedUp, actions.IsAbsent, actions.WasCleared}

func writeCheck(ctx context.Context, w io.Writer, t *retiring, m *actions.Manifest, d actions.DryRun) error {
	line := func(label, text string) { fmt.Fprintf(w, "%-9s %s\n", label, text) }
	for _, c := range d.Entries {
		e := c.Entry
		line(c.Decision.String(), tui.Printable(e.Topic))
		line("", fmt.Sprintf("line %d: %s", e.Line, c.Why))
		if c.Held != nil && c.Decision != actions.WouldClear {
			line("", fmt.Sprintf("now: %s, fingerprint %s", actions.Counted(c.Held.Size, "byte"), c.Held.Fingerprint))
		}
		if c.Decision != actions.WouldClear {
			continue
		}
		for _, why := range c.Provisional {
			line("", "provisional: "+why)
		}
		if !t.undoable(c.Held) {
			line("", fmt.Sprintf("no undo: %s, more than clear.undo_payload keeps", actions.Counted(c.Held.Size, "byte")))
		}
		if d.Looked {
			line("", controlsText(c.Controls))
		}
		if text := t.expects(ctx, e.Topic); text != "" {
			line("", text)
		}
	}
	var counts []string
	for _, k := range decisions {
		if n := d.Count(k); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, k))
		}
	}
	fmt.Fprintf(w, "%s for %s as %s: %s\n", quoteless(t.path), quoteless(m.Broker().URL), loginName(m.Broker().User),
		cmp.Or(strings.Join(counts, ", "), "no entries"))
	if d.Looked {
		fmt.Fprintf(w, "%s topics that were seen are not listed and stay on hold\n", thousands(int64(d.Unlisted)))
	}
	if d.Count(actions.WasCleared) > 0 {
		fmt.Fprintln(w, "note: what was cleared is done: its entry may stay, be set to hold, or be taken out; the record keeps it")
	}
	for _, n := range d.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	return nil
}

// undoable reports whether the record would keep what is held. Its properties count as well and are not known here.
func (t *retiring) undoable(h *actions.Held) bool { return h == nil || h.Size <= t.limit.Payload }

func controlsText(controls [][]byte) string {
	if len(controls) == 0 {
		return "no neighbour can serve as a control: a read-back will prove nothing"
	}
	const named = 5
	var names []string
	for _, c := range controls[:min(named, len(controls))] {
		names = append(names, tui.Printable(c))
	}
	text := fmt.Sprintf("%d can serve as controls: %s", len(controls), strings.Join(names, ", "))
	if len(controls) > named {
		text += " and others"
	}
	return text
}

func writeCheckJSON(ctx context.Context, w io.Writer, t *retiring, m *actions.Manifest, d actions.DryRun) error {
	type line struct {
		topicJSON
		Line           int         `json:"line"`
		Decision       string      `json:"decision"`
		Why            string      `json:"why"`
		Provisional    []string    `json:"provisional"`
		Controls       []topicJSON `json:"controls"`
		Disposition    string      `json:"disposition"`
		Owner          string      `json:"owner"`
		ApprovedBy     string      `json:"approved_by"`
		Fingerprint    string      `json:"fingerprint"`
		FingerprintNow *string     `json:"fingerprint_now"`
		SizeNow        *int        `json:"size_now"`
		Undo           bool        `json:"undo"`
		Expect         string      `json:"expect"`
	}
	for _, c := range d.Entries {
		e := c.Entry
		l := line{topicJSON: topicOf(e.Topic), Line: e.Line, Decision: c.Decision.String(), Why: c.Why, Provisional: append([]string{}, c.Provisional...),
			Controls: []topicJSON{}, Disposition: e.Disposition.String(), Owner: e.Owner, ApprovedBy: e.ApprovedBy, Fingerprint: e.Fingerprint, Undo: t.undoable(c.Held), Expect: t.expects(ctx, e.Topic)}
		for _, k := range c.Controls {
			l.Controls = append(l.Controls, topicOf(k))
		}
		if c.Held != nil {
			l.FingerprintNow, l.SizeNow = &c.Held.Fingerprint, &c.Held.Size
		}
		if err := writeLine(w, l); err != nil {
			return err
		}
	}
	sum := struct {
		Summary  bool             `json:"summary"`
		Manifest string           `json:"manifest"`
		Broker   actions.BrokerID `json:"broker"`
		Counts   map[string]int   `json:"counts"`
		Unlisted *int             `json:"unlisted"`
		Looked   bool             `json:"looked"`
		Notes    []string         `json:"notes"`
	}{Summary: true, Manifest: t.path, Broker: m.Broker(), Counts: map[string]int{}, Looked: d.Looked, Notes: append([]string{}, d.Notes...)}
	for _, k := range decisions {
		sum.Counts[k.String()] = d.Count(k)
	}
	if d.Looked {
		sum.Unlisted = &d.Unlisted
	}
	return writeLine(w, sum)
}
