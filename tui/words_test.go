package tui

import (
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestTheWordsOfTheColumnsWereWrittenTwice(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 118, 40, nil)
	s.keys("t", "s")
	now := s.m.now.UnixMilli()
	for range 30 {
		r, _ := s.m.row()
		line := s.line("› ") + s.line("›!")
		s.wants(Expires(&r.Slot, now, &inventory.Link{}))
		for _, want := range []string{ExpiryPhrase(&r.Slot, now), Expires(&r.Slot, now, &inventory.Link{}), Size(int64(r.Slot.Size))} {
			if want == "" || !strings.Contains(line, want) {
				t.Fatalf("%q is not in the row %q", want, line)
			}
		}
		s.keys("down")
	}
	for want, slot := range map[string]*inventory.Slot{
		"never": {Interval: expiry.None()}, "unknown": {Interval: expiry.NotKnown()}, "due": {Interval: expiry.Seconds(1), ReceivedAt: now - 5000},
		"stopped": {Interval: expiry.Seconds(60), ReceivedAt: now, StoppedAt: now}, "00:01:00": {Interval: expiry.Seconds(60), ReceivedAt: now},
	} {
		if got := Expires(slot, now, &inventory.Link{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if ExpiryReason(slot, s.m.now) == "" {
			t.Errorf("%q has no reason", want)
		}
	}
}

func TestACopyOlderThanLiveTrafficHadNoMark(t *testing.T) {
	s := small(t)
	p := live("a/1", "newer", expiry.None(), 0)
	p.Retain = false
	s.inv.Apply([]inventory.Publication{p})
	s.tick(time.Second)
	s.wants("1 !")
	s.types("/is:marked")
	s.keys("enter")
	s.wantCursor("a/1")
	s.wants("›!", "older than live")
	s.keys("enter")
	s.wantsProse("Older than live traffic: the last live publication, at 14:02:11, came without RETAIN")
	s.lacks("note")
	p.Retain, p.ReceivedAt = true, at0.Add(time.Second).UnixMilli()
	s.inv.Apply([]inventory.Publication{p})
	s.tick(time.Second)
	s.keys("esc")
	s.wants("0 topics")
	s.lacks("1 !")
}
