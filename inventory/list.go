package inventory

import (
	"context"
	"slices"
)

// List makes a listing. It may take long with a large store, so it is not for the goroutine that reads keys; it takes
// the lock in slices. The error is the one of ctx and there is no other.
//
// A tree without a filter is ready at once. An order by topic without a filter sorts all topics the first time, outside
// the lock, and is kept from then on. An order by something else of a large store has its first rows at once and the
// rest when Work, or a row beyond them, is asked for.
func (inv *Inventory) List(ctx context.Context, s Spec) (*Listing, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &Listing{inv: inv, spec: s, made: inv.Counts()}
	l.spec.Within = nil // or each listing would keep all before it
	switch {
	case s.Filter.empty() && s.Tree:
		l.walk = &treeWalk{inv: inv, open: &l.open}
		inv.mu.Lock()
		wide := inv.tree.below(inv.tree.node(0).branch).late > narrowLevel
		inv.mu.Unlock()
		if wide { // the first level is always on show
			inv.orderWide(ctx, 0)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return l, nil
	case s.Filter.empty() && s.Sort == ByTopic:
		if err := inv.ensureFlat(ctx); err != nil {
			return nil, err
		}
		l.walk = &flatWalk{inv: inv, desc: s.Desc}
		return l, nil
	}
	snap, err := inv.firstRows(ctx, s)
	if snap == nil && err == nil {
		snap, err = inv.snapshot(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	l.snap = snap
	if s.Tree {
		l.walk = &snapTree{inv: inv, open: &l.open, snapshot: snap}
	} else {
		l.walk = &snapFlat{inv: inv, snapshot: snap, recent: map[string]int{}}
	}
	return l, nil
}

// Walk calls f with a copy of everything held of each matching slot, in the order of the spec; Tree is ignored. The lock
// is never held while f runs. A slot that goes meanwhile is passed over. It returns the error of f or of ctx, whichever
// ends it first.
func (inv *Inventory) Walk(ctx context.Context, s Spec, f func(Detail) error) error {
	s.Tree = false
	snap, err := inv.snapshot(ctx, s)
	if err != nil {
		return err
	}
	for i := range snap.items {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, ok := inv.Detail(snap.items[i].ref())
		if !ok {
			continue
		}
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}

// snapshot finds and sorts everything that matches.
func (inv *Inventory) snapshot(ctx context.Context, s Spec) (*snapshot, error) {
	q := &query{inv: inv, spec: s}
	if s.Tree {
		q.spec.Sort, q.spec.Desc = ByTopic, false
	}
	if err := q.collect(ctx); err != nil {
		return nil, err
	}
	if err := q.sort(ctx); err != nil {
		return nil, err
	}
	q.v.seal()
	snap := &snapshot{
		v: q.v, items: q.entries, total: len(q.entries),
		sorted: q.spec.Sort == ByTopic, desc: q.spec.Desc, marks: q.marks,
	}
	if snap.desc {
		slices.Reverse(snap.items)
	}
	snap.prepare()
	return snap, nil
}
