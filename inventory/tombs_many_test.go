package inventory

import (
	"fmt"
	"testing"
)

func TestACopyOlderThanOneOfVeryManyTombstonesBringsNothingBack(t *testing.T) {
	inv := New(Options{})
	inv.BeginScan()
	const n = 300_000
	at := int64(1_800_000_000_000)
	for i := range n {
		inv.Apply([]Publication{{Topic: fmt.Appendf(nil, "a/%d", i), Retain: true, ReceivedAt: at, Origin: Live}})
	}
	for i := range n {
		inv.Apply([]Publication{{Topic: fmt.Appendf(nil, "a/%d", i), Payload: []byte("1"), Retain: true, ReceivedAt: at + 1, Origin: Replay}})
	}
	if got := inv.Counts().Topics; got != 0 {
		t.Fatalf("%d topics that a live tombstone emptied came back with older copies", got)
	}
}

func TestTombstonesThatNothingNeedsAnyMoreAreLetGo(t *testing.T) {
	inv := New(Options{})
	at := int64(1_800_000_000_000)
	for i := range 100_000 {
		inv.Apply([]Publication{{Topic: fmt.Appendf(nil, "a/%d", i), Retain: true, ReceivedAt: at, Origin: Live}})
	}
	if len(inv.tombs.sets) == 0 {
		t.Fatal("none is remembered")
	}
	inv.Tick(at + answerGuard)
	if n := len(inv.tombs.sets); n != 0 {
		t.Fatalf("%d generations are kept for nothing", n)
	}
}
