package readings

// Two announcements of one thing: the same MAC under two names, or two MACs under one name.
// One of them is what was left of a replaced board; which one is told by who lives, then by the version.

// judgeIdentity looks at an announcement whose identity or whose name another source claims too.
func (r *Reader) judgeIdentity(v *verdict) {
	c := &v.claim
	var own *said
	r.eachSign(c.area, func(s *said) {
		if s.conv == c.conv && s.key != "" && (own == nil || r.earlier(s.source, own.source)) {
			own = s
		}
	})
	if own == nil {
		return
	}
	other, old := uint32(0), false
	look := func(s *said) {
		older := r.olderOf(own, s)
		if !older && r.olderOf(s, own) {
			return // the other is the old one
		}
		if other == 0 || older && !old || older == old && r.name(s.source) < r.name(other) {
			other, old = s.source, older
		}
	}
	// The same identity under another name.
	if key := r.lookup(keyName('k', r.convs[own.conv].name, own.key)); key != 0 && r.nodes[key].nrefs <= maxPeers {
		for i := r.nodes[key].refs; i != 0; i = r.refs[i].next {
			if from := r.refs[i].from; from != own.source {
				if s := r.saidBy(from, own.conv, own.key); s != nil && s.live != own.live {
					look(s)
				}
			}
		}
	}
	// Another identity under the same name: both have their liveness on the same topic.
	if own.live != 0 && r.nodes[own.live].nrefs <= maxPeers {
		for i := r.nodes[own.live].refs; i != 0; i = r.refs[i].next {
			x := &r.refs[i]
			if x.kind != refLiveness || x.from == own.source {
				continue
			}
			if s := r.saidBy(x.from, own.conv, ""); s != nil && s.key != own.key {
				look(s)
			}
		}
	}
	switch {
	case other == 0:
	case old:
		v.note(Replaced, Strong, other)
		v.leave(Replaced)
		// The topic that says online is the other one's now.
		v.claim.state = Unknown
	default:
		v.note(Replaced, Medium, other)
	}
}

// eachSign calls f for every sign on an area, in no order.
func (r *Reader) eachSign(area uint32, f func(*said)) {
	for v := r.nodes[area].voices; v != 0; v = r.voices[v].next {
		for i := r.voices[v].first; i != 0; i = r.says[i].next {
			f(&r.says[i])
		}
	}
}

// saidBy returns a sign of a source that has a key: that key, or any when none is given.
func (r *Reader) saidBy(source uint32, conv uint8, key string) *said {
	h := r.heldAt(source)
	for i := h.says; i != 0; i = r.says[i].nextOwn {
		if s := &r.says[i]; s.conv == conv && s.key != "" && (key == "" || s.key == key) {
			return s
		}
	}
	return nil
}

// olderOf reports whether a is what was left when b took its place.
func (r *Reader) olderOf(a, b *said) bool {
	if a.live != b.live {
		sa, sb := r.say(a.live, a.rule), r.say(b.live, b.rule)
		if sa != Alive && sb == Alive {
			return true
		}
		if sa == Alive {
			return false
		}
	}
	if newer(b.version, a.version) {
		return true
	}
	if newer(a.version, b.version) {
		return false
	}
	return r.nodes[b.source].heard > r.nodes[a.source].heard
}
