package inventory

import "sort"

// entry is one listed topic of a snapshot.
type entry struct {
	ref   Ref
	topic []byte
}

// cursor is one row of a snapshot. Entries are in the order of topics, so a level of a tree is a range of them.
type cursor struct {
	lo, hi int
	depth  int // number of levels of the path; 0 in a flat listing
	end    int // length of the path
}

func (l *Listing) isOpen(path []byte) bool {
	_, ex := l.except[string(path)]
	return l.open != ex
}

func (l *Listing) path(c cursor) []byte { return l.items[c.lo].topic[:c.end] }

func (l *Listing) pos(c cursor) Pos { return posOf(l.path(c)) }

// flat returns the cursor of one entry of a flat listing.
func (l *Listing) flat(i int) cursor {
	return cursor{lo: i, hi: i + 1, end: len(l.items[i].topic)}
}

// level returns the cursor of the row with the first depth levels of entry i.
func (l *Listing) level(i, depth int) cursor {
	path := prefixOf(l.items[i].topic, depth)
	lo := sort.Search(i, func(k int) bool { return under(l.items[k].topic, path) })
	n := len(l.items) - i
	hi := i + sort.Search(n, func(k int) bool { return !under(l.items[i+k].topic, path) })
	return cursor{lo: lo, hi: hi, depth: depth, end: len(path)}
}

func (l *Listing) held(c cursor) bool { return len(l.items[c.lo].topic) == c.end }

func (l *Listing) branch(c cursor) bool {
	return c.hi-c.lo > 1 || !l.held(c)
}

func (l *Listing) next(c cursor) (cursor, bool) {
	if !l.spec.Tree {
		if c.lo+1 >= len(l.items) {
			return c, false
		}
		return l.flat(c.lo + 1), true
	}
	if l.branch(c) && l.isOpen(l.path(c)) {
		i := c.lo
		if l.held(c) {
			i++
		}
		return l.level(i, c.depth+1), true
	}
	if c.hi >= len(l.items) {
		return c, false
	}
	return l.level(c.hi, commonLevels(l.path(c), l.items[c.hi].topic)+1), true
}

func (l *Listing) prev(c cursor) (cursor, bool) {
	if !l.spec.Tree {
		if c.lo == 0 {
			return c, false
		}
		return l.flat(c.lo - 1), true
	}
	if c.lo == 0 {
		if c.depth > 1 {
			return l.level(0, c.depth-1), true
		}
		return c, false
	}
	before := l.items[c.lo-1].topic
	common := commonLevels(l.path(c), before)
	if common < c.depth-1 || levelsOf(before) == c.depth-1 {
		return l.level(c.lo, c.depth-1), true
	}
	return l.descend(c.lo-1, c.depth), true
}

// descend returns the last visible row that holds entry i, at depth or below.
func (l *Listing) descend(i, depth int) cursor {
	n := levelsOf(l.items[i].topic)
	c := l.level(i, depth)
	for c.depth < n && l.isOpen(l.path(c)) {
		c = l.level(i, c.depth+1)
	}
	return c
}

func (l *Listing) edge(first bool) Pos {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	n := len(l.items)
	switch {
	case n == 0:
		return Pos{}
	case !l.spec.Tree && first:
		return l.pos(l.flat(0))
	case !l.spec.Tree:
		return l.pos(l.flat(n - 1))
	case first:
		return l.pos(l.level(0, 1))
	default:
		return l.pos(l.descend(n-1, 1))
	}
}

// seek returns the row at p, or the nearest.
func (l *Listing) seek(p Pos) cursor {
	path := []byte(p.path)
	n := len(l.items)
	if !l.spec.Tree {
		for i := range l.items {
			if string(l.items[i].topic) == p.path {
				return l.flat(i)
			}
		}
		if !p.set {
			return l.flat(0)
		}
		i := sort.Search(n, func(k int) bool { return compareTopics(l.items[k].topic, path) >= 0 })
		return l.flat(min(i, n-1))
	}
	if !p.set {
		return l.level(0, 1)
	}
	i := sort.Search(n, func(k int) bool { return compareTopics(l.items[k].topic, path) >= 0 })
	i = min(i, n-1)
	t := l.items[i].topic
	want := min(levelsOf(path), commonLevels(path, t)+1, levelsOf(t))
	c := l.level(i, 1)
	for c.depth < want && l.isOpen(l.path(c)) {
		c = l.level(i, c.depth+1)
	}
	return c
}

func (l *Listing) row(c cursor) Row {
	path := append([]byte(nil), l.path(c)...)
	r := Row{Pos: posOf(path), Prefix: path, Name: path, Matched: c.hi - c.lo}
	if l.spec.Tree {
		r.Depth = c.depth - 1
		r.Name = lastLevel(path, c.depth)
		if r.Branch = l.branch(c); r.Branch {
			r.Open = l.isOpen(path)
			r.Sub = l.inv.below(path)
		}
	}
	if l.held(c) {
		r.Slot, r.Held = l.inv.slot(l.items[c.lo].ref)
	}
	return r
}
