package inventory

import (
	"context"
	"math"

	"retainscope/expiry"
)

const (
	// fewTopics is up to how many topics sorting them is cheaper than going through the order of all.
	fewTopics = 8192
	// slicePayload is how many payload bytes are looked at before the lock is let go.
	slicePayload = 256 << 10
	// sliceChecks is how many candidates are checked before the lock is let go.
	sliceChecks = 1024
)

// query is one run through the store.
type query struct {
	inv       *Inventory
	spec      Spec
	v         views
	entries   []entry
	keys      []uint64 // of entries, unless they are sorted by topic
	structure uint64   // of the store when the run began
	bySlot    bool     // some terms look at more than the topic
	payload   int      // bytes looked at in this slice
	marks     []mark   // how far the arena had grown when all of it was swept; nil where it was not
	ordered   int      // so many of entries, from the first on, are in the order of topics
}

// collect finds everything that matches, in no particular order.
func (q *query) collect(ctx context.Context) error {
	if err := q.find(ctx); err != nil {
		return err
	}
	return q.ask(ctx)
}

// find finds what matches as far as the inventory itself knows.
func (q *query) find(ctx context.Context) error {
	f := q.spec.Filter
	q.inv.mu.Lock()
	q.structure = q.inv.structure
	if q.spec.Now == 0 {
		q.spec.Now = q.inv.now
	}
	q.inv.mu.Unlock()
	q.bySlot = !f.empty() && !f.topicOnly()
	if f.empty() {
		return q.scan(ctx)
	}
	var best *term
	topics := false
	for i := range f.terms {
		t := &f.terms[i]
		topics = topics || t.topicOnly()
		if t.not || !t.topicOnly() {
			continue
		}
		if t.kind == termMQTT {
			if done, none := q.subtree(t); done || none {
				return ctx.Err()
			}
		}
		if best == nil || len(t.find.text) > len(best.find.text) {
			best = t
		}
	}
	if !topics {
		return q.scan(ctx)
	}
	return q.sweep(ctx, best)
}

// take keeps a slot if the terms hold that look at more than its topic. Call it with the lock held.
func (q *query) take(id uint32, rec *record) {
	if q.bySlot {
		s := subject{
			flags: rec.flags & flagsPublic, size: int64(rec.size), interval: rec.shownInterval(), received: rec.received,
		}
		if rec.epoch != q.inv.epoch {
			s.flags |= FlagNotSeen
		}
		s.payload, _, _ = q.inv.parts(rec)
		now := q.spec.Now
		if q.inv.awayAt != 0 {
			now = min(now, q.inv.awayAt)
		}
		q.payload += len(s.payload)
		if !q.spec.Filter.matchSlotTerms(&s, now) {
			return
		}
	}
	q.entries = append(q.entries, q.v.note(&q.inv.arena, id, rec.gen, rec.topic, 0, int(rec.topic.n)))
	if q.spec.Sort != ByTopic {
		q.keys = append(q.keys, q.inv.sortKey(q.spec.Sort, id, rec, q.spec.Now))
	}
}

// never is the key of a slot without an end: after all others.
const neverEnds = math.MaxUint64 >> 1

// sortKey returns what a slot is ordered by at now, in Unix ms; smaller comes first.
func (s *store) sortKey(by SortKey, id uint32, rec *record, now int64) uint64 {
	switch by {
	case ByExpiry:
		if rec.flags&FlagExpiring == 0 {
			return neverEnds
		}
		return uint64(*s.records.deadline(id))
	case BySize:
		return uint64(rec.size)
	case ByLive:
		return uint64(max(rec.live, 0))
	case ByReceived:
		return uint64(max(rec.received, 0))
	case ByReading:
		if s.awayAt > 0 {
			now = min(now, s.awayAt)
		}
		return gravity(rec, now)
	default:
		return 0
	}
}

// graver holds what a reading can rest on, the gravest first.
var graver = [...]Flags{
	FlagHazard, FlagLeft, FlagStillServed, FlagFell, FlagEmptyReplay, FlagLooksEmpty, FlagLiveDiffers, FlagOddName, FlagNotSeen,
}

// gravity returns the rank of what is to be said of a slot at now: hazards first, what is kept alive last.
func gravity(rec *record, now int64) uint64 {
	for i, f := range graver {
		if rec.flags&f != 0 {
			return uint64(i)
		}
	}
	rank := uint64(len(graver))
	switch expiry.At(rec.interval(), rec.history, rec.received, now) {
	case expiry.MissedTwo:
	case expiry.MissedOne:
		rank++
	case expiry.Due:
		rank += 2
	case expiry.Never:
		rank += 3
	case expiry.NotTold:
		rank += 4
	case expiry.Expires:
		rank += 5
	default:
		rank += 6
	}
	return rank
}

// scan goes through all records.
func (q *query) scan(ctx context.Context) error {
	for id := uint32(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		q.inv.mu.Lock()
		q.payload = 0
		end := min(id+sliceRecords, q.inv.records.n)
		for ; id < end && q.payload < slicePayload; id++ {
			if rec := q.inv.records.at(id); rec.flags&flagHeld != 0 {
				q.take(id, rec)
			}
		}
		done := id >= q.inv.records.n
		q.inv.mu.Unlock()
		if done {
			return nil
		}
	}
}

// subtree goes through what is below the first levels of a topic filter, if that is little; it returns whether it did,
// and whether nothing can match.
func (q *query) subtree(t *term) (done, none bool) {
	q.inv.mu.Lock()
	defer q.inv.mu.Unlock()
	tree := &q.inv.tree
	at := uint32(0)
	for d, l := range t.levels.levels {
		if wildcard(l, '+') || wildcard(l, '#') || d == maxLevels-1 {
			break
		}
		kid, ok := tree.child(at, l)
		if !ok {
			return false, true
		}
		at = kid
	}
	if at == 0 || tree.sums(at).all > sliceRecords {
		return false, false
	}
	todo := []uint32{at}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		nd := tree.node(id)
		if nd.rec != 0 {
			rec := q.inv.records.at(nd.rec - 1)
			if q.spec.Filter.matchTopicTerms(q.inv.arena.at(rec.topic)) {
				q.take(nd.rec-1, rec)
			}
		}
		if nd.branch == 0 {
			continue
		}
		b := tree.below(nd.branch)
		for _, first := range [2]uint32{b.waiting, b.placed} {
			for kid := first; kid != 0; kid = tree.node(kid - 1).next {
				todo = append(todo, kid-1)
			}
		}
	}
	return true, false
}
