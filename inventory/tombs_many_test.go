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
