package cli

// `retainscope record`: what was done, whether the record is as it was written, and a later look.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

func (p *program) recordCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Show, verify or export the record of what was cleared, or look again",
		Long: `The record lies beside the manifest: one line before and one after every clear and every restore, each with the digest
of the line before it. It is never rewritten. A line that was half written begins a new file and is told of.`,
		Example: `  retainscope record show
  retainscope record show 20261130-140211-5
  retainscope record verify --digest 5f7d...
  retainscope record export > retired.md
  retainscope record recheck 20261130-140211-5 --note "after the gateway was restarted"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("record has no command %s; it has show, verify, export and recheck", quote(args[0])))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	p.sectionFlags(cmd.PersistentFlags(), retireSections()...)
	cmd.AddCommand(p.recordShow(), p.recordVerify(), p.recordExport(), p.recordRecheck())
	return cmd
}

func (p *program) recordShow() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "show [OPERATION]",
		Short: "List the operations, or print one as a person reads it",
		Long: `List the operations, oldest first, or print one in full: whose the topic was, who could write it, what was on the wire,
what was read back by whom and until when, and what stays unproven. A clear that was begun and has no outcome is shown as
unknown.

--json prints one object a line: operation, topic, topic_hex, begun, owner, approved_by, verdict, provisional, open,
restored, sentence, after (what was put back since, in words), last_at; for one operation also closings, intent, before, outcome, later, restores. No payload is in it.`,
		Example: `  retainscope record show
  retainscope record show 20261130-140211-5
  retainscope record show --json | jq -r 'select(.verdict != "cleared and verified") | .topic'`,
		Args:              atMostOne("show takes one operation at most"),
		ValidArgsFunction: p.operationNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.retire(cmd.Context(), func(t *retiring, _ *progress) error {
				if len(args) == 1 {
					return p.showOperation(cmd.Context(), t, args[0], asJSON)
				}
				return p.showAll(cmd.Context(), t, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "JSON lines")
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
	Restored    bool            `json:"restored"`
	Sentence    string          `json:"sentence"`
	After       string          `json:"after"`
	LastAt      time.Time       `json:"last_at"`
}

func summaryJSON(s actions.Summary) operationJSON {
	return operationJSON{s.ID, topicOf(s.Topic), s.Begun, s.Owner, s.By, s.Verdict, s.Provisional, s.Open, s.Restored, s.Sentence, s.After, s.LastAt}
}

func (p *program) showAll(ctx context.Context, t *retiring, asJSON bool) error {
	l, err := t.desk.List(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	out := bufio.NewWriter(p.stdout)
	for _, s := range l.Operations {
		if asJSON {
			err = writeLine(out, summaryJSON(s))
		} else {
			_, err = fmt.Fprintf(out, "%-20s  %s  %-36s  %s\n", s.ID, instant(s.Begun), summaryText(s), tui.Printable(s.Topic))
		}
		if err != nil {
			return failed(ctx, fmt.Errorf("write the record: %w", err))
		}
	}
	if len(l.Operations) == 0 && !asJSON {
		fmt.Fprintf(out, "nothing is in the record of %s\n", quoteless(t.path))
	}
	if err := out.Flush(); err != nil {
		return failed(ctx, fmt.Errorf("write the record: %w", err))
	}
	p.tellRecord(ctx, t)
	if l.Skipped > 0 {
		fmt.Fprintf(p.stderr, "retainscope: warning: %s of the record cannot be read; `retainscope record verify` says which\n", actions.Counted(int(l.Skipped), "line"))
	}
	return nil
}

func summaryText(s actions.Summary) string {
	text := s.Verdict.String()
	if s.Provisional && s.Verdict.Sent() {
		text += ", provisional"
	}
	if s.After != "" {
		text += ", " + s.After
	}
	return text
}

func (p *program) showOperation(ctx context.Context, t *retiring, id string, asJSON bool) error {
	op, err := t.desk.Operation(ctx, id)
	if err != nil {
		return p.noOperation(ctx, t, err)
	}
	if !asJSON {
		fmt.Fprint(p.stdout, op.Report(tui.PrintableText))
		return nil
	}
	l, err := t.desk.List(ctx)
	if err != nil {
		return failed(ctx, err)
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
	}{operationJSON: summaryJSON(l.Operations[i]), Intent: op.Intent, Before: withoutPayloads(op.Baseline), Outcome: op.Outcome.WithoutPayloads(), Later: []later{}, Restores: []undo{}}
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
		return failed(ctx, fmt.Errorf("write the operation: %w", err))
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

func (p *program) recordVerify() *cobra.Command {
	kept := ""
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that every line is as it was written",
		Long: `Check every line against the one after it, and the end against the digest kept beside the manifest, and name the first
line that was changed or is broken. With --digest the line is looked for whose digest a clear printed: whoever can write here
can write a whole new record, and only a digest that was kept elsewhere shows that.

Exit codes: 0 as it was written; 19 it is not, or no line has the digest; 1 it could not be read.`,
		Example: `  retainscope record verify
  retainscope record verify --digest 5f7d...`,
		Args: none("verify takes the whole record"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.retire(cmd.Context(), func(t *retiring, line *progress) error { return p.verify(cmd.Context(), t, line, kept) })
		},
	}
	cmd.Flags().StringVar(&kept, "digest", "", "the `SHA256` that a clear printed, kept elsewhere")
	_ = cmd.RegisterFlagCompletionFunc("digest", cobra.NoFileCompletions)
	return cmd
}

func (p *program) verify(ctx context.Context, t *retiring, line *progress, kept string) error {
	kept = strings.ToLower(strings.TrimSpace(kept))
	if kept != "" && (len(kept) != 64 || strings.Trim(kept, "0123456789abcdef") != "") {
		return usage(errors.New("--digest is not 64 hexadecimal digits"))
	}
	line.show("checking the record")
	v, err := t.desk.Verify(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	wrong := v.Wrong()
	var told []string
	if kept != "" {
		switch n, found, err := t.desk.LineOf(ctx, kept); {
		case err != nil:
			return failed(ctx, err)
		case !found && wrong == "":
			wrong = "no line has the digest that was kept: that line, or one before it, is not as it was"
		case !found:
			wrong += "; no line has the digest that was kept"
		default:
			told = append(told, fmt.Sprintf("the digest that was kept is that of line %d", n))
		}
	}
	line.clear()
	fmt.Fprintf(p.stdout, "lines: %d, files: %d\n", v.Lines, v.Segments)
	if v.Lines > 0 {
		fmt.Fprintf(p.stdout, "digest of the last line: %s\n", v.Digest)
	}
	fmt.Fprintln(p.stdout, sentence(v.Head))
	for _, s := range slices.Concat(told, v.Reported, v.Limits) {
		fmt.Fprintf(p.stdout, "note: %s\n", s)
	}
	if wrong == "" {
		return nil
	}
	return p.ends(ExitBadRecord, "the record is not as it was written: "+wrong)
}

func (p *program) recordExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the record as a Markdown report, without payloads",
		Long:  `Print every operation of the record as a Markdown report, for whoever has to know. No payload is in it.`,
		Example: `  retainscope record export > retired.md
  retainscope record export --manifest home.toml`,
		Args: none("export takes the whole record"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.retire(cmd.Context(), func(t *retiring, _ *progress) error {
				if _, err := t.desk.Export(cmd.Context(), p.stdout); err != nil {
					return failed(cmd.Context(), fmt.Errorf("write the report: %w", err))
				}
				return nil
			})
		},
	}
	return cmd
}

func (p *program) recordRecheck() *cobra.Command {
	var note string
	var asJSON bool
	const one = "recheck takes one operation, as `retainscope record show` lists it"
	cmd := &cobra.Command{
		Use:   "recheck OPERATION",
		Short: "Look once more at the topic of a clear and at its neighbours",
		Long: `Look once more at the topic of a clear and at its neighbours, for instance after the broker or a gateway was restarted,
or to learn what became of a clear that has no outcome. What is seen is appended to the record. Nothing is sent.

Exit codes: 0 the topic was not observed; 11 it came back; 12 it is there; 13 the look told nothing; 17 a quiet neighbour
is not observed any more; 1 failed, 2 wrong usage or settings, 130 interrupted.`,
		Example: `  retainscope record recheck 20261130-140211-5
  retainscope record recheck 20261130-140211-5 --note "after the gateway was restarted"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New(one))
			}
			return p.noMore(one)(cmd, args[1:])
		},
		ValidArgsFunction: p.operationNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.retire(cmd.Context(), func(t *retiring, line *progress) error {
				return p.recheck(cmd.Context(), t, line, args[0], note, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "why you look again, in your words: a `TEXT` for the record")
	cmd.Flags().BoolVar(&asJSON, "json", false, "what was seen as one JSON object")
	_ = cmd.RegisterFlagCompletionFunc("note", cobra.NoFileCompletions)
	return cmd
}

func (p *program) recheck(ctx context.Context, t *retiring, line *progress, id, note string, asJSON bool) error {
	op, err := t.desk.Operation(ctx, id)
	if err != nil {
		return p.noOperation(ctx, t, err)
	}
	if err := op.Intent.Broker.Same(t.broker("")); err != nil {
		return &exit{ExitFailed, fmt.Errorf("operation %s: %w", quoteless(id), err)}
	}
	if t.off != nil {
		return usage(t.off)
	}
	c, err := t.connected(ctx, line)
	if err != nil {
		return failed(ctx, err)
	}
	line.show("reading " + tui.Printable(op.Topic))
	l, err := c.Recheck(ctx, id, note)
	line.clear()
	if err != nil {
		return failed(ctx, err)
	}
	if asJSON {
		err = writeLine(p.stdout, struct {
			Operation string `json:"operation"`
			topicJSON
			actions.Later
			Record *actions.Head `json:"record"`
		}{id, topicOf(op.Topic), l, headOf(t)})
		if err != nil {
			return failed(ctx, fmt.Errorf("write what was seen: %w", err))
		}
	} else {
		fmt.Fprintf(p.stdout, "%s\n%s\n", sentence(l.Sentence), headText(t))
	}
	if ctx.Err() != nil {
		return failed(ctx, ctx.Err())
	}
	code := recheckExit(l)
	return p.ends(code, l.Found.String()+": "+l.Sentence)
}

// none refuses arguments.
func none(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage(fmt.Errorf("%s; %s is too much", what, quote(args[0])))
		}
		return nil
	}
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage(fmt.Errorf("%s; %s is too much", what, quote(args[1])))
		}
		return nil
	}
}

// operationNames completes an operation to those in the record. Its errors are silent.
func (p *program) operationNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.operationsWhere(cmd, args, func(actions.Summary) bool { return true })
}

// restorable completes an operation to those that took something away, as far as the record tells, and of which nothing
// was put back.
func (p *program) restorable(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.operationsWhere(cmd, args, func(s actions.Summary) bool {
		return s.Acted() && s.Verdict != actions.Refused && !s.Restored
	})
}

func (p *program) operationsWhere(cmd *cobra.Command, args []string, wanted func(actions.Summary) bool) ([]string, cobra.ShellCompDirective) {
	t := p.silently()
	if len(args) > 0 || t == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, _ := t.desk.List(cmd.Context())
	var names []string
	for _, s := range slices.Backward(l.Operations) {
		if wanted(s) {
			names = append(names, s.ID+"\t"+tui.Printable(s.Topic)+", "+s.Verdict.String())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
