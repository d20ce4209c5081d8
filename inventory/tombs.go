package inventory

// tombsKept is how many tombstones one generation remembers; there are two.
const tombsKept = 1 << 15

// tombs remember which topics a live tombstone emptied, by a hash of 64 bits, so that an older copy that comes later
// does not bring them back. They are bounded: beyond one to two generations the oldest are forgotten.
type tombs struct {
	cur, old []tomb // open addressing, a power of two, at most half full
	n        int    // places of cur in use
}

type tomb struct {
	hash uint64 // 0 = free
	at   int64  // Unix ms; a negative one was lifted
}

func (t *tombs) clear() { *t = tombs{} }

func (t *tombs) add(hash uint64, at int64) {
	if hash == 0 {
		hash = 1
	}
	if t.n >= tombsKept {
		t.old, t.cur, t.n = t.cur, nil, 0
	}
	if t.n*2 >= len(t.cur) {
		bigger := make([]tomb, max(64, len(t.cur)*2))
		for _, e := range t.cur {
			if e.hash != 0 {
				*place64(bigger, e.hash) = e
			}
		}
		t.cur = bigger
	}
	e := place64(t.cur, hash)
	if e.hash == 0 {
		t.n++
	}
	*e = tomb{hash: hash, at: at}
}

// lift forgets the tombstone of a topic, because something newer came.
func (t *tombs) lift(hash uint64) {
	if hash == 0 {
		hash = 1
	}
	for _, set := range [][]tomb{t.cur, t.old} {
		if len(set) > 0 {
			if e := place64(set, hash); e.hash == hash {
				e.at = -1
			}
		}
	}
}

// find returns when the topic was emptied, and whether it was.
func (t *tombs) find(hash uint64) (int64, bool) {
	if hash == 0 {
		hash = 1
	}
	if len(t.cur) > 0 {
		if e := place64(t.cur, hash); e.hash == hash {
			return e.at, e.at >= 0
		}
	}
	if len(t.old) > 0 {
		if e := place64(t.old, hash); e.hash == hash {
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
