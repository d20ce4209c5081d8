package inventory

import (
	"context"
	"math"
	"slices"
)

const (
	// manyTopics is from how many topics on the first rows are found before the whole order is made.
	manyTopics = 16384
	// headRows is how many rows are looked for.
	headRows = 512
	// sliceDeadlines is how many packed deadlines are looked at before the lock is let go.
	sliceDeadlines = 64 << 10
)

// firstRows returns the first rows of a large unfiltered order by something else than the topic, by selection; nil when
// that is not possible, because too many slots share the first place and the order of all topics is not there to say
// which of them come first.
func (inv *Inventory) firstRows(ctx context.Context, s Spec) (*snapshot, error) {
	total := int(inv.Counts().Topics)
	if s.Tree || s.Sort == ByTopic || !s.Filter.empty() || total < manyTopics {
		return nil, nil
	}
	sel := selection{desc: s.Desc}
	slice := uint32(sliceRecords)
	if s.Sort == ByExpiry {
		slice = sliceDeadlines
	}
	for id := uint32(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		inv.mu.Lock()
		end := min(id+slice, inv.records.n)
		if s.Sort == ByExpiry {
			inv.selectDeadlines(&sel, id, end)
		} else {
			for ; id < end; id++ {
				if rec := inv.records.at(id); rec.flags&flagHeld != 0 {
					sel.add(inv.sortKey(s.Sort, id, rec, s.Now), id)
				}
			}
		}
		id = end
		done := id >= inv.records.n
		inv.mu.Unlock()
		if done {
			break
		}
	}
	ids, tie := sel.result(total)
	if len(ids) < headRows/4 && len(ids) < total {
		more, err := inv.tied(ctx, s, tie, headRows-len(ids))
		if err != nil || len(more) == 0 {
			return nil, err
		}
		ids = append(ids, more...)
	}
	q := &query{inv: inv, spec: s}
	inv.mu.Lock()
	for _, id := range ids {
		if rec := inv.records.at(id); rec.flags&flagHeld != 0 {
			q.take(id, rec)
		}
	}
	inv.mu.Unlock()
	if err := q.sort(ctx); err != nil {
		return nil, err
	}
	q.v.seal()
	if s.Desc {
		slices.Reverse(q.entries)
	}
	return &snapshot{v: q.v, items: q.entries, total: total, partial: len(q.entries) < total}, nil
}

// tied returns the first n slots with a key, in the order of topics as shown. It returns none when that order was never
// made, or when topics came and went before it was gone through.
func (inv *Inventory) tied(ctx context.Context, s Spec, key uint64, n int) ([]uint32, error) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	structure := inv.structure
	var ids []uint32
	for k := 0; ; k++ {
		// Blocks stay where they are as long as no topic comes or goes.
		if inv.flat.order == nil || len(inv.flat.waiting) > 0 || inv.structure != structure {
			return nil, nil
		}
		blocks := inv.flat.order.blocks
		if k == len(blocks) {
			return ids, nil
		}
		b := blocks[k]
		if s.Desc {
			b = blocks[len(blocks)-1-k]
		}
		for i := range b {
			id := b[i]
			if s.Desc {
				id = b[len(b)-1-i]
			}
			if inv.sortKey(s.Sort, id, inv.records.at(id), s.Now) != key {
				continue
			}
			if ids = append(ids, id); len(ids) == n {
				return ids, nil
			}
		}
		inv.mu.Unlock()
		err := ctx.Err()
		inv.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// selectDeadlines is add for the records from id to end, ordered by their end. A record itself is looked at only where
// its deadline does not say enough: without one it may be a free one, and where the broker adds intervals of its own
// a slot may be ordered as one that has none although it has a deadline.
func (inv *Inventory) selectDeadlines(sel *selection, id, end uint32) {
	none := uint64(neverEnds)
	if sel.desc {
		none = ^none
	}
	for id < end {
		slab := inv.records.slabs[id>>recordShift]
		stop := min(end, (id>>recordShift+1)<<recordShift)
		if sel.full && !inv.stamps {
			if sel.desc && !sel.wants(none) {
				return // there are enough without an end, and they come first
			}
			if !sel.desc && sel.limit <= math.MaxUint32 {
				sel.sweep(&slab.deadline, id, stop)
				id = stop
				continue
			}
		}
		for ; id < stop; id++ {
			i := id & (recordChunk - 1)
			key := uint64(slab.deadline[i])
			if key != 0 && !inv.stamps {
				if sel.desc {
					key = ^key
				}
				if sel.wants(key) {
					sel.keep(key, id)
				}
				continue
			}
			if key == 0 && !sel.wants(none) {
				continue
			}
			if rec := &slab.records[i]; rec.flags&flagHeld != 0 {
				sel.add(inv.sortKey(ByExpiry, id, rec, 0), id)
			}
		}
	}
}

// selection keeps the numbers with the smallest keys, or the largest if desc, in a buffer that is cut back when it is
// full. From then on only keys below the limit are wanted: those that share the last key are left out in the end anyway.
type selection struct {
	desc  bool
	full  bool
	limit uint64
	kept  []selected
}

type selected struct {
	key uint64
	id  uint32
}

func (s *selection) add(key uint64, id uint32) {
	if s.desc {
		key = ^key
	}
	if s.wants(key) {
		s.keep(key, id)
	}
}

// sweep is add for the deadlines of one slab, from id to stop, in ascending order and with the buffer full. One comparison
// passes over both those without an end and those beyond the limit: a branch for each would be guessed wrong too often.
func (s *selection) sweep(deadlines *[recordChunk]uint32, id, stop uint32) {
	limit := uint32(s.limit)
	first := id &^ (recordChunk - 1)
	for i := id - first; i < stop-first; i++ {
		// No deadline is 0, which less one is beyond every limit.
		if end := deadlines[i]; end-1 < limit-1 {
			s.keep(uint64(end), first+i)
			limit = uint32(s.limit)
		}
	}
}

func (s *selection) wants(key uint64) bool { return !s.full || key < s.limit }

func (s *selection) keep(key uint64, id uint32) {
	s.kept = append(s.kept, selected{key: key, id: id})
	if len(s.kept) == headRows*4 {
		s.shrink()
	}
}

func (s *selection) shrink() {
	slices.SortFunc(s.kept, func(a, b selected) int {
		if a.key != b.key {
			if a.key < b.key {
				return -1
			}
			return 1
		}
		return int(a.id) - int(b.id)
	})
	if len(s.kept) > headRows {
		s.kept = s.kept[:headRows]
		s.limit, s.full = s.kept[headRows-1].key, true
	}
}

// result returns the numbers, and the key that follows them. Those that share that key are left out, since some of them
// may have been dropped, and which of them comes first is for their topics to say.
func (s *selection) result(total int) (ids []uint32, tie uint64) {
	s.shrink()
	n := len(s.kept)
	if n < total && n > 0 {
		tie = s.kept[n-1].key
		for n > 0 && s.kept[n-1].key == tie {
			n--
		}
	}
	if s.desc {
		tie = ^tie
	}
	for _, k := range s.kept[:n] {
		ids = append(ids, k.id)
	}
	return ids, tie
}
