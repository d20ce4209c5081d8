package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shownBy returns all topics of a listing in its order.
func shownBy(l *Listing) []string {
	var names []string
	for _, r := range l.Rows(Pos{}, 1<<20, nil) {
		if r.Held {
			names = append(names, string(r.Slot.Topic))
		}
	}
	return names
}

// TestNarrowingFindsWhatAFreshSearchFinds types filters letter by letter while topics come, go, come back and have their
// chunks written again, and compares each listing with one that searches everything.
func TestNarrowingFindsWhatAFreshSearchFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 3))
	inv := New(Options{})
	name := func() string {
		return fmt.Sprintf("%s/%s/sensor-%d/%s-%s", []string{"Acme", "home", "plant"}[r.IntN(3)], []string{"welding", "paint", "press", "hall", "yard"}[r.IntN(5)],
			r.IntN(40), []string{"temperature", "Tempo", "humidity", "power", "volt", "lux", "door", "lock"}[r.IntN(8)], strings.Repeat("x", r.IntN(9)))
	}
	change := func(n int) {
		for range n {
			topic := name()
			q := Publication{Topic: []byte(topic), Payload: []byte("1"), ReceivedAt: at, Retain: true, Origin: Live}
			if r.IntN(2) == 0 {
				q.Payload = nil
			}
			inv.Apply([]Publication{q})
		}
	}
	change(6000)
	narrowed, kept := 0, 0
	for round := range 42 {
		word := []string{"temperature", "-humid paint", "press/sensor-1", "+/welding/# temp", "re:weld temper", "*paint*temp* is:live", "tempo -is:due"}[round%7]
		spec := Spec{Tree: round%3 == 0}
		if round%4 == 3 {
			spec = Spec{Sort: BySize, Desc: round%8 == 3}
		} else if round%5 == 4 {
			spec.Desc = !spec.Tree
		}
		var before *Listing
		for n := 2; n <= len(word); n++ {
			f, err := ParseFilter(word[:n])
			if err != nil {
				continue
			}
			spec.Filter, spec.Within = f, before
			q := &query{inv: inv, spec: spec}
			inv.mu.Lock()
			if q.earlier() != nil {
				narrowed++
			}
			inv.mu.Unlock()
			near := mustList(t, inv, spec)
			spec.Within = nil
			fresh := mustList(t, inv, spec)
			near.OpenAll(true)
			fresh.OpenAll(true)
			if got, want := shownBy(near), shownBy(fresh); !slices.Equal(got, want) || near.Len() != fresh.Len() {
				t.Fatalf("round %d, %q: %d topics, a fresh search has %d", round, word[:n], near.Len(), fresh.Len())
			}
			kept += near.Len()
			before = near
			change(r.IntN(300))
		}
	}
	if narrowed < 150 || kept == 0 {
		t.Fatalf("only %d listings were narrowed, %d topics in all", narrowed, kept)
	}
}

func TestNarrowingBesideWritersHoldsWhatStays(t *testing.T) {
	inv := New(Options{})
	stays := func(i int) string { return fmt.Sprintf("stays/temperature/%05d", i) }
	const n = 3000
	for i := range n {
		fill(inv, stays(i), fmt.Sprintf("other/%d", i), fmt.Sprintf("some/%d/else", i), fmt.Sprintf("one/more/%d", i), fmt.Sprint("last/", i))
	}
	done := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		r := rand.New(rand.NewPCG(1, 1))
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			topic := fmt.Sprintf("comes/temperature/%d", r.IntN(2000))
			fill(inv, topic)
			clearTopic(inv, topic, fmt.Sprintf("comes/temperature/%d", r.IntN(2000)))
		}
	})
	for range 30 {
		var before *Listing
		for _, text := range []string{"te", "temp", "temperature", "temperature/0"} {
			l := mustList(t, inv, Spec{Filter: mustFilter(text), Within: before})
			held := 0
			for _, topic := range shownBy(l) {
				if strings.HasPrefix(topic, "stays/") {
					held++
				}
			}
			if held != n {
				t.Errorf("%q shows %d of %d topics that stay", text, held, n)
			}
			before = l
		}
	}
	close(done)
	writers.Wait()
}

func TestNarrowingIsGivenUpWhenItIsNotWantedAnyMore(t *testing.T) {
	inv := corpusOf(20000).load(Options{})
	before := mustList(t, inv, Spec{Filter: mustFilter("lund")})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q := &query{inv: inv, spec: Spec{Filter: mustFilter("lund/as"), Within: before}}
	inv.mu.Lock()
	old := q.earlier()
	inv.mu.Unlock()
	if old == nil {
		t.Fatal("the earlier listing is not used")
	}
	if err := q.within(ctx, old); err == nil {
		t.Fatal("it went on")
	}
}

func TestAListingDoesNotKeepTheOneBefore(t *testing.T) {
	inv := corpusOf(20000).load(Options{})
	before := mustList(t, inv, Spec{Filter: mustFilter("lund")})
	if l := mustList(t, inv, Spec{Filter: mustFilter("lund/"), Within: before}); l.spec.Within != nil {
		t.Fatal("it does")
	}
}

func TestWhichFilterImpliesWhich(t *testing.T) {
	for _, c := range []struct {
		longer, shorter string
		want            bool
	}{
		{"kitchen", "kit", true}, {"kit", "kitchen", false}, {"KITCHEN", "kit", true}, {"kitchen lamp", "kit la", true},
		{"kitchen", "kit la", false}, {"-kit", "-kitchen", true}, {"-kitchen", "-kit", false}, {"-kitchen", "kit", false},
		{"kitchen", "-kit", false}, {"*kitch*lamp", "kitch", true}, {"*kit*", "kitch", false}, {"a*b", "a*b", true},
		{"a*b*", "a*b", false}, {"-a*b", "a*b", false}, {"zigbee2mqtt/+/state", "bee", true}, {"a/+/c", "a/+/c", true}, {"a/+/c", "a/#", false},
		{"re:weld.*temp", "re:weld.*temp", true}, {"re:weld", "re:wel", false}, {"re:welding", "weld", true}, {"re:(weld|paint)", "weld", false},
		{"kitchen is:never", "kit", true}, {"is:never", "is:never", false}, {"payload:kitchen", "kit", false},
	} {
		if got := mustFilter(c.longer).implies(mustFilter(c.shorter)); got != c.want {
			t.Errorf("%q implies %q: %v", c.longer, c.shorter, got)
		}
	}
	if !mustFilter("a").implies(nil) || (*Filter)(nil).implies(mustFilter("a")) {
		t.Error("no filter lets everything through")
	}
}
