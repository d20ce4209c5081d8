package inventory

import "context"

// candidate is a topic that was found outside the lock, and where.
type candidate struct {
	id, gen uint32
	place   place
	chunk   *chunk
}

// mark is how far one chunk of the arena had grown when a sweep began. What comes later lies behind it.
type mark struct {
	chunk   *chunk
	entries int
	bytes   int
}

// covers reports whether the topic at p, whose chunk is c, lies before a mark.
func covers(marks []mark, p place, c *chunk) bool {
	return int(p.chunk) < len(marks) && marks[p.chunk].chunk == c && int(p.off) < marks[p.chunk].bytes
}

// sweep goes through the bytes of all topics outside the lock, looking for the text of best if it has one, and checks
// under the lock, in slices, what is left. Where an earlier listing has all that can match, it goes through that, and
// through the bytes of the topics that came since.
func (q *query) sweep(ctx context.Context, best *term) error {
	q.inv.mu.Lock()
	parts := make([]chunk, len(q.inv.arena.chunks)) // as they are now: the open one goes on growing
	q.marks = make([]mark, len(parts))
	for i, c := range q.inv.arena.chunks {
		if c != nil {
			parts[i] = *c
			q.marks[i] = mark{chunk: c, entries: len(c.entries), bytes: len(c.data)}
		}
	}
	old := q.earlier()
	q.inv.mu.Unlock()
	var seen []mark
	if old != nil {
		seen = old.marks
		if err := q.within(ctx, old); err != nil {
			return err
		}
	}
	var find *finder
	if best != nil && len(best.find.text) > 0 {
		find = &best.find
	}
	var found []candidate
	for i := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := 0
		if i < len(seen) && seen[i].chunk == q.marks[i].chunk {
			from = seen[i].entries
		}
		if from == len(parts[i].entries) {
			continue
		}
		found = q.inChunk(&parts[i], from, find, found[:0], func(e chunkEntry, n int) candidate {
			return candidate{id: e.id, gen: e.gen, place: place{off: e.off, chunk: uint16(i), n: uint16(n)}, chunk: q.marks[i].chunk}
		})
		q.check(found)
	}
	return nil
}

// inChunk appends the topics of a chunk, from one of its entries on, that match all that topics decide. find is what
// each of them must have, nil when that is nothing.
func (q *query) inChunk(c *chunk, from int, find *finder, found []candidate, noted func(chunkEntry, int) candidate) []candidate {
	f := q.spec.Filter
	end := func(i int) int {
		if i+1 < len(c.entries) {
			return int(c.entries[i+1].off)
		}
		return len(c.data)
	}
	if find == nil {
		for i := from; i < len(c.entries); i++ {
			e := c.entries[i]
			if topic := c.data[e.off:end(i)]; f.matchTopicTerms(topic) {
				found = append(found, noted(e, len(topic)))
			}
		}
		return found
	}
	n := len(find.text)
	alone := len(f.terms) == 1 && f.terms[0].kind == termWord
	i := from // the topic that holds the place
	for at := find.from(c.data, int(c.entries[from].off)); at >= 0; {
		i = topicAt(c.entries, i, at)
		stop := end(i)
		if at+n > stop {
			at = find.from(c.data, at+1) // half in one topic and half in the next
			continue
		}
		e := c.entries[i]
		if topic := c.data[e.off:stop]; alone || f.matchTopicTerms(topic) {
			found = append(found, noted(e, len(topic)))
		}
		at = find.from(c.data, stop)
	}
	return found
}

// topicAt returns which topic, from number i on, the byte at stands in.
func topicAt(entries []chunkEntry, i, at int) int {
	// Steps that double first: where there are many hits the next one is near.
	step := 1
	for i+step < len(entries) && int(entries[i+step].off) <= at {
		i += step
		step *= 2
	}
	lo, hi := i, min(i+step, len(entries))
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if int(entries[mid].off) <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// check takes those candidates that are still held. All of them are of one chunk.
func (q *query) check(found []candidate) {
	plain := !q.bySlot && q.spec.Sort == ByTopic // the record has nothing to add
	for len(found) > 0 {
		q.inv.mu.Lock()
		q.payload = 0
		n := 0
		a := &q.inv.arena
		first := &found[0]
		if plain && a.chunks[first.place.chunk] == first.chunk && first.chunk.dead == 0 {
			// Nothing in this chunk ever went, so that everything in it is held.
			for ; n < len(found) && n < sliceChecks; n++ {
				c := &found[n]
				q.entries = append(q.entries, q.v.note(a, c.id, c.gen, c.place, 0, int(c.place.n)))
			}
		}
		for ; n < len(found) && n < sliceChecks && q.payload < slicePayload; n++ {
			c := &found[n]
			rec := q.inv.records.at(c.id)
			if rec.flags&flagHeld != 0 && rec.topic == c.place && a.chunks[c.place.chunk] == c.chunk {
				q.take(c.id, rec)
				continue
			}
			// It went, or its chunk was written again since.
			topic := c.chunk.data[c.place.off : int(c.place.off)+int(c.place.n)]
			if id, ok := q.inv.lookupTopic(topic); ok && a.chunks[c.place.chunk] != c.chunk {
				q.take(id, q.inv.records.at(id))
			}
		}
		q.inv.mu.Unlock()
		found = found[n:]
	}
}
