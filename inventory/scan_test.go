package inventory

import (
	"context"
	"slices"
	"testing"

	"retainscope/expiry"
)

func TestASnapshotCopyDoesNotUndoWhatWasLiveSinceTheScanBegan(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(w world)
		want string // payload, empty for gone
	}{
		{"an older copy after a newer live publication", func(w world) {
			w.inv.BeginScan()
			w.live("a", "new", expiry.None(), 1)
			w.replay("a", "old", expiry.None(), 2)
		}, "new"},
		{"a copy before the live publication", func(w world) {
			w.inv.BeginScan()
			w.replay("a", "old", expiry.None(), 1)
			w.live("a", "new", expiry.None(), 2)
		}, "new"},
		{"a copy of the next scan is believed", func(w world) {
			w.inv.BeginScan()
			w.live("a", "new", expiry.None(), 1)
			w.inv.BeginScan()
			w.replay("a", "newest", expiry.None(), 2)
		}, "newest"},
		{"a live publication before any scan is older than the scan", func(w world) {
			w.live("a", "old", expiry.None(), 1)
			w.inv.BeginScan()
			w.replay("a", "new", expiry.None(), 2)
		}, "new"},
		{"a live publication without retain is no reason", func(w world) {
			w.replay("a", "old", expiry.None(), 0)
			w.inv.BeginScan()
			w.apply(Live, false, "a", "new", expiry.None(), 1)
			w.replay("a", "new", expiry.None(), 2)
		}, "new"},
		{"an older copy after a live tombstone", func(w world) {
			w.inv.BeginScan()
			w.replay("a", "old", expiry.None(), 1)
			w.live("a", "", expiry.None(), 2)
			w.replay("a", "old", expiry.None(), 3)
		}, ""},
		{"a tombstone for a topic not seen yet", func(w world) {
			w.inv.BeginScan()
			w.live("a", "", expiry.None(), 1)
			w.replay("a", "old", expiry.None(), 2)
		}, ""},
		{"a tombstone of an earlier scan is forgotten", func(w world) {
			w.inv.BeginScan()
			w.live("a", "", expiry.None(), 1)
			w.inv.BeginScan()
			w.replay("a", "new", expiry.None(), 2)
		}, "new"},
		{"a tombstone is forgotten when the scan ended", func(w world) {
			w.inv.BeginScan()
			w.live("a", "", expiry.None(), 1)
			w.inv.EndScan()
			w.replay("a", "late", expiry.None(), 2)
		}, "late"},
		{"a publication after the tombstone lifts it", func(w world) {
			w.inv.BeginScan()
			w.live("a", "", expiry.None(), 1)
			w.live("a", "new", expiry.None(), 2)
			w.replay("a", "old", expiry.None(), 3)
		}, "new"},
		{"an answer that may be older than a live publication", func(w world) {
			w.live("a", "new", expiry.None(), 1)
			w.apply(Answer, true, "a", "old", expiry.None(), 5)
		}, "new"},
		{"an answer long after the last live publication is believed", func(w world) {
			w.live("a", "old", expiry.None(), 1)
			w.apply(Answer, true, "a", "new", expiry.None(), 12)
		}, "new"},
		{"an answer that may be older than a tombstone", func(w world) {
			w.live("a", "", expiry.None(), 1)
			w.apply(Answer, true, "a", "old", expiry.None(), 5)
		}, ""},
		{"an answer long after a tombstone is believed", func(w world) {
			w.live("a", "", expiry.None(), 1)
			w.apply(Answer, true, "a", "new", expiry.None(), 12)
		}, "new"},
	} {
		w := newWorld(t)
		c.run(w)
		if s, ok := w.slot("a"); ok != (c.want != "") || string(s.Head) != c.want {
			t.Errorf("%s: held %v, %q, want %q", c.name, ok, s.Head, c.want)
		}
	}
}

func TestACopyOfWhatWasLiveKeepsTheLiveDeadlineAndTellsTheQoS(t *testing.T) {
	w := newWorld(t)
	w.inv.BeginScan()
	w.live("a", "x", expiry.Seconds(60), 5)
	w.inv.Apply([]Publication{{
		Topic: []byte("a"), Payload: []byte("x"), Interval: expiry.Seconds(10), ReceivedAt: at + 6000, Retain: true, QoS: 1, QoSKnown: true,
	}})
	if s := w.want("a", "x", "expiring", "live"); s.Interval != expiry.Seconds(60) || s.ReceivedAt != at+5000 || s.QoS != 1 {
		t.Fatalf("slot is %+v", s)
	}
	w.live("a", "y", expiry.Seconds(60), 7)
	if s, _ := w.slot("a"); s.QoS != -1 {
		t.Fatalf("the QoS of other content is %d", s.QoS)
	}
}

func TestWhatAScanDidNotShowIsListedAndGoesWhenItIsNotThere(t *testing.T) {
	w := newWorld(t)
	for _, topic := range []string{"a", "b", "c", "d"} {
		w.replay(topic, "x", expiry.None(), 0)
	}
	w.inv.BeginScan()
	w.want("a", "x", "never", "not-seen")
	w.replay("a", "x", expiry.None(), 10)
	w.live("b", "x", expiry.None(), 10)
	w.apply(Live, false, "c", "x", expiry.None(), 10)
	var names []string
	for _, topic := range w.inv.NotSeen(context.Background(), 0) {
		names = append(names, string(topic))
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"c", "d"}) {
		t.Fatalf("not seen are %q", names)
	}
	if got := w.inv.NotSeen(context.Background(), 1); len(got) != 1 {
		t.Fatalf("at most one was asked for: %q", got)
	}
	if !w.inv.Vanished([]byte("c"), at+20_000, Gone) || w.inv.Vanished([]byte("c"), at+20_000, Gone) {
		t.Fatal("c went twice or never")
	}
	w.live("d", "y", expiry.None(), 21)
	if w.inv.Vanished([]byte("d"), at+20_000, Gone) {
		t.Fatal("d was published after it was asked for")
	}
	if w.inv.Vanished([]byte("nowhere"), at+20_000, Gone) {
		t.Fatal("a topic went that was not held")
	}
	w.wantEvents("gone:c@20 | replaced:d@21")
}

func TestWhatRanOutIsDueAndIsAskedAbout(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.Seconds(10), 0)
	w.replay("b", "x", expiry.Seconds(20), 0)
	w.replay("n", "x", expiry.None(), 0)
	asked := func(second int64) int { return len(w.inv.DueTopics(at+second*1000, 0)) }
	w.inv.Tick(at + 9_999)
	w.want("a", "x", "expiring")
	w.inv.Tick(at + 10_000)
	s := w.want("a", "x", "expiring", "due")
	if s.Standing(at+10_000) != expiry.Due || w.inv.Counts().Due != 1 || w.inv.Counts().Expiring != 2 {
		t.Fatalf("counts are %+v", w.inv.Counts())
	}
	for _, c := range []struct {
		second int64
		want   int
	}{{11, 0}, {12, 1}, {13, 0}, {22, 1}, {71, 0}, {72, 1}, {82, 1}} {
		if got := asked(c.second); got != c.want {
			t.Fatalf("%d topics to ask for after %d s, want %d", got, c.second, c.want)
		}
	}
	if !w.inv.Vanished([]byte("a"), at+13_000, Expired) {
		t.Fatal("a did not go")
	}
	w.wantEvents("expired:a@13")
	w.live("b", "x", expiry.Seconds(20), 85)
	w.want("b", "x", "expiring", "live")
	if got := w.inv.DueTopics(at+150_000, 1); len(got) != 1 {
		t.Fatalf("at most one was asked for: %q", got)
	}
}

func TestWhatIsStillServedPastItsEndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.Seconds(10), 0)
	w.inv.StillServed([]byte("a"), at+5_000)
	w.want("a", "x", "expiring")
	w.inv.Tick(at + 12_000)
	w.apply(Answer, true, "a", "x", expiry.Seconds(10), 13)
	w.inv.StillServed([]byte("a"), at+13_000)
	w.want("a", "x", "expiring", "still-served")
	w.wantEvents("still served after its end:a@13")
	w.inv.StillServed([]byte("nowhere"), at)
	w.live("a", "x", expiry.Seconds(10), 14)
	w.want("a", "x", "expiring", "live")
	w.inv.StillServed([]byte("a"), at+15_000)
	w.want("a", "x", "expiring", "live")
}

func TestWhileNobodyWatchesCountdownsStopAndNothingBecomesDue(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.Seconds(10), 0)
	w.inv.Tick(at + 4_000)
	w.inv.SetAway(true)
	w.inv.SetAway(true)
	w.inv.Tick(at + 60_000)
	s := w.want("a", "x", "expiring")
	left, _ := s.Remaining(at + 60_000)
	if s.StoppedAt != at+4_000 || left.Seconds() != 6 || s.Standing(at+60_000) != expiry.Expires {
		t.Fatalf("stopped at %d with %v left", s.StoppedAt-at, left)
	}
	if got := w.inv.DueTopics(at+60_000, 0); got != nil {
		t.Fatalf("asked about %q while away", got)
	}
	w.inv.SetAway(false)
	w.inv.Tick(at + 61_000)
	if s := w.want("a", "x", "expiring", "due"); s.StoppedAt != 0 {
		t.Fatalf("still stopped at %d", s.StoppedAt)
	}
}

func TestWhereTheBrokerStampsAnIntervalIsUnknownUnlessALiveCopyTold(t *testing.T) {
	w := newWorld(t)
	w.inv.BeginScan()
	w.replay("copied", "x", expiry.Seconds(80000), 0)
	w.replay("none", "x", expiry.None(), 0)
	w.live("told", "x", expiry.Seconds(600), 0)
	w.live("day", "x", expiry.Seconds(86400), 0)
	w.live("absent", "x", expiry.None(), 0)
	w.inv.SetBrokerStamps(true)
	w.want("copied", "x", "unknown")
	w.want("none", "x", "never")
	w.want("told", "x", "expiring", "live")
	w.want("day", "x", "unknown", "live")
	w.want("absent", "x", "never", "live")
	w.inv.BeginScan()
	w.replay("absent", "x", expiry.Seconds(86399), 10)
	w.want("absent", "x", "never", "live")
	if c := w.inv.Counts(); c.Never != 2 || c.Unknown != 2 || c.Expiring != 1 {
		t.Fatalf("counts are %+v", c)
	}
	w.inv.Tick(at + 80_001_000)
	w.want("copied", "x", "unknown", "not-seen")
	if got := w.inv.DueTopics(at+80_003_000, 0); len(got) != 2 { // copied, and told long ago
		t.Fatalf("asked about %q", got)
	}
	w.inv.SetBrokerStamps(false)
	if s := w.want("copied", "x", "expiring", "not-seen"); s.Interval != expiry.Seconds(80000) {
		t.Fatalf("interval is %v", s.Interval)
	}
}

func TestABrokerThatAddsDecadesLeavesShorterIntervalsAsTheyAre(t *testing.T) {
	w := newWorld(t)
	w.live("a", "x", expiry.None(), 0)
	w.inv.BeginScan()
	w.replay("a", "x", expiry.Seconds(2147483640), 7)
	if _, sure := w.inv.Habits().Stamps(); sure != expiry.Certain {
		t.Fatalf("the proof was not seen: %+v", w.inv.Habits())
	}
	w.inv.SetBrokerStamps(true)
	w.replay("short", "x", expiry.Seconds(600), 8)
	w.replay("long", "x", expiry.Seconds(2147483000), 8)
	w.want("short", "x", "expiring")
	w.want("long", "x", "unknown")
}

func TestHabitsAreLearnedFromCopies(t *testing.T) {
	w := newWorld(t)
	for k := range int64(4) {
		w.inv.BeginScan()
		w.replay("a", "x", expiry.Seconds(uint32(100-10*k)), 10*k)
	}
	if down, sure := w.inv.Habits().CountsDown(); !down || sure != expiry.Certain {
		t.Fatalf("counts down: %v, %v", down, sure)
	}
}

func TestAnEmptyTopicIsNotTakenIn(t *testing.T) {
	w := newWorld(t)
	w.live("", "x", expiry.None(), 0)
	w.replay("", "x", expiry.None(), 0)
	if c := w.inv.Counts(); c.Topics != 0 || w.events() != "" {
		t.Fatalf("counts are %+v, events %q", c, w.events())
	}
}
