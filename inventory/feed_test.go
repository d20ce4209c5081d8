package inventory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"retainscope/expiry"
)

// mirror is what a reader of the feed knows: one line for each topic that is held.
type mirror map[string]string

// take drains once and returns whether there was more.
func (x mirror) take(inv *Inventory, limit int) bool {
	var u Updates
	more := inv.Drain(&u, limit)
	for _, q := range u.List {
		switch q.Kind {
		case UpdateGone:
			delete(x, string(q.Topic))
		case UpdateHeld:
			x[string(q.Topic)] = fmt.Sprint(string(q.Payload), q.Size, q.Interval, q.History, q.ReceivedAt, q.LastLive, q.FirstSeen, q.Flags&(FlagFell|FlagStillServed|FlagEmptyReplay))
		}
	}
	return more
}

func (x mirror) compare(t *testing.T, m *model) {
	t.Helper()
	want := mirror{}
	for topic, s := range m.slots {
		want[topic] = fmt.Sprint(s.payload, len(s.payload), s.interval, s.history, s.received, s.live, s.first, s.flags&(FlagFell|FlagStillServed|FlagEmptyReplay))
	}
	if !maps.Equal(x, want) {
		t.Fatalf("the feed told\n%q\nwant\n%q", x, want)
	}
}

func set(topic, payload string) Publication {
	return Publication{Topic: []byte(topic), Payload: []byte(payload), Retain: true, Origin: Live, ReceivedAt: 1000}
}

func feedOf(inv *Inventory) []string {
	var u Updates
	var lines []string
	for more := true; more; {
		more = inv.Drain(&u, 2)
		for _, q := range u.List {
			lines = append(lines, fmt.Sprintf("%d %s %s %v", q.Kind, q.Topic, q.Payload, q.Fresh))
		}
	}
	return lines
}

func TestTheFeedBeginsWithAllThatIsHeldAndTellsTheLastState(t *testing.T) {
	inv := New(Options{})
	inv.Apply([]Publication{set("a", "1"), set("b", "1"), set("c", "1")})
	if got := feedOf(inv); got != nil {
		t.Fatalf("a feed that is off told %q", got)
	}
	inv.TrackChanges(true)
	want := func(lines ...string) {
		t.Helper()
		if got := feedOf(inv); !slices.Equal(got, lines) {
			t.Fatalf("the feed told\n%q\nwant\n%q", got, lines)
		}
	}
	want("0 a 1 false", "0 b 1 false", "0 c 1 false")
	want()
	inv.Apply([]Publication{set("b", "2"), set("b", "3"), set("c", ""), set("d", "1"), set("a", ""), set("a", "4")})
	want("1 c  false", "1 a  false", "0 b 3 false", "0 d 1 true", "0 a 4 true")
	heard := set("nobody", "x")
	heard.Retain = false
	held := set("d", "x")
	held.Retain = false
	inv.Apply([]Publication{heard, heard, held})
	want("2 nobody  false", "0 d 1 false")
	inv.Vanished([]byte("d"), 5000, Gone)
	want("1 d  false")
	inv.TrackChanges(false)
	inv.Apply([]Publication{set("e", "1")})
	want()
}

func TestAFeedCostsNoAllocation(t *testing.T) {
	inv := New(Options{MaxChanges: 64 << 10})
	inv.TrackChanges(true)
	batch := make([]Publication, 200)
	for i := range batch {
		batch[i] = set(fmt.Sprintf("house/room/%d", i%100), "payload")
		if i >= 150 {
			batch[i].Topic, batch[i].Retain = fmt.Appendf(nil, "nobody/retains/%d", i), false
		}
	}
	batch[120].Payload = nil // goes and comes again
	var u Updates
	run := func() {
		inv.Apply(batch)
		for inv.Drain(&u, 64) {
		}
	}
	for range 300 {
		run()
	}
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Fatalf("%v allocations for %d publications and what the feed told of them", n, len(batch))
	}
}

func TestMarksAreCountedAndFiltered(t *testing.T) {
	inv := New(Options{})
	inv.Apply([]Publication{set("a/x", "1"), set("a/y", "1"), set("b", "1")})
	version := inv.Counts().Version
	if !inv.Mark([]byte("a/x"), FlagLeft|FlagNever|FlagCut, 0) || !inv.Mark([]byte("a/y"), FlagLeft|FlagHazard, 0) || inv.Mark([]byte("c"), FlagLeft, 0) {
		t.Fatal("what is held is marked, and nothing else")
	}
	if c := inv.Counts(); c.Left != 2 || c.Hazards != 1 || c.Findings != 2 || c.Cut != 0 || c.Version == version {
		t.Fatalf("counts are %+v", c)
	}
	inv.Apply([]Publication{set("a/x", "2")}) // content moves, marks stay
	for text, want := range map[string][]string{"is:left": {"a/x", "a/y"}, "is:hazard": {"a/y"}, "-is:left": {"b"}} {
		if got := walked(t, inv, text); !slices.Equal(got, want) {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
	inv.Mark([]byte("a/y"), 0, FlagLeft|FlagHazard)
	inv.Apply([]Publication{set("a/x", ""), set("a/x", "3")}) // a slot that goes loses them
	if c := inv.Counts(); c.Left != 0 || c.Hazards != 0 || c.Findings != 0 {
		t.Fatalf("counts are %+v", c)
	}
}

func walked(t *testing.T, inv *Inventory, text string) []string {
	t.Helper()
	f, err := ParseFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = inv.Walk(context.Background(), Spec{Filter: f}, func(d Detail) error {
		got = append(got, string(d.Topic))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// owners is a Judge to whom the first level is the owner and the last one the finding.
type owners struct{ inv *Inventory }

func (o owners) OwnedBy(topic []byte, name string, _ int64) bool {
	o.inv.Counts() // the lock must be free
	first, _, _ := bytes.Cut(topic, []byte("/"))
	return bytes.Contains(first, []byte(name))
}

func (owners) Found(topic []byte, name string, _ int64) bool {
	return bytes.HasSuffix(topic, []byte("/"+name))
}

func TestAJudgeDecidesOwnersAndFindings(t *testing.T) {
	inv := New(Options{})
	inv.Apply([]Publication{set("gas2mqtt/x/dangling", "22"), set("gas2mqtt/y", "1"), set("zigbee/x/dangling", "1"), set("zigbee/x", "22")})
	if got := walked(t, inv, "owner:gas"); got != nil {
		t.Fatalf("without a judge it gives %q", got)
	}
	inv.SetJudge(owners{inv})
	for text, want := range map[string][]string{
		"owner:gas":                 {"gas2mqtt/x/dangling", "gas2mqtt/y"},
		"-owner:gas":                {"zigbee/x", "zigbee/x/dangling"},
		"finding:dangling":          {"gas2mqtt/x/dangling", "zigbee/x/dangling"},
		"owner:gas finding:nothing": nil,
		"x/ owner:zig size>0":       {"zigbee/x/dangling"},
		`"owner:gas"`:               nil,
	} {
		if got := walked(t, inv, text); !slices.Equal(got, want) {
			t.Errorf("%s gives %q, want %q", text, got, want)
		}
	}
	f, _ := ParseFilter("finding:a -finding:b owner:c")
	if got := f.Findings(); !slices.Equal(got, []string{"a", "b"}) || !f.Judged() {
		t.Fatalf("findings are %q", got)
	}
	if _, err := ParseFilter("owner:"); err == nil {
		t.Fatal("an owner without a name is no filter")
	}
	l, err := inv.List(context.Background(), Spec{Filter: f, Sort: BySize})
	if err != nil || l.Len() != 0 {
		t.Fatalf("%d rows, %v", l.Len(), err)
	}
	f, _ = ParseFilter("owner:gas")
	l, err = inv.List(context.Background(), Spec{Filter: f, Sort: BySize, Desc: true})
	if err != nil || l.Len() != 2 || string(l.Rows(l.First(), 1, nil)[0].Name) != "gas2mqtt/x/dangling" {
		t.Fatalf("%d rows, %v", l.Len(), err)
	}
}

func TestAFeedOfManyTopicsIsHandedOutInParts(t *testing.T) {
	inv := New(Options{})
	for i := range 5000 {
		inv.Apply([]Publication{{Topic: fmt.Appendf(nil, "t/%d", i), Payload: []byte("x"), Retain: true, Origin: Replay, ReceivedAt: 1000, Interval: expiry.None()}})
	}
	inv.TrackChanges(true)
	x := mirror{}
	calls := 1
	for ; x.take(inv, 1<<20); calls++ {
	}
	if len(x) != 5000 || calls < 5000/batchLimit {
		t.Fatalf("%d topics in %d calls", len(x), calls)
	}
}
