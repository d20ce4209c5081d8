package inventory

import "context"

// Listing is an ordered, filtered view of an Inventory, flat or a tree. It belongs to one goroutine, which alone may
// call its methods, with one exception: Work may run on another goroutine at the same time. Every other method holds the
// lock of the inventory for as long as the rows it visits take, at most 256 at a time.
type Listing struct {
	inv  *Inventory
	spec Spec
	made Counts // when it was made

	// All below is used with the lock of inv held.
	open openness
	walk walker
	snap *snapshot // nil where the listing follows the store
}

// rowsAtOnce is how many rows are visited before the lock is let go.
const rowsAtOnce = 256

// Pending reports whether Work has something to do for the rows asked for so far.
func (l *Listing) Pending() bool {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	switch w := l.walk.(type) {
	case *treeWalk:
		return w.wide.drop(&l.inv.tree)
	case *flatWalk:
		return len(l.inv.flat.waiting) > inlineOrder
	default:
		return l.snap.partial
	}
}

// Work does one piece of what rows on show still need: it puts a very wide level in order, or the rest of an order of
// which only the first rows are ready. It returns whether more is left to do, also when ctx ended it. Call it off the
// goroutine that reads keys, again and again while it returns true, when Pending says so. It takes the lock in slices.
// Nothing breaks when it is never called: rows are then put in order as they are asked for, which takes longer.
func (l *Listing) Work(ctx context.Context) (more bool) {
	switch w := l.walk.(type) {
	case *treeWalk:
		l.inv.mu.Lock()
		id, ok := w.wide.next(&l.inv.tree)
		l.inv.mu.Unlock()
		if !ok {
			return false
		}
		l.inv.orderWide(ctx, id)
		l.inv.mu.Lock()
		defer l.inv.mu.Unlock()
		return w.wide.drop(&l.inv.tree)
	case *flatWalk:
		more, _ = l.inv.orderWaiting(ctx)
		return more
	default:
		return l.complete(ctx) != nil
	}
}

// complete fetches the rest of a partial snapshot.
func (l *Listing) complete(ctx context.Context) error {
	l.inv.mu.Lock()
	done := l.snap == nil || !l.snap.partial
	l.inv.mu.Unlock()
	if done {
		return nil
	}
	full, err := l.inv.snapshot(ctx, l.spec)
	if err != nil {
		return err
	}
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	*l.snap = *full
	return nil
}

// whole runs f with the lock held, and once more with all rows ready if it wanted to go beyond those that are.
func (l *Listing) whole(f func()) {
	l.inv.mu.Lock()
	w, ok := l.walk.(*snapFlat)
	if !ok {
		defer l.inv.mu.Unlock()
		f()
		return
	}
	w.ended = false
	f()
	again := w.ended && l.snap.partial
	l.inv.mu.Unlock()
	if !again {
		return
	}
	// The context never ends, so there is no error.
	_ = l.complete(context.Background())
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	f()
}

// Len returns how many topics are listed. For a tree without a filter these are all.
func (l *Listing) Len() int {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	switch {
	case l.snap != nil:
		return l.snap.total
	case l.spec.Tree:
		return int(l.inv.tree.sums0().all)
	default:
		return l.inv.flat.order.n
	}
}

// Fresh returns false when the store changed in a way that the listing does not follow, so that it should be made
// again. A tree and an order by topic follow the store when they have no filter, and stay fresh.
func (l *Listing) Fresh() bool {
	if l.snap == nil {
		return true
	}
	c := l.inv.Counts()
	if (l.spec.Tree || l.spec.Sort == ByTopic) && (l.spec.Filter.empty() || l.spec.Filter.topicOnly()) {
		return c.Structure == l.made.Structure
	}
	return c.Version == l.made.Version
}

// start goes to the row at p, or the nearest, and returns false when there is no row.
func (l *Listing) start(p Pos) bool {
	if !p.set {
		return l.walk.begin(false)
	}
	return l.walk.seek(p.path)
}

func (l *Listing) here() Pos { return posOf(l.walk.path()) }

// First returns the place of the first row, or no place when there is none.
func (l *Listing) First() (p Pos) {
	l.whole(func() {
		if l.walk.begin(false) {
			p = l.here()
		}
	})
	return p
}

// Last returns the place of the last row, or no place when there is none.
func (l *Listing) Last() (p Pos) {
	l.whole(func() {
		if l.walk.begin(true) {
			p = l.here()
		}
	})
	return p
}

// numbered is what the walkers of flat listings can do beside.
type numbered interface {
	goTo(i int) bool
	index() int
}

// At returns the place of the i-th row of a flat listing, i counted from 0 and brought into the range; no place in a
// tree or when there is no row.
func (l *Listing) At(i int) (p Pos) {
	w, ok := l.walk.(numbered)
	if !ok {
		return Pos{}
	}
	l.whole(func() {
		p = Pos{}
		if w.goTo(i) {
			p = l.here()
		}
	})
	return p
}

// Index returns the number of the row at p in a flat listing, counted from 0, and -1 in a tree or when there is no row.
func (l *Listing) Index(p Pos) (i int) {
	w, ok := l.walk.(numbered)
	if !ok {
		return -1
	}
	l.whole(func() {
		i = -1
		if l.start(p) {
			i = w.index()
		}
	})
	return i
}

// Find returns the place of the row of topic. When there is none it returns the nearest: in a tree the level above it
// that is shown, else a row beside the place where it would be. It opens nothing.
func (l *Listing) Find(topic []byte) Pos { return l.Settle(posOf(topic)) }

// Settle returns p, or the nearest place when the row of p is gone or hidden below a closed level.
func (l *Listing) Settle(p Pos) Pos {
	p, _ = l.Move(p, 0)
	return p
}

// Move returns the place that is rows visible rows below p, above it when rows is negative, and how many rows it really
// moved, which is less at an end.
func (l *Listing) Move(p Pos, rows int) (Pos, int) {
	moved := 0
	for {
		n := min(max(rows-moved, -rowsAtOnce), rowsAtOnce)
		at, m := l.move(p, n)
		p, moved = at, moved+m
		if m != n || moved == rows {
			return p, moved
		}
	}
}

func (l *Listing) move(p Pos, rows int) (to Pos, moved int) {
	l.whole(func() {
		to, moved = Pos{}, 0
		if !l.start(p) {
			return
		}
		for moved < rows && l.walk.step(true) {
			moved++
		}
		for moved > rows && l.walk.step(false) {
			moved--
		}
		to = l.here()
	})
	return to, moved
}

// Rows appends to dst at most n rows from the place from on, and returns it. Fewer mean that the listing ends.
func (l *Listing) Rows(from Pos, n int, dst []Row) []Row {
	base := len(dst)
	for n > 0 {
		k := min(n, rowsAtOnce)
		had := len(dst)
		skip := 0
		if had > base {
			from, skip = dst[had-1].Pos, 1 // the lock was let go: on from the last row
		}
		l.whole(func() { dst = l.rows(from, skip, k, dst[:had]) })
		if len(dst)-had < k {
			break
		}
		n -= k
	}
	return dst
}

func (l *Listing) rows(from Pos, skip, n int, dst []Row) []Row {
	if !l.start(from) || skip > 0 && !l.walk.step(true) {
		return dst
	}
	if w, ok := l.walk.(*snapFlat); ok && skip == 0 {
		w.recent = make(map[string]int, n)
	}
	if w, ok := l.walk.(*treeWalk); ok {
		w.warm(n)
	}
	buf := make([]byte, 0, n*(headLength+96))
	for {
		dst = append(dst, Row{})
		buf = l.walk.row(&dst[len(dst)-1], buf)
		if n--; n == 0 || !l.walk.step(true) {
			return dst
		}
	}
}

// SetOpen shows or hides what is below the row at p.
func (l *Listing) SetOpen(p Pos, open bool) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	l.open.set(p.path, open)
}

// OpenAll shows or hides everything below the first level.
func (l *Listing) OpenAll(open bool) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	l.open = openness{all: open}
}

// Parent returns the place of the level above p, and p itself at the first level and in a flat listing.
func (l *Listing) Parent(p Pos) Pos {
	if !l.spec.Tree || !p.set {
		return p
	}
	path := []byte(p.path)
	if n := levelsOf(path); n > 1 {
		return posOf(prefixOf(path, n-1))
	}
	return p
}

// Carry takes over from an earlier listing which levels are open.
func (l *Listing) Carry(old *Listing) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	l.open = openness{all: old.open.all, except: make(map[string]struct{}, len(old.open.except))}
	for k := range old.open.except {
		l.open.except[k] = struct{}{}
	}
}
