package inventory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

func TestATableFindsWhatAMapFinds(t *testing.T) {
	hashes := map[uint32]uint32{}
	tab := newTable(0)
	r := rand.New(rand.NewPCG(4, 4))
	grown := 0
	for step := range 30000 {
		id := uint32(r.IntN(3000))
		if step > 20000 {
			id %= 50 // much comes and goes in a small place
		}
		if step == 10000 {
			tab.expect(9000)
		}
		if h, held := hashes[id]; held {
			tab.remove(h, id)
			delete(hashes, id)
		} else {
			hashes[id] = r.Uint32N(700) // many agree
			before := len(tab.cur)
			tab.add(hashes[id], id)
			if len(tab.cur) != before {
				grown++
				if tab.moved > moveSteps {
					t.Fatalf("one operation moved %d places", tab.moved)
				}
			}
		}
		probe := uint32(r.IntN(3000))
		h, held := hashes[probe]
		if _, found := tab.find(h, func(id uint32) bool { return id == probe }); found != held {
			t.Fatalf("step %d: %d found %v, held %v", step, probe, found, held)
		}
		if tab.live != len(hashes) {
			t.Fatalf("step %d: %d held, counted %d", step, len(hashes), tab.live)
		}
	}
	if grown < 4 || len(tab.cur) > 65536 {
		t.Fatalf("grown %d times to %d places", grown, len(tab.cur))
	}
}

func TestBlobsKeepTheirBytes(t *testing.T) {
	var b blobs
	b.init()
	r := rand.New(rand.NewPCG(5, 5))
	type held struct {
		ref  uint32
		n    int
		fill byte
	}
	var all []held
	size := func() int {
		return []int{r.IntN(40), r.IntN(600), r.IntN(2100), r.IntN(70000), r.IntN(300000)}[min(r.IntN(40)/8, 4)]
	}
	put := func(h held) {
		for i := range b.at(h.ref, h.n) {
			b.at(h.ref, h.n)[i] = h.fill
		}
	}
	for step := range 4000 {
		switch {
		case len(all) < 100 || r.IntN(3) == 0 && len(all) < 400:
			h := held{n: size(), fill: byte(step)}
			h.ref = b.alloc(h.n)
			put(h)
			all = append(all, h)
		case r.IntN(2) == 0:
			i := r.IntN(len(all))
			h := &all[i]
			n := size()
			h.ref = b.resize(h.ref, h.n, n)
			h.n, h.fill = n, byte(step)
			put(*h)
		default:
			i := r.IntN(len(all))
			b.release(all[i].ref, all[i].n)
			all[i] = all[len(all)-1]
			all = all[:len(all)-1]
		}
		if step%200 == 0 {
			for _, h := range all {
				if got := b.at(h.ref, h.n); len(got) != h.n || bytes.Count(got, []byte{h.fill}) != h.n {
					t.Fatalf("step %d: %d bytes of %d were written over", step, h.n, h.fill)
				}
			}
		}
	}
	for _, h := range all {
		b.release(h.ref, h.n)
	}
	left := 0
	for i := range b.class {
		for _, s := range b.class[i].slabs {
			if s.data != nil {
				left++
			}
			if s.live != 0 {
				t.Fatalf("class %d has %d items left", i, s.live)
			}
		}
	}
	if left > classes || b.kept > spareBytes {
		t.Fatalf("%d slabs and %d bytes are kept for nothing", left, b.kept)
	}
	for n := 1; n <= blobSmall; n++ {
		if size, items := classSize(blobClass(n)); size < n || size*items%8192 != 0 || size-n >= 128 {
			t.Fatalf("%d bytes go into items of %d, %d a slab", n, size, items)
		}
	}
}

func TestDeadTopicsGiveTheirRoomBack(t *testing.T) {
	inv := New(Options{})
	const n = 20000
	name := func(i int) string { return fmt.Sprintf("some/longer/name/of/a/topic/%08d", i) }
	for i := range n {
		fill(inv, name(i))
	}
	full := arenaBytes(inv)
	l := mustList(t, inv, Spec{Filter: mustFilter("topic")})
	for i := range n {
		if i%10 != 0 {
			clearTopic(inv, name(i))
		}
	}
	if now := arenaBytes(inv); now > full/2 {
		t.Fatalf("a tenth of the topics takes %d of %d bytes", now, full)
	}
	for i := range n {
		if _, ok := inv.Find([]byte(name(i))); ok != (i%10 == 0) {
			t.Fatalf("topic %d is held: %v", i, ok)
		}
	}
	if rows := l.Rows(Pos{}, n, nil); len(rows) != n/10 || string(rows[3].Name) != name(30) {
		t.Fatalf("a listing from before has %d rows", len(rows))
	}
	if got := mustList(t, inv, Spec{Filter: mustFilter("0")}).Len(); got != n/10 {
		t.Fatalf("%d are found", got)
	}
	for round := range 2 { // the same slots come and go
		for i := range n {
			if i%10 != 0 {
				fill(inv, name(i))
			}
		}
		for i := range n {
			if i%10 != 0 {
				clearTopic(inv, name(i))
			}
		}
		if now := arenaBytes(inv); now > full+arenaChunk {
			t.Fatalf("round %d: %d of %d bytes", round, now, full)
		}
	}
}

func arenaBytes(inv *Inventory) (n int) {
	for _, c := range inv.arena.chunks {
		if c != nil {
			n += cap(c.data)
		}
	}
	return n
}

func TestWhenEverythingGoesNothingIsLeft(t *testing.T) {
	inv := corpusOf(20000).load(Options{})
	mustList(t, inv, Spec{})
	l := mustList(t, inv, Spec{Tree: true})
	l.OpenAll(true)
	l.Rows(Pos{}, 500, nil)
	for _, q := range corpusOf(20000).pubs {
		clearTopic(inv, string(q.Topic))
	}
	c := inv.Counts()
	c.Version, c.Structure = 0, 0
	if c != (Counts{}) || len(l.Rows(Pos{}, 9, nil)) != 0 {
		t.Fatalf("left are %+v", c)
	}
	root := inv.tree.below(inv.tree.node(0).branch)
	if root.kids != 0 || root.waiting != 0 || root.placed != 0 || inv.tree.index.live != 0 || inv.topics.live != 0 {
		t.Fatalf("the tree has %+v", root)
	}
}

func TestATopicOfSlashesIsNotSixtyThousandLevels(t *testing.T) {
	inv := New(Options{})
	long := strings.Repeat("/", 65535)
	deep := strings.Repeat("x/", 400) + "y"
	fill(inv, long, deep, deep+"/z", long[:65000])
	if inv.tree.n > 3*maxLevels {
		t.Fatalf("%d levels", inv.tree.n)
	}
	l := mustList(t, inv, Spec{Tree: true})
	l.OpenAll(true)
	for _, topic := range []string{long, deep, deep + "/z"} {
		p := l.Find([]byte(topic))
		if rows := l.Rows(p, 1, nil); len(rows) != 1 || !rows[0].Held || string(rows[0].Slot.Topic) != topic || rows[0].Depth != maxLevels-1 {
			t.Fatalf("a topic of %d bytes is not at its place", len(topic))
		}
	}
	if got := mustList(t, inv, Spec{Filter: mustFilter("x/#")}).Len(); got != 2 {
		t.Fatalf("%d found", got)
	}
	clearTopic(inv, long, deep, deep+"/z", long[:65000])
	if c := inv.Counts(); c.Topics != 0 || inv.tree.index.live != 0 {
		t.Fatalf("left are %+v", c)
	}
}

func TestMemoryIsFlatWhileTopicsChange(t *testing.T) {
	inv := New(Options{MaxChanges: 1 << 20})
	r := rand.New(rand.NewPCG(6, 6))
	payload := make([]byte, 3000)
	churn := func() {
		for range 20000 {
			topic := fmt.Appendf(nil, "house/room%d/%d", r.IntN(20), r.IntN(300))
			q := Publication{Topic: topic, Payload: payload[:r.IntN(3000)], ReceivedAt: at, Retain: true, Origin: Live}
			if r.IntN(4) == 0 {
				q.Payload = nil
			}
			inv.Apply([]Publication{q})
		}
	}
	var heaps []uint64
	for range 5 {
		churn()
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		heaps = append(heaps, m.HeapAlloc)
	}
	if first, last := heaps[1], heaps[4]; last > first+first/20+1<<20 {
		t.Fatalf("heaps are %d", heaps)
	}
	runtime.KeepAlive(inv)
}
