package inventory

import (
	"bytes"
	"context"
	"slices"
)

// Narrowing: what a longer filter lets through was let through by the shorter one, so that only what that one found is
// looked at again, and what came since. What is found is the same.

// implies reports whether all that passes f passes before, as far as their words tell. A false says nothing.
func (f *Filter) implies(before *Filter) bool {
	if f.empty() || before.empty() {
		return before.empty()
	}
	for i := range before.terms {
		b := &before.terms[i]
		if !slices.ContainsFunc(f.terms, func(t term) bool { return t.implies(b) }) {
			return false
		}
	}
	return true
}

// implies reports whether every topic for which t holds is one for which b holds; b looks at the topic only.
func (t *term) implies(b *term) bool {
	switch {
	case !t.topicOnly() || t.not != b.not:
		return false
	case b.kind == termWord && !b.not:
		return bytes.Contains(t.find.text, b.find.text) // whatever t is, this text must stand in the topic
	case t.kind != b.kind:
		return false
	}
	switch b.kind {
	case termWord:
		return bytes.Contains(b.find.text, t.find.text) // without the shorter there is no longer
	case termGlob:
		return slices.EqualFunc(t.pieces, b.pieces, bytes.Equal)
	case termMQTT:
		return slices.EqualFunc(t.levels.levels, b.levels.levels, bytes.Equal)
	case termRegexp:
		return t.re.String() == b.re.String()
	}
	return false
}

// earlier returns a copy of the earlier listing of the spec where it has all that can match among the topics before its
// marks, and where going through it is less than going through everything; nil otherwise. Call it with the lock held.
func (q *query) earlier() *snapshot {
	l := q.spec.Within
	if l == nil || l.inv != q.inv || l.snap == nil || l.snap.partial || l.snap.marks == nil {
		return nil
	}
	before := l.spec.Filter
	if before.empty() || !before.topicOnly() || !q.spec.Filter.implies(before) {
		return nil
	}
	if len(l.snap.items) > int(q.inv.tree.sums0().all)/4 {
		return nil
	}
	old := *l.snap
	return &old
}

// within takes what still matches of an earlier listing.
func (q *query) within(ctx context.Context, old *snapshot) error {
	f, n := q.spec.Filter, len(old.items)
	item := func(i int) *entry {
		if old.desc {
			i = n - 1 - i
		}
		return &old.items[i]
	}
	plain := !q.bySlot && q.spec.Sort == ByTopic // the record has nothing to add
	match := make([]*entry, 0, sliceChecks)
	for i := 0; i < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		match = match[:0]
		for ; i < n && len(match) < sliceChecks; i++ {
			if e := item(i); f.matchTopicTerms(old.v.bytes(e)) {
				match = append(match, e)
			}
		}
		for rest := match; len(rest) > 0; {
			q.inv.mu.Lock()
			q.payload = 0
			for len(rest) > 0 && q.payload < slicePayload {
				e := rest[0]
				rest = rest[1:]
				a := &q.inv.arena
				if from := old.v.from[e.view]; plain && a.chunks[from.number] == from.chunk && from.chunk.dead == 0 {
					// Nothing in this chunk ever went, so it is held, and where it was.
					if p := (place{off: e.off, chunk: from.number, n: e.n}); covers(old.marks, p, from.chunk) {
						q.entries = append(q.entries, q.v.note(a, e.id, e.gen, p, 0, int(e.n)))
					}
					continue
				}
				rec, ok := q.inv.held(e.ref())
				// What stands behind the marks by now is found there.
				if ok && covers(old.marks, rec.topic, a.chunks[rec.topic.chunk]) {
					q.take(e.id, rec)
				}
			}
			q.inv.mu.Unlock()
		}
	}
	if old.sorted && q.keys == nil {
		q.ordered = len(q.entries)
	}
	return nil
}

// mergeOrdered sorts what follows the entries that are in the order of topics already, and puts both together.
func (q *query) mergeOrdered(ctx context.Context) error {
	head, tail := q.entries[:q.ordered], q.entries[q.ordered:]
	if err := sortTopics(ctx, &q.v, tail, nil); err != nil || len(tail) == 0 {
		return err
	}
	merged := make([]entry, 0, len(q.entries))
	for len(head) > 0 && len(tail) > 0 {
		if compareTopics(q.v.bytes(&head[0]), q.v.bytes(&tail[0])) <= 0 {
			merged, head = append(merged, head[0]), head[1:]
		} else {
			merged, tail = append(merged, tail[0]), tail[1:]
		}
	}
	q.entries = append(append(merged, head...), tail...)
	return nil
}
