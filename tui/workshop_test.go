package tui

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// workshop is a Retiring with a real manifest in a folder of its own. What a clear, a look or a restore brings is made
// up by the test; the real ones are run on the built program.
type workshop struct {
	desk    *actions.Desk
	terms   Terms
	person  actions.Person
	t       testing.TB
	inv     *inventory.Inventory
	decided int
	err     error // of Decide

	verdict      actions.Verdict // of every clear
	between      func(actions.Step)
	sent         int
	unwritten    error
	requests     []actions.Request
	ops          []actions.Operation
	later        actions.Later // of every watch and every recheck
	watching     func()
	watched      []time.Time
	notes        []string
	restores     []actions.RestoreRequest
	reading      func(read func(int64))
	verification actions.Verification
	check        actions.Verification // of every reading
}

var lan = actions.BrokerID{URL: "mqtt://localhost:1883", User: "operator", Identity: "mosquitto version 2.0.11"}

func newWorkshop(t testing.TB) *workshop {
	t.Helper()
	dir, err := actions.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{t: t, verdict: actions.ClearedVerified, person: actions.Person{Login: "root", SudoUser: "kim"}}
	w.terms = Terms{By: w.person.Name(), Broker: lan, Manifest: filepath.Join("/etc/retainscope", "home.toml"), UndoLimit: 1 << 20, Window: time.Minute}
	w.desk = actions.OpenDesk(dir, "home.toml", func() time.Time { return at0 })
	return w
}

func (w *workshop) Terms() Terms                                        { return w.terms }
func (w *workshop) Manifest(context.Context) (*actions.Manifest, error) { return w.desk.Manifest() }

func (w *workshop) Decide(ctx context.Context, was *actions.Entry, e actions.Entry) error {
	w.decided++
	if w.err != nil {
		return w.err
	}
	return w.desk.Decide(ctx, w.terms.Broker, was, e, w.terms.Protection, w.person)
}

func (w *workshop) Withdraw(ctx context.Context, topic []byte) error {
	_, err := w.desk.Withdraw(ctx, w.terms.Broker, topic)
	return err
}

// Clear acknowledges and empties the slot, unless the test wants another end. between is called after each boundary.
func (w *workshop) Clear(ctx context.Context, req actions.Request, told func(actions.Progress)) (actions.Operation, error) {
	w.requests = append(w.requests, req)
	op := w.operation(req, w.verdict)
	pass := func(s actions.Step, text string) {
		told(actions.Progress{Operation: op.ID, Step: s, Text: text})
		if w.between != nil {
			w.between(s)
		}
	}
	pass(actions.StepChecked, "checked")
	pass(actions.StepIntended, "intent recorded")
	pass(actions.StepRead, fmt.Sprintf("baseline read, %d controls", len(req.Controls)))
	if ctx.Err() != nil {
		op = w.operation(req, actions.NotSent)
		op.Outcome.Obstacle, op.Outcome.Sentence = actions.Left, "nothing was sent (left): left before anything was sent"
	}
	if op.Outcome.Verdict.Sent() {
		pass(actions.StepCompared, "value as approved")
		w.sent++
		if r := op.Outcome.Receipt; r.Answered {
			pass(actions.StepSent, "acknowledged "+r.CodeName+": the broker accepted the publication")
		} else {
			pass(actions.StepSent, "sent, no answer")
		}
		if op.Outcome.Verdict == actions.ClearedVerified || op.Outcome.Verdict == actions.Collateral {
			w.inv.Apply([]inventory.Publication{live(string(req.Topic), "", expiry.None(), 0)})
		}
		pass(actions.StepReadBack, "of 2 controls 2 intact")
	}
	pass(actions.StepRecorded, op.Outcome.Verdict.String())
	w.ops = append(w.ops, op)
	return op, w.unwritten
}

// operation makes up an operation that ended so.
func (w *workshop) operation(req actions.Request, v actions.Verdict) actions.Operation {
	m, err := w.desk.Manifest()
	if err != nil {
		w.t.Fatal(err)
	}
	e, _ := m.Find(req.Topic)
	id := fmt.Sprintf("20260314-140211-%d", len(w.ops)+1)
	op := actions.Operation{ID: id, Topic: req.Topic, Begun: at0, Ended: at0,
		Intent:  &actions.Intent{Broker: w.terms.Broker, Topic: req.Topic, Entry: e, Provisional: e.Provisional(), Expect: req.Expect},
		Outcome: &actions.Outcome{Verdict: v, Sentence: "the sentence of " + v.String(), Provisional: e.Provisional(), Until: at0}}
	saved := actions.Copy{Topic: req.Topic, Size: 3, Fingerprint: strings.Repeat("0f", 32), Expiry: "absent", ReceivedAt: at0, Saved: true, Payload: []byte("old")}
	if ref, ok := w.inv.Find(req.Topic); ok {
		d, _ := w.inv.Detail(ref)
		saved.Size, saved.Fingerprint, saved.Payload = d.Size, d.Fingerprint, d.Payload
	}
	op.Baseline = &actions.Baseline{Topic: saved}
	for _, c := range req.Controls {
		op.Baseline.Controls = append(op.Baseline.Controls, actions.Copy{Topic: c, Size: 1, Fingerprint: strings.Repeat("0f", 32), Saved: true, Payload: []byte("x"), Expiry: "absent", ReceivedAt: at0})
		op.Outcome.Controls = append(op.Outcome.Controls, actions.ControlResult{Topic: c, State: actions.Intact})
	}
	if v.Sent() {
		op.Outcome.Receipt = &actions.ReceiptRecord{Publishes: 1, Answered: v != actions.NoAnswer, CodeName: "0x00 success"}
		op.Outcome.Found = actions.NotObserved
	}
	switch v {
	case actions.Refused:
		op.Outcome.Receipt.Code, op.Outcome.Receipt.CodeName = 0x87, "0x87 not authorized"
	case actions.CameBack:
		op.Outcome.Return, op.Outcome.Found = &actions.Return{AfterMS: 3200}, actions.Present
	case actions.StillPresent:
		op.Outcome.Found = actions.Present
	case actions.NotSent:
		op.Outcome.Obstacle = actions.Busy
	case actions.Collateral:
		op.Outcome.Controls[0].State = actions.Lost
	}
	return op
}

// Watch sees nothing, unless the test wants a return.
func (w *workshop) Watch(_ context.Context, op actions.Operation, until time.Time) (actions.Later, error) {
	w.watched = append(w.watched, until)
	if w.watching != nil {
		w.watching()
	}
	return w.later, nil
}

func (w *workshop) Recheck(_ context.Context, id, note string) (actions.Later, error) {
	w.notes = append(w.notes, id+" "+note)
	return w.later, nil
}

// Restore puts it back, and overwrites only what it was told to.
func (w *workshop) Restore(_ context.Context, req actions.RestoreRequest, told func(actions.Progress)) (actions.UndoOutcome, error) {
	w.restores = append(w.restores, req)
	told(actions.Progress{Step: actions.StepRead, Text: "topic read"})
	op, err := w.Operation(context.Background(), req.Operation)
	if err != nil {
		return actions.UndoOutcome{}, err
	}
	c, err := op.Undoable(req.Topic)
	if err != nil {
		return actions.UndoOutcome{}, err
	}
	w.inv.Apply([]inventory.Publication{live(string(req.Topic), string(c.Payload), expiry.None(), 0)})
	out := actions.UndoOutcome{Of: req.Operation, Result: actions.Restored, Sentence: "it was put back and read back: bytes, properties and expiry are the same"}
	for i := range w.ops {
		if w.ops[i].ID == req.Operation {
			w.ops[i].Undos = append(w.ops[i].Undos, actions.Undo{ID: "undo", Begun: at0, Intent: actions.UndoIntent{Topic: req.Topic}, Outcome: &out})
		}
	}
	return out, nil
}

func (w *workshop) Record(ctx context.Context, read func(int64)) (actions.Listed, error) {
	if w.reading != nil {
		w.reading(read)
	}
	if ctx.Err() != nil {
		return actions.Listed{}, ctx.Err()
	}
	l := actions.Listed{Lines: int64(3 * len(w.ops)), Check: w.check}
	for _, op := range w.ops {
		s := actions.Summary{ID: op.ID, Topic: op.Topic, Begun: op.Begun, Owner: op.Intent.Entry.Owner, By: op.Intent.Entry.ApprovedBy, ApprovedAt: op.Intent.Entry.ApprovedAt, Fingerprint: op.Intent.Entry.Fingerprint, Broker: op.Intent.Broker,
			Verdict: op.Verdict(), Provisional: len(op.Provisional()) > 0, Open: op.Open(), Running: op.Running, SentNothing: op.Open() && op.Running == "" && op.Baseline == nil, Sentence: op.Sentence()}
		for _, u := range op.Undos {
			s.Restored = s.Restored || u.Outcome != nil && u.Outcome.Result == actions.Restored
			s.PutBack = true
		}
		l.Operations = append(l.Operations, s)
	}
	return l, nil
}

func (w *workshop) Operation(_ context.Context, id string) (actions.Operation, error) {
	for _, op := range w.ops {
		if op.ID == id {
			return op, nil
		}
	}
	return actions.Operation{}, actions.ErrNoOperation
}

func (w *workshop) Head(context.Context) (actions.Head, bool, error) {
	return actions.Head{Lines: 7, SHA256: strings.Repeat("5a", 32)}, true, nil
}

func (w *workshop) Verify(context.Context) (actions.Verification, error) { return w.verification, nil }

// entry returns what the manifest says of a topic.
func (w *workshop) entry(t testing.TB, topic string) (actions.Entry, bool) {
	t.Helper()
	m, err := w.desk.Manifest()
	if err != nil {
		return actions.Entry{}, false
	}
	return m.Find([]byte(topic))
}
