package inventory

import (
	"testing"

	"retainscope/expiry"
)

func TestALiveMessageThatHidesRetainSaysNothingOfWhatIsKept(t *testing.T) {
	w := newWorld(t)
	w.inv.BeginScan()
	w.replay("a", "kept", expiry.NotKnown(), 1)
	w.apply(Live, false, "a", "other", expiry.NotKnown(), 2)
	w.want("a", "kept", "unknown", "live", "live-differs") // where RETAIN is told
	w.inv.SetLimited(true)
	w.apply(Live, false, "a", "other", expiry.NotKnown(), 3)
	if s := w.want("a", "kept", "unknown", "live"); s.LiveCount != 2 || w.inv.Counts().Findings != 0 {
		t.Errorf("seen live %d times, %d worth a look", s.LiveCount, w.inv.Counts().Findings)
	}
	// What the broker answers when it is asked is believed at once, whatever came live before.
	w.apply(Answer, true, "a", "other", expiry.NotKnown(), 4)
	w.apply(Answer, true, "b", "new", expiry.NotKnown(), 4)
	w.want("a", "other", "unknown", "live", "changed")
	w.want("b", "new", "unknown")
	w.inv.SetLimited(false)
	w.apply(Live, false, "a", "third", expiry.None(), 5)
	w.want("a", "other", "unknown", "live", "changed", "live-differs")
}

func TestOnlyThreeOneOneIsLimited(t *testing.T) {
	for version, want := range map[string]bool{"5": false, "3.1.1": true, "": false} {
		if l := (&Link{Protocol: version}); l.Limited() != want {
			t.Errorf("%q", version)
		}
	}
}
