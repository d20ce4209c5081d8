package readings

// What has to be read again after a change, and how far that reaches. Marks are set at once and followed when somebody
// asks, so a thousand changes of one area cost one walk through it.

import "retainscope/expiry"

// quiet is how many seconds a topic that was seen live keeps counting as somebody's.
const quiet = 3600

// silence is how many seconds nothing may be heard of a config before it looks left behind, where the config does not
// say itself after how long its value is no longer true. A door may stay shut for a day.
const silence = 86400

// grace is how many seconds an owner that was seen to go offline may take to come back.
const grace = 3600

// pending holds the marks. Numbers may be stale: what counts is the flag on the node.
type pending struct {
	touched, deeps, areas, names, keys []uint32
	done, spread                       []uint32 // areas and configs that were followed in this turn
	wakes                              []wake   // a heap, the earliest first
}

// wake is an instant at which a reading changes although nothing arrives.
type wake struct {
	at   uint32 // Unix seconds
	node uint32
}

func (r *Reader) mark(list *[]uint32, id uint32, flag nodeFlags) {
	if n := &r.nodes[id]; id != 0 && n.flags&flag == 0 {
		n.flags |= flag
		*list = append(*list, id)
	}
}

// touch has one topic read again. What a config's view was made from may have changed, so it is forgotten.
func (r *Reader) touch(id uint32) {
	h := r.heldAt(id)
	if h == nil {
		return
	}
	if h.config != 0 {
		r.configs[h.config].flags &^= cfgViewed | cfgProved
	}
	r.mark(&r.pending.touched, id, fTouched)
}

func (r *Reader) deep(id uint32)        { r.touch(id); r.mark(&r.pending.deeps, id, fDeep) }
func (r *Reader) named(id uint32)       { r.mark(&r.pending.names, id, fNamed) }
func (r *Reader) peers(id uint32)       { r.mark(&r.pending.keys, id, fPeers) }
func (r *Reader) areaChanged(id uint32) { r.mark(&r.pending.areas, id, fArea) }

// speaksAnew has the areas that a topic speaks for read again.
func (r *Reader) speaksAnew(h *held) {
	for i := h.says; i != 0; i = r.says[i].nextOwn {
		r.areaChanged(r.says[i].area)
	}
}

// followed is speaksAnew, and has those read again that compare themselves with the topic.
func (r *Reader) followed(h *held) {
	if h.says == 0 {
		return
	}
	r.speaksAnew(h)
	for i := h.own; i != 0; i = r.refs[i].nextOwn {
		if r.refs[i].kind == refKey {
			r.peers(r.refs[i].to)
		}
	}
}

// deviceChanged has the topics of a device read again when the topic is where conventions keep a device's availability,
// or its state, of which only matters whether it is there.
func (r *Reader) deviceChanged(id uint32, came bool) {
	above, leaf := lastLevel(r.name(id))
	if leaf != "availability" && leaf != "status" && !(came && leaf == "state") || above == defaultPrefix {
		return
	}
	if up := r.nodes[id].parent; up != 0 {
		r.areaChanged(up)
	}
}

// spokeAgain reports whether a topic that is heard now counted as silent, or will soon.
func spokeAgain(was, now uint32) bool { return was == 0 || now-was > quiet/2 }

// beside has those read again that take a topic's voice as a sign of their own life: what lies below it, the rest of its
// device, the rest of what is compared together.
func (r *Reader) beside(id uint32) {
	n := &r.nodes[id]
	if n.child != 0 {
		r.areaChanged(id)
	}
	if _, leaf := lastLevel(n.name); leaf == "availability" || leaf == "status" {
		r.areaChanged(n.parent)
	}
	r.areaChanged(r.scopeOf(id))
}

// scopeLevels is how far below what is compared together a topic may lie.
const scopeLevels = 4

// scopeAbove returns the prefix of topics that are compared together in which a topic lies that is not known; 0 for none.
func (r *Reader) scopeAbove(topic string) uint32 {
	for range scopeLevels {
		topic, _ = lastLevel(topic)
		if topic == "" {
			return 0
		}
		if id := r.lookup(topic); id != 0 {
			if r.nodes[id].flags&fScope == 0 {
				return 0
			}
			return id
		}
	}
	return 0
}

// scopeOf returns the prefix of topics that are compared together in which a topic lies; 0 for none.
func (r *Reader) scopeOf(id uint32) uint32 {
	for at, levels := id, 0; at != 0 && levels < scopeLevels; at, levels = r.nodes[at].parent, levels+1 {
		if r.nodes[at].flags&fScope != 0 {
			return at
		}
	}
	return 0
}

// heardBelow returns when anything was last heard of what a topic is compared together with, in Unix seconds. It is looked
// for once, however many topics ask.
func (r *Reader) heardBelow(id uint32) uint32 {
	scope := r.scopeOf(id)
	if scope == 0 {
		return 0
	}
	latest, ok := r.scopes[scope]
	if !ok {
		r.graph.below(scope, func(i uint32) { latest = max(latest, r.nodes[i].heard) })
		r.scopes[scope] = latest
	}
	return latest
}

// scopeHeard keeps what heardBelow found in line with a topic that was heard at other times than before.
func (r *Reader) scopeHeard(id, was, now uint32) {
	if len(r.scopes) == 0 || was == now {
		return
	}
	for at, levels := id, 0; at != 0 && levels < scopeLevels; at, levels = r.nodes[at].parent, levels+1 {
		latest, ok := r.scopes[at]
		switch {
		case !ok:
		case now < was:
			delete(r.scopes, at)
		default:
			r.scopes[at] = max(latest, now)
		}
	}
}

// announces reports whether a topic claims an identity.
func (r *Reader) announces(h *held) bool {
	for i := h.says; i != 0; i = r.says[i].nextOwn {
		if r.says[i].key != "" {
			return true
		}
	}
	return false
}

func (r *Reader) unmark(list *[]uint32, flag nodeFlags) (uint32, bool) {
	for n := len(*list); n > 0; n = len(*list) {
		id := (*list)[n-1]
		*list = (*list)[:n-1]
		if r.nodes[id].flags&flag != 0 {
			r.nodes[id].flags &^= flag
			return id, true
		}
	}
	return 0, false
}

// expand follows every mark until only topics to read again are left.
func (r *Reader) expand() {
	p := &r.pending
	for {
		if id, ok := r.unmark(&p.areas, fArea); ok {
			r.expandArea(id)
		} else if id, ok := r.unmark(&p.names, fNamed); ok {
			r.expandNamed(id)
		} else if id, ok := r.unmark(&p.deeps, fDeep); ok {
			r.expandDeep(id)
		} else if id, ok := r.unmark(&p.keys, fPeers); ok {
			r.expandPeers(id)
		} else {
			break
		}
	}
	for _, id := range p.done {
		r.nodes[id].flags &^= fAreaDone
	}
	for _, id := range p.spread {
		r.nodes[id].flags &^= fSpread
	}
	p.done, p.spread = p.done[:0], p.spread[:0]
}

func (r *Reader) expandArea(id uint32) {
	if r.nodes[id].flags&(fAreaDone|fUsed) != fUsed {
		return // walked through in this turn already: two areas may follow each other's liveness
	}
	r.nodes[id].flags |= fAreaDone
	r.pending.done = append(r.pending.done, id)
	r.graph.below(id, func(at uint32) {
		if r.nodes[at].held != 0 {
			r.touch(at)
		}
		if r.nodes[at].refs != 0 {
			r.expandNamed(at)
		}
	})
	r.eachSign(id, func(s *said) {
		r.touch(s.source)
		if s.key != "" {
			r.speaksAnew(r.heldAt(s.source))
		}
	})
}

// expandNamed has those read again that name a topic: configs with their neighbours, and areas whose liveness is there.
func (r *Reader) expandNamed(id uint32) {
	for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
		switch x := &r.refs[i]; x.kind {
		case refReads, refWrites, refAvailability:
			r.deep(x.from)
		case refLiveness:
			r.touch(x.from)
			r.followed(r.heldAt(x.from))
		}
	}
	r.touch(id)
}

// expandDeep has the topics of a config read again, and the configs that share its keys.
func (r *Reader) expandDeep(id uint32) {
	h := r.heldAt(id)
	if h == nil {
		return
	}
	r.touch(id)
	for i := h.own; i != 0; i = r.refs[i].nextOwn {
		switch x := &r.refs[i]; x.kind {
		case refReads, refWrites, refAvailability:
			r.touch(x.to)
		case refID, refDevice:
			r.peers(x.to)
		}
	}
}

// expandPeers has those read again that share a key, with the topics they name.
func (r *Reader) expandPeers(id uint32) {
	for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
		from := r.refs[i].from
		r.touch(from)
		h := r.heldAt(from)
		if r.refs[i].kind == refKey {
			r.speaksAnew(h)
		}
		if h.config == 0 || r.nodes[from].flags&fSpread != 0 {
			continue // a config of ten thousand components has as many keys
		}
		r.nodes[from].flags |= fSpread
		r.pending.spread = append(r.pending.spread, from)
		for k := h.own; k != 0; k = r.refs[k].nextOwn {
			if x := &r.refs[k]; x.kind <= refAvailability {
				r.touch(x.to)
			}
		}
	}
}

// wakeAt has a topic read again at an instant, at the latest.
func (r *Reader) wakeAt(h *held, at int64) {
	if at <= 0 {
		return
	}
	sec := seconds32(at)
	if h.wake != 0 && h.wake <= sec {
		return
	}
	h.wake = sec
	w := append(r.pending.wakes, wake{at: sec, node: h.node})
	for i := len(w) - 1; i > 0; {
		up := (i - 1) / 2
		if w[up].at <= w[i].at {
			break
		}
		w[up], w[i] = w[i], w[up]
		i = up
	}
	r.pending.wakes = w
}

// wakeUp touches every topic whose instant has come. Wake-ups that were overtaken by an earlier one are passed over.
func (r *Reader) wakeUp(now int64) {
	w := r.pending.wakes
	for len(w) > 0 && int64(w[0].at)*1000 <= now {
		woken := w[0]
		last := len(w) - 1
		w[0] = w[last]
		w = w[:last]
		for i := 0; ; {
			least := i
			for c := 2*i + 1; c <= 2*i+2 && c < len(w); c++ {
				if w[c].at < w[least].at {
					least = c
				}
			}
			if least == i {
				break
			}
			w[i], w[least] = w[least], w[i]
			i = least
		}
		if h := r.heldAt(woken.node); h != nil && h.wake == woken.at {
			h.wake = 0
			r.touch(woken.node)
		}
	}
	r.pending.wakes = w
}

// nextStanding returns the instant at which a refresh will be missed, or one that is missed does not matter any more,
// although nothing arrives; 0 for never.
func (h *held) nextStanding(now int64) int64 {
	ends := h.received + int64(h.seconds)*1000
	switch here := h.standing(now); here {
	case expiry.MissedOne, expiry.MissedTwo:
		return ends
	case expiry.KeptAlive:
		low, high := now, ends
		for high-low > 500 {
			if mid := low + (high-low)/2; h.standing(mid) == here {
				low = mid
			} else {
				high = mid
			}
		}
		return high
	default:
		return 0
	}
}
