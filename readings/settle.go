package readings

// The questions that a caller asks: one reading, a short one, and what changed.
// Whatever was marked is followed first, so an answer is never older than the last fact.

import (
	"cmp"
	"slices"
)

// Brief is the part of a reading that a list shows.
type Brief struct {
	Owner        string // empty when nobody is known
	State        State
	Phrase       string
	Left, Hazard bool
	Kinds        KindSet // of all findings
}

// KindSet is a set of kinds of finding.
type KindSet uint64

// Has reports whether the kind is in the set.
func (s KindSet) Has(k Kind) bool { return k != NoFinding && s&(1<<k) != 0 }

// Brief returns the short reading of a topic at now, in Unix milliseconds, and false when it is not retained. It costs
// a few microseconds.
func (r *Reader) Brief(topic []byte, now int64) (Brief, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expand()
	id := r.lookupBytes(topic)
	if id == 0 || r.nodes[id].held == 0 {
		return Brief{}, false
	}
	v := r.judge(id, now)
	b := Brief{Phrase: r.phrase(&v, r.heldAt(id), now), Left: v.left != NoFinding, Hazard: v.hazard}
	if b.State = v.claim.state; v.claim.known() {
		b.Owner = v.claim.owner
	}
	for _, n := range v.notes[:v.n] {
		b.Kinds |= 1 << n.kind
	}
	return b, true
}

// Reading returns all that is known about a topic at now, in Unix milliseconds, and false when it is not retained.
func (r *Reader) Reading(topic []byte, now int64) (Reading, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expand()
	id := r.lookupBytes(topic)
	if id == 0 || r.nodes[id].held == 0 {
		return Reading{}, false
	}
	h := r.heldAt(id)
	v := r.judge(id, now)
	out := Reading{
		Owner: r.owner(&v), Device: v.claim.place.device, Role: v.claim.place.role, Liveness: r.livenessOf(&v),
		Left: v.left != NoFinding, Hazard: v.hazard, Ignored: v.ignored, Phrase: r.phrase(&v, h, now),
		Spared: r.sparedText(&v, now),
	}
	for _, n := range v.notes[:v.n] {
		out.Findings = append(out.Findings, Finding{Kind: n.kind, Strength: n.strength, Reason: r.reason(&v, n, h, now)})
	}
	slices.SortStableFunc(out.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.Kind, b.Kind))
	})
	for i := h.own; i != 0; i = r.refs[i].nextOwn {
		if x := &r.refs[i]; x.kind <= refLiveness && !(x.to == id && x.kind == refLiveness) {
			out.Refs = append(out.Refs, r.reference(x.to, x.kind))
		}
	}
	for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
		if x := &r.refs[i]; x.kind <= refLiveness && !(x.from == id && x.kind == refLiveness) {
			out.RefBy = append(out.RefBy, r.reference(x.from, x.kind))
		}
	}
	out.Refs, out.RefsTotal = inOrder(out.Refs)
	out.RefBy, out.RefByTotal = inOrder(out.RefBy)
	return out, true
}

func (r *Reader) reference(id uint32, kind refKind) Reference {
	k := RefReads
	switch kind {
	case refWrites:
		k = RefWrites
	case refAvailability:
		k = RefAvailability
	case refLiveness:
		k = RefLiveness
	}
	return Reference{Topic: r.name(id), Kind: k, Retained: r.nodes[id].held != 0}
}

// inOrder sorts references, drops those that are there twice and cuts the list; the count is before the cut.
func inOrder(list []Reference) ([]Reference, int) {
	slices.SortFunc(list, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Kind, b.Kind))
	})
	list = slices.Compact(list)
	n := len(list)
	if n > MaxReferences {
		list = append([]Reference(nil), list[:MaxReferences]...)
	}
	return list, n
}

// touchBudget is how many topics one call of Touched reads again.
const touchBudget = 1024

// Touched appends the topics whose reading changed since the last call, by a fact or by time, and returns them and
// whether there are more to read again: then call it once more. Each call reads at most about a thousand topics again,
// so that nobody waits long for the mutex. now is in Unix milliseconds. Topics that are not retained any more are not
// told of.
func (r *Reader) Touched(dst [][]byte, now int64) (topics [][]byte, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	more = r.settle(now, touchBudget)
	for _, id := range r.changed {
		h := r.heldAt(id)
		if h == nil || h.flags&heldChanged == 0 {
			continue
		}
		h.flags &^= heldChanged
		dst = append(dst, []byte(r.name(id)))
	}
	r.changed = r.changed[:0]
	return dst, more
}

// settle judges the topics that are marked, at most budget of them (0 = all), and reports whether any are left.
func (r *Reader) settle(now int64, budget int) bool {
	r.now = max(r.now, now)
	r.wakeUp(now)
	r.expand()
	for n := 0; budget == 0 || n < budget; n++ {
		id, ok := r.unmark(&r.pending.touched, fTouched)
		if !ok {
			return false
		}
		h := r.heldAt(id)
		if h == nil {
			continue
		}
		v := r.judge(id, now)
		r.wakeAt(h, v.later)
		r.flag(id, h, &v)
		if d := v.digest(); d != h.digest || h.flags&heldJudged == 0 {
			h.digest = d
			h.flags |= heldJudged
			if h.flags&heldChanged == 0 {
				h.flags |= heldChanged
				r.changed = append(r.changed, id)
			}
		}
	}
	return len(r.pending.touched) > 0
}

// flag keeps the counts and the set of those that a person should see.
func (r *Reader) flag(id uint32, h *held, v *verdict) {
	r.unflag(id)
	if v.left != NoFinding {
		h.flags |= heldLeft
		r.count.Left++
	}
	if v.hazard {
		h.flags |= heldHazard
		r.count.Hazards++
	}
	if h.flags&(heldLeft|heldHazard) != 0 {
		r.flagged[id] = struct{}{}
	}
}

func (r *Reader) unflag(id uint32) {
	h := r.heldAt(id)
	if h.flags&(heldLeft|heldHazard) == 0 {
		return
	}
	if h.flags&heldLeft != 0 {
		r.count.Left--
	}
	if h.flags&heldHazard != 0 {
		r.count.Hazards--
	}
	h.flags &^= heldLeft | heldHazard
	delete(r.flagged, id)
}

// digest sums up what a person would see change: not the wording, and nothing that moves with the clock.
func (v *verdict) digest() uint32 {
	const prime = 16777619
	d := uint32(2166136261)
	add := func(b byte) { d = (d ^ uint32(b)) * prime }
	text := func(s string) {
		for i := range len(s) {
			add(s[i])
		}
		add(0)
	}
	for _, n := range v.notes[:v.n] {
		add(byte(n.kind))
		add(byte(n.strength))
	}
	add(0)
	add(byte(v.left))
	add(byte(v.claim.state))
	add(byte(v.claim.rule))
	add(byte(v.claim.place.role))
	if v.hazard {
		add(1)
	}
	text(v.claim.owner)
	text(v.claim.convention)
	text(v.claim.place.device)
	return d
}
