package cli

// `retainscope restore`: puts back what one clear took away, with the function the screen uses.

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"retainscope/actions"
)

type restoreOptions struct {
	topic     oneTopic
	overwrite string
	json      bool
}

const oneRestore = "restore takes one operation, as clear and `retainscope record show` print it"

func (p *program) restoreCommand() *cobra.Command {
	var o restoreOptions
	cmd := &cobra.Command{
		Use:   "restore OPERATION",
		Short: "Put back what one clear took away",
		Long: `Put back what one clear took away: the same bytes, QoS, content type and properties in order, and what is left of its
expiry, counted from when it was read. Where less than a second is left, or where the topic holds something again, nothing
is sent; --overwrite FINGERPRINT overwrites exactly the value with that fingerprint. It is read back and compared, and
stands in the record. With --topic a neighbour is put back that the clear took along.

Exit codes: 0 put back and read back the same; 10 refused by the broker; 13 acknowledged, could not be verified; 14 no
answer; 15 nothing was sent; 16 nothing was sent: the topic holds something; 18 put back, and what was read back differs;
1 failed, 2 wrong usage or settings, 130 interrupted before anything was sent.

--json prints one object: operation, topic, topic_hex, broker, result, sentence, outcome (its facts), record.`,
		Example: `  retainscope restore 20261130-140211-5
  retainscope restore 20261130-140211-5 --overwrite 5f7d...
  retainscope restore 20261130-140211-5 --topic airthings/state`,
		Args:              p.oneOperation(oneRestore),
		ValidArgsFunction: p.restorable,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.runRestore(cmd.Context(), args[0], o) },
	}
	o.topic.flags(cmd, "a neighbour's exact `TOPIC`, where the clear took one along", cobra.NoFileCompletions)
	cmd.Flags().StringVar(&o.overwrite, "overwrite", "", "overwrite what the topic holds, if it has this `FINGERPRINT`")
	cmd.Flags().BoolVar(&o.json, "json", false, "the outcome as one JSON object")
	_ = cmd.RegisterFlagCompletionFunc("overwrite", cobra.NoFileCompletions)
	p.retireFlags(cmd)
	return cmd
}

func (p *program) runRestore(ctx context.Context, id string, o restoreOptions) error {
	topic, err := o.topic.given()
	if err != nil {
		return usage(err)
	}
	return p.act(ctx, func(t *retiring, line *progress) error {
		if l, err := t.list(ctx, line); err == nil { // what keeps it from being read is told by the act itself
			p.tellRecord(l)
		}
		op, err := t.desk.Operation(ctx, id)
		if err != nil {
			return p.noOperation(ctx, t, err)
		}
		if topic == nil {
			topic = op.Topic
		}
		c := t.clearer(t.broker(""), false, nil)
		var out actions.UndoOutcome
		var recordErr, noBroker error
		if op.Intent.Broker.Same(c.Broker) == nil { // otherwise Restore says so, and nobody is asked
			if c, noBroker = t.connected(ctx, line); noBroker != nil {
				c = t.clearer(t.broker(""), false, nil)
			}
		}
		if noBroker != nil {
			out = actions.UndoOutcome{Of: id, Result: actions.RestoreNotSent, Obstacle: actions.NotConnected, Why: noBroker.Error(),
				Sentence: fmt.Sprintf("nothing was put back (%s): %s", actions.NotConnected, noBroker)}
		} else {
			out, recordErr = c.Restore(ctx, actions.RestoreRequest{Operation: id, Topic: topic, By: t.who.Name(), Overwrite: o.overwrite})
		}
		line.clear()
		if recordErr != nil {
			p.say("warning: %s", recordErr)
		}
		code := restoreExit(out)
		if err := p.tellRestore(t, c.Broker, topic, out, o.json); err != nil {
			return err
		}
		text := out.Result.String() + ": " + out.Sentence
		if out.Obstacle == actions.Occupied {
			text = fmt.Sprintf("%s; to overwrite exactly that: --overwrite %s", out.Sentence, out.Occupant.Fingerprint)
		}
		if ctx.Err() != nil && out.Result == actions.RestoreNotSent {
			code, text = ExitInterrupted, "interrupted: "+out.Sentence
		}
		return p.ends(code, text)
	})
}

// tellRestore prints the outcome.
func (p *program) tellRestore(t *retiring, b actions.BrokerID, topic []byte, out actions.UndoOutcome, asJSON bool) error {
	if !asJSON {
		if out.Result == actions.Restored {
			fmt.Fprintln(p.stdout, sentence(out.Sentence))
		}
		for _, n := range out.Notes {
			fmt.Fprintf(p.stdout, "note: %s\n", n)
		}
		fmt.Fprintln(p.stdout, headText(t))
		return nil
	}
	line := struct {
		Operation string `json:"operation"`
		topicJSON
		Broker   actions.BrokerID    `json:"broker"`
		Result   actions.UndoResult  `json:"result"`
		Sentence string              `json:"sentence"`
		Outcome  actions.UndoOutcome `json:"outcome"`
		Record   *actions.Head       `json:"record"`
	}{out.Of, topicOf(topic), b, out.Result, out.Sentence, out, headOf(t)}
	if err := writeLine(p.stdout, line); err != nil && p.stdout.lost == nil {
		return &exit{ExitFailed, fmt.Errorf("write the outcome: %w", err)}
	}
	return nil
}

// noOperation says which operations there are where one was asked for that is none.
func (p *program) noOperation(ctx context.Context, t *retiring, err error) error {
	if errors.Is(err, actions.ErrNoOperation) {
		return &exit{ExitFailed, fmt.Errorf("%w; `%s` lists those in the record of %s", err, p.again("record show"), quoteless(t.path))}
	}
	return failed(ctx, err)
}
