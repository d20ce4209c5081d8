package inventory

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retainscope/expiry"
)

// fuzzTopics are few, so that they meet often; they share levels, have empty ones, and slots above slots.
var fuzzTopics = []string{
	"a", "a/b", "a/b/c", "a/b/c/d", "a/", "/a", "/", "//", "a b", "a-", "a0", "b/x", "b/y", "b/x/y/z", "$SYS/n", "b", "A/b",
	"zz/1", "zz/2", "zz/3", "zz/10", "c/\x00", "c/\xff",
}

// play lets data drive an inventory and the model, and compares them now and then.
func play(t *testing.T, data []byte, topics []string) {
	inv, m := New(Options{MaxChanges: 1 << 20}), newModel()
	ctx := context.Background()
	tree, err := inv.List(ctx, Spec{Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	tree.OpenAll(true)
	var flat *Listing
	now := int64(1_700_000_000_000)
	told := mirror{}
	track := len(data) % 200
	next := func() byte {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return b
	}
	for step := 0; len(data) > 0; step++ {
		if step == track {
			inv.TrackChanges(true)
		}
		op, arg := next(), next()
		now += int64(arg) * 37
		topic := topics[int(next())%len(topics)]
		switch op % 16 {
		case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9:
			v := next()
			q := Publication{
				Topic: []byte(topic), Payload: []byte(strings.Repeat(string(rune('a'+v%3)), int(v%5)*7)), ReceivedAt: now,
				Origin: Origin(op % 3), Retain: v&0x20 == 0, QoSKnown: v&0x40 != 0, QoS: v >> 6 & 1,
			}
			if v&0x80 != 0 {
				q.Properties = []byte{propPayloadFormat, v & 1}
			}
			if q.Origin != Live {
				q.Retain = true
			}
			switch v % 4 {
			case 0:
				q.Interval = expiry.None()
			case 1, 2:
				q.Interval = expiry.Seconds(uint32(v))
			}
			inv.Apply([]Publication{q})
			m.apply(q)
		case 10:
			inv.BeginScan()
			m.beginScan()
		case 11:
			inv.Tick(now)
			m.tick(now)
		case 12:
			why := Gone
			if got, want := inv.Vanished([]byte(topic), now-int64(arg), why), m.vanished(topic, now-int64(arg), why); got != want {
				t.Fatalf("Vanished(%q) = %v, want %v", topic, got, want)
			}
		case 13:
			inv.StillServed([]byte(topic), now)
			m.stillServed(topic, now)
		case 14:
			if flat == nil {
				if flat, err = inv.List(ctx, Spec{}); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, inv, m, tree, flat, false)
		case 15:
			tree.Rows(tree.First(), 4, nil) // so that orders exist and must be kept
			set, unset := Flags(arg&3)*FlagLeft, Flags(arg>>2&3)*FlagLeft|FlagNever
			if got, want := inv.Mark([]byte(topic), set, unset), m.mark(topic, set, unset&^FlagNever); got != want {
				t.Fatalf("Mark(%q) = %v, want %v", topic, got, want)
			}
			if arg&0x40 != 0 {
				told.take(inv, int(arg&7)+1)
			}
		}
	}
	if flat, err = inv.List(ctx, Spec{}); err != nil {
		t.Fatal(err)
	}
	compare(t, inv, m, tree, flat, true)
	inv.TrackChanges(true)
	for told.take(inv, 5) {
	}
	told.compare(t, m)
}

func compare(t *testing.T, inv *Inventory, m *model, tree, flat *Listing, full bool) {
	t.Helper()
	c := inv.Counts()
	want := m.below2()
	got := sums{uint32(c.Topics), uint32(c.Never), uint32(c.Expiring), uint32(c.Unknown), uint32(c.Due), uint32(c.Findings), uint32(c.Left), uint32(c.Hazards)}
	if got != want || int(c.Structure) != m.structure {
		t.Fatalf("counts are %+v, structure %d, want %+v, structure %d", got, c.Structure, want, m.structure)
	}
	var bytesHeld, kept int64
	for topic, s := range m.slots {
		bytesHeld += int64(len(s.payload))
		kept += int64(len(s.payload) + len(s.props))
		if full {
			compareSlot(t, inv, m, topic, s)
		}
	}
	if c.Bytes != bytesHeld || c.KeptBytes != kept {
		t.Fatalf("bytes are %d and %d kept, want %d and %d", c.Bytes, c.KeptBytes, bytesHeld, kept)
	}
	topics := m.sorted(nil)
	compareRows(t, m, tree, topics, full)
	var names []string
	for _, r := range flat.Rows(flat.First(), len(topics)+1, nil) {
		names = append(names, string(r.Slot.Topic))
	}
	if !slices.Equal(names, topics) || flat.Len() != len(topics) {
		t.Fatalf("flat is %q (%d), want %q", names, flat.Len(), topics)
	}
	if !full {
		return
	}
	for i, n := range names {
		if p := flat.At(i); p.path != n || flat.Index(p) != i {
			t.Fatalf("row %d is %q with index %d, want %q", i, p.path, flat.Index(p), n)
		}
	}
	for _, text := range []string{"b", "is:never", "-is:never a", "+/b", "a/#", "size>10", "*b*", "is:notseen", "is:left", "is:hazard -is:left"} {
		compareFilter(t, inv, m, text)
	}
	events, _ := inv.Events(0, 0)
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%v %q", e.Kind, e.Topic))
	}
	if !slices.Equal(lines, m.events) {
		t.Fatalf("events are\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(m.events, "\n"))
	}
}

func (m *model) below2() (n sums) {
	for _, s := range m.slots {
		n.add(sumsOf(s.flags))
	}
	return n
}

func compareSlot(t *testing.T, inv *Inventory, m *model, topic string, s *modelSlot) {
	t.Helper()
	ref, ok := inv.Find([]byte(topic))
	d, ok2 := inv.Detail(ref)
	if !ok || !ok2 {
		t.Fatalf("%q is not held", topic)
	}
	var changes []string
	for _, ch := range d.Changes {
		changes = append(changes, fmt.Sprintf("%v %s %v", ch.Kind, ch.Payload, ch.Interval))
	}
	got := fmt.Sprint(string(d.Topic), string(d.Payload), []byte(d.Properties), d.Interval, d.History, d.ReceivedAt, d.FirstSeen,
		d.LastLive, d.LiveCount, d.Flags.Names(), d.QoS, changes)
	want := fmt.Sprint(topic, s.payload, []byte(s.props), s.interval, s.history, s.received, s.first,
		s.live, s.count, m.shown(s).Names(), s.qos, s.changes[:min(len(s.changes), 10)])
	if got != want {
		t.Fatalf("%q is\n%s\nwant\n%s", topic, got, want)
	}
	if d.Fingerprint != Fingerprint([]byte(s.payload), []byte(s.props), s.interval) {
		t.Fatalf("%q has another fingerprint than its content", topic)
	}
}

func compareRows(t *testing.T, m *model, l *Listing, topics []string, full bool) {
	t.Helper()
	want := m.rows(topics)
	rows := l.Rows(Pos{}, len(want)+1, nil)
	var lines []string
	for i, r := range rows {
		lines = append(lines, fmt.Sprintf("%d %q %v", r.Depth, r.Prefix, r.Held))
		if !bytes.HasSuffix(r.Prefix, r.Name) {
			t.Fatalf("level %q of %q", r.Name, r.Prefix)
		}
		if r.Branch {
			w := m.below(string(r.Prefix))
			if r.Sub != w.counts() {
				t.Fatalf("sums at %q are %+v, want %+v", r.Prefix, r.Sub, w.counts())
			}
		}
		if !full {
			continue
		}
		if p, n := l.Move(Pos{}, i); p != r.Pos || n != i {
			t.Fatalf("row %d is %v after %d, want %v", i, p, n, r.Pos)
		}
		if p, n := l.Move(l.Last(), i-len(rows)+1); p != r.Pos || n != i-len(rows)+1 {
			t.Fatalf("row %d from below is %v after %d, want %v", i, p, n, r.Pos)
		}
		if p := l.Find(r.Prefix); p != r.Pos {
			t.Fatalf("found %v, want %v", p, r.Pos)
		}
	}
	if !slices.Equal(lines, want) {
		t.Fatalf("tree is\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func compareFilter(t *testing.T, inv *Inventory, m *model, text string) {
	t.Helper()
	f, err := ParseFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	want := m.sorted(func(s *modelSlot) bool {
		return f.Match(Slot{Topic: []byte(s.topic), Size: len(s.payload), Flags: m.shown(s)}, []byte(s.payload), m.now)
	})
	l, err := inv.List(context.Background(), Spec{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range l.Rows(Pos{}, len(m.slots)+1, nil) {
		got = append(got, string(r.Name))
	}
	if !slices.Equal(got, want) || l.Len() != len(want) {
		t.Fatalf("filter %q gives %q, want %q", text, got, want)
	}
	tree, err := inv.List(context.Background(), Spec{Filter: f, Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	tree.OpenAll(true)
	compareRows(t, m, tree, want, true)
}

func FuzzApply(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		seed := make([]byte, 400)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) { play(t, data[:min(len(data), 800)], fuzzTopics) })
}

func TestALongRandomRunAgreesWithTheModel(t *testing.T) {
	topics := slices.Clone(fuzzTopics)
	for i := range 60 {
		topics = append(topics, fmt.Sprintf("wide/%d", i*7919%1000), fmt.Sprintf("deep/%d/x/%d", i%5, i))
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		data := make([]byte, 4000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		play(t, data, topics)
	}
}
