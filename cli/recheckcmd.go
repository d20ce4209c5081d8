package cli

// `retainscope record recheck`: a later look at what a clear was about.

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

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
		Args:              p.oneOperation(one),
		ValidArgsFunction: p.operationNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.act(cmd.Context(), func(t *retiring, line *progress) error {
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
		if err != nil && p.stdout.lost == nil {
			return failed(ctx, err)
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
