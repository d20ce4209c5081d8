package actions

import (
	"testing"
)

func TestAFollowerTellsWhatOthersAppendAndADeskWhatItWroteItself(t *testing.T) {
	b := newBench(t)
	f, err := Follow(b.desk.store, "")
	if err != nil {
		t.Fatal(err)
	}
	next := func(want int) []Announced {
		t.Helper()
		all, err := f.Next(t.Context())
		if err != nil || len(all) != want {
			t.Fatalf("%d announced, want %d: %+v (%v)", len(all), want, all, err)
		}
		return all
	}
	next(0)
	op := rich(t, b, 0, 1)
	all := next(2)
	if a := all[0]; a.Operation != op.ID || string(a.Topic) != own || a.Fingerprint != "" || a.Over || a.Record != b.desk.base || a.Broker.URL != b.clearer.Broker.URL {
		t.Errorf("the clear was announced as %+v", a)
	}
	if a := all[1]; a.Operation != op.ID || !a.Over || !a.Sent {
		t.Errorf("its end was told as %+v", a)
	}
	other := OpenDesk(b.desk.store, b.desk.name, b.desk.now)
	if !b.desk.Wrote(all[0]) || other.Wrote(all[0]) {
		t.Error("whose line it is is not known")
	}
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"})
	if err != nil || out.Result != Restored {
		t.Fatalf("%s (%v)", out.Sentence, err)
	}
	all = next(2)
	if a := all[0]; string(a.Topic) != own || a.Fingerprint != op.Baseline.Topic.Fingerprint || !all[1].Sent {
		t.Errorf("the restore was announced as %+v, and ended as %+v", a, all[1])
	}
	next(0)
	late, err := Follow(b.desk.store, "")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := late.Next(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("what was there before it began: %+v (%v)", all, err)
	}
}
