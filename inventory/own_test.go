package inventory

import (
	"testing"

	"retainscope/expiry"
)

func TestAnOwnPublicationIsNobodysActivity(t *testing.T) {
	inv := New(Options{})
	inv.BeginScan()
	own := Publication{Topic: []byte("a"), Payload: []byte("1"), Interval: expiry.Seconds(90), ReceivedAt: 1000, Retain: true, Origin: Own}
	inv.Apply([]Publication{own})
	r, held := inv.Find([]byte("a"))
	s, _ := inv.Slot(r)
	if !held || s.LastLive != 0 || s.LiveCount != 0 || s.Flags.Has(FlagLive) {
		t.Errorf("held %v, last live %d, %d times, %v", held, s.LastLive, s.LiveCount, s.Flags.Names())
	}
	// An older copy that the scan still brings does not replace it.
	inv.Apply([]Publication{{Topic: []byte("a"), Payload: []byte("0"), ReceivedAt: 1100, Retain: true, Interval: expiry.None()}})
	if d, _ := inv.Detail(r); string(d.Payload) != "1" {
		t.Errorf("it holds %q", d.Payload)
	}
	// The first publication of somebody else is the first, and no gap is learned from ours.
	for i := range 3 {
		inv.Apply([]Publication{{Topic: []byte("a"), Payload: []byte("1"), Interval: expiry.Seconds(90), ReceivedAt: int64(31+30*i) * 1000, Retain: true, Origin: Live}})
		s, _ = inv.Slot(r)
		if _, learned := s.History.Cadence(); s.LiveCount != uint32(i+1) || learned != (i == 2) {
			t.Errorf("after %d refreshes: %d live, learned %v", i+1, s.LiveCount, learned)
		}
	}
	own.Payload, own.ReceivedAt = nil, 100_000
	inv.Apply([]Publication{own})
	events, _ := inv.Events(0, 0)
	if last := events[len(events)-1]; last.Kind != ClearedHere || last.Kind.String() != "cleared from here" {
		t.Errorf("the clear is told as %q", last.Kind)
	}
}
