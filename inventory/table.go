package inventory

// table finds numbers by hash with open addressing. It holds numbers only, so the collector never looks into it, and
// it grows step by step: while two arrays exist every operation moves a few places from the old one to the new one, so
// that no single insert pays for all.
type table struct {
	cur   []uint32 // number plus one; 0 = free, gone = taken out
	old   []uint32 // nil when nothing is being moved
	moved int      // places of old already moved
	used  int      // places of cur that are not free
	live  int      // numbers held in both arrays
	hash  func(id uint32) uint32
}

const (
	gone      = ^uint32(0)
	tableMin  = 64
	moveSteps = 16 // places moved by one operation; the new array is full long after the old one is empty
)

func newTable(hash func(uint32) uint32, expected int) table {
	return table{cur: make([]uint32, tableSize(expected)), hash: hash}
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
	if id, _, ok := probe(t.cur, h, same); ok {
		return id, true
	}
	if t.old != nil {
		if id, _, ok := probe(t.old, h, same); ok {
			return id, true
		}
	}
	return 0, false
}

func probe(a []uint32, h uint32, same func(uint32) bool) (id uint32, at int, ok bool) {
	mask := uint32(len(a) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch e := a[i]; e {
		case 0:
			return 0, 0, false
		case gone:
		default:
			if same(e - 1) {
				return e - 1, int(i), true
			}
		}
	}
}

// add puts in a number that is not in yet.
func (t *table) add(h, id uint32) {
	t.step()
	t.live++
	t.put(h, id)
	if t.old == nil && t.used*3 > len(t.cur)*2 {
		t.grow(tableSize(t.live + t.live/2))
	}
}

func (t *table) put(h, id uint32) {
	mask := uint32(len(t.cur) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if e := t.cur[i]; e == 0 || e == gone {
			if e == 0 {
				t.used++
			}
			t.cur[i] = id + 1
			return
		}
	}
}

// remove takes a number out.
func (t *table) remove(h, id uint32) {
	t.step()
	is := func(other uint32) bool { return other == id }
	if _, at, ok := probe(t.cur, h, is); ok {
		t.cur[at] = gone
		t.live--
		return
	}
	if t.old != nil {
		if _, at, ok := probe(t.old, h, is); ok {
			t.old[at] = gone
			t.live--
		}
	}
}

// expect makes room for n numbers.
func (t *table) expect(n int) {
	if size := tableSize(n); t.old == nil && size > len(t.cur) {
		t.grow(size)
	}
}

func (t *table) grow(size int) {
	t.old, t.moved = t.cur, 0
	t.cur, t.used = make([]uint32, size), 0
	t.step()
}

// step moves a few places. What was moved leaves a mark behind so that searches in the old array still go on.
func (t *table) step() {
	if t.old == nil {
		return
	}
	end := min(t.moved+moveSteps, len(t.old))
	for ; t.moved < end; t.moved++ {
		if e := t.old[t.moved]; e != 0 && e != gone {
			t.old[t.moved] = gone
			t.put(t.hash(e-1), e-1)
		}
	}
	if t.moved == len(t.old) {
		t.old = nil
	}
}
