package inventory

import (
	"context"
	"slices"
)

// A level with at most narrowLevel children is put in order in place, when it is shown. A wider one is sorted outside
// the lock by Listing.Work; until then each call that shows it puts a few in order.
const (
	narrowLevel = 2048
	inlineKids  = 256
	fewKids     = 16 // are put in one by one
)

// orderOf returns the order of the children of a level as far as it goes, nil when it has none.
func (t *tree) orderOf(id uint32) *order {
	nd := t.node(id)
	if nd.branch == 0 {
		return nil
	}
	b := t.below(nd.branch)
	if b.order == 0 {
		if n := len(t.ofree); n > 0 {
			b.order = t.ofree[n-1]
			t.ofree = t.ofree[:n-1]
			t.orders[b.order-1] = &order{}
		} else {
			t.orders = append(t.orders, &order{})
			b.order = uint32(len(t.orders))
		}
	}
	return t.orders[b.order-1]
}

// waits reports whether children of a level are not in order yet.
func (t *tree) waits(id uint32) bool {
	nd := t.node(id)
	if nd.branch == 0 {
		return false
	}
	b := t.below(nd.branch)
	return b.late > 0 || b.order != 0 && int(b.kids) != t.orders[b.order-1].n
}

// install puts a child that was taken in order, if it is still there.
func (t *tree) install(parent, id uint32) {
	nd := t.node(id)
	if nd.flags&nodeTaken == 0 || nd.parent != parent {
		return // it went, and its number may be another's by now
	}
	nd.flags = nd.flags&^nodeTaken | nodeOrdered
	name := t.name(id)
	t.orderOf(parent).insert(id, func(other uint32) int { return compareTopics(t.name(other), name) })
}

// takeKid takes the first waiting child out of its chain.
func (t *tree) takeKid(b *branch) uint32 {
	kid := b.waiting - 1
	t.unchain(b, kid)
	t.node(kid).flags |= nodePlaced | nodeTaken
	t.chain(&b.placed, kid)
	return kid
}

// takeKids takes at most n waiting children out of the chain of a level and appends them to entries.
func (s *store) takeKids(id uint32, n int, v *views, entries []entry) []entry {
	t := &s.tree
	nd := t.node(id)
	if nd.branch == 0 {
		return entries
	}
	b := t.below(nd.branch)
	for ; n > 0 && b.waiting != 0; n-- {
		kid := t.takeKid(b)
		k := t.node(kid)
		entries = append(entries, v.note(&s.arena, kid, 0, s.records.at(k.named).topic, int(k.off), int(k.n)))
	}
	return entries
}

// orderKids puts waiting children of a level in order, all of them if they are few, and returns the order.
func (s *store) orderKids(id uint32) *order {
	o := s.tree.orderOf(id)
	if o == nil {
		return nil
	}
	b := s.tree.below(s.tree.node(id).branch)
	if b.late == 0 {
		return o
	}
	n := int(b.late)
	if b.kids > narrowLevel {
		n = min(n, inlineKids)
	}
	if n <= fewKids {
		for ; n > 0; n-- {
			s.tree.install(id, s.tree.takeKid(b))
		}
		return o
	}
	var v views
	entries := s.takeKids(id, n, &v, make([]entry, 0, n))
	// The context never ends, so there is no error.
	_ = sortTopics(context.Background(), &v, entries, nil)
	for i := range entries {
		s.tree.install(id, entries[i].id)
	}
	return o
}

// orderWide puts all waiting children of a level in order, sorting outside the lock. When ctx ends, those that are left
// wait again.
func (inv *Inventory) orderWide(ctx context.Context, id uint32) {
	var v views
	var entries []entry
	for more := true; more; {
		inv.mu.Lock()
		had := len(entries)
		entries = inv.takeKids(id, sliceRecords, &v, entries)
		inv.mu.Unlock()
		more = len(entries)-had == sliceRecords && ctx.Err() == nil
	}
	if sortTopics(ctx, &v, entries, nil) == nil {
		for len(entries) > 0 && ctx.Err() == nil {
			n := min(len(entries), sliceOrder)
			inv.mu.Lock()
			for i := range entries[:n] {
				inv.tree.install(id, entries[i].id)
			}
			inv.mu.Unlock()
			entries = entries[n:]
		}
	}
	if len(entries) == 0 {
		return
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	for i := range entries {
		kid := entries[i].id
		nd := inv.tree.node(kid)
		if nd.flags&nodeTaken == 0 || nd.parent != id {
			continue
		}
		b := inv.tree.below(inv.tree.node(id).branch)
		inv.tree.unchain(b, kid)
		nd.flags &^= nodeTaken | nodePlaced
		inv.tree.chain(&b.waiting, kid)
		b.late++
	}
}

// wideLevels are levels whose children a listing found not to be in order.
type wideLevels []uint32

func (w *wideLevels) add(id uint32) {
	if !slices.Contains(*w, id) {
		*w = append(*w, id)
	}
}

// drop forgets the levels that do not wait any more, and returns whether any is left.
func (w *wideLevels) drop(t *tree) bool {
	*w = slices.DeleteFunc(*w, func(id uint32) bool {
		nd := t.node(id)
		return nd.branch == 0 || t.below(nd.branch).late == 0
	})
	return len(*w) > 0
}

// next takes a level off that still waits; false when there is none.
func (w *wideLevels) next(t *tree) (uint32, bool) {
	if !w.drop(t) {
		return 0, false
	}
	id := (*w)[0]
	*w = slices.Delete(*w, 0, 1)
	return id, true
}
