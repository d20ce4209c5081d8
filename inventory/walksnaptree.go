package inventory

import "sort"

// snapTree shows a snapshot as a tree. Its topics are in order, so a level is a range of them and needs no node: where it
// ends is found by searching for the first topic that is not below it.
type snapTree struct {
	inv  *Inventory
	open *openness
	*snapshot
	c span
}

// span is one row: the topics of its level and below are items lo to hi.
type span struct {
	lo, hi int
	depth  int // levels of the path
	end    int // length of the path
}

func (w *snapTree) pathOf(c span) []byte { return w.topic(c.lo)[:c.end] }

func (w *snapTree) path() []byte { return w.pathOf(w.c) }

// from returns the row with the first depth levels of item lo, which is the first item of it.
func (w *snapTree) from(lo, depth int) span {
	path := prefixOf(w.topic(lo), depth)
	// The end is mostly near, so look in growing steps first.
	step, n := 1, len(w.items)
	for lo+step < n && under(w.topic(lo+step), path) {
		step *= 2
	}
	first, last := lo+step/2+1, min(lo+step, n)
	hi := first + sort.Search(last-first, func(k int) bool { return !under(w.topic(first+k), path) })
	return span{lo: lo, hi: max(hi, lo+1), depth: depth, end: len(path)}
}

// at returns the row with the first depth levels of item i.
func (w *snapTree) at(i, depth int) span {
	path := prefixOf(w.topic(i), depth)
	lo := sort.Search(i, func(k int) bool { return compareTopics(w.topic(k), path) >= 0 })
	return w.from(lo, depth)
}

// whole reports whether the topic of the first item is the path itself.
func (w *snapTree) whole(c span) bool { return len(w.topic(c.lo)) == c.end }

func (w *snapTree) branch(c span) bool { return c.hi-c.lo > 1 || !w.whole(c) }

// shown reports whether a row is worth a line: a level without children whose slot went is not.
func (w *snapTree) shown(c span) bool {
	if w.branch(c) {
		return true
	}
	_, ok := w.inv.held(w.items[c.lo].ref())
	return ok
}

func (w *snapTree) next(c span) (span, bool) {
	if w.branch(c) && w.open.is(w.pathOf(c)) {
		i := c.lo
		if w.whole(c) {
			i++
		}
		return w.from(i, c.depth+1), true
	}
	if c.hi >= len(w.items) {
		return c, false
	}
	return w.from(c.hi, commonLevels(w.pathOf(c), w.topic(c.hi))+1), true
}

func (w *snapTree) prev(c span) (span, bool) {
	if c.lo == 0 {
		if c.depth > 1 {
			return w.from(0, c.depth-1), true
		}
		return c, false
	}
	before := w.topic(c.lo - 1)
	if commonLevels(w.pathOf(c), before) < c.depth-1 {
		return w.from(c.lo, c.depth-1), true // the level above begins here, too, and is not a topic itself
	}
	if levelsOf(before) == c.depth-1 {
		return w.at(c.lo-1, c.depth-1), true // the level above is a topic itself
	}
	return w.deepest(c.lo-1, c.depth), true
}

// deepest returns the last visible row that item i is in, at depth or below.
func (w *snapTree) deepest(i, depth int) span {
	n := levelsOf(w.topic(i))
	c := w.at(i, depth)
	for c.depth < n && w.open.is(w.pathOf(c)) {
		c = w.at(i, c.depth+1)
	}
	return c
}

func (w *snapTree) step(down bool) bool {
	move := w.prev
	if down {
		move = w.next
	}
	for c, ok := move(w.c); ok; c, ok = move(c) {
		if w.shown(c) {
			w.c = c
			return true
		}
	}
	return false
}

func (w *snapTree) settle(down bool) bool {
	return w.shown(w.c) || w.step(down) || w.step(!down)
}

func (w *snapTree) begin(last bool) bool {
	n := len(w.items)
	if n == 0 {
		return false
	}
	if last {
		w.c = w.deepest(n-1, 1)
	} else {
		w.c = w.from(0, 1)
	}
	return w.settle(!last)
}

func (w *snapTree) seek(path string) bool {
	n := len(w.items)
	if n == 0 {
		return false
	}
	p := []byte(path)
	i := min(w.search(p), n-1)
	t := w.topic(i)
	want := min(levelsOf(p), commonLevels(p, t)+1, levelsOf(t))
	w.c = w.at(i, 1)
	for w.c.depth < want && w.open.is(w.pathOf(w.c)) {
		w.c = w.at(i, w.c.depth+1)
	}
	return w.settle(true)
}

func (w *snapTree) row(r *Row, buf []byte) []byte {
	path := w.path()
	buf = pathRow(r, path, w.c.depth, buf)
	r.Matched = w.c.hi - w.c.lo
	if r.Branch = w.branch(w.c); r.Branch {
		r.Open = w.open.is(path)
		if id, depth := w.inv.tree.seek(path); depth == w.c.depth {
			s := w.inv.tree.sums(id)
			r.Sub = s.counts()
		}
	}
	if e := &w.items[w.c.lo]; w.whole(w.c) {
		if rec, ok := w.inv.held(e.ref()); ok {
			r.Held = true
			buf = w.inv.copySlotOf(e.id, rec, &r.Slot, r.Prefix, buf)
		}
	}
	return buf
}
