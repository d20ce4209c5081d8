package tui

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"retainscope/actions"
)

// workshop is a Retiring with a real manifest in a folder of its own. What a clear, a look or a restore brings is made
// up by the test; the real ones are run on the built program.
type workshop struct {
	desk    *actions.Desk
	terms   Terms
	person  actions.Person
	decided int
	err     error // of Decide
}

var lan = actions.BrokerID{URL: "mqtt://localhost:1883", User: "operator", Identity: "mosquitto version 2.0.11"}

func newWorkshop(t testing.TB) *workshop {
	t.Helper()
	dir, err := actions.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{person: actions.Person{Login: "root", SudoUser: "kim"}}
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

func (w *workshop) Clear(context.Context, actions.Request, func(actions.Progress)) (actions.Operation, error) {
	return actions.Operation{}, nil
}

func (w *workshop) Watch(context.Context, actions.Operation, time.Time) (actions.Later, error) {
	return actions.Later{}, nil
}

func (w *workshop) Recheck(context.Context, string, string) (actions.Later, error) {
	return actions.Later{}, nil
}

func (w *workshop) Restore(context.Context, actions.RestoreRequest, func(actions.Progress)) (actions.UndoOutcome, error) {
	return actions.UndoOutcome{}, nil
}

func (w *workshop) Record(context.Context, func(int64)) (actions.Listed, error) {
	return actions.Listed{}, nil
}

func (w *workshop) Operation(context.Context, string) (actions.Operation, error) {
	return actions.Operation{}, nil
}

func (w *workshop) Verify(context.Context) (actions.Verification, error) {
	return actions.Verification{}, nil
}

// entry returns what the manifest says of a topic.
func (w *workshop) entry(t testing.TB, topic string) (actions.Entry, bool) {
	t.Helper()
	m, err := w.desk.Manifest()
	if err != nil {
		return actions.Entry{}, false
	}
	return m.Find([]byte(topic))
}
