package inventory

import "context"

// sort puts entries in the ascending order of the spec.
func (q *query) sort(ctx context.Context) error {
	// The order of topics decides among equal keys, since what comes then keeps the order of equal ones.
	if err := q.sortByTopic(ctx); err != nil || q.spec.Sort == ByTopic {
		return err
	}
	keys := make([]keyed, len(q.keys))
	for i, k := range q.keys {
		keys[i] = keyed{key: k, index: uint32(i)}
	}
	keys = sortKeys(keys)
	sorted := make([]entry, len(q.entries))
	for i, k := range keys {
		sorted[i] = q.entries[k.index]
	}
	q.entries, q.keys = sorted, nil
	return ctx.Err()
}

// sortByTopic puts entries, and their keys, in the order of topics: few by sorting them, many by going through the order
// of all topics.
func (q *query) sortByTopic(ctx context.Context) error {
	inv, n := q.inv, len(q.entries)
	if q.ordered > 0 && n-q.ordered <= fewTopics {
		return q.mergeOrdered(ctx)
	}
	inv.mu.Lock()
	total := int(inv.tree.sums0().all)
	direct := n <= max(fewTopics, total/32) || inv.flat.order == nil && n < total/4
	inv.mu.Unlock()
	if direct {
		return sortTopics(ctx, &q.v, q.entries, q.keys)
	}
	if err := inv.ensureFlat(ctx); err != nil {
		return err
	}
	inv.mu.Lock()
	same := inv.structure == q.structure
	var all []uint32
	if same {
		all = inv.flat.numbers()
	}
	inv.mu.Unlock()
	if !same {
		// Topics came and went meanwhile; the order is one of other topics than ours.
		return sortTopics(ctx, &q.v, q.entries, q.keys)
	}
	last := uint32(0)
	for i := range q.entries {
		last = max(last, q.entries[i].id)
	}
	places := make([]uint32, last+1)
	for i := range q.entries {
		places[q.entries[i].id] = uint32(i) + 1
	}
	entries := make([]entry, 0, n)
	var keys []uint64
	if q.keys != nil {
		keys = make([]uint64, 0, n)
	}
	for _, id := range all {
		if id > last || places[id] == 0 {
			continue
		}
		i := places[id] - 1
		entries = append(entries, q.entries[i])
		if keys != nil {
			keys = append(keys, q.keys[i])
		}
	}
	q.entries, q.keys = entries, keys
	return ctx.Err()
}

// numbers returns a copy of the order.
func (f *flatOrder) numbers() []uint32 {
	all := make([]uint32, 0, f.order.n)
	for _, b := range f.order.blocks {
		all = append(all, b...)
	}
	return all
}
