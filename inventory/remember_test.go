package inventory

import (
	"math"
	"testing"

	"retainscope/expiry"
)

// ago is a memory of a topic that was refreshed n times at a distance of gap seconds, the last time second seconds after
// the base.
func ago(topic string, second int64, n, gap int, window uint32) Memory {
	var h expiry.History
	for i := range n {
		since := uint32(gap)
		if i == 0 {
			since = 0
		}
		h = h.Live(expiry.Seconds(window), since)
	}
	return Memory{
		Topic: []byte(topic), FirstSeen: at + (second-int64(n*gap))*1000, LastLive: at + second*1000, Times: uint64(n),
		Largest: window, History: h,
	}
}

func TestWhatIsRememberedIsKnownRightAfterTheScan(t *testing.T) {
	w := newWorld(t)
	w.replay("kept", "1", expiry.Seconds(900), 0)
	w.replay("late", "1", expiry.Seconds(500), 0)
	w.replay("shot", "1", expiry.Seconds(500), 0)
	w.replay("stays", "1", expiry.None(), 0)
	held := w.inv.Remember([]Memory{
		ago("kept", -100, 3, 300, 1000), ago("late", -500, 3, 300, 1000),
		{Topic: []byte("shot"), Largest: 1000}, // never seen live: a window, and no claim
		ago("stays", -3600, 2, 60, 1000),
		ago("elsewhere", -5, 3, 300, 1000),
	})
	if held != 4 {
		t.Errorf("%d of the remembered topics are held, want 4", held)
	}
	for topic, want := range map[string]expiry.Standing{
		"kept": expiry.KeptAlive, "late": expiry.MissedOne, "shot": expiry.Expires, "stays": expiry.Never,
	} {
		s, _ := w.slot(topic)
		if got := s.Standing(at); got != want {
			t.Errorf("%s stands at %v, want %v", topic, got, want)
		}
	}
	s, _ := w.slot("kept")
	if s.LastLive != at-100_000 || s.FirstSeen != at-1000_000 || s.LiveCount != 3 || !s.Flags.Has(FlagLive) {
		t.Errorf("kept: %+v", s)
	}
	if c, ok := s.History.Cadence(); !ok || c != 300 {
		t.Errorf("the cadence of kept is %d %t", c, ok)
	}
	if s, _ := w.slot("shot"); s.History.Window != 1000 || s.Flags.Has(FlagLive) || s.LastLive != 0 {
		t.Errorf("shot: %+v", s)
	}
	if s, _ := w.slot("stays"); s.History != (expiry.History{}) || s.LastLive != at-3600_000 {
		t.Errorf("what never expires now has the history of what expired before: %+v", s)
	}
}

func TestARememberedCadenceGoesOnWithTheNextRefresh(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "1", expiry.Seconds(800), 0)
	w.inv.Remember([]Memory{ago("a", -100, 2, 300, 900)})
	w.live("a", "1", expiry.Seconds(900), 200)
	s, _ := w.slot("a")
	if c, ok := s.History.Cadence(); !ok || c != 300 || s.History.Refreshes != 3 {
		t.Errorf("%+v", s.History)
	}
}

func TestWhatWasSeenHereIsNotCountedTwice(t *testing.T) {
	for _, x := range []struct {
		name      string
		memory    Memory
		refreshes uint16
		gap       uint32
		count     uint32
	}{
		{"the memory ends before", ago("a", -280, 3, 300, 900), 4, 300, 3},
		{"the memory has it too", ago("a", 20, 4, 300, 900), 4, 300, 4},
		{"the memory has less", ago("a", -280, 0, 0, 900), 1, 0, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			w.replay("a", "1", expiry.Seconds(800), 0)
			w.live("a", "1", expiry.Seconds(900), 20)
			for range 2 { // told again it changes nothing
				w.inv.Remember([]Memory{x.memory})
			}
			s, _ := w.slot("a")
			if s.History.Refreshes != x.refreshes || s.History.Gap != x.gap || s.LiveCount != x.count || s.LastLive != at+20_000 {
				t.Errorf("%+v, %d times", s.History, s.LiveCount)
			}
		})
	}
	w := newWorld(t)
	w.live("a", "1", expiry.None(), 0)
	w.inv.Remember([]Memory{ago("a", -300, 3, 300, 900)})
	if s, _ := w.slot("a"); s.Standing(at) != expiry.Never || s.History.Refreshes != 0 {
		t.Errorf("a publisher without expiry inherits a history: %+v", s.History)
	}
}

func TestAnAnswerIsNotHeldBackBySomethingRemembered(t *testing.T) {
	w := newWorld(t)
	w.inv.BeginScan()
	w.replay("a", "1", expiry.Seconds(900), 0)
	w.inv.Remember([]Memory{ago("a", -2, 3, 300, 900)})
	w.apply(Answer, true, "a", "2", expiry.Seconds(899), 3)
	w.inv.BeginScan()
	w.replay("b", "1", expiry.None(), 4)
	w.inv.Remember([]Memory{{Topic: []byte("b"), LastLive: at - 20_000, Times: math.MaxUint64}})
	w.replay("b", "2", expiry.None(), 5)
	for _, topic := range []string{"a", "b"} {
		if s, _ := w.slot(topic); string(s.Head) != "2" {
			t.Errorf("%s holds %q", topic, s.Head)
		}
	}
}

func TestTheFeedTellsWhatWasRemembered(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "1", expiry.None(), 0)
	w.inv.TrackChanges(true)
	feedOf(w.inv)
	w.inv.Remember([]Memory{{Topic: []byte("a"), LastLive: at - 1000}})
	if got := feedOf(w.inv); len(got) != 1 {
		t.Errorf("the feed told %q", got)
	}
	w.inv.Remember([]Memory{{Topic: []byte("a"), LastLive: at - 1000}})
	if got := feedOf(w.inv); len(got) != 0 {
		t.Errorf("nothing new, and the feed told %q", got)
	}
}
