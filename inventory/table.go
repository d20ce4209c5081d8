package inventory

// table finds numbers by hash with open addressing. It holds numbers only, so the collector never looks into it, and
// it grows step by step: while two arrays exist every operation moves a few places from the old one to the new one, so
// that no single insert pays for all. The hash stands beside the number: neither a search that ends in vain nor the
// growth reads what a number stands for, and each is one place in memory and not two.
type table struct {
	cur   places
	old   places // nil when nothing is being moved
	moved int    // places of old already moved
	used  int    // places of cur that are not free
	live  int    // numbers held in both arrays
}

// places is one array of a table. A place has the hash in its upper half and the number plus one in its lower half.
type places []uint64

const (
	placeFree = 0
	placeGone = 1<<32 - 1 // of a number that nobody has
	tableMin  = 64
	moveSteps = 16 // places moved by one operation; the new array is full long after the old one is empty
)

func placeOf(h, id uint32) uint64 { return uint64(h)<<32 | uint64(id+1) }

func newTable(expected int) table { return table{cur: make(places, tableSize(expected))} }

// tableSize returns the length of an array for n numbers, at most two thirds full.
func tableSize(n int) int {
	size := tableMin
	for size*2 < n*3 {
		size *= 2
	}
	return size
}

// find returns the number with hash h for which same holds, and whether there is one.
func (t *table) find(h uint32, same func(id uint32) bool) (uint32, bool) {
	if at := t.cur.probe(h, same); at >= 0 {
		return uint32(t.cur[at]) - 1, true
	}
	if t.old != nil {
		if at := t.old.probe(h, same); at >= 0 {
			return uint32(t.old[at]) - 1, true
		}
	}
	return 0, false
}

// probe returns the place of the number for which same holds, or -1.
func (p places) probe(h uint32, same func(uint32) bool) int {
	mask := uint32(len(p) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch e := p[i]; {
		case e == placeFree:
			return -1
		case uint32(e>>32) == h && e != placeGone && same(uint32(e)-1):
			return int(i)
		}
	}
}

// touch reads where a search for h begins.
func (p places) touch(h uint32) uint32 { return uint32(p[h&uint32(len(p)-1)]) }

// guess returns the first number with hash h.
func (p places) guess(h uint32) (uint32, bool) {
	at := p.probe(h, func(uint32) bool { return true })
	if at < 0 {
		return 0, false
	}
	return uint32(p[at]) - 1, true
}

// add puts in a number that is not in yet.
func (t *table) add(h, id uint32) {
	t.step()
	t.live++
	t.put(placeOf(h, id))
	if t.old == nil && t.used*3 > len(t.cur)*2 {
		t.grow(tableSize(t.live + t.live/2))
	}
}

func (t *table) put(e uint64) {
	mask := uint32(len(t.cur) - 1)
	for i := uint32(e>>32) & mask; ; i = (i + 1) & mask {
		switch t.cur[i] {
		case placeFree:
			t.used++
			t.cur[i] = e
			return
		case placeGone:
			t.cur[i] = e
			return
		}
	}
}

// remove takes a number out.
func (t *table) remove(h, id uint32) {
	t.step()
	is := func(other uint32) bool { return other == id }
	if at := t.cur.probe(h, is); at >= 0 {
		t.cur[at] = placeGone
		t.live--
		return
	}
	if t.old != nil {
		if at := t.old.probe(h, is); at >= 0 {
			t.old[at] = placeGone
			t.live--
		}
	}
}

// expect makes room for n numbers.
func (t *table) expect(n int) {
	size := tableSize(n)
	switch {
	case t.old != nil || size <= len(t.cur):
	case t.live == 0:
		*t = table{cur: make(places, size)}
	default:
		t.grow(size)
	}
}

func (t *table) grow(size int) {
	t.old, t.moved = t.cur, 0
	t.cur, t.used = make(places, size), 0
	t.step()
}

// step moves a few places. What was moved leaves a mark behind so that searches in the old array still go on.
func (t *table) step() {
	if t.old == nil {
		return
	}
	end := min(t.moved+moveSteps, len(t.old))
	for ; t.moved < end; t.moved++ {
		if e := t.old[t.moved]; e != placeFree && e != placeGone {
			t.old[t.moved] = placeGone
			t.put(e)
		}
	}
	if t.moved == len(t.old) {
		t.old = nil
	}
}
