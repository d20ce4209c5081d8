package broker

// What holds for every broker: one suite of cases over the scripted wire, a real mosquitto and the embedded broker.

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// contractBroker is a broker with somebody else on it who publishes.
type contractBroker interface {
	config() Config
	// retain publishes with RETAIN 1; an empty payload removes, an expiry of 0 is none.
	retain(topic, payload string, expires uint32)
	publish(topic, payload string)
}

// realBroker publishes over a raw connection of its own.
type realBroker struct {
	t   testing.TB
	url string
	c   *rawClient
}

func newRealBroker(t testing.TB, url string) *realBroker {
	return &realBroker{t: t, url: url, c: rawConnect(t, url)}
}

func (b *realBroker) config() Config { return Config{URL: b.url} }

func (b *realBroker) retain(topic, payload string, expires uint32) {
	b.t.Helper()
	if expires > 0 {
		b.c.retain(topic, payload, propExpiry(expires))
	} else {
		b.c.retain(topic, payload)
	}
	b.c.settle()
}

func (b *realBroker) publish(topic, payload string) {
	b.t.Helper()
	b.c.write(publish(message{topic: topic, payload: payload}))
	b.c.settle()
}

// contractCases are what every broker must give us, each on a broker of its own that holds nothing.
var contractCases = []struct {
	name string
	run  func(t *testing.T, b contractBroker)
}{
	{"a replay is not activity and a live publication is", func(t *testing.T, b contractBroker) {
		b.retain("a/old", "1", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		b.retain("a/new", "2", 0)
		waitFor(t, func() bool { return held(inv, "a/new") != nil })
		if s := held(inv, "a/old"); s == nil || s.LastLive != 0 || s.LiveCount != 0 {
			t.Errorf("the replayed topic: %+v", s)
		}
		if s := held(inv, "a/new"); s.LiveCount != 1 || s.LastLive == 0 {
			t.Errorf("the live topic: %+v", s)
		}
		w.Rescan()
		waitFor(t, func() bool { l, _ := w.Status(); return l.Scanning })
		waitFor(t, func() bool { l, _ := w.Status(); return !l.Scanning })
		if s := held(inv, "a/new"); s == nil || s.LiveCount != 1 {
			t.Errorf("after a second scan: %+v", s)
		}
	}},
	{"a publication without RETAIN does not change the slot", func(t *testing.T, b contractBroker) {
		b.retain("a/b", "kept", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		b.publish("a/b", "passing")
		b.publish("a/none", "passing")
		b.retain("a/mark", "1", 0)
		waitFor(t, func() bool { return held(inv, "a/mark") != nil })
		if s := held(inv, "a/b"); s == nil || string(s.Head) != "kept" || s.LiveCount != 1 {
			t.Errorf("the slot: %+v", s)
		}
		if s := held(inv, "a/none"); s != nil {
			t.Errorf("a slot came of a publication without RETAIN: %+v", s)
		}
	}},
	{"a live tombstone removes the row", func(t *testing.T, b contractBroker) {
		b.retain("a/b", "x", 0)
		b.retain("a/c", "y", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		b.retain("a/b", "", 0)
		waitFor(t, func() bool { return held(inv, "a/b") == nil })
		if !happened(inv, "a/b", inventory.Cleared) || held(inv, "a/c") == nil {
			t.Error("the clear was not noted, or took a neighbour with it")
		}
	}},
	{"the interval counts down at the broker", func(t *testing.T, b contractBroker) {
		b.retain("a/expires", "x", 100)
		b.retain("a/stays", "y", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 1200 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		first, ok := held(inv, "a/expires").Interval.Seconds()
		if !ok || first > 100 || first < 98 {
			t.Fatalf("the first interval: %d %v", first, ok)
		}
		if _, ok := held(inv, "a/stays").Interval.Seconds(); ok {
			t.Error("an interval where none was published")
		}
		w.Rescan()
		waitFor(t, func() bool { s, _ := held(inv, "a/expires").Interval.Seconds(); return s < first })
	}},
	{"an expired topic is asked for and then called expired", func(t *testing.T, b contractBroker) {
		b.retain("a/stays", "y", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		b.retain("a/expires", "x", 2)
		waitFor(t, func() bool { return held(inv, "a/expires") != nil || happened(inv, "a/expires", inventory.Expired) })
		waitFor(t, func() bool { return held(inv, "a/expires") == nil })
		if !happened(inv, "a/expires", inventory.Expired) || held(inv, "a/stays") == nil {
			t.Error("it was not called expired, or took a neighbour with it")
		}
	}},
	{"one topic asked for tells whether it is stored at QoS 0 or above", func(t *testing.T, b contractBroker) {
		b.retain("a/b", "x", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		if s := held(inv, "a/b"); s.QoS != -1 {
			t.Errorf("QoS before it was asked for: %d", s.QoS)
		}
		qos, found, err := w.Ask(within(t), []byte("a/b"))
		if qos != 0 || !found || err != nil {
			t.Errorf("Ask = %d, %v, %v", qos, found, err)
		}
		if s := held(inv, "a/b"); s.QoS != 0 {
			t.Errorf("QoS after it was asked for: %d", s.QoS)
		}
		if _, found, err := w.Ask(within(t), []byte("a/none")); found || err != nil {
			t.Errorf("a topic that is not there: %v, %v", found, err)
		}
	}},
	{"topics with spaces, empty levels and other scripts are kept apart", func(t *testing.T, b contractBroker) {
		odd := []string{"/a", "a/", "a", "a//b", " a", "a ", "/", "//", "ä", "a\u0308", "家/温度", "a/\U0001F600", strings.Repeat("long/", 12) + strings.Repeat("x", 3000)}
		for _, topic := range odd {
			b.retain(topic, topic, 0)
		}
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond})
		scanned(t, w, 30*time.Second)
		for _, topic := range odd {
			if held(inv, topic) == nil {
				t.Errorf("%q did not come", topic)
			}
		}
		if n := inv.Counts().Topics; n != int64(len(odd)) {
			t.Errorf("%d topics, want %d", n, len(odd))
		}
	}},
	{"narrow filters see what they name and nothing else", func(t *testing.T, b contractBroker) {
		b.retain("a/1/x", "1", 0)
		b.retain("b/1/x", "1", 0)
		b.retain("c/1/x", "1", 0)
		w, inv := watch(t, WatchConfig{Config: b.config(), Quiet: 300 * time.Millisecond, Filters: []string{"a/#", "+/1/x", "b/1/x"}, Once: true})
		cov := scanned(t, w, 30*time.Second)
		if inv.Counts().Topics != 3 || cov.Known != -1 {
			t.Errorf("%d topics, known %d", inv.Counts().Topics, cov.Known)
		}
	}},
}

func held(inv *inventory.Inventory, topic string) *inventory.Slot {
	ref, ok := inv.Find([]byte(topic))
	if !ok {
		return nil
	}
	s, ok := inv.Slot(ref)
	if !ok {
		return nil
	}
	return &s
}

func happened(inv *inventory.Inventory, topic string, kind inventory.EventKind) bool {
	events, _ := inv.Events(0, 0)
	for _, e := range events {
		if string(e.Topic) == topic && e.Kind == kind {
			return true
		}
	}
	return false
}

func waitFor(t testing.TB, f func() bool) {
	t.Helper()
	eventually(t, 30*time.Second, f)
}

func TestContractOverTheScriptedWire(t *testing.T) {
	for _, c := range contractCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.run(t, newScriptBroker(t)) })
		})
	}
}

func TestContractOverMosquitto(t *testing.T) {
	for _, c := range contractCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
			c.run(t, newRealBroker(t, b.URL()))
		})
	}
}
