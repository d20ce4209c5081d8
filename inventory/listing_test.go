package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"retainscope/expiry"
)

func fill(inv *Inventory, topics ...string) {
	for _, t := range topics {
		inv.Apply([]Publication{{Topic: []byte(t), Payload: []byte("x"), Interval: expiry.None(), ReceivedAt: at, Retain: true}})
	}
}

func clearTopic(inv *Inventory, topics ...string) {
	for _, t := range topics {
		inv.Apply([]Publication{{Topic: []byte(t), ReceivedAt: at, Retain: true, Origin: Live}})
	}
}

// draw returns the rows of a listing, one line each: + and - for closed and open levels, a star for what is held.
func draw(l *Listing) string {
	var b strings.Builder
	for _, r := range l.Rows(Pos{}, 1000, nil) {
		mark, held := " ", ""
		if r.Branch {
			mark = "+"
			if r.Open {
				mark = "-"
			}
		}
		if r.Held {
			held = "*"
		}
		fmt.Fprintf(&b, "%s%s%s%s\n", strings.Repeat("  ", r.Depth), mark, r.Name, held)
	}
	return b.String()
}

func wantDrawn(t *testing.T, l *Listing, want string) {
	t.Helper()
	if got := draw(l); got != want {
		t.Fatalf("rows are\n%s\nwant\n%s", got, want)
	}
}

func pos(path string) Pos { return posOf([]byte(path)) }

// bothTrees runs a test over the tree of the store and over the tree of a filter that lets everything through.
func bothTrees(t *testing.T, run func(t *testing.T, inv *Inventory, list func() *Listing)) {
	for name, text := range map[string]string{"unfiltered": "", "filtered": "-nothing"} {
		t.Run(name, func(t *testing.T) {
			inv := New(Options{})
			run(t, inv, func() *Listing { return mustList(t, inv, Spec{Tree: true, Filter: mustFilter(text)}) })
		})
	}
}

func TestATreeShowsItsLevelsInOrder(t *testing.T) {
	bothTrees(t, func(t *testing.T, inv *Inventory, list func() *Listing) {
		fill(inv, "b/x", "a", "a/c/d", "a b", "a/b", "/lead", "b/x/y")
		l := list()
		wantDrawn(t, l, "+\n+a*\n a b*\n+b\n")
		l.SetOpen(pos("b"), true)
		wantDrawn(t, l, "+\n+a*\n a b*\n-b\n  +x*\n")
		l.OpenAll(true)
		wantDrawn(t, l, "-\n   lead*\n-a*\n   b*\n  -c\n     d*\n a b*\n-b\n  -x*\n     y*\n")
		l.SetOpen(pos("a"), false)
		wantDrawn(t, l, "-\n   lead*\n+a*\n a b*\n-b\n  -x*\n     y*\n")
		next := list()
		next.Carry(l)
		wantDrawn(t, next, "-\n   lead*\n+a*\n a b*\n-b\n  -x*\n     y*\n")
		if l.Len() != 7 || l.At(0) != (Pos{}) || l.Index(l.First()) != -1 {
			t.Fatalf("%d topics, row 0 at %v", l.Len(), l.At(0))
		}
	})
}

func TestMovingStopsAtTheEnds(t *testing.T) {
	bothTrees(t, func(t *testing.T, inv *Inventory, list func() *Listing) {
		fill(inv, "a/b", "a/c", "d")
		l := list()
		l.OpenAll(true)
		for _, c := range []struct {
			from  string
			rows  int
			to    string
			moved int
		}{
			{"a", 0, "a", 0}, {"a", 1, "a/b", 1}, {"a", 99, "d", 3}, {"d", -2, "a/b", -2}, {"d", -99, "a", -3}, {"a", -1, "a", 0}, {"d", 1, "d", 0},
		} {
			if p, n := l.Move(pos(c.from), c.rows); p != pos(c.to) || n != c.moved {
				t.Errorf("%d from %q is %q after %d, want %q after %d", c.rows, c.from, p.path, n, c.to, c.moved)
			}
		}
		if l.First() != pos("a") || l.Last() != pos("d") || l.Parent(pos("a/b")) != pos("a") || l.Parent(pos("a")) != pos("a") {
			t.Errorf("first %v, last %v, parent %v", l.First(), l.Last(), l.Parent(pos("a/b")))
		}
	})
}

func TestAPlaceBelowAClosedLevelIsTheLevel(t *testing.T) {
	bothTrees(t, func(t *testing.T, inv *Inventory, list func() *Listing) {
		fill(inv, "a/b/c", "d")
		l := list()
		if p := l.Find([]byte("a/b/c")); p != pos("a") {
			t.Errorf("found %q", p.path)
		}
		l.SetOpen(pos("a"), true)
		if p := l.Find([]byte("a/b/c")); p != pos("a/b") {
			t.Errorf("found %q", p.path)
		}
		if p := l.Find([]byte("zzz")); p != pos("d") {
			t.Errorf("beyond the end is %q", p.path)
		}
	})
}

func TestAPlaceOfARowThatIsGoneIsTheNearest(t *testing.T) {
	for name, spec := range map[string]Spec{
		"tree": {Tree: true}, "filtered tree": {Tree: true, Filter: mustFilter("-nothing")},
		"flat": {}, "filtered": {Filter: mustFilter("-nothing")}, "by size": {Sort: BySize},
	} {
		inv := New(Options{})
		fill(inv, "a", "b", "c", "d")
		l := mustList(t, inv, spec)
		l.Rows(Pos{}, 4, nil)
		clearTopic(inv, "b")
		if p, n := l.Move(pos("b"), 0); p != pos("c") || n != 0 {
			t.Errorf("%s: after b went its place is %q", name, p.path)
		}
		if rows := l.Rows(pos("b"), 9, nil); len(rows) != 2 || rows[0].Pos != pos("c") {
			t.Errorf("%s: %d rows from the place of b", name, len(rows))
		}
		clearTopic(inv, "d", "c")
		if p := l.Settle(pos("c")); p != pos("a") {
			t.Errorf("%s: after all behind it went the place is %q", name, p.path)
		}
		clearTopic(inv, "a")
		if p := l.Settle(pos("a")); !p.IsZero() {
			t.Errorf("%s: an empty listing has a place %q", name, p.path)
		}
		if rows := l.Rows(pos("a"), 9, nil); len(rows) != 0 || !l.First().IsZero() || !l.Last().IsZero() {
			t.Errorf("%s: an empty listing has rows", name)
		}
	}
}

func TestAnEmptyInventoryHasNoRows(t *testing.T) {
	for _, spec := range []Spec{{}, {Tree: true}, {Sort: BySize}, {Filter: mustFilter("x")}, {Filter: mustFilter("x"), Tree: true}} {
		l := mustList(t, New(Options{}), spec)
		p, n := l.Move(Pos{}, 5)
		if l.Len() != 0 || len(l.Rows(Pos{}, 5, nil)) != 0 || !p.IsZero() || n != 0 || !l.At(3).IsZero() || l.Index(pos("a")) != -1 {
			t.Errorf("%+v has rows", spec)
		}
	}
}

func topicsOf(l *Listing, n int) (names []string) {
	for _, r := range l.Rows(Pos{}, n, nil) {
		names = append(names, string(r.Name))
	}
	return names
}

func TestAFlatListingIsOrderedByWhatItSays(t *testing.T) {
	inv := New(Options{})
	for i, c := range []struct {
		topic string
		size  int
		i     expiry.Interval
		live  int64
	}{
		{"d", 3, expiry.Seconds(50), 0}, {"a/x", 3, expiry.None(), 3}, {"a", 9, expiry.Seconds(10), 2}, {"a b", 1, expiry.NotKnown(), 0},
	} {
		inv.Apply([]Publication{{
			Topic: []byte(c.topic), Payload: make([]byte, c.size), Interval: c.i, ReceivedAt: at + int64(10-i)*1000, Retain: true,
		}})
		if c.live > 0 {
			inv.Apply([]Publication{{Topic: []byte(c.topic), ReceivedAt: at + c.live*1000, Origin: Live}})
		}
	}
	for _, c := range []struct {
		sort SortKey
		want []string
	}{
		{ByTopic, []string{"a", "a/x", "a b", "d"}},
		{ByExpiry, []string{"a", "d", "a/x", "a b"}},
		{BySize, []string{"a b", "a/x", "d", "a"}},
		{ByLive, []string{"a b", "d", "a", "a/x"}},
		{ByReceived, []string{"a b", "a", "a/x", "d"}},
		{ByReading, []string{"a b", "a", "a/x", "d"}}, // one NUL looks empty, two are older than live traffic
	} {
		for _, filter := range []string{"", "-nothing"} {
			l := mustList(t, inv, Spec{Sort: c.sort, Filter: mustFilter(filter)})
			if got := topicsOf(l, 9); !slices.Equal(got, c.want) {
				t.Errorf("by %v: %q, want %q", c.sort, got, c.want)
			}
			for i, topic := range c.want {
				if l.At(i) != pos(topic) || l.Index(pos(topic)) != i {
					t.Errorf("by %v row %d is %q, and %q is row %d", c.sort, i, l.At(i).path, topic, l.Index(pos(topic)))
				}
			}
			down := slices.Clone(c.want)
			slices.Reverse(down)
			l = mustList(t, inv, Spec{Sort: c.sort, Desc: true, Filter: mustFilter(filter)})
			if got := topicsOf(l, 9); !slices.Equal(got, down) {
				t.Errorf("by %v downwards: %q, want %q", c.sort, got, down)
			}
			if l.First() != pos(down[0]) || l.Last() != pos(down[3]) || l.At(99) != pos(down[3]) || l.At(-1) != pos(down[0]) {
				t.Errorf("by %v downwards the ends are %q and %q", c.sort, l.First().path, l.Last().path)
			}
		}
	}
}

func TestAListingSaysWhenItShouldBeMadeAgain(t *testing.T) {
	inv := New(Options{})
	fill(inv, "a", "b")
	tree, flat := mustList(t, inv, Spec{Tree: true}), mustList(t, inv, Spec{})
	word, flagged := mustList(t, inv, Spec{Filter: mustFilter("a")}), mustList(t, inv, Spec{Filter: mustFilter("is:never")})
	size := mustList(t, inv, Spec{Sort: BySize})
	fresh := func(want ...bool) {
		t.Helper()
		got := []bool{tree.Fresh(), flat.Fresh(), word.Fresh(), flagged.Fresh(), size.Fresh()}
		if !slices.Equal(got, want) {
			t.Fatalf("fresh are %v, want %v", got, want)
		}
	}
	fresh(true, true, true, true, true)
	fill(inv, "a")
	fresh(true, true, true, false, false)
	fill(inv, "c")
	fresh(true, true, false, false, false)
	if got := topicsOf(flat, 9); !slices.Equal(got, []string{"a", "b", "c"}) || flat.Len() != 3 || tree.Len() != 3 {
		t.Fatalf("the flat order did not follow: %q", got)
	}
	wantDrawn(t, tree, " a*\n b*\n c*\n")
}

func TestWalkGivesEverythingInOrderAndStops(t *testing.T) {
	inv := New(Options{})
	fill(inv, "c", "a", "b")
	var got []string
	err := inv.Walk(context.Background(), Spec{Tree: true}, func(d Detail) error {
		got = append(got, string(d.Topic)+"="+string(d.Payload))
		inv.Counts() // the lock is free
		clearTopic(inv, "b")
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"a=x", "c=x"}) {
		t.Fatalf("walked %q, %v", got, err)
	}
	stop := fmt.Errorf("enough")
	if err := inv.Walk(context.Background(), Spec{}, func(Detail) error { return stop }); !errors.Is(err, stop) {
		t.Fatalf("stopped with %v", err)
	}
}

func TestAQuestionThatIsGivenUpReturnsTheReason(t *testing.T) {
	inv := corpusOf(20000).load(Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range []Spec{{}, {Tree: true}, {Sort: BySize}, {Filter: mustFilter("e")}, {Filter: mustFilter("is:never")}, {Filter: mustFilter("+/#")}} {
		if l, err := inv.List(ctx, s); l != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%+v gave %v, %v", s, l, err)
		}
	}
	if err := inv.Walk(ctx, Spec{}, func(Detail) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("walk gave %v", err)
	}
}
