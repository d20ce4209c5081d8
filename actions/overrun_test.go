package actions

import (
	"strings"
	"testing"

	"retainscope/expiry"
	"retainscope/inventory"
)

func newer(topic []byte) inventory.Publication {
	return inventory.Publication{Topic: topic, Payload: []byte("newer"), Interval: expiry.None(), Retain: true}
}

func TestAValueWrittenWhileTheSenderConnectsIsNotClearedAway(t *testing.T) {
	b := newBench(t)
	b.connecting = func() { b.publish(newer(b.topic)) }
	op, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || op.Verdict() != Changed || b.sends != 0 {
		t.Errorf("%s, %v, %d sent: %s", op.Verdict(), err, b.sends, op.Sentence())
	}
}

func TestAValueThatWentUnapprovedIsAnAlarmAndIsSaved(t *testing.T) {
	b := newBench(t)
	b.racing = func() { b.publish(newer(b.topic)) }
	op, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || op.Verdict() != Collateral || !strings.Contains(op.Sentence(), "went unapproved") {
		t.Fatalf("%s, %v: %s", op.Verdict(), err, op.Sentence())
	}
	if out := op.Outcome.WithoutPayloads(); out.Overrun == nil || out.Overrun.Payload != nil || op.Outcome.Overrun.Payload == nil {
		t.Errorf("%+v", out.Overrun)
	}
	b.racing = nil
	undo, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "person"})
	if held := b.lab.store[string(b.topic)]; err != nil || undo.Result != Restored || string(held.Payload) != "newer" {
		t.Errorf("%s, %v: %s; it holds %q", undo.Result, err, undo.Sentence, held.Payload)
	}
}

// TestAWitnessThatIsLateIsWaitedFor: what was published before a look is known after it, however slow the connection.
func TestAWitnessThatIsLateIsWaitedFor(t *testing.T) {
	b := newBench(t)
	b.late = true
	b.connecting = func() { b.publish(newer(b.topic)) }
	op, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || op.Verdict() != Changed || b.sends != 0 {
		t.Errorf("%s, %v, %d sent: %s", op.Verdict(), err, b.sends, op.Sentence())
	}
	b = newBench(t)
	b.late = true
	b.racing = func() { b.publish(newer(b.topic)) }
	op, err = b.clearer.Clear(t.Context(), b.request)
	if err != nil || op.Verdict() != Collateral || op.Outcome.Overrun == nil {
		t.Fatalf("%s, %v: %s", op.Verdict(), err, op.Sentence())
	}
	b.racing = func() { b.publish(retained(string(b.topic), "newest")) }
	undo, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "person"})
	if err != nil || undo.Result != RestoredOtherwise || undo.Overrun == nil || undo.Overrun.Size != len("newest") {
		t.Errorf("%s, %v: %s", undo.Result, err, undo.Sentence)
	}
}

func TestTheApprovedValueWrittenOnceMoreIsNoAlarm(t *testing.T) {
	b := newBench(t)
	same := b.lab.store[string(b.topic)]
	same.Retain = true
	b.racing = func() { b.publish(same) }
	op, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || op.Verdict() != ClearedVerified || !strings.Contains(strings.Join(op.Outcome.Notes, "; "), "published once more just before") {
		t.Errorf("%s, %v: %s; %q", op.Verdict(), err, op.Sentence(), op.Outcome.Notes)
	}
}

func TestAClearBesideAnotherOneSaysSo(t *testing.T) {
	b := newBench(t)
	b.racing = func() { b.publish(inventory.Publication{Topic: b.topic, Interval: expiry.None(), Retain: true}) }
	op, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || !strings.Contains(strings.Join(op.Outcome.Notes, "; "), "somebody else cleared it as well") {
		t.Errorf("%s, %v: %s; %q", op.Verdict(), err, op.Sentence(), op.Outcome.Notes)
	}
}

func TestARestoreOverAValueThatNobodyConfirmedIsNotSentOrSaysSo(t *testing.T) {
	for _, late := range []bool{false, true} {
		b := newBench(t)
		op, err := b.clearer.Clear(t.Context(), b.request)
		if err != nil || op.Verdict() != ClearedVerified {
			t.Fatal(op.Verdict(), err)
		}
		write := func() { b.publish(newer(b.topic)) }
		if late {
			b.racing = write
		} else {
			b.connecting = write
		}
		sends := b.sends
		undo, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "person"})
		switch {
		case err != nil:
			t.Error(err)
		case !late && (undo.Result != RestoreNotSent || undo.Obstacle != Occupied || b.sends != sends || string(b.lab.store[string(b.topic)].Payload) != "newer"):
			t.Errorf("written before: %s (%s): %s", undo.Result, undo.Obstacle, undo.Sentence)
		case late && (undo.Result != RestoredOtherwise || !strings.Contains(undo.Sentence, "somebody wrote after the last look")):
			t.Errorf("written at the last moment: %s: %s", undo.Result, undo.Sentence)
		}
	}
}
