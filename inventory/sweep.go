package inventory

import "context"

// candidate is a topic that was found outside the lock, and where.
type candidate struct {
	id    uint32
	place place
	chunk *chunk
}

// sweep goes through the bytes of all topics outside the lock, looking for the text of best if it has one, and checks
// under the lock, in slices, what is left.
func (q *query) sweep(ctx context.Context, best *term) error {
	q.inv.mu.Lock()
	chunks := make([]*chunk, len(q.inv.arena.chunks))
	copy(chunks, q.inv.arena.chunks)
	parts := make([]chunk, len(chunks)) // as they are now: the open one goes on growing
	for i, c := range chunks {
		if c != nil {
			parts[i] = *c
		}
	}
	q.inv.mu.Unlock()
	var found []candidate
	for i := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		found = q.inChunk(&parts[i], best, found[:0], func(e chunkEntry, n int) candidate {
			return candidate{id: e.id, place: place{off: e.off, chunk: uint16(i), n: uint16(n)}, chunk: chunks[i]}
		})
		q.check(found)
	}
	return nil
}

// inChunk appends the topics of a chunk that match all that topics decide.
func (q *query) inChunk(c *chunk, best *term, found []candidate, noted func(chunkEntry, int) candidate) []candidate {
	f := q.spec.Filter
	end := func(i int) int {
		if i+1 < len(c.entries) {
			return int(c.entries[i+1].off)
		}
		return len(c.data)
	}
	if best == nil || len(best.find.text) == 0 {
		for i, e := range c.entries {
			if topic := c.data[e.off:end(i)]; f.matchTopicTerms(topic) {
				found = append(found, noted(e, len(topic)))
			}
		}
		return found
	}
	s := searcher{f: &best.find, b: c.data, lo: -1, hi: -1}
	n := len(best.find.text)
	alone := len(f.terms) == 1 && best.kind == termWord
	i := 0 // the topic that holds the place
	for at := s.from(0); at >= 0; {
		i = topicAt(c.entries, i, at)
		stop := end(i)
		if at+n > stop {
			at = s.from(at + 1) // half in one topic and half in the next
			continue
		}
		e := c.entries[i]
		if topic := c.data[e.off:stop]; alone || f.matchTopicTerms(topic) {
			found = append(found, noted(e, len(topic)))
		}
		at = s.from(stop)
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

// check takes those candidates that are still held.
func (q *query) check(found []candidate) {
	for len(found) > 0 {
		q.inv.mu.Lock()
		q.payload = 0
		n := 0
		for ; n < len(found) && n < sliceChecks && q.payload < slicePayload; n++ {
			c := &found[n]
			rec := q.inv.records.at(c.id)
			if rec.flags&flagHeld != 0 && rec.topic == c.place && q.inv.arena.chunks[c.place.chunk] == c.chunk {
				q.take(c.id, rec)
				continue
			}
			// It went, or its chunk was written again since.
			topic := c.chunk.data[c.place.off : int(c.place.off)+int(c.place.n)]
			if id, ok := q.inv.lookupTopic(topic); ok && q.inv.arena.chunks[c.place.chunk] != c.chunk {
				q.take(id, q.inv.records.at(id))
			}
		}
		q.inv.mu.Unlock()
		found = found[n:]
	}
}
