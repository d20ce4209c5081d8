package inventory

import (
	"context"
)

// Spec says what a Listing shows and in which order.
type Spec struct {
	Filter *Filter // nil = all
	Sort   SortKey // of a flat listing; a tree is always in the order of topics
	Desc   bool    // of a flat listing: the whole order turned round
	Tree   bool
	Now    int64 // Unix ms, for filters that compare remaining time
}

// Pos is the place of a row. It is comparable, and two are equal exactly when they name the same topic or the same level of a
// tree, also across listings. It survives changes of the store: a method that is given the place of a row that is gone
// takes the nearest one. The zero value is no place; methods take it for the first row.
type Pos struct {
	path string
	set  bool
}

// IsZero reports whether p is no place.
func (p Pos) IsZero() bool { return !p.set }

func posOf(path []byte) Pos { return Pos{path: string(path), set: true} }

// Row is one line of a listing. It is a copy: whoever holds it may keep it.
type Row struct {
	Pos    Pos
	Depth  int    // of a tree, 0 at the first level
	Name   []byte // of a tree the level, which may be empty; of a flat listing the topic
	Prefix []byte // of a tree all bytes of the topic up to the end of this level; of a flat listing the topic
	Branch bool   // has rows below it
	Open   bool   // they are shown
	Held   bool   // is a retained topic itself
	Slot   Slot   // if Held
	Sub    Counts // if Branch: sums over this level and everything below, whether listed or not
	// Matched is how many listed topics there are at this level and below; 1 in a flat listing.
	Matched int
	// Pending means that rows below are not shown yet because a very wide level is still being put in order. See
	// Listing.Work.
	Pending bool
}

// Listing is an ordered, filtered view of an Inventory, flat or a tree. It belongs to one goroutine, which alone may
// call its methods, with one exception: Work may run on another goroutine at the same time. Every other method holds the
// lock of the inventory for as long as the rows it visits take, at most 256 at a time.
type Listing struct {
	inv    *Inventory
	spec   Spec
	items  []entry
	open   bool                // what a level is that is not in except
	except map[string]struct{} // levels that are otherwise
	made   Counts
}

// List makes a listing. It may take long with a large store, so it is not for the goroutine that reads keys; it takes
// the lock in slices. The error is the one of ctx and there is no other.
func (inv *Inventory) List(ctx context.Context, s Spec) (*Listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &Listing{inv: inv, spec: s, except: map[string]struct{}{}}
	l.made = inv.Counts()
	l.items = inv.entries(s)
	return l, nil
}

// Work does a part of what rows on show still need, a few milliseconds of it: putting a very wide level in order, or
// the rest of an order of which only the first rows are ready. It returns whether more is left to do. Call it off the
// goroutine that reads keys, again and again while it returns true, whenever a Row is Pending and after List. Nothing
// breaks when it is never called: rows are then put in order when they are asked for, which takes longer.
func (l *Listing) Work(ctx context.Context) (more bool) { return false }

// Len returns how many topics are listed.
func (l *Listing) Len() int { return len(l.items) }

// Fresh returns false when the store changed in a way that the listing does not follow, so that it should be made
// again. A tree and an order by topic follow the store when they have no filter, and stay fresh.
func (l *Listing) Fresh() bool {
	c := l.inv.Counts()
	if (l.spec.Tree || l.spec.Sort == ByTopic) && (l.spec.Filter.empty() || l.spec.Filter.topicOnly()) {
		return c.Structure == l.made.Structure
	}
	return c.Version == l.made.Version
}

// First returns the place of the first row, or no place when there is none.
func (l *Listing) First() Pos { return l.edge(true) }

// Last returns the place of the last row, or no place when there is none.
func (l *Listing) Last() Pos { return l.edge(false) }

// At returns the place of the i-th row of a flat listing, i counted from 0 and brought into the range; no place in a
// tree or when there is no row.
func (l *Listing) At(i int) Pos {
	if l.spec.Tree || len(l.items) == 0 {
		return Pos{}
	}
	return posOf(l.items[min(max(i, 0), len(l.items)-1)].topic)
}

// Index returns the number of the row at p in a flat listing, counted from 0, and -1 in a tree or when there is no row.
func (l *Listing) Index(p Pos) int {
	if l.spec.Tree || len(l.items) == 0 {
		return -1
	}
	return l.seek(p).lo
}

// Find returns the place of the row of topic. When there is none it returns the nearest: in a tree the level above it
// that is shown, else the row that would follow it. It opens nothing.
func (l *Listing) Find(topic []byte) Pos { return l.Settle(posOf(topic)) }

// Settle returns p, or the nearest place when the row of p is gone or hidden below a closed level.
func (l *Listing) Settle(p Pos) Pos { p, _ = l.Move(p, 0); return p }

// Move returns the place that is rows visible rows below p, above it when rows is negative, and how many rows it really
// moved, which is less at an end.
func (l *Listing) Move(p Pos, rows int) (Pos, int) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	if len(l.items) == 0 {
		return Pos{}, 0
	}
	c := l.seek(p)
	moved := 0
	for moved < rows {
		n, ok := l.next(c)
		if !ok {
			break
		}
		c = n
		moved++
	}
	for -moved < -rows {
		n, ok := l.prev(c)
		if !ok {
			break
		}
		c = n
		moved--
	}
	return l.pos(c), moved
}

// Rows appends to dst at most n rows from the place from on, and returns it. Fewer mean that the listing ends.
func (l *Listing) Rows(from Pos, n int, dst []Row) []Row {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	if len(l.items) == 0 {
		return dst
	}
	c := l.seek(from)
	for ; n > 0; n-- {
		dst = append(dst, l.row(c))
		var ok bool
		if c, ok = l.next(c); !ok {
			break
		}
	}
	return dst
}

// SetOpen shows or hides what is below the row at p.
func (l *Listing) SetOpen(p Pos, open bool) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	if open != l.open {
		l.except[p.path] = struct{}{}
	} else {
		delete(l.except, p.path)
	}
}

// OpenAll shows or hides everything below the first level.
func (l *Listing) OpenAll(open bool) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	l.open = open
	clear(l.except)
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

// Carry takes over from an earlier listing which levels are open. Work must not be running on old.
func (l *Listing) Carry(old *Listing) {
	l.inv.mu.Lock()
	defer l.inv.mu.Unlock()
	l.open = old.open
	l.except = make(map[string]struct{}, len(old.except))
	for k := range old.except {
		l.except[k] = struct{}{}
	}
}

// Walk calls f with a copy of everything held of each matching slot, in the order of the spec (Tree is the order of
// topics). The lock is never held while f runs. A slot that goes meanwhile is passed over. It returns the error of f
// or of ctx, whichever ends it first.
func (inv *Inventory) Walk(ctx context.Context, s Spec, f func(Detail) error) error {
	s.Tree = false
	l, err := inv.List(ctx, s)
	if err != nil {
		return err
	}
	for i := range l.items {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, ok := inv.Detail(l.items[i].ref)
		if !ok {
			continue
		}
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}
