package cli

// `retainscope clear`: one exact topic that the manifest approves, with the function the screen uses.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

type clearOptions struct {
	topic         oneTopic
	json, noWatch bool
}

const oneClear = "clear takes one exact topic that the manifest approves, with --topic or --topic-hex"

func (p *program) clearCommand() *cobra.Command {
	var o clearOptions
	cmd := &cobra.Command{
		Use:   "clear --topic TOPIC",
		Short: "Clear one exact topic that the manifest approves, with evidence",
		Long: `Clear one exact topic that the manifest approves, and prove it. The value is read and compared with the one that was
approved, and neighbours are read as controls; one empty retained message is sent, once, and never again; a new observer
reads the topic and the controls; and a return of the value is watched for (--window, --no-watch). Before and after stand
in the record beside the manifest. Whoever subscribes to the topic sees one empty message.

There is no way to clear more than one topic: no filter and no second topic is taken. The approval in the manifest is the
confirmation; nothing is asked. "retainscope check" tells beforehand what would happen, "retainscope draft" begins an entry.

Exit codes, in which only 0 says that the topic was cleared and that this was verified:
   0  cleared and verified, and no return was seen while it was watched for
  10  the broker refused it
  11  it came back: somebody still writes it
  12  acknowledged, still present (or replayed without payload)
  13  acknowledged, could not be verified
  14  no answer: neither success nor failure, and never sent again by itself
  15  nothing was sent: not approved, protected, another broker, locked, not connected
  16  nothing was sent: the topic holds another value than the approved one, or none was observed
  17  more went than was approved: a quiet neighbour is not observed any more, or a newer value
      was written just before and went with it (saved; restore puts it back): alarm
   1  failed, 2 wrong usage or settings, 130 interrupted before anything was sent or while the return was watched for
SIGINT and SIGTERM before the message is sent send nothing; after it the answer is not waited for: 14.

--json prints one object at the end, for every code but 1 and 2: operation (null where nothing was begun), topic,
topic_hex, broker {url, user, identity}, manifest, verdict, sentence, provisional (why, empty when it is not), outcome
(packet and PUBACK as they were on the wire, what the read-back found, controls, observers, limits), watch (null where
none was), undo (null, or why there is none), record {lines, sha256, at}. No payload is in it.`,
		Example: `  retainscope clear --manifest home.toml --topic airthings/availability
  retainscope clear --topic-hex 626164ff --no-watch
  retainscope clear --topic airthings/state --window 5m --json | jq -r .verdict`,
		Args: p.noMore(oneClear),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runClear(cmd.Context(), o) },
	}
	o.topic.flags(cmd, "the exact `TOPIC`, byte for byte as it is listed", p.approvedTopics)
	cmd.Flags().BoolVar(&o.json, "json", false, "the outcome as one JSON object")
	cmd.Flags().BoolVar(&o.noWatch, "no-watch", false, "do not wait for a return of the value: the same as --window 0s")
	p.retireFlags(cmd)
	return cmd
}

func (p *program) runClear(ctx context.Context, o clearOptions) error {
	topic, err := o.topic.must()
	if err != nil {
		return usage(err)
	}
	return p.act(ctx, func(t *retiring, line *progress) error {
		if o.noWatch {
			t.watch = 0
		}
		if l, err := t.list(ctx, line); err == nil { // what keeps it from being read is told by the act itself
			p.tellRecord(l)
		}
		w := wipe{program: p, retiring: t, line: line, topic: topic, json: o.json}
		return w.run(ctx)
	})
}

// wipe is one run of the command.
type wipe struct {
	*program
	*retiring
	line  *progress
	topic []byte
	json  bool

	clearer *actions.Clearer
	op      actions.Operation
	later   *actions.Later
	lost    error // what could not be written into the record
}

func (w *wipe) run(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		w.op = notConnected(w.topic, err)
		return w.finish(ctx)
	}
	expect := w.expects(ctx, w.topic)
	op, recordErr := w.clearer.Clear(ctx, actions.Request{Topic: w.topic, Expect: expect})
	w.op = op
	w.line.clear()
	if !w.json {
		w.report()
	}
	if recordErr == nil && ctx.Err() == nil {
		recordErr = w.watchReturn(ctx)
	}
	w.line.clear()
	w.lost = recordErr
	return w.finish(ctx)
}

// prepare makes the clearer. Where the manifest alone tells that nothing will be sent, the broker is not asked.
func (w *wipe) prepare(ctx context.Context) error {
	w.clearer = w.retiring.clearer(w.broker(""), false, nil)
	e, ok := w.approval()
	if !ok {
		return nil // Clear says why, as an outcome
	}
	if w.line.w != nil {
		fmt.Fprintf(w.stderr, "clearing %s on %s as %s: one empty retained message, once, if it still holds the value %.12s that %s approved at %s\n",
			tui.Printable(w.topic), quoteless(w.sends.URL), loginName(w.sends.User), e.Fingerprint,
			tui.PrintableText([]byte(e.ApprovedBy)), instant(e.ApprovedAt))
	}
	c, err := w.connected(ctx, w.line)
	if err == nil {
		w.clearer = c
	}
	return err
}

// approval returns the entry of the topic, and whether it can be cleared as far as the manifest tells.
func (w *wipe) approval() (e actions.Entry, ok bool) {
	m, err := w.desk.Manifest()
	if err == nil && m.Broker().Same(w.broker("")) == nil {
		e, ok = m.Find(w.topic)
	}
	return e, ok && e.CheckApproval() == nil
}

// watchReturn waits for a return of the value where one is possible, and takes over what was seen.
func (w *wipe) watchReturn(ctx context.Context) error {
	if !w.watches() {
		return nil
	}
	until := time.Now().Add(w.watch)
	w.line.show("watching for a return until " + until.Format("15:04:05"))
	later, err := w.clearer.WatchReturn(ctx, w.op, until)
	if err != nil {
		return err
	}
	w.later = &later
	w.line.clear()
	if !w.json {
		fmt.Fprintf(w.stdout, "watched: %s\n", later.Sentence)
	}
	op, err := w.desk.Operation(context.WithoutCancel(ctx), w.op.ID)
	if err == nil {
		w.op = op
		if !w.json {
			fmt.Fprintf(w.stdout, "%s: %s\n", verdictText(w.op), tui.Printable(w.op.Topic))
		}
	}
	return err
}

// watches reports whether a return is watched for.
func (w *wipe) watches() bool { return w.watch > 0 && w.op.ID != "" && mayReturn(w.op.Verdict()) }

// mayReturn reports whether the topic may be empty now, so that a return can be seen.
func mayReturn(v actions.Verdict) bool {
	switch v {
	case actions.Refused, actions.CameBack, actions.StillPresent, actions.EmptyReplay:
		return false
	}
	return v.Sent()
}

// report prints what happened before the watch begins: a person need not wait for it. The verdict stands in front only
// where it is the last word.
func (w *wipe) report() {
	if w.op.ID == "" {
		return // said at the end
	}
	o := w.op.Outcome
	soFar := ""
	if w.watches() {
		soFar = "so far, before a return is watched for: "
	}
	fmt.Fprintf(w.stdout, "%s%s: %s\n", soFar, verdictText(w.op), tui.Printable(w.op.Topic))
	if o.Verdict == actions.ClearedVerified {
		fmt.Fprintln(w.stdout, sentence(o.Sentence))
	}
	for _, s := range slices.Concat(w.op.Provisional(), o.Notes) {
		fmt.Fprintf(w.stdout, "note: %s\n", s)
	}
	if i := w.op.Intent; i != nil && i.Expect != "" && mayReturn(o.Verdict) {
		fmt.Fprintf(w.stdout, "note: %s; --window watches for longer, `%s` looks again later\n", i.Expect, w.again("record recheck", w.op.ID))
	}
	fmt.Fprintf(w.stdout, "operation: %s\n", w.op.ID)
	if o.Verdict.Sent() {
		if why := w.noUndo(); why != nil {
			fmt.Fprintf(w.stdout, "undo: none, %s\n", *why)
		} else {
			fmt.Fprintf(w.stdout, "undo: %s\n", w.again("restore", w.op.ID))
		}
	}
}

// finish prints what is left to print and returns the exit.
func (w *wipe) finish(ctx context.Context) error {
	w.line.clear()
	if w.json {
		if err := w.writeJSON(); err != nil && w.stdout.lost == nil {
			return &exit{ExitFailed, fmt.Errorf("write the outcome: %w", err)}
		}
	} else if w.op.ID != "" {
		fmt.Fprintln(w.stdout, headText(w.retiring))
	}
	v := w.op.Verdict()
	code, text := clearExit(v), v.String()+": "+w.op.Sentence()
	switch v {
	case actions.NotSent:
		text = w.op.Sentence() + w.advice()
	case actions.Changed:
		text += w.another()
	}
	if w.lost != nil {
		w.say("warning: %s", w.lost)
		if code == ExitOK {
			code = ExitFailed // without its evidence it is not what was asked for
		}
	}
	switch {
	case ctx.Err() == nil:
	case v == actions.NotSent:
		code, text = ExitInterrupted, "interrupted: "+text
	case code == ExitOK && w.watch > 0:
		code, text = ExitInterrupted, "interrupted while a return was watched for; "+text
	}
	return w.ends(code, text)
}

// advice says what a person does about a clear that was not sent.
func (w *wipe) advice() string {
	switch w.op.Outcome.Obstacle {
	case actions.ManifestUnreadable:
		if _, err := w.desk.Manifest(); errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("; `%s` begins one", w.again("draft", topicOption(w.topic)))
		}
		return fmt.Sprintf("; `%s` tells everything that is wrong with it", w.again("check", "--offline"))
	case actions.NotApproved:
		if m, err := w.desk.Manifest(); err == nil {
			if _, listed := m.Find(w.topic); !listed {
				return fmt.Sprintf("; `%s` begins an entry in %s", w.again("draft", topicOption(w.topic)), quoteless(w.path))
			}
		}
		return fmt.Sprintf("; the manifest is %s, and `%s` tells what it lacks", quoteless(w.path), w.again("check"))
	case actions.ApprovalSpent:
		return fmt.Sprintf("; in %s write approved_at anew, and the fingerprint if the value is another", quoteless(w.path))
	case actions.AnotherBroker:
		return "; name that one with --broker and --user, or this one's manifest with --manifest"
	}
	return ""
}

// another says what a person does where the topic holds another value than the approved one.
func (w *wipe) another() string {
	now := w.op.Outcome.Now
	if now == nil {
		return ""
	}
	return fmt.Sprintf("; if that may go as well, approve it: in %s write approved_at anew and fingerprint = \"%s\"", quoteless(w.path), now.Fingerprint)
}

// noUndo returns why there is no way back, nil where there is one.
func (w *wipe) noUndo() *string {
	_, err := w.op.Undoable(w.op.Topic)
	if err == nil {
		return nil
	}
	why := err.Error()
	return &why
}

func (w *wipe) writeJSON() error {
	out := struct {
		Operation *string `json:"operation"`
		topicJSON
		Broker      actions.BrokerID `json:"broker"`
		Manifest    string           `json:"manifest"`
		Verdict     actions.Verdict  `json:"verdict"`
		Sentence    string           `json:"sentence"`
		Provisional []string         `json:"provisional"`
		Outcome     *actions.Outcome `json:"outcome"`
		Watch       *actions.Later   `json:"watch"`
		Undo        *string          `json:"undo"`
		Record      *actions.Head    `json:"record"`
	}{
		topicJSON: topicOf(w.op.Topic), Broker: w.clearer.Broker, Manifest: w.path, Verdict: w.op.Verdict(),
		Sentence: w.op.Sentence(), Provisional: append([]string{}, w.op.Provisional()...), Outcome: w.op.Outcome.WithoutPayloads(), Watch: w.later,
	}
	if w.op.ID != "" {
		out.Operation = &w.op.ID
	}
	if w.op.Outcome.Verdict.Sent() {
		out.Undo = w.noUndo()
	}
	out.Record = headOf(w.retiring)
	return writeLine(w.stdout, out)
}

// notConnected is the outcome of a clear for which there is no broker.
func notConnected(topic []byte, err error) actions.Operation {
	return actions.Operation{Topic: topic, Outcome: &actions.Outcome{
		Verdict: actions.NotSent, Obstacle: actions.NotConnected, Why: err.Error(),
		Sentence: fmt.Sprintf("nothing was sent (%s): %s", actions.NotConnected, err),
	}}
}

// verdictText is the verdict with what qualifies it.
func verdictText(op actions.Operation) string {
	text := op.Verdict().String()
	if len(op.Provisional()) > 0 && op.Outcome.Verdict.Sent() {
		text += ", provisional"
	}
	return text
}

// loginName is a login as a terminal may show it.
func loginName(user string) string {
	if user == "" {
		return "anonymous"
	}
	return tui.PrintableText([]byte(user))
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// writeLine writes v as one line of JSON that is safe to look at.
func writeLine(w io.Writer, v any) error {
	b, err := safeJSON(v)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}
