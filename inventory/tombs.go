package inventory

const (
	// tombsKept is how many tombstones one generation remembers, in at most a megabyte.
	tombsKept = 1 << 15
	// tombSets is how many generations there are at most: two million tombstones in 64 MiB.
	tombSets = 64
)

// tombs remember which topics a live tombstone emptied, by a hash of 64 bits, so that an older copy that comes later
// does not bring them back. While a scan runs, whose copies may come long after, all are remembered, beyond two million
// the latest; else those of the last seconds, which is how long an answer may be older. A topic that is held has none.
type tombs struct {
	sets     []tombSet // the latest last
	scanning bool
}

// tombSet is one generation: open addressing, a power of two, at most half full.
type tombSet struct {
	places []tomb
	n      int   // places in use
	last   int64 // Unix ms of the latest
}

type tomb struct {
	hash uint64 // 0 = free
	at   int64  // Unix ms; a negative one was lifted
}

// begin forgets all: copies that are asked for from now on are no older than any of them.
func (t *tombs) begin() { *t = tombs{scanning: true} }

// end says that no copy of a scan is expected any more.
func (t *tombs) end(now int64) {
	t.scanning = false
	t.forget(now)
}

// forget gives up generations that nothing needs any more at the instant now, Unix ms.
func (t *tombs) forget(now int64) {
	n := max(len(t.sets)-tombSets, 0)
	for !t.scanning && n < len(t.sets) && now-t.sets[n].last >= answerGuard {
		n++
	}
	if n > 0 {
		t.sets = append([]tombSet(nil), t.sets[n:]...)
	}
}

func (t *tombs) add(hash uint64, at int64) {
	if hash == 0 {
		hash = 1
	}
	if n := len(t.sets); n == 0 || t.sets[n-1].n >= tombsKept {
		t.sets = append(t.sets, tombSet{})
		t.forget(at)
		if len(t.sets) == 0 {
			t.sets = append(t.sets, tombSet{})
		}
	}
	s := &t.sets[len(t.sets)-1]
	if s.n*2 >= len(s.places) {
		bigger := make([]tomb, max(64, len(s.places)*2))
		for _, e := range s.places {
			if e.hash != 0 {
				*place64(bigger, e.hash) = e
			}
		}
		s.places = bigger
	}
	e := place64(s.places, hash)
	if e.hash == 0 {
		s.n++
	}
	*e = tomb{hash: hash, at: at}
	s.last = max(s.last, at)
}

// lift forgets the tombstone of a topic, because something newer came.
func (t *tombs) lift(hash uint64) {
	if hash == 0 {
		hash = 1
	}
	for i := range t.sets {
		if e := place64(t.sets[i].places, hash); e.hash == hash {
			e.at = -1
		}
	}
}

// find returns when the topic was emptied, and whether it was.
func (t *tombs) find(hash uint64) (int64, bool) {
	if hash == 0 {
		hash = 1
	}
	for i := len(t.sets) - 1; i >= 0; i-- {
		if e := place64(t.sets[i].places, hash); e.hash == hash {
			return e.at, e.at >= 0
		}
	}
	return 0, false
}

func place64(set []tomb, hash uint64) *tomb {
	mask := uint64(len(set) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if e := &set[i]; e.hash == 0 || e.hash == hash {
			return e
		}
	}
}
