package inventory

import "context"

// inlineOrder is how many new topics one call of a listing puts in order by itself. More is work for Listing.Work.
const inlineOrder = 128

// flatOrder is the order of all topics, made when it is first asked for and kept from then on. New topics wait in a
// queue, so that taking them in costs the reader nothing; removed ones go at once.
type flatOrder struct {
	order   *order // nil = never asked for
	waiting []uint32
}

func (f *flatOrder) queue(id uint32, rec *record) {
	if f.order == nil || rec.flags&flagQueued != 0 {
		return
	}
	rec.flags |= flagQueued
	f.waiting = append(f.waiting, id)
}

func (f *flatOrder) remove(s *store, id uint32, rec *record) {
	if rec.flags&flagInOrder == 0 {
		return
	}
	topic := s.arena.at(rec.topic)
	f.order.remove(id, func(other uint32) int { return compareTopics(s.topicOf(other), topic) })
}

// place puts a number that came out of the queue in order, if it names a slot that is not there yet.
func (f *flatOrder) place(s *store, id uint32) {
	rec := s.records.at(id)
	if rec.flags&flagHeld == 0 || rec.flags&flagInOrder != 0 {
		return
	}
	rec.flags |= flagInOrder
	topic := s.arena.at(rec.topic)
	f.order.insert(id, func(other uint32) int { return compareTopics(s.topicOf(other), topic) })
}

// some puts at most n waiting topics in order.
func (f *flatOrder) some(s *store, n int) {
	for ; n > 0 && len(f.waiting) > 0; n-- {
		last := len(f.waiting) - 1
		id := f.waiting[last]
		f.waiting = f.waiting[:last]
		s.records.at(id).flags &^= flagQueued
		f.place(s, id)
	}
}

// ensureFlat makes the order of all topics if it is not there, and puts what waits in order. Sorting happens outside
// the lock. The order is usable, if perhaps not whole, also when ctx ends before.
func (inv *Inventory) ensureFlat(ctx context.Context) error {
	if inv.startFlat() {
		for id := uint32(0); ; {
			inv.mu.Lock()
			end := min(id+sliceRecords, inv.records.n)
			for ; id < end; id++ {
				if rec := inv.records.at(id); rec.flags&flagHeld != 0 && rec.flags&flagInOrder == 0 {
					inv.flat.queue(id, rec)
				}
			}
			done := id >= inv.records.n
			inv.mu.Unlock()
			if done {
				break
			}
		}
	}
	for {
		more, err := inv.orderWaiting(ctx)
		if err != nil || !more {
			return err
		}
	}
}

func (inv *Inventory) startFlat() bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if inv.flat.order != nil {
		return false
	}
	inv.flat.order = &order{}
	return true
}

// orderWaiting takes the queue as it is, sorts it outside the lock, and puts it in order in slices. It returns whether
// more than a few came meanwhile.
func (inv *Inventory) orderWaiting(ctx context.Context) (more bool, err error) {
	inv.mu.Lock()
	waiting := inv.flat.waiting
	if len(waiting) <= inlineOrder {
		inv.flat.some(&inv.store, len(waiting))
		inv.mu.Unlock()
		return false, ctx.Err()
	}
	inv.flat.waiting = nil
	inv.mu.Unlock()

	// What was taken is still marked as queued, so it is put back when the work is given up.
	var v views
	entries := make([]entry, 0, len(waiting))
	rest := waiting
	for len(rest) > 0 && ctx.Err() == nil {
		n := min(len(rest), sliceRecords)
		inv.mu.Lock()
		for _, id := range rest[:n] {
			rec := inv.records.at(id)
			if rec.flags&flagHeld == 0 || rec.flags&flagInOrder != 0 {
				rec.flags &^= flagQueued
				continue
			}
			entries = append(entries, v.note(&inv.arena, id, rec.gen, rec.topic, 0, int(rec.topic.n)))
		}
		inv.mu.Unlock()
		rest = rest[n:]
	}
	if err := ctx.Err(); err != nil {
		inv.requeue(entries, rest)
		return true, err
	}
	if err := sortTopics(ctx, &v, entries, nil); err != nil {
		inv.requeue(entries, nil)
		return true, err
	}
	for len(entries) > 0 {
		if err := ctx.Err(); err != nil {
			inv.requeue(entries, nil)
			return true, err
		}
		n := min(len(entries), sliceOrder)
		inv.mu.Lock()
		for i := range entries[:n] {
			inv.records.at(entries[i].id).flags &^= flagQueued
			inv.flat.place(&inv.store, entries[i].id)
		}
		inv.mu.Unlock()
		entries = entries[n:]
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return len(inv.flat.waiting) > inlineOrder, nil
}

func (inv *Inventory) requeue(entries []entry, rest []uint32) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	for i := range entries {
		inv.flat.waiting = append(inv.flat.waiting, entries[i].id)
	}
	inv.flat.waiting = append(inv.flat.waiting, rest...)
}

// sliceRecords and sliceOrder are how many records are read, and how many topics put in order, before the lock is let
// go: each takes well below a millisecond.
const (
	sliceRecords = 2048
	sliceOrder   = 512
)
