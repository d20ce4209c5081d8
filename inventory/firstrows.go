package inventory

import (
	"context"
	"slices"
)

const (
	// manyTopics is from how many topics on the first rows are found before the whole order is made.
	manyTopics = 16384
	// headRows is how many rows are looked for.
	headRows = 1024
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
	sel := selection{desc: s.Desc, limit: ^uint64(0)}
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
					sel.add(inv.sortKey(s.Sort, id, rec), id)
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
	if inv.flat.order == nil || len(inv.flat.waiting) > 0 {
		inv.mu.Unlock()
		return nil, nil
	}
	all := inv.flat.numbers()
	structure := inv.structure
	inv.mu.Unlock()
	if s.Desc {
		slices.Reverse(all)
	}
	var ids []uint32
	for len(all) > 0 && len(ids) < n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k := min(len(all), sliceRecords)
		inv.mu.Lock()
		if inv.structure != structure {
			inv.mu.Unlock()
			return nil, nil
		}
		for _, id := range all[:k] {
			if len(ids) < n && inv.sortKey(s.Sort, id, inv.records.at(id)) == key {
				ids = append(ids, id)
			}
		}
		inv.mu.Unlock()
		all = all[k:]
	}
	return ids, nil
}

// selectDeadlines is add for the records from id to end, ordered by their end. A record itself is looked at only where
// its deadline does not say enough: without one it may be a free one, and where the broker adds intervals of its own
// a slot may be ordered as one that has none although it has a deadline.
func (inv *Inventory) selectDeadlines(sel *selection, id, end uint32) {
	for id < end {
		slab := inv.records.slabs[id>>recordShift]
		stop := min(end, (id>>recordShift+1)<<recordShift)
		for ; id < stop; id++ {
			i := id & (recordChunk - 1)
			key := uint64(slab.deadline[i])
			if key != 0 && !inv.stamps {
				sel.add(key, id)
				continue
			}
			if !sel.desc && sel.limit < neverEnds && key == 0 {
				continue
			}
			if rec := &slab.records[i]; rec.flags&flagHeld != 0 {
				sel.add(inv.sortKey(ByExpiry, id, rec), id)
			}
		}
	}
}

// selection keeps the numbers with the smallest keys, or the largest if desc, in a buffer that is cut back when it is
// full.
type selection struct {
	desc  bool
	limit uint64 // keys above it are not among the first
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
	if key > s.limit {
		return
	}
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
		s.limit = s.kept[headRows-1].key
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
