package readings

// Whose a topic is: a user's rule, then the nearest area that accepts it, then its shape, then the configs that name
// it, then its first level. The rule that decided is reported.

// ruleKind is which rule decided who the owner is.
type ruleKind uint8

const (
	ruleNone ruleKind = iota
	ruleUser
	ruleArea
	ruleShape
	ruleOrigin
	ruleIdentifier
	ruleDevice
	ruleFirstLevel
)

// claim is a guess at an owner.
type claim struct {
	owner      string
	convention string
	rule       ruleKind
	conv       uint8
	area       uint32 // the node of the area, 0 for none
	by         uint32 // the topic whose words decided: the area's first sign, or a config
	live       uint32 // where the owner's liveness is read, 0 for none
	state      State
	several    bool // more configs name the topic than are asked
	place      place
}

func (c *claim) known() bool { return c.rule != ruleNone && c.rule != ruleFirstLevel }

// maxAsked is how many configs that name a topic are asked for its owner.
const maxAsked = 64

// claimOf returns the owner of a topic; the rule is ruleNone only for the empty topic.
func (r *Reader) claimOf(id uint32) claim {
	if c, ok := r.areaClaim(id); ok {
		return c
	}
	topic := r.name(id)
	for i := range r.convs {
		if r.convs[i].stray == nil {
			continue
		}
		c, ok := r.convs[i].stray(r, topic)
		if !ok {
			continue
		}
		c.conv, c.convention = uint8(i), r.convs[i].name
		return c
	}
	if c, ok := r.configClaim(id); ok {
		return c
	}
	return claim{owner: firstLevel(topic), rule: ruleFirstLevel, place: place{role: leafRole(topic)}}
}

// areaClaim returns the owner that a user's rule or an area gives a topic. The topic need not be retained.
func (r *Reader) areaClaim(id uint32) (claim, bool) {
	topic := r.name(id)
	if c, ok := r.userClaim(topic); ok {
		return c, true
	}
	for at := id; at != 0; at = r.nodes[at].parent {
		for i := r.nodes[at].voices; i != 0; i = r.voices[i].next {
			v := &r.voices[i]
			if v.count > maxSigns {
				continue
			}
			a := area{r: r, conv: v.conv, node: at, first: v.first, name: r.name(at), list: v.lists > 0, guess: v.sure == 0}
			if p, ok := r.convs[v.conv].place(&a, topic, below(a.name, topic)); ok {
				return r.ownerOf(&a, id, p), true
			}
		}
	}
	return claim{}, false
}

// ownerOf makes the claim of an area: its name, and whether what its signs point at says that the owner lives. Of
// equals the one from the smallest topic counts, so that the order of arrival does not.
func (r *Reader) ownerOf(a *area, topic uint32, p place) claim {
	c := claim{owner: a.name, convention: r.convs[a.conv].name, rule: ruleArea, conv: a.conv, area: a.node, place: p}
	// Where several speak for one area, each topic that does is read by what it says itself.
	own := false
	if p.role == RoleLiveness {
		a.each(func(s *said) bool { own = s.source == topic && s.live == topic; return !own })
	}
	var named, first, online, offline, root uint32 // the smallest source of each
	a.each(func(s *said) bool {
		if s.name != "" && r.earlier(s.source, named) {
			named, c.owner = s.source, s.name
		}
		if r.earlier(s.source, c.by) {
			c.by = s.source
		}
		if s.live == 0 || own && s.live == s.source && s.source != topic {
			return true
		}
		if r.earlier(s.live, first) {
			first = s.live
		}
		switch r.say(s.live, s.rule) {
		case Alive:
			if r.earlier(s.live, online) {
				online = s.live
			}
		case Offline:
			if r.earlier(s.live, offline) {
				offline = s.live
			}
			if s.root && r.earlier(s.live, root) {
				root = s.live
			}
		}
		return true
	})
	switch {
	case root != 0:
		c.state, c.live = Offline, root
	case online != 0:
		c.state, c.live = Alive, online
	case offline != 0:
		c.state, c.live = Offline, offline
	default:
		c.live = first
	}
	if c.live != 0 && p.role != RoleAnnouncement {
		c.by = c.live
	}
	if p.own && c.state == Alive {
		c.state = Unknown
	}
	return c
}

// configClaim returns the owner that the configs which name a topic give it. Who is asked first, and how many, must not
// depend on the order of arrival.
func (r *Reader) configClaim(id uint32) (claim, bool) {
	n := &r.nodes[id]
	if n.nrefs > maxAsked {
		return r.manyClaim(id)
	}
	first := uint32(0)
	online, offline, unknown := false, false, false
	for i := n.refs; i != 0; i = r.refs[i].next {
		x := &r.refs[i]
		if x.kind > refAvailability {
			continue
		}
		if first == 0 || r.firstOf(x, &r.refs[first]) {
			first = i
		}
		switch r.viewOf(r.configAt(x.from)).owner.state {
		case Alive:
			online = true
		case Offline:
			offline = true
		default:
			unknown = true
		}
	}
	if first == 0 {
		return claim{}, false
	}
	x := &r.refs[first]
	c := r.claimFrom(x.from, referredRole(x.kind))
	switch {
	case online:
		c.state = Alive
	case offline && !unknown:
		c.state = Offline
	default:
		c.state = Unknown
	}
	return c, true
}

func (r *Reader) claimFrom(config uint32, role Role) claim {
	v := r.viewOf(r.configAt(config))
	c := v.owner
	c.by = config
	c.place = place{device: v.owner.place.device, role: role, own: v.owner.place.own}
	return c
}

// manyClaim is configClaim for a topic that more configs name than are asked. The smallest says who the owner is; none
// is asked whether the owner lives.
func (r *Reader) manyClaim(id uint32) (claim, bool) {
	first := r.firsts[id]
	if first == 0 {
		for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
			if x := &r.refs[i]; x.kind <= refAvailability && r.earlier(x.from, first) {
				first = x.from
			}
		}
		if first == 0 {
			return claim{}, false
		}
		r.firsts[id] = first
	}
	c := r.claimFrom(first, leafRole(r.name(id)))
	c.several, c.state, c.place.device = true, Unknown, ""
	return c, true
}

func (r *Reader) firstOf(a, b *ref) bool {
	if a.from != b.from {
		return r.name(a.from) < r.name(b.from)
	}
	return a.kind > b.kind
}

func referredRole(k refKind) Role {
	switch k {
	case refAvailability:
		return RoleAvailability
	case refWrites:
		return RoleCommand
	default:
		return RoleState
	}
}

// namedByConfig reports whether a discovery config names the topic.
func (r *Reader) namedByConfig(id uint32) bool {
	if r.nodes[id].nrefs > maxAsked && r.firsts[id] != 0 {
		return true
	}
	for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
		if r.refs[i].kind <= refAvailability {
			return true
		}
	}
	return false
}
