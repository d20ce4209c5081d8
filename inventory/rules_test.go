package inventory

import (
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
