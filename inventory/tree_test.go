package inventory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestALevelIsFoundWhetherFewOrManyLieBesideIt(t *testing.T) {
	inv := New(Options{})
	named := func(i int) string { return fmt.Sprintf("house/room-%d/light", i) }
	const most = 3 * fewChildren
	for n := 1; n <= most; n++ {
		fill(inv, named(n-1))
		for i := range most {
			id, ok := inv.tree.child(0, []byte("house"))
			if ok {
				_, ok = inv.tree.child(id, fmt.Appendf(nil, "room-%d", i))
			}
			if ok != (i < n) {
				t.Fatalf("with %d children room-%d is found: %v", n, i, ok)
			}
		}
		if n == most/2 { // what is in order is looked for in another chain
			l := mustList(t, inv, Spec{Tree: true})
			l.OpenAll(true)
			l.Rows(Pos{}, 500, nil)
		}
	}
	if inv.tree.index.live != most {
		t.Fatalf("%d levels are in the index", inv.tree.index.live)
	}
	for i := range most {
		clearTopic(inv, named(i))
		if id, ok := inv.tree.child(0, []byte("house")); ok {
			if _, ok := inv.tree.child(id, fmt.Appendf(nil, "room-%d", i)); ok {
				t.Fatalf("room-%d is found after it went", i)
			}
		}
	}
	if inv.tree.index.live != 0 {
		t.Fatalf("%d levels are left in the index", inv.tree.index.live)
	}
}

// TestEveryLevelCountsWhatIsBelowIt applies topics that begin one another, in batches and in any order, and clears some
// in the same batches; each level is counted again topic by topic.
func TestEveryLevelCountsWhatIsBelowIt(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	names := []string{"a", "b", "", "long-name-of-a-level", "c c"}
	for range 60 {
		inv := New(Options{})
		held := map[string]bool{}
		for range 8 {
			var batch []Publication
			for range r.IntN(300) {
				levels := make([]string, 1+r.IntN(5))
				for i := range levels {
					if levels[i] = names[r.IntN(len(names))]; r.IntN(3) == 0 {
						levels[i] = fmt.Sprint(r.IntN(30))
					}
				}
				topic := strings.Join(levels, "/")
				if topic == "" {
					continue
				}
				q := Publication{Topic: []byte(topic), Payload: []byte("x"), ReceivedAt: at, Retain: true}
				if r.IntN(4) == 0 {
					q.Origin, q.Payload = Live, nil
				}
				held[topic] = len(q.Payload) > 0
				batch = append(batch, q)
			}
			if r.IntN(2) == 0 { // as brokers send them
				batch = inOrder(batch)
			}
			for _, q := range batch {
				held[string(q.Topic)] = len(q.Payload) > 0
			}
			inv.Apply(batch)
			want := map[string]uint32{}
			total := uint32(0)
			for topic, here := range held {
				for n := 1; here && n <= levelsOf([]byte(topic)); n++ {
					want[string(prefixOf([]byte(topic), n))]++
				}
				if here {
					total++
				}
			}
			if got := inv.tree.sums0().all; got != total {
				t.Fatalf("%d topics counted, %d held", got, total)
			}
			for path, n := range want {
				id, depth := inv.tree.seek([]byte(path))
				if depth != levelsOf([]byte(path)) || inv.tree.sums(id).all != n {
					t.Fatalf("%q counts %d of %d", path, inv.tree.sums(id).all, n)
				}
			}
		}
	}
}

// inOrder returns a batch level by level; of one topic the order stays.
func inOrder(batch []Publication) []Publication {
	out := append([]Publication(nil), batch...)
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && compareTopics(out[j-1].Topic, out[j].Topic) > 0; j-- {
			out[j-1], out[j] = out[j], out[j-1]
		}
	}
	return out
}

func TestWhatLooksPlainEightBytesAtATimeIsNoOddName(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	alphabet := []byte("abcdefgh0123/// \x7f\x00\x1f\x80\xc3\xa4~!")
	plain := 0
	for range 200_000 {
		topic := make([]byte, 1+r.IntN(30))
		for i := range topic {
			if topic[i] = alphabet[r.IntN(12)]; r.IntN(6) == 0 {
				topic[i] = alphabet[r.IntN(len(alphabet))]
			}
		}
		visible := !bytes.ContainsFunc(topic, func(c rune) bool { return c <= ' ' || c >= 0x7F })
		if got, want := plainName(topic), visible && !oddRunes(topic); got != want {
			t.Fatalf("%q is plain: %v, want %v", topic, got, want)
		}
		if plainName(topic) {
			plain++
		}
	}
	if plain < 10_000 {
		t.Fatalf("only %d were plain", plain)
	}
}
