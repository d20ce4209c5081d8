package inventory

import "context"

// Judge says of topics what the inventory cannot know by itself. Its methods are called from many goroutines and never
// with the lock of the inventory held, so they may take time.
type Judge interface {
	// OwnedBy reports whether the owner of a retained topic is known and its name contains name, ASCII letters folded.
	OwnedBy(topic []byte, name string, now int64) bool
	// Found reports whether a finding of exactly that name was made about a retained topic.
	Found(topic []byte, name string, now int64) bool
}

// SetJudge says who decides the filter words owner: and finding:. Without a judge neither holds for any topic.
func (inv *Inventory) SetJudge(j Judge) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.judge = j
	inv.version++
}

// Mark sets and clears FlagLeft and FlagHazard of the slot of a topic, and returns false when none is held. Other flags
// are left as they are. It moves Counts.Version also where the flags stay: whoever calls it found something else than
// before. A slot that goes loses its marks.
func (inv *Inventory) Mark(topic []byte, set, unset Flags) bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	id, ok := inv.lookupTopic(topic)
	if !ok {
		return false
	}
	rec := inv.records.at(id)
	inv.reflag(rec, rec.flags&^(unset&marks)|set&marks)
	inv.version++
	return true
}

// Findings returns the names behind finding: in the filter, for a caller that knows which ones there are.
func (f *Filter) Findings() []string {
	if f == nil {
		return nil
	}
	var names []string
	for i := range f.terms {
		if f.terms[i].kind == termFinding {
			names = append(names, f.terms[i].name)
		}
	}
	return names
}

// Judged reports whether a Judge decides any word of the filter.
func (f *Filter) Judged() bool {
	if f == nil {
		return false
	}
	for i := range f.terms {
		if f.terms[i].judged() {
			return true
		}
	}
	return false
}

// ask lets the judge decide about what was found. It runs without the lock.
func (q *query) ask(ctx context.Context) error {
	f := q.spec.Filter
	if !f.Judged() {
		return nil
	}
	q.inv.mu.Lock()
	judge := q.inv.judge
	now := q.spec.Now
	if q.inv.awayAt != 0 {
		now = min(now, q.inv.awayAt)
	}
	q.inv.mu.Unlock()
	n, ordered := 0, 0
	for i := range q.entries {
		if i%sliceChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if i == q.ordered {
			ordered = n
		}
		if !f.matchJudged(judge, q.v.bytes(&q.entries[i]), now) {
			continue
		}
		q.entries[n] = q.entries[i]
		if q.keys != nil {
			q.keys[n] = q.keys[i]
		}
		n++
	}
	if q.ordered == len(q.entries) {
		ordered = n
	}
	q.entries, q.ordered = q.entries[:n], ordered
	if q.keys != nil {
		q.keys = q.keys[:n]
	}
	return nil
}

// matchJudged reports whether every term holds that a judge decides.
func (f *Filter) matchJudged(j Judge, topic []byte, now int64) bool {
	for i := range f.terms {
		t := &f.terms[i]
		ok := false
		switch {
		case !t.judged():
			continue
		case j == nil:
		case t.kind == termOwner:
			ok = j.OwnedBy(topic, t.name, now)
		default:
			ok = j.Found(topic, t.name, now)
		}
		if ok == t.not {
			return false
		}
	}
	return true
}
