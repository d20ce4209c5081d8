package tui

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestASilenceThatIsRememberedIsOlderThanTheScreen(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{
		{Topic: []byte("airthings/state"), Payload: []byte("1"), Interval: expiry.None(), ReceivedAt: at0.UnixMilli(), Retain: true},
		{Topic: []byte("gas/state"), Payload: []byte("1"), Interval: expiry.None(), ReceivedAt: at0.UnixMilli(), Retain: true},
	})
	inv.Remember([]inventory.Memory{
		{Topic: []byte("airthings/state"), FirstSeen: at0.Add(-30 * 24 * time.Hour).UnixMilli()},
		{Topic: []byte("gas/state"), FirstSeen: at0.Add(-30 * 24 * time.Hour).UnixMilli(), LastLive: at0.Add(-4 * time.Minute).UnixMilli(), Times: 12},
	})
	watched := 13 * 24 * time.Hour
	s := newStage(t, watching(), inv, 120, 40, func(o *Options) {
		o.Silence = func(topic []byte, first, live, now int64) Silence {
			if live != 0 {
				return Silence{Watched: time.Duration(now-live) * time.Millisecond, Text: "not seen live since, in 4 min of watching, without a gap"}
			}
			return Silence{Watched: watched, Text: "not seen live in 13 days of watching, with 2 gaps"}
		}
	})
	s.keys("t")
	s.wants("not in 13d", "4m ago")
	s.types("/airthings")
	s.keys("enter")
	s.wants("not in 13d", "watched      not seen live in 13", "2 gaps", "known        since 12 Feb 14:02:11")
	// Nobody watches any more: what was watched was watched.
	s.src.link.State, s.src.link.Since = inventory.Lost, at0
	s.send(changedMsg{})
	s.wants("not in 13d")
	// Nobody did at all: then only this screen knows.
	watched = 0
	s.src.link.State, s.src.link.Since = inventory.Watching, at0
	s.send(changedMsg{})
	s.tick(5 * time.Minute)
	s.wants("not in 5m")
	s.lacks("not in 13d")
}

func TestASilenceWasClaimedBeforeTheJournalWasBroughtIn(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{{Topic: []byte("kitchenpi/state"), Payload: []byte("1"), Interval: expiry.None(), ReceivedAt: at0.UnixMilli(), Retain: true}})
	pending := true
	s := newStage(t, watching(), inv, 120, 40, func(o *Options) {
		o.Silence = func(_ []byte, first, live, now int64) Silence {
			if pending {
				return Silence{Pending: true}
			}
			return Silence{Watched: time.Duration(now-max(first, live)) * time.Millisecond, Text: "not seen live in all of it"}
		}
	})
	s.keys("t")
	s.tick(6 * time.Second)
	s.lacks("not in")
	s.wants("…")
	s.wantsProse("what the journal")
	inv.Remember([]inventory.Memory{{Topic: []byte("kitchenpi/state"), FirstSeen: at0.Add(-time.Hour).UnixMilli(), LastLive: at0.Add(-3 * time.Minute).UnixMilli(), Times: 2}})
	pending = false
	s.tick(time.Second)
	s.wants("3m ago")
	s.lacks("what the journal")
}
