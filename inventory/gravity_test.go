package inventory

import (
	"slices"
	"testing"

	"retainscope/expiry"
)

func TestTheGravestReadingComesFirst(t *testing.T) {
	inv := New(Options{})
	put := func(topic, payload string, i expiry.Interval, origin Origin, at int64) {
		inv.Apply([]Publication{{Topic: []byte(topic), Payload: []byte(payload), Interval: i, ReceivedAt: at, Retain: true, Origin: origin}})
	}
	put("alive", "1", expiry.Seconds(100), Replay, 0)
	put("alive", "1", expiry.Seconds(100), Live, 1000)
	put("alive", "1", expiry.Seconds(100), Live, 34_000)
	put("empty", "null", expiry.None(), Replay, 0)
	put("expires", "1", expiry.Seconds(100), Replay, 0)
	put("fell", "1", expiry.Seconds(100), Replay, 0)
	put("fell", "1", expiry.None(), Live, 2000)
	put("hazard", "ON", expiry.None(), Replay, 0)
	put("left", "1", expiry.None(), Replay, 0)
	put("missed", "1", expiry.Seconds(60), Live, 1000)
	put("missed", "1", expiry.Seconds(60), Live, 2000)
	put("never", "1", expiry.None(), Replay, 0)
	put("unknown", "1", expiry.NotKnown(), Replay, 0)
	inv.Mark([]byte("hazard"), FlagHazard, 0)
	inv.Mark([]byte("left"), FlagLeft, 0)
	want := []string{"hazard", "left", "fell", "empty", "missed", "never", "unknown", "expires", "alive"}
	if got := topicsOf(mustList(t, inv, Spec{Sort: ByReading, Now: 35_000}), 20); !slices.Equal(got, want) {
		t.Fatalf("by reading: %q, want %q", got, want)
	}
}
