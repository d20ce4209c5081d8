package inventory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"retainscope/expiry"
)

func TestALongPayloadIsCutAndItsLengthAndDigestsAreKept(t *testing.T) {
	payload := bytes.Repeat([]byte("0123456789"), 50)
	props := append([]byte{propContentType, 0, 4}, "text"...)
	i := expiry.Seconds(60)
	q := Publication{Topic: []byte("a"), Payload: payload, Properties: props, Interval: i, ReceivedAt: at, Retain: true, Origin: Live}
	for name, o := range map[string]Options{
		"per topic": {MaxPayload: 100},
		"in total":  {MaxPayloads: 300},
	} {
		inv := New(o)
		inv.Apply([]Publication{q})
		r, _ := inv.Find(q.Topic)
		d, _ := inv.Detail(r)
		if d.Size != 500 || d.Kept >= 500 || !bytes.HasPrefix(payload, d.Payload) || d.Kept != len(d.Payload) || !d.Flags.Has(FlagCut) {
			t.Fatalf("%s: %d of %d bytes, flags %q", name, d.Kept, d.Size, d.Flags.Names())
		}
		if d.SHA256 != sha256.Sum256(payload) || d.Fingerprint != Fingerprint(payload, props, i) {
			t.Fatalf("%s: other digests", name)
		}
		if c := inv.Counts(); c.Cut != 1 || c.Bytes != 500 || c.KeptBytes > 300 {
			t.Fatalf("%s: counts are %+v", name, c)
		}
		inv.Apply([]Publication{q})
		if d, _ = inv.Detail(r); d.Flags.Has(FlagChanged) {
			t.Fatalf("%s: the same payload counts as a change", name)
		}
		other := q
		other.Payload = append(bytes.Clone(payload[:499]), 'X')
		other.Retain = false
		inv.Apply([]Publication{other})
		if d, _ = inv.Detail(r); !d.Flags.Has(FlagLiveDiffers) {
			t.Fatalf("%s: a difference behind the cut was not seen", name)
		}
		other.Retain = true
		inv.Apply([]Publication{other})
		if d, _ = inv.Detail(r); !d.Flags.Has(FlagChanged) || d.SHA256 != sha256.Sum256(other.Payload) {
			t.Fatalf("%s: a change behind the cut was not seen", name)
		}
		q2 := q
		q2.Payload = []byte("short")
		inv.Apply([]Publication{q2})
		if d, _ = inv.Detail(r); d.Flags.Has(FlagCut) || string(d.Payload) != "short" || !bytes.Equal(d.Properties, props) || inv.Counts().Cut != 0 {
			t.Fatalf("%s: flags %q, payload %q", name, d.Flags.Names(), d.Payload)
		}
		if len(d.Changes) != 2 || d.Changes[0].Size != 500 {
			t.Fatalf("%s: changes are %+v", name, d.Changes)
		}
	}
}

func TestWhatIsOfUseOnlyAsAWholeIsKeptWhole(t *testing.T) {
	inv := New(Options{MaxPayload: 100, MaxWhole: 1000, MaxPayloads: 1200, Whole: func(topic []byte) bool { return bytes.HasSuffix(topic, []byte("/config")) }})
	put := func(topic string, n int) Detail {
		q := Publication{Topic: []byte(topic), Payload: bytes.Repeat([]byte("x"), n), ReceivedAt: at, Retain: true}
		inv.Apply([]Publication{q})
		r, _ := inv.Find(q.Topic)
		d, _ := inv.Detail(r)
		if d.Size != n || d.SHA256 != sha256.Sum256(q.Payload) {
			t.Fatalf("%s: %d bytes, other digest", topic, d.Size)
		}
		return d
	}
	for _, x := range []struct {
		topic   string
		n, kept int
		why     string
	}{
		{"a/config", 1000, 1000, "as large as a whole one may be"},
		{"a/config", 1001, 100, "larger: a part is of no use, so no more of it is kept than of others"},
		{"a/image", 500, 100, "of use in part"},
		{"a/config", 900, 900, "whole again"},
		{"b/config", 900, 64, "more than all may take together"},
	} {
		d := put(x.topic, x.n)
		if cut := d.Flags.Has(FlagCut); d.Kept > x.kept || !cut && d.Kept != x.n || cut == (x.kept == x.n) {
			t.Errorf("%s of %d bytes, %s: %d kept, cut %v", x.topic, x.n, x.why, d.Kept, cut)
		}
	}
	if c := inv.Counts(); c.KeptBytes > 1200 {
		t.Errorf("%d bytes kept", c.KeptBytes)
	}
}

func TestLongPropertiesAreNotKeptButCount(t *testing.T) {
	inv := New(Options{MaxPayload: 100})
	props := bytes.Repeat(append([]byte{propUser, 0, 1, 'k', 0, 1}, 'v'), 40)
	q := Publication{Topic: []byte("a"), Payload: []byte("x"), Properties: props, ReceivedAt: at, Retain: true}
	inv.Apply([]Publication{q})
	r, _ := inv.Find(q.Topic)
	d, _ := inv.Detail(r)
	if !d.Flags.Has(FlagCut) || len(d.Properties) != 0 || string(d.Payload) != "x" || d.Fingerprint != Fingerprint(q.Payload, props, q.Interval) {
		t.Fatalf("kept %d bytes of properties, flags %q", len(d.Properties), d.Flags.Names())
	}
}

func TestEarlierContentsShareOneBudget(t *testing.T) {
	inv := New(Options{MaxChanges: 8 << 10})
	put := func(topic string, n int) {
		inv.Apply([]Publication{{Topic: []byte(topic), Payload: fmt.Appendf(nil, "value %04d", n), ReceivedAt: at + int64(n), Retain: true, Origin: Live}})
	}
	changes := func(topic string) []Change {
		r, _ := inv.Find([]byte(topic))
		d, _ := inv.Detail(r)
		return d.Changes
	}
	for n := range 15 {
		put("a", n)
	}
	got := changes("a")
	if len(got) != 10 || string(got[0].Payload) != "value 0013" || got[0].At != at+14 || string(got[9].Payload) != "value 0004" {
		t.Fatalf("changes are %+v", got)
	}
	for n := range 400 {
		put("b", n)
	}
	if got := changes("a"); len(got) != 0 {
		t.Fatalf("written over, and yet %+v", got)
	}
	if got := changes("b"); len(got) != 10 {
		t.Fatalf("%d changes", len(got))
	}
	clearTopic(inv, "b")
	put("b", 1)
	if got := changes("b"); len(got) != 0 {
		t.Fatalf("a new slot has the past of the old one: %+v", got)
	}
	big := bytes.Repeat([]byte("x"), 100000)
	inv.Apply([]Publication{{Topic: []byte("b"), Payload: big, ReceivedAt: at, Retain: true, Origin: Live}})
	put("b", 2)
	if got := changes("b"); len(got) == 0 || got[0].Size != len(big) || len(got[0].Payload) >= len(big) {
		t.Fatalf("a large one is not cut: %d changes", len(got))
	}
}

func TestOldEventsAreLostFirst(t *testing.T) {
	inv := New(Options{})
	if e, last := inv.Events(0, 5); len(e) != 0 || last != 0 {
		t.Fatalf("%v, %d", e, last)
	}
	name := strings.Repeat("n", 200)
	for n := range eventsKept {
		inv.Apply([]Publication{{Topic: fmt.Appendf(nil, "%s%d", name, n), ReceivedAt: at, Retain: true, Origin: Live}})
	}
	e, last := inv.Events(0, 0)
	if last != eventsKept || len(e) == 0 || len(e) > eventBytes/200 || string(e[len(e)-1].Topic) != fmt.Sprint(name, eventsKept-1) {
		t.Fatalf("%d events up to %d", len(e), last)
	}
	some, last := inv.Events(eventsKept-5, 2)
	if len(some) != 2 || last != eventsKept-3 || string(some[0].Topic) != fmt.Sprint(name, eventsKept-5) {
		t.Fatalf("%d events up to %d", len(some), last)
	}
	if e, last := inv.Events(eventsKept+9, 0); len(e) != 0 || last != eventsKept {
		t.Fatalf("beyond the end: %d events, %d", len(e), last)
	}
}

func TestTombstonesAreBounded(t *testing.T) {
	name := func(i int) uint64 { return uint64(i+1) * 0x9E3779B97F4A7C15 }
	places := func(s *tombs) (n int) {
		for i := range s.sets {
			n += len(s.sets[i].places)
		}
		return n
	}
	t.Run("those of the last seconds without a scan", func(t *testing.T) {
		var s tombs
		for i := range 5 * tombsKept {
			s.add(name(i), int64(i))
			s.add(name(i), int64(i)) // twice is once
		}
		if n := places(&s); n > 4*tombsKept {
			t.Fatalf("%d places for tombstones of %d ms", n, answerGuard)
		}
		last := 5*tombsKept - 1
		if at, ok := s.find(name(last)); !ok || at != int64(last) {
			t.Fatal("the last one is forgotten")
		}
		if _, ok := s.find(name(0)); ok {
			t.Fatal("one of minutes ago is remembered")
		}
		s.lift(name(last))
		if _, ok := s.find(name(last)); ok {
			t.Fatal("a lifted one is found")
		}
	})
	t.Run("all while a scan runs, up to the budget", func(t *testing.T) {
		var s tombs
		s.begin()
		for i := range (tombSets + 2) * tombsKept {
			s.add(name(i), int64(i)*60_000)
		}
		if n := places(&s); n > tombSets*2*tombsKept {
			t.Fatalf("%d places", n)
		}
		if _, ok := s.find(name(2 * tombsKept)); !ok {
			t.Fatal("one that fits the budget is forgotten")
		}
		if _, ok := s.find(name(0)); ok {
			t.Fatal("one beyond the budget is remembered")
		}
		s.end(int64(tombSets+2) * tombsKept * 60_000)
		if n := places(&s); n != 0 {
			t.Fatalf("%d places long after the scan", n)
		}
	})
}

func TestAReaderOfEventsTookAllOfAStorm(t *testing.T) {
	inv := New(Options{})
	put := func(topic string, payload string) {
		inv.Apply([]Publication{{Topic: []byte(topic), Payload: []byte(payload), ReceivedAt: at, Retain: true, Origin: Live}})
	}
	put("a", "x")
	put("a", "") // cleared
	for n := range 50_000 {
		put(fmt.Sprint("b/", n%100), fmt.Sprint(n))
	}
	put("c", "") // cleared
	events, last, counts := inv.LatestEvents(0, 1000, 1000)
	if len(events) != 1002 || last != 50_003 || counts[Cleared] != 2 || counts[Appeared] != 101 || counts[Replaced] != 49_900 {
		t.Fatalf("%d events up to %d, %v", len(events), last, counts)
	}
	first, end := events[0], events[len(events)-1]
	if first.Kind != Cleared || string(first.Topic) != "a" || end.Kind != Cleared || string(end.Topic) != "c" {
		t.Fatalf("from %s %s to %s %s", first.Kind, first.Topic, end.Kind, end.Topic)
	}
	if events, again, _ := inv.LatestEvents(last, 1000, 1000); len(events) != 0 || again != last {
		t.Fatalf("%d events more, up to %d", len(events), again)
	}
}
