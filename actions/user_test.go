package actions

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// clearsBoth clears the topic of the bench and then its neighbour, both approved, and returns the two operations.
func clearsBoth(t *testing.T, b *bench) (first, second Operation) {
	t.Helper()
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	b.approve(m, ownToo, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	first = b.clear()
	b.request = Request{Topic: []byte(ownToo), Controls: [][]byte{[]byte(parent), []byte(neighbour)}}
	second = b.clear()
	if first.Verdict() != ClearedVerified || second.Verdict() != ClearedVerified {
		t.Fatalf("%s\n%s", first.Sentence(), second.Sentence())
	}
	return first, second
}

func TestAControlThatTheProgramClearedItselfIsNoAlarm(t *testing.T) {
	b := newBench(t)
	first, second := clearsBoth(t, b)
	later, err := b.clearer.Recheck(t.Context(), first.ID, "")
	if err != nil || lost(later.Controls) != 0 || count(later.Controls, ClearedHere) != 1 || later.Found != NotObserved {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
	// What was put back since and is not observed any more is an alarm again.
	if out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: second.ID}); err != nil || out.Result != Restored {
		t.Fatal(out.Sentence, err)
	}
	delete(b.lab.store, ownToo)
	if later, err = b.clearer.Recheck(t.Context(), first.ID, ""); err != nil || lost(later.Controls) != 1 {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
}

func TestARecheckWithALoginThatMayNotReadTellsNothing(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	b.onObserve = func(_ int, o *Observation) error { o.Seen = nil; return nil }
	later, err := b.clearer.Recheck(t.Context(), op.ID, "")
	if err != nil || later.Found != FoundNothingOut || lost(later.Controls) != 0 || !strings.Contains(later.Sentence, "may not be allowed to read") {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
	// A login that is shown something reads: then what is missing is missing.
	b.onObserve = nil
	for _, c := range b.request.Controls {
		delete(b.lab.store, string(c))
	}
	if later, err = b.clearer.Recheck(t.Context(), op.ID, ""); err != nil || later.Found != NotObserved || lost(later.Controls) != 3 {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
}

func TestARestoreThatTheLoginCannotReadBackIsNotCalledDifferent(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	b.onObserve = func(_ int, o *Observation) error { o.Seen = nil; return nil }
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID})
	if err != nil || out.Result != RestoreUnverified || !strings.Contains(out.Sentence, "could not be verified") {
		t.Errorf("%s: %s (%v)", out.Result, out.Sentence, err)
	}
	l, err := b.desk.List(t.Context())
	if err != nil || !l.Operations[0].PutBack || l.Operations[0].Restored || l.Operations[0].After != "put back, not verified" {
		t.Errorf("the record says %+v (%v)", l.Operations, err)
	}
	if op, err = b.desk.Operation(t.Context(), op.ID); err != nil || !strings.Contains(op.Report(nil), "cleared and verified, put back, not verified") {
		t.Errorf("%v\n%s", err, op.Report(nil))
	}
}

func TestANeighbourThatWasPutBackIsToldOfBothOperations(t *testing.T) {
	b := newBench(t)
	first, second := clearsBoth(t, b)
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: first.ID, Topic: []byte(ownToo)})
	if err != nil || out.Result != Restored {
		t.Fatal(out.Sentence, err)
	}
	l, err := b.desk.List(t.Context())
	if err != nil || len(l.Operations) != 2 || l.Operations[0].After != "a neighbour put back" || l.Operations[0].PutBack ||
		l.Operations[1].After != "put back" || !l.Operations[1].Restored {
		t.Errorf("the record says %+v (%v)", l.Operations, err)
	}
	for _, c := range []struct{ id, want string }{{first.ID, "cleared and verified, a neighbour put back\n"}, {second.ID, "cleared and verified, put back\n"}} {
		op, err := b.desk.Operation(t.Context(), c.id)
		if err != nil || !strings.Contains(op.Report(nil), c.want) {
			t.Errorf("%s: %v\n%s", c.id, err, op.Report(nil))
		}
	}
	var text strings.Builder
	if _, err := b.desk.Export(t.Context(), &text); err != nil || strings.Count(text.String(), "cleared and verified, put back") != 2 {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestAnApprovalIsNotUsedTwice(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	b.publish(retained(own, ownPayload))
	sends := b.sends
	again, err := b.clearer.Clear(t.Context(), b.request)
	if err != nil || again.Verdict() != NotSent || again.Outcome.Obstacle != ApprovalSpent || again.ID != "" || b.sends != sends || !strings.Contains(again.Sentence(), op.ID) {
		t.Fatalf("%s (%v)", again.Sentence(), err)
	}
	// A refusal used it as well: nothing is tried again by itself. Approved anew it is sent.
	b.code = 0x87
	if op := b.clear(); op.Verdict() != Refused {
		t.Fatal(op.Sentence())
	}
	b.code = 0
	if again, err = b.clearer.Clear(t.Context(), b.request); err != nil || again.Outcome.Obstacle != ApprovalSpent {
		t.Errorf("%s (%v)", again.Sentence(), err)
	}
	if op := b.clear(); op.Verdict() != ClearedVerified {
		t.Error(op.Sentence())
	}
}

func TestAnApprovalOfWhichNothingWasSentIsNotUsed(t *testing.T) {
	b := newBench(t)
	b.observeErr = errors.New("gone")
	if op := b.clear(); op.Outcome.Obstacle != ObserverFailed {
		t.Fatal(op.Sentence())
	}
	b.observeErr = nil
	if op, err := b.clearer.Clear(t.Context(), b.request); err != nil || op.Verdict() != ClearedVerified {
		t.Error(op.Sentence(), err)
	}
}

func TestTwoApprovalsInOneSecondAreTwo(t *testing.T) {
	b := newBench(t)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	was, _ := m.Find([]byte(own))
	if err := b.desk.Decide(t.Context(), home, &was, was, Protection{}, Person{Login: was.ApprovedBy}); err != nil {
		t.Fatal(err)
	}
	if m, err = b.desk.Manifest(); err != nil {
		t.Fatal(err)
	}
	if now, _ := m.Find([]byte(own)); !now.ApprovedAt.After(was.ApprovedAt) {
		t.Errorf("approved at %v and at %v", was.ApprovedAt, now.ApprovedAt)
	}
}

func TestCheckSaysWhatWasClearedAndWhatIsThereAgain(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := b.desk.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store := NewModel()
	store.Publish([]byte(neighbour), []byte("far"), true)
	check := func() Checked {
		return Check(m, store, Protection{}, home, PastOf(l), noon.Add(time.Hour).UnixMilli()).Entries[0]
	}
	if c := check(); c.Decision != WasCleared || c.Why != "cleared 2026-03-07 12:00:00Z by operation "+op.ID {
		t.Errorf("%s: %s", c.Decision, c.Why)
	}
	store.Publish([]byte(own), []byte(ownPayload), true)
	if c := check(); c.Decision != IsUsedUp || !strings.Contains(c.Why, "there again") || !strings.Contains(c.Why, op.ID) {
		t.Errorf("%s: %s", c.Decision, c.Why)
	}
}

func TestAnApprovalThatIsUsedUpOrVoidDoesNotHold(t *testing.T) {
	b := newBench(t)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	all := m.Entries()
	inv := inventory.New(inventory.Options{})
	put := func(payload string) {
		inv.Apply([]inventory.Publication{{Topic: []byte(own), Payload: []byte(payload), Retain: true, Origin: inventory.Live, ReceivedAt: noon.UnixMilli(), Interval: expiry.None()}})
	}
	stands := func(g Grounds, want Standing, holding int) {
		t.Helper()
		st, _, _ := g.Stand(all[0], func() Sight { return SeeIn(inv, all[0]) })
		if n := len(g.Holding(all, inv)); st != want || n != holding {
			t.Errorf("stands %d, %d hold, want %d and %d", st, n, want, holding)
		}
	}
	stands(Grounds{}, NotThere, 0)
	put(ownPayload)
	stands(Grounds{}, Holds, 1)
	put("another")
	stands(Grounds{}, ChangedSince, 0)
	put(ownPayload)
	guard, err := Protect([]string{own})
	if err != nil {
		t.Fatal(err)
	}
	stands(Grounds{Guard: guard}, Barred, 0)
	stands(Grounds{Elsewhere: errors.New("another broker")}, Elsewhere, 0)
	b.clear()
	l, err := b.desk.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := Grounds{Past: PastOf(l)}
	stands(g, ThereAgain, 0)
	put("")
	stands(g, Done, 0)
}

func TestARefusedClearOffersNoUndo(t *testing.T) {
	b := newBench(t)
	b.code = 0x87
	op := b.clear()
	if _, err := op.Undoable(op.Topic); op.Verdict() != Refused || err == nil || !strings.Contains(err.Error(), "took nothing away") {
		t.Errorf("%s: %v", op.Verdict(), err)
	}
}

func TestAClearWithoutAnInventoryLooksForThreeControls(t *testing.T) {
	b := newBench(t)
	delete(b.lab.store, parent)
	b.request.Controls = nil
	op := b.clear()
	var names []string
	for _, c := range op.Baseline.Controls {
		names = append(names, string(c.Topic))
	}
	if op.Verdict() != ClearedVerified || len(names) != 3 || !slices.Contains(names, ownToo) {
		t.Errorf("%s with the controls %v", op.Sentence(), names)
	}
}

func TestOneIsNotWrittenAsMany(t *testing.T) {
	b := newBench(t)
	b.request.Controls = b.request.Controls[:1]
	b.publish(retained(own, "x"))
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	b.approve(m, own, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	report := b.clear().Report(nil)
	for _, wrong := range []string{" 1 bytes", " 1 filters", " 1 messages", " 1 controls", " 1 lines"} {
		if strings.Contains(report, wrong) {
			t.Errorf("the report holds %q:\n%s", wrong, report)
		}
	}
}
