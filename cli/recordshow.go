package cli

// `retainscope record show`: the operations, oldest first, or one in full.

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

type showOptions struct{ json, offline bool }

func (p *program) recordShow() *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show [OPERATION]",
		Short: "List the operations, or print one as a person reads it",
		Long: `List the operations, oldest first, or print one in full: whose the topic was, who could write it, what was on the wire,
what was read back by whom and until when, and what stays unproven. A clear that was begun and has no outcome is running,
by a process that is named, or is shown as unknown where nobody runs it. Four questions of one operation are each closed
(answered by evidence) or open, with the reason: ownership (who owned and approved it), writers (all of them silent),
acknowledgement (the broker accepted the message), read-back (the topic was not observed again).

Of a topic that was cleared, and neither put back nor cleared again since, it says what is known by now, and from when: the
broker is asked, by the login of the observer, whether it holds something again; with --offline, or where it cannot be
asked, the last look in the record counts ("record recheck" adds one). Nothing is sent, and nothing is written.

--json prints one object a line: operation, topic, topic_hex, begun, owner, approved_by, verdict, provisional, open,
running (by whom, or empty), restored, sentence, after (what was put back since, in words), last_at, now (of a topic that was cleared: found, at,
by "broker" or "record", size and fingerprint where it is there again and the broker was asked, not_asked: why it was not;
null otherwise); for one operation also closings, intent, before, outcome, later, restores. No payload is in it.`,
		Example: `  retainscope record show
  retainscope record show 20261130-140211-5
  retainscope record show --offline
  retainscope record show --json | jq -r 'select(.verdict != "cleared and verified") | .topic'`,
		Args:              atMostOne("show takes one operation at most"),
		ValidArgsFunction: p.operationNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.retire(cmd.Context(), func(t *retiring, line *progress) error {
				if len(args) == 1 {
					return p.showOperation(cmd.Context(), t, line, args[0], o)
				}
				return p.showAll(cmd.Context(), t, line, o)
			})
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "JSON lines")
	cmd.Flags().BoolVar(&o.offline, "offline", false, "only the record: the broker is not asked what the topics hold now")
	return cmd
}

// operationJSON is an operation in a list.
type operationJSON struct {
	Operation string `json:"operation"`
	topicJSON
	Begun       time.Time       `json:"begun"`
	Owner       string          `json:"owner"`
	ApprovedBy  string          `json:"approved_by"`
	Verdict     actions.Verdict `json:"verdict"`
	Provisional bool            `json:"provisional"`
	Open        bool            `json:"open"`
	Running     string          `json:"running"`
	Restored    bool            `json:"restored"`
	Sentence    string          `json:"sentence"`
	After       string          `json:"after"`
	LastAt      time.Time       `json:"last_at"`
	Now         *latestJSON     `json:"now"`
}

func summaryJSON(s actions.Summary, now map[string]latest) operationJSON {
	out := operationJSON{s.ID, topicOf(s.Topic), s.Begun, s.Owner, s.By, s.Verdict, s.Provisional, s.Open, s.Running, s.Restored, s.Sentence, s.After, s.LastAt, nil}
	if k, cleared := now[s.ID]; cleared {
		out.Now = k.json()
	}
	return out
}

func (p *program) showAll(ctx context.Context, t *retiring, line *progress, o showOptions) error {
	l, err := t.list(ctx, line)
	if err != nil {
		return failed(ctx, err)
	}
	now := t.latestOf(ctx, line, l, "", o.offline)
	if ctx.Err() != nil {
		return failed(ctx, ctx.Err())
	}
	out := bufio.NewWriter(p.stdout)
	for _, s := range l.Operations {
		if o.json {
			err = writeLine(out, summaryJSON(s, now))
		} else {
			_, err = fmt.Fprintf(out, "%-20s  %s  %-36s  %s\n", s.ID, instant(s.Begun), summaryText(s)+now[s.ID].words(s.Verdict), tui.Printable(s.Topic))
		}
		if err != nil {
			return failed(ctx, err)
		}
	}
	if len(l.Operations) == 0 && !o.json {
		fmt.Fprintf(out, "nothing is in the record of %s\n", quoteless(t.path))
	}
	if err := out.Flush(); err != nil {
		return failed(ctx, err)
	}
	p.tellRecord(l)
	p.tellNotAsked(now)
	if l.Skipped > 0 {
		p.say("warning: %s of the record cannot be read; `%s` says which", actions.Counted(int(l.Skipped), "line"), p.again("record verify"))
	}
	return nil
}

func summaryText(s actions.Summary) string {
	text := s.Verdict.String()
	if s.Running != "" {
		text = "running, by " + s.Running
	}
	if s.Provisional && s.Verdict.Sent() {
		text += ", provisional"
	}
	if s.After != "" {
		text += ", " + s.After
	}
	return text
}

func (p *program) showOperation(ctx context.Context, t *retiring, line *progress, id string, o showOptions) error {
	op, err := t.desk.Operation(ctx, id)
	if err != nil {
		return p.noOperation(ctx, t, err)
	}
	l, err := t.list(ctx, line)
	if err != nil {
		return failed(ctx, err)
	}
	now := t.latestOf(ctx, line, l, id, o.offline)
	if ctx.Err() != nil {
		return failed(ctx, ctx.Err())
	}
	if !o.json {
		fmt.Fprint(p.stdout, op.Report(tui.PrintableText))
		if k, cleared := now[id]; cleared {
			fmt.Fprintf(p.stdout, "  %-16s %s\n", "by now", k.sentence(t))
		}
		return nil
	}
	i := slices.IndexFunc(l.Operations, func(s actions.Summary) bool { return s.ID == id })
	if i < 0 {
		return &exit{ExitFailed, fmt.Errorf("operation %s: the line that began it cannot be read", quote(id))}
	}
	type closing struct {
		Question string `json:"question"`
		Closed   bool   `json:"closed"`
		Why      string `json:"why"`
	}
	type later struct {
		Kind actions.LineKind `json:"kind"`
		At   time.Time        `json:"at"`
		actions.Later
	}
	type undo struct {
		ID      string               `json:"operation"`
		Begun   time.Time            `json:"begun"`
		Intent  actions.UndoIntent   `json:"intent"`
		Outcome *actions.UndoOutcome `json:"outcome"`
	}
	full := struct {
		operationJSON
		Closings []closing         `json:"closings"`
		Intent   *actions.Intent   `json:"intent"`
		Before   *actions.Baseline `json:"before"`
		Outcome  *actions.Outcome  `json:"outcome"`
		Later    []later           `json:"later"`
		Restores []undo            `json:"restores"`
	}{operationJSON: summaryJSON(l.Operations[i], now), Intent: op.Intent, Before: withoutPayloads(op.Baseline), Outcome: op.Outcome.WithoutPayloads(), Later: []later{}, Restores: []undo{}}
	for _, c := range op.Closings() {
		full.Closings = append(full.Closings, closing(c))
	}
	for _, x := range op.Later {
		full.Later = append(full.Later, later{x.Kind, x.At, x.Later})
	}
	for _, u := range op.Undos {
		full.Restores = append(full.Restores, undo{u.ID, u.Begun, u.Intent, u.Outcome})
	}
	if err := writeLine(p.stdout, full); err != nil {
		return failed(ctx, err)
	}
	return nil
}

// withoutPayloads returns b without the bytes that are kept for an undo.
func withoutPayloads(b *actions.Baseline) *actions.Baseline {
	if b == nil {
		return nil
	}
	out := *b
	out.Topic.Payload, out.Topic.Properties = nil, nil
	out.Controls = slices.Clone(b.Controls)
	for i := range out.Controls {
		out.Controls[i].Payload, out.Controls[i].Properties = nil, nil
	}
	return &out
}
