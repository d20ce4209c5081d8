package inventory

// table finds numbers by hash with open addressing. It holds numbers only, so the collector never looks into it, and
// it grows step by step: while two arrays exist every operation moves a few places from the old one to the new one, so
// that no single insert pays for all.
type table struct {
	cur   places
	old   places // empty when nothing is being moved
	moved int    // places of old already moved
	used  int    // places of cur that are not free
	live  int    // numbers held in both arrays
	hash  func(id uint32) uint32
}

// places is one array of a table. Marks hold eight bits of each hash, so that a search looks at what a number stands for
// only where it very likely is the right one.
type places struct {
	marks []uint8
	ids   []uint32
}

const (
	markFree  = 0
	markGone  = 1
	tableMin  = 64
	moveSteps = 16 // places moved by one operation; the new array is full long after the old one is empty
)

func markOf(h uint32) uint8 { return uint8(h>>24) | 2 }

func makePlaces(size int) places {
	return places{marks: make([]uint8, size), ids: make([]uint32, size)}
}

func newTable(hash func(uint32) uint32, expected int) table {
	return table{cur: makePlaces(tableSize(expected)), hash: hash}
}

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
		return t.cur.ids[at], true
	}
	if t.old.ids != nil {
		if at := t.old.probe(h, same); at >= 0 {
			return t.old.ids[at], true
		}
	}
	return 0, false
}

// probe returns the place of the number for which same holds, or -1.
func (p *places) probe(h uint32, same func(uint32) bool) int {
	mask := uint32(len(p.marks) - 1)
	mark := markOf(h)
	for i := h & mask; ; i = (i + 1) & mask {
		switch p.marks[i] {
		case mark:
			if same(p.ids[i]) {
				return int(i)
			}
		case markFree:
			return -1
		}
	}
}

// touch reads where a search for h begins.
func (p *places) touch(h uint32) uint32 {
	i := h & uint32(len(p.marks)-1)
	return uint32(p.marks[i]) + p.ids[i]
}

// guess returns the first number whose mark is that of h.
func (p *places) guess(h uint32) (uint32, bool) {
	mask := uint32(len(p.marks) - 1)
	mark := markOf(h)
	for i := h & mask; ; i = (i + 1) & mask {
		switch p.marks[i] {
		case mark:
			return p.ids[i], true
		case markFree:
			return 0, false
		}
	}
}

// add puts in a number that is not in yet.
func (t *table) add(h, id uint32) {
	t.step()
	t.live++
	t.put(h, id)
	if t.old.ids == nil && t.used*3 > len(t.cur.ids)*2 {
		t.grow(tableSize(t.live + t.live/2))
	}
}

func (t *table) put(h, id uint32) {
	mask := uint32(len(t.cur.marks) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if m := t.cur.marks[i]; m <= markGone {
			if m == markFree {
				t.used++
			}
			t.cur.marks[i], t.cur.ids[i] = markOf(h), id
			return
		}
	}
}

// remove takes a number out.
func (t *table) remove(h, id uint32) {
	t.step()
	is := func(other uint32) bool { return other == id }
	if at := t.cur.probe(h, is); at >= 0 {
		t.cur.marks[at] = markGone
		t.live--
		return
	}
	if t.old.ids != nil {
		if at := t.old.probe(h, is); at >= 0 {
			t.old.marks[at] = markGone
			t.live--
		}
	}
}

// expect makes room for n numbers.
func (t *table) expect(n int) {
	if size := tableSize(n); t.old.ids == nil && size > len(t.cur.ids) {
		t.grow(size)
	}
}

func (t *table) grow(size int) {
	t.old, t.moved = t.cur, 0
	t.cur, t.used = makePlaces(size), 0
	t.step()
}

// step moves a few places. What was moved leaves a mark behind so that searches in the old array still go on.
func (t *table) step() {
	if t.old.ids == nil {
		return
	}
	end := min(t.moved+moveSteps, len(t.old.ids))
	for ; t.moved < end; t.moved++ {
		if t.old.marks[t.moved] > markGone {
			t.old.marks[t.moved] = markGone
			id := t.old.ids[t.moved]
			t.put(t.hash(id), id)
		}
	}
	if t.moved == len(t.old.ids) {
		t.old = places{}
	}
}
