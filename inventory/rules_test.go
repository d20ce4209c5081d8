package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"retainscope/expiry"
)

// at is the base of instants in these tests, Unix ms.
const at = int64(1_790_000_000_000)

// world is an inventory and short words to drive it.
type world struct {
	t   *testing.T
	inv *Inventory
}

func newWorld(t *testing.T) world { return world{t: t, inv: New(Options{})} }

func (w world) apply(o Origin, retain bool, topic, payload string, i expiry.Interval, second int64) {
	w.inv.Apply([]Publication{{
		Topic: []byte(topic), Payload: []byte(payload), Interval: i, ReceivedAt: at + second*1000, Retain: retain, Origin: o,
	}})
}

func (w world) replay(topic, payload string, i expiry.Interval, second int64) {
	w.apply(Replay, true, topic, payload, i, second)
}

func (w world) live(topic, payload string, i expiry.Interval, second int64) {
	w.apply(Live, true, topic, payload, i, second)
}

func (w world) slot(topic string) (Slot, bool) {
	r, ok := w.inv.Find([]byte(topic))
	if !ok {
		return Slot{}, false
	}
	return w.inv.Slot(r)
}

// want fails unless the slot of topic holds payload and has exactly these flags.
func (w world) want(topic, payload string, flags ...string) Slot {
	w.t.Helper()
	s, ok := w.slot(topic)
	if !ok {
		w.t.Fatalf("%q is not held", topic)
	}
	if string(s.Head) != payload || !slices.Equal(s.Flags.Names(), flags) {
		w.t.Fatalf("%q holds %q with %q, want %q with %q", topic, s.Head, s.Flags.Names(), payload, flags)
	}
	return s
}

func (w world) wantGone(topic string) {
	w.t.Helper()
	if s, ok := w.slot(topic); ok {
		w.t.Fatalf("%q holds %q", topic, s.Head)
	}
}

// events returns the events so far, one word each.
func (w world) events() string {
	list, _ := w.inv.Events(0, 0)
	var words []string
	for _, e := range list {
		words = append(words, fmt.Sprintf("%v:%s@%d", e.Kind, e.Topic, (e.At-at)/1000))
	}
	return strings.Join(words, " | ")
}

func (w world) wantEvents(want string) {
	w.t.Helper()
	if got := w.events(); got != want {
		w.t.Fatalf("events are %q, want %q", got, want)
	}
}

func TestAReplayIsNeverActivity(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.Seconds(60), 0)
	w.replay("a", "x", expiry.Seconds(50), 10)
	s := w.want("a", "x", "expiring")
	if s.LastLive != 0 || s.LiveCount != 0 || s.History.Refreshes != 0 || s.History.Window != 60 {
		t.Fatalf("learned %+v, live %d times, last %d", s.History, s.LiveCount, s.LastLive)
	}
	if s.FirstSeen != at || s.ReceivedAt != at+10_000 || s.Interval != expiry.Seconds(50) || s.QoS != -1 {
		t.Fatalf("slot is %+v", s)
	}
	w.wantEvents("")
}

func TestAReplayThatDiffersIsAChangeSeenLater(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.None(), 0)
	w.inv.BeginScan()
	w.replay("a", "y", expiry.None(), 10)
	w.want("a", "y", "never", "changed")
	w.wantEvents("found changed:a@10")
	r, _ := w.inv.Find([]byte("a"))
	d, _ := w.inv.Detail(r)
	if len(d.Changes) != 1 || d.Changes[0].Kind != FoundChanged || string(d.Changes[0].Payload) != "x" {
		t.Fatalf("changes are %+v", d.Changes)
	}
}

func TestALiveRetainedPublicationSetsTheSlotAndTeaches(t *testing.T) {
	w := newWorld(t)
	w.live("a", "x", expiry.Seconds(60), 0)
	w.live("a", "x", expiry.Seconds(60), 20)
	w.live("a", "y", expiry.Seconds(60), 40)
	s := w.want("a", "y", "expiring", "live", "changed")
	if s.LiveCount != 3 || s.LastLive != at+40_000 || s.History != (expiry.History{Window: 60, Gap: 20, Refreshes: 3, Steady: 1}) {
		t.Fatalf("slot is %+v", s)
	}
	w.wantEvents("appeared:a@0 | replaced:a@40")
}

func TestALiveTombstoneEmptiesTheSlot(t *testing.T) {
	w := newWorld(t)
	w.replay("a/b", "x", expiry.None(), 0)
	r, _ := w.inv.Find([]byte("a/b"))
	w.live("a/b", "", expiry.None(), 5)
	w.wantGone("a/b")
	w.wantEvents("cleared by someone:a/b@5")
	if _, ok := w.inv.Slot(r); ok {
		t.Fatal("the old name finds something")
	}
	w.live("a/b", "x", expiry.None(), 6)
	if _, ok := w.inv.Slot(r); ok {
		t.Fatal("the old name finds the slot that came after")
	}
	w.wantEvents("cleared by someone:a/b@5 | appeared:a/b@6")
}

func TestAClearOfATopicThatIsNotHeldIsAnEventOnly(t *testing.T) {
	w := newWorld(t)
	before := w.inv.Counts()
	w.live("a", "", expiry.None(), 5)
	w.wantGone("a")
	w.wantEvents("cleared by someone:a@5")
	if c := w.inv.Counts(); c.Topics != 0 || c.Structure != before.Structure || c.Version == before.Version {
		t.Fatalf("counts are %+v", c)
	}
}

func TestALivePublicationWithoutRetainLeavesTheSlotAsItIs(t *testing.T) {
	w := newWorld(t)
	w.replay("a", "x", expiry.Seconds(60), 0)
	w.apply(Live, false, "a", "x", expiry.None(), 5)
	s := w.want("a", "x", "expiring", "live")
	if s.LastLive != at+5000 || s.LiveCount != 1 || s.Interval != expiry.Seconds(60) || s.ReceivedAt != at || s.History.Refreshes != 0 {
		t.Fatalf("slot is %+v", s)
	}
	w.apply(Live, false, "a", "y", expiry.None(), 6)
	w.want("a", "x", "expiring", "live", "live-differs")
	w.apply(Live, false, "a", "x", expiry.None(), 7)
	w.want("a", "x", "expiring", "live")
	w.apply(Live, false, "a", "", expiry.None(), 8)
	w.want("a", "x", "expiring", "live", "live-differs")
	w.live("a", "z", expiry.Seconds(60), 9)
	w.want("a", "z", "expiring", "live", "changed")
	w.apply(Live, false, "b", "x", expiry.None(), 10)
	w.wantGone("b")
}

func TestACopyWithoutPayloadIsASlotMarkedAsAFault(t *testing.T) {
	for _, o := range []Origin{Replay, Answer} {
		w := newWorld(t)
		w.apply(o, true, "a", "", expiry.None(), 0)
		w.want("a", "", "never", "empty-replay")
		w.live("a", "x", expiry.None(), 1)
		w.want("a", "x", "never", "live", "changed")
	}
}

func TestAPayloadThatLooksLikeNothingIsMarked(t *testing.T) {
	for payload, marked := range map[string]bool{
		" ": true, "  \t\n": true, "null": true, "{}": true, "[]": true, `""`: true, "\x00": true, " {} ": true,
		"0": false, "false": false, "{ }x": false, "\x00\x00": false, "NULL": false, "''": false, "offline": false,
	} {
		w := newWorld(t)
		w.replay("a", payload, expiry.None(), 0)
		if s, _ := w.slot("a"); s.Flags.Has(FlagLooksEmpty) != marked {
			t.Errorf("%q has flags %q", payload, s.Flags.Names())
		}
	}
}

func TestANameThatIsEasilyMisreadIsMarked(t *testing.T) {
	for topic, odd := range map[string]bool{
		"a/b": false, "$SYS/broker": false, "a b/c d": false, "stra\u00dfe/\u00e9": false, "e\u0301/x": false, "\U0001F600": false,
		"/a": true, "a/": true, "a//b": true, " a": true, "a ": true, "a/ b": true, "a /b": true, "a\tb": true, "a\x00": true,
		"a\x7f": true, "a\u0085": true, "\xff": true, "a\xc3": true, "\u202ea": true, "a\u200b": true, "\ufeffa": true,
		"a\u2066b": true, "a\u00ad": true, "a\ufe0f": true, "\ue000": true, "a\uffff": true, "a\u2028": true, "a\u00a0/b": true,
		"\u3164": true, "a\U000e0041": true,
	} {
		if oddName([]byte(topic)) != odd {
			t.Errorf("%q is odd: %v", topic, !odd)
		}
	}
}

func TestTheFallFromExpiringToNeverIsMarkedWithItsTime(t *testing.T) {
	w := newWorld(t)
	w.live("a", "x", expiry.Seconds(60), 0)
	w.live("a", "x", expiry.None(), 30)
	w.want("a", "x", "never", "live", "fell-to-never")
	w.live("a", "x", expiry.Seconds(60), 40)
	w.want("a", "x", "expiring", "live")
	w.wantEvents("appeared:a@0 | fell to never:a@30 | gained an expiry:a@40")
	w.live("a", "x", expiry.NotKnown(), 50)
	w.want("a", "x", "unknown", "live")
	w.live("a", "x", expiry.None(), 60)
	w.want("a", "x", "never", "live")
}

func TestACopyInItsLastSecondDoesNotProveAFall(t *testing.T) {
	for _, c := range []struct {
		name   string
		second int64
		qos    uint8
		fell   bool
	}{
		{"near the end at QoS 1 the property may be lost", 59, 1, false},
		{"at QoS 0 it is not", 59, 0, true},
		{"far from the end it is not", 30, 1, true},
	} {
		w := newWorld(t)
		w.replay("a", "x", expiry.Seconds(60), 0)
		w.inv.Apply([]Publication{{
			Topic: []byte("a"), Payload: []byte("x"), Interval: expiry.None(), ReceivedAt: at + c.second*1000,
			Retain: true, Origin: Answer, QoS: c.qos, QoSKnown: c.qos > 0,
		}})
		if s, _ := w.slot("a"); s.Flags.Has(FlagFell) != c.fell {
			t.Errorf("%s: flags are %q", c.name, s.Flags.Names())
		}
	}
}

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
