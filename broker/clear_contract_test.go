package broker

// What a clear is on every broker that does what it should.

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/actions"
	"retainscope/inventory"
	"retainscope/testbroker"
)

var clearCases = []struct {
	name string
	run  func(t *testing.T, r *retirement)
}{
	{"one topic goes, nothing else, and comes back by undo", func(t *testing.T, r *retirement) {
		before := r.holds()
		op := r.clear(clearOwn)
		if op.Verdict() != actions.ClearedVerified || !op.Outcome.Echo || len(op.Baseline.Controls) < 2 || op.Baseline.Topic.QoS == nil {
			t.Fatalf("%s\n%s", op.Sentence(), op.Report(nil))
		}
		if after := r.holds(); !slices.Equal(after, without(before, clearOwn)) {
			t.Errorf("before\n%s\nafter\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
		}
		for _, l := range op.Outcome.Looks {
			if !l.Fenced || l.QuietMS < 250 || l.ClientID == op.Outcome.Receipt.ClientID {
				t.Errorf("a look: %+v", l)
			}
		}
		out, err := r.clearer.Restore(t.Context(), actions.RestoreRequest{Operation: op.ID, By: "kim"})
		if err != nil || out.Result != actions.Restored {
			t.Fatalf("%s (%v)", out.Sentence, err)
		}
		if again := r.holds(); !slices.Equal(again, before) {
			t.Errorf("after the undo\n%s", strings.Join(again, "\n"))
		}
		if n := len(r.y.sent()); n != 2 {
			t.Errorf("%d PUBLISH packets for a clear and an undo", n)
		}
	}},
	{"another value is changed and nothing is sent", func(t *testing.T, r *retirement) {
		r.b.retain(clearOwn, "new", 0)
		if op := r.clear(clearOwn); op.Verdict() != actions.Changed {
			t.Error(op.Sentence())
		}
	}},
	{"a topic that is not there is vanished and nothing is sent", func(t *testing.T, r *retirement) {
		r.b.retain(clearOwn, "", 0)
		if op := r.clear(clearOwn); op.Verdict() != actions.Vanished {
			t.Error(op.Sentence())
		}
	}},
	{"a writer that publishes it in the last moment is seen", func(t *testing.T, r *retirement) {
		r.at(actions.StepRead, func() { r.b.retain(clearOwn, "null", 0) })
		// The witness is told on another connection than the writer: between the two no order is promised. Either way
		// the new value is not taken for the approved one: nothing is sent, or it is an alarm and can be put back.
		op := r.clear(clearOwn)
		if v, over := op.Verdict(), op.Outcome.Overrun; v != actions.Changed && (v != actions.Collateral || over == nil || string(over.Payload) != "null") {
			t.Error(op.Sentence())
		}
	}},
	{"a writer that publishes it again is came back, with the same value", func(t *testing.T, r *retirement) {
		r.at(actions.StepSent, func() { r.b.retain(clearOwn, clearPayload, 0) })
		if op := r.clear(clearOwn); op.Verdict() != actions.CameBack || !op.Outcome.Return.Same || op.Outcome.Return.At.IsZero() {
			t.Error(op.Sentence())
		}
	}},
	{"a writer that publishes another value is came back, with another", func(t *testing.T, r *retirement) {
		r.at(actions.StepSent, func() { r.b.retain(clearOwn, "null", 0) })
		if op := r.clear(clearOwn); op.Verdict() != actions.CameBack || op.Outcome.Return.Same {
			t.Error(op.Sentence())
		}
	}},
	{"a neighbour that somebody clears meanwhile is no alarm", func(t *testing.T, r *retirement) {
		r.at(actions.StepSent, func() { r.b.retain(clearBeside, "", 0) })
		op := r.clear(clearOwn)
		if op.Verdict() != actions.ClearedVerified || !strings.Contains(op.Sentence(), "1 cleared by someone") {
			t.Error(op.Sentence())
		}
	}},
	{"a neighbour that changes meanwhile is no alarm", func(t *testing.T, r *retirement) {
		r.at(actions.StepSent, func() { r.b.retain(clearBeside, "moved", 0) })
		op := r.clear(clearOwn)
		if op.Verdict() != actions.ClearedVerified || !strings.Contains(op.Sentence(), "changed live") {
			t.Error(op.Sentence())
		}
	}},
	{"a value that comes after the clear is found by the watch", func(t *testing.T, r *retirement) {
		op := r.clear(clearOwn)
		if op.Verdict() != actions.ClearedVerified {
			t.Fatal(op.Sentence())
		}
		r.b.retain(clearOwn, clearPayload, 0)
		later, err := r.clearer.WatchReturn(t.Context(), op, time.Now().Add(20*time.Second))
		if err != nil || later.Return == nil || !later.Return.Same {
			t.Errorf("%s (%v)", later.Sentence, err)
		}
		if op, err = r.desk.Operation(t.Context(), op.ID); err != nil || op.Verdict() != actions.CameBack {
			t.Errorf("%s (%v)", op.Verdict(), err)
		}
	}},
	{"a watcher that is sent the echo as published takes it as news and sends nothing", func(t *testing.T, r *retirement) {
		w, inv := watch(t, WatchConfig{Config: r.cfg, Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		if op := r.clear(clearOwn); op.Verdict() != actions.ClearedVerified || !op.Outcome.Echo {
			t.Error(op.Sentence())
		}
		waitFor(t, func() bool { return held(inv, clearOwn) == nil })
		if !happened(inv, clearOwn, inventory.Cleared) || held(inv, clearParent) == nil {
			t.Error("the clear was not noted, or took a neighbour with it")
		}
		if err := w.Close(within(t)); err != nil {
			t.Error(err)
		}
		if n := len(r.y.sent()); n != 1 {
			t.Errorf("%d PUBLISH packets", n)
		}
	}},
	{"a recheck looks again", func(t *testing.T, r *retirement) {
		op := r.clear(clearOwn)
		later, err := r.clearer.Recheck(t.Context(), op.ID, "after a restart")
		if err != nil || later.Found != actions.NotObserved || later.Return != nil {
			t.Errorf("%s (%v)", later.Sentence, err)
		}
	}},
}

func TestClearsOverTheScriptedWire(t *testing.T) {
	for _, c := range clearCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.run(t, newRetirement(t, newScriptBroker(t))) })
		})
	}
}

func TestClearsOverMosquitto(t *testing.T) {
	t.Parallel()
	for _, c := range clearCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := testbroker.Start(t, testbroker.Config{})
			c.run(t, newRetirement(t, newRealBroker(t, b.URL())))
		})
	}
}

func TestClearsOverTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	for _, c := range clearCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, newRetirement(t, newRealBroker(t, startDemo(t))))
		})
	}
}
