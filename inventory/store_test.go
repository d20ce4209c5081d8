package inventory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"retainscope/expiry"
)

func TestATableFindsWhatAMapFinds(t *testing.T) {
	hashes := map[uint32]uint32{}
	tab := newTable(func(id uint32) uint32 { return hashes[id] }, 0)
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
			before := len(tab.cur.ids)
			tab.add(hashes[id], id)
			if len(tab.cur.ids) != before {
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
	if grown < 4 || len(tab.cur.ids) > 65536 {
		t.Fatalf("grown %d times to %d places", grown, len(tab.cur.ids))
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
	var s tombs
	for i := range uint64(5 * tombsKept) {
		s.add(i*0x9E3779B97F4A7C15, int64(i))
		s.add(i*0x9E3779B97F4A7C15, int64(i)) // twice is once
	}
	if n := len(s.cur) + len(s.old); n > 4*tombsKept {
		t.Fatalf("%d places", n)
	}
	last := uint64(5*tombsKept - 1)
	if at, ok := s.find(last * 0x9E3779B97F4A7C15); !ok || at != int64(last) {
		t.Fatal("the last one is forgotten")
	}
	if _, ok := s.find(0); ok {
		t.Fatal("the first one is remembered")
	}
	s.lift(last * 0x9E3779B97F4A7C15)
	if _, ok := s.find(last * 0x9E3779B97F4A7C15); ok {
		t.Fatal("a lifted one is found")
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

func TestReadersAndWritersDoNotDisturbEachOther(t *testing.T) {
	inv := New(Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	work := func(f func(r *rand.Rand)) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(len(stop)), 3))
			for {
				select {
				case <-stop:
					return
				default:
					f(r)
				}
			}
		})
	}
	name := func(r *rand.Rand) []byte { return fmt.Appendf(nil, "w/%d/%d", r.IntN(3), r.IntN(6000)) }
	work(func(r *rand.Rand) {
		batch := make([]Publication, 300)
		for i := range batch {
			batch[i] = Publication{
				Topic: name(r), Payload: make([]byte, r.IntN(300)), Interval: expiry.Seconds(uint32(r.IntN(99))), ReceivedAt: at + int64(r.IntN(99999)),
				Retain: r.IntN(5) > 0, Origin: Origin(r.IntN(3)),
			}
		}
		inv.Apply(batch)
	})
	work(func(r *rand.Rand) {
		inv.Tick(at + int64(r.IntN(99999)))
		inv.BeginScan()
		inv.NotSeen(context.Background(), 10)
		inv.DueTopics(at+99999, 10)
		inv.Vanished(name(r), at+99999, Gone)
		inv.SetBrokerStamps(r.IntN(2) == 0)
		inv.Events(0, 10)
		inv.Counts()
	})
	for _, spec := range []Spec{
		{Tree: true}, {}, {Filter: mustFilter("1 -2")}, {Filter: mustFilter("1"), Tree: true}, {Sort: BySize}, {Filter: mustFilter("w/+/7")},
	} {
		work(func(r *rand.Rand) {
			l, err := inv.List(context.Background(), spec)
			if err != nil {
				t.Error(err)
				return
			}
			l.OpenAll(true)
			var side sync.WaitGroup
			side.Go(func() { drain(l) })
			for range 5 {
				rows := l.Rows(posOf(name(r)), 40, nil)
				for i := range rows {
					if rows[i].Held {
						inv.Detail(rows[i].Slot.Ref)
					}
				}
				l.Move(posOf(name(r)), r.IntN(100)-50)
				l.At(r.IntN(1000))
				l.Index(posOf(name(r)))
				l.Last()
				l.Len()
				l.Pending()
			}
			side.Wait()
		})
	}
	for range 60 {
		if _, err := inv.List(context.Background(), Spec{Filter: mustFilter("is:due")}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}
