package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retainscope/expiry"
)

// dying is a context that ends after it was asked a few times, wherever that is.
type dying struct {
	context.Context
	left int
}

func (d *dying) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

func wide(n int) (*Inventory, []string) {
	inv := New(Options{})
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("w/%06d", i*7919%n))
	}
	fill(inv, names...)
	slices.Sort(names)
	return inv, names
}

func drain(l *Listing) {
	for l.Work(context.Background()) {
	}
}

func kids(l *Listing, n int) (paths []string, pending bool) {
	for i, r := range l.Rows(pos("w"), n+2, nil) {
		if i == 0 {
			pending = r.Pending
			continue
		}
		paths = append(paths, string(r.Prefix))
	}
	return paths, pending
}

func TestAWideLevelIsPendingUntilWorkHasPutItInOrder(t *testing.T) {
	inv, names := wide(5000)
	l := mustList(t, inv, Spec{Tree: true})
	if l.Pending() {
		t.Fatal("nothing is shown yet and something is pending")
	}
	l.SetOpen(pos("w"), true)
	got, pending := kids(l, 10)
	if !pending || !l.Pending() || !slices.IsSorted(got) {
		t.Fatalf("%d rows, pending %v", len(got), pending)
	}
	drain(l)
	if got, pending := kids(l, 5000); pending || l.Pending() || !slices.Equal(got, names) {
		t.Fatalf("%d rows of %d, pending %v", len(got), len(names), pending)
	}
}

func TestAWideLevelComesIntoOrderWithoutWorkToo(t *testing.T) {
	inv, names := wide(5000)
	l := mustList(t, inv, Spec{Tree: true})
	l.SetOpen(pos("w"), true)
	for n := 0; ; n++ {
		got, pending := kids(l, 5000)
		if !slices.IsSorted(got) {
			t.Fatal("rows are not in order")
		}
		if !pending {
			if !slices.Equal(got, names) {
				t.Fatalf("%d rows of %d", len(got), len(names))
			}
			break
		}
		if n > 5000/inlineKids+2 {
			t.Fatal("it does not get on")
		}
	}
}

func TestWorkThatIsGivenUpLeavesNothingBehind(t *testing.T) {
	for left := 1; left < 40; left += 3 {
		inv, names := wide(5000)
		l := mustList(t, inv, Spec{Tree: true})
		l.SetOpen(pos("w"), true)
		kids(l, 10)
		l.Work(&dying{Context: context.Background(), left: left})
		clearTopic(inv, names[10], names[4000])
		kids(l, 10)
		drain(l)
		want := slices.Delete(slices.Clone(names), 10, 11)
		want = slices.Delete(want, 3999, 4000)
		if got, pending := kids(l, 5000); pending || !slices.Equal(got, want) {
			t.Fatalf("given up after %d questions: %d rows of %d, pending %v", left, len(got), len(want), pending)
		}
		flat := &dying{Context: context.Background(), left: left}
		if _, err := inv.List(flat, Spec{}); err == nil && left < 3 {
			t.Fatal("the order of all was not given up")
		}
		fill(inv, names[10])
		clearTopic(inv, names[0])
		want = slices.Insert(want, 10, names[10])[1:]
		if got := topicsOf(mustList(t, inv, Spec{}), 9999); !slices.Equal(got, want) {
			t.Fatalf("given up after %d questions: the flat order has %d of %d", left, len(got), len(want))
		}
	}
}

func TestAWideFirstLevelIsInOrderWhenTheListingIsMade(t *testing.T) {
	inv := New(Options{})
	for i := range 5000 {
		fill(inv, fmt.Sprint(i*7919%5000))
	}
	if l := mustList(t, inv, Spec{Tree: true}); len(l.Rows(Pos{}, 6000, nil)) != 5000 {
		t.Fatal("rows are missing")
	}
}

func TestOrdersStayRightWhileTopicsComeAndGo(t *testing.T) {
	inv, names := wide(6000)
	tree, flat := mustList(t, inv, Spec{Tree: true}), mustList(t, inv, Spec{})
	tree.OpenAll(true)
	kids(tree, 10)
	drain(tree)
	held := map[string]bool{}
	for _, n := range names {
		held[n] = true
	}
	r := rand.New(rand.NewPCG(8, 8))
	for round := range 30 {
		for range 400 {
			n := fmt.Sprintf("w/%06d", r.IntN(9000))
			if held[n] = !held[n]; held[n] {
				fill(inv, n)
			} else {
				clearTopic(inv, n)
				delete(held, n)
			}
		}
		if round%3 == 0 {
			drain(tree)
			drain(flat)
		}
		if round%5 != 4 {
			continue
		}
		var want []string
		for n, ok := range held {
			if ok {
				want = append(want, n)
			}
		}
		slices.Sort(want)
		kids(tree, 1)
		drain(tree)
		drain(flat)
		if got, _ := kids(tree, len(want)); !slices.Equal(got, want) {
			t.Fatalf("round %d: the tree has %d rows, want %d", round, len(got), len(want))
		}
		if got := topicsOf(flat, 9999); !slices.Equal(got, want) {
			t.Fatalf("round %d: the flat order has %d rows, want %d", round, len(got), len(want))
		}
		for range 20 {
			i := r.IntN(len(want))
			if flat.At(i) != pos(want[i]) || flat.Index(pos(want[i])) != i {
				t.Fatalf("round %d: row %d is %q", round, i, flat.At(i).path)
			}
		}
	}
}

// TestTheFirstRowsAreThoseOfTheWholeOrder compares the quick way with the plain one where both are possible.
func TestTheFirstRowsAreThoseOfTheWholeOrder(t *testing.T) {
	c := corpusOf(16500)
	for name, change := range map[string]func(q *Publication, i int){
		"as in the corpus": func(*Publication, int) {},
		"all the same":     func(q *Publication, _ int) { q.Interval, q.Payload = expiry.Seconds(60), q.Payload[:20] },
		"few differ": func(q *Publication, i int) {
			q.Interval, q.Payload = expiry.None(), q.Payload[:20]
			if i%100 == 0 {
				q.Interval, q.Payload = expiry.Seconds(uint32(i)), q.Payload[:i%19+1]
			}
		},
	} {
		for _, ordered := range []bool{false, true} {
			inv := New(Options{})
			for i := range c.pubs {
				q := c.pubs[i]
				change(&q, i)
				q.ReceivedAt += int64(i % 5000)
				inv.Apply([]Publication{q})
			}
			if ordered {
				mustList(t, inv, Spec{})
			}
			for _, key := range []SortKey{ByExpiry, BySize, ByLive, ByReceived} {
				for _, desc := range []bool{false, true} {
					spec := Spec{Sort: key, Desc: desc}
					quick := mustList(t, inv, spec)
					spec.Filter = mustFilter("-nothing")
					plain := listed(mustList(t, inv, spec))
					if got := topicsOf(quick, 100); !slices.Equal(got, plain[:100]) {
						t.Fatalf("%s, ordered %v, by %v, desc %v: first rows differ:\n%q\n%q", name, ordered, key, desc, got[:5], plain[:5])
					}
					if quick.Len() != 16500 {
						t.Fatalf("%d topics", quick.Len())
					}
					if quick.At(12000) != pos(plain[12000]) || quick.Index(pos(plain[12000])) != 12000 || quick.Last() != pos(plain[16499]) {
						t.Fatalf("%s by %v: row 12000 is %q, want %q", name, key, quick.At(12000).path, plain[12000])
					}
					again := mustList(t, inv, Spec{Sort: key, Desc: desc})
					drain(again)
					if got := listed(again); again.Pending() || !slices.Equal(got, plain) {
						t.Fatalf("%s by %v: the whole order differs", name, key)
					}
				}
			}
		}
	}
}

// listed returns the topics of a snapshot without going through its rows.
func listed(l *Listing) (names []string) {
	for i := range l.snap.items {
		names = append(names, string(l.snap.topic(i)))
	}
	return names
}

func TestTopicsAreSortedLevelByLevelWhateverTheirBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	const alphabet = "/ab\x00\x2e\x30\xff//a"
	seen := map[string]bool{}
	var v views
	var a arena
	a.init()
	var entries []entry
	var want []string
	for len(entries) < 4000 {
		b := make([]byte, 1+r.IntN(40))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		if r.IntN(3) == 0 {
			b = append([]byte("aaaaaaaaaaaaaaaa/"), b...)
		}
		if seen[string(b)] {
			continue
		}
		seen[string(b)] = true
		want = append(want, string(b))
		p := a.add(uint32(len(entries)), 0, b)
		entries = append(entries, v.note(&a, uint32(len(entries)), 0, p, 0, len(b)))
	}
	if err := sortTopics(context.Background(), &v, entries, nil); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(want, func(a, b string) int { return compareTopics([]byte(a), []byte(b)) })
	for i := range entries {
		if got := string(v.bytes(&entries[i])); got != want[i] {
			t.Fatalf("number %d is %q, want %q", i, got, want[i])
		}
	}
}
