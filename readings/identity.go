package readings

// Two announcements of one thing: the same MAC under two names, or two MACs under one name.
// One of them is what was left of a replaced board. Of one MAC under two names it is told by who lives, then by the
// version; of two MACs under one name nothing tells, for the newer board may run the older version.

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
	other, how := uint32(0), Weak
	look := func(s *said) {
		x, by := r.replacedBy(own, s)
		if !by {
			return // the other is the old one
		}
		if other == 0 || x > how || x == how && r.name(s.source) < r.name(other) {
			other, how = s.source, x
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
	if other == 0 {
		return
	}
	v.note(Replaced, how, other)
	if how == Strong {
		v.leave(Replaced)
	}
	if how == Strong || r.saidOlder(own, other) {
		// The topic that says online may be the other one's now.
		v.claim.state = Unknown
	}
}

// replacedBy says how sure it is that a is what was left when b took its place, and false where it is the other way
// round. Of two boards under one name none is told from the other: the newer board may run the older version.
func (r *Reader) replacedBy(a, b *said) (s Strength, ok bool) {
	switch {
	case a.live == b.live && newer(a.version, b.version):
		return Weak, true
	case a.live == b.live:
		return Medium, true
	case r.olderOf(a, b):
		return Strong, true
	case r.olderOf(b, a):
		return Weak, false
	default:
		return Medium, true
	}
}

// saidOlder reports whether another source announces the same name by a newer version.
func (r *Reader) saidOlder(own *said, other uint32) bool {
	s := r.saidBy(other, own.conv, "")
	return s != nil && s.live == own.live && newer(s.version, own.version)
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

// olderOf reports whether a is what was left when the same board took the name of b.
func (r *Reader) olderOf(a, b *said) bool {
	sa, sb := r.say(a.live, a.rule), r.say(b.live, b.rule)
	switch {
	case sa == Alive:
		return false
	case sb == Alive || newer(b.version, a.version):
		return true
	case newer(a.version, b.version):
		return false
	}
	return r.nodes[b.source].heard > r.nodes[a.source].heard
}
