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
		for i := r.nodes[at].signs; i != 0; {
			conv := r.says[i].conv
			a := area{r: r, conv: conv, node: at, first: i, name: r.name(at), guess: true}
			for ; i != 0 && r.says[i].conv == conv; i = r.says[i].next {
				a.list = a.list || r.says[i].list
				a.guess = a.guess && r.says[i].guess
			}
			if p, ok := r.convs[conv].place(&a, topic, below(a.name, topic)); ok {
				return r.ownerOf(&a, id, p), true
			}
		}
	}
	return claim{}, false
}

// ownerOf makes the claim of an area: its name, and whether what its signs point at says that the owner lives.
func (r *Reader) ownerOf(a *area, topic uint32, p place) claim {
	c := claim{
		owner: a.name, convention: r.convs[a.conv].name, rule: ruleArea, conv: a.conv, area: a.node,
		by: r.says[a.first].source, place: p,
	}
	offline, root := uint32(0), uint32(0)
	a.each(func(s *said) bool {
		if s.name != "" {
			c.owner = s.name
		}
		// Of several that speak for one area, each topic is read by what it says itself.
		if s.live == 0 || p.role == RoleLiveness && s.live == s.source && s.source != topic && r.speaksOf(a, topic) {
			return true
		}
		if c.live == 0 {
			c.live = s.live
		}
		switch state, _ := r.say(s.live, s.rule); state {
		case Alive:
			if c.state != Alive {
				c.state, c.live = Alive, s.live
			}
		case Offline:
			if offline == 0 {
				offline = s.live
			}
			if s.root {
				root = s.live
			}
		}
		return true
	})
	switch {
	case root != 0:
		c.state, c.live = Offline, root
	case offline != 0 && c.state != Alive:
		c.state, c.live = Offline, offline
	}
	if c.live != 0 && p.role != RoleAnnouncement {
		c.by = c.live
	}
	if p.own && c.state == Alive {
		c.state = Unknown
	}
	return c
}

// speaksOf reports whether one of the area's signs comes from the topic itself.
func (r *Reader) speaksOf(a *area, topic uint32) bool {
	own := false
	a.each(func(s *said) bool { own = s.source == topic && s.live == topic; return !own })
	return own
}

// configClaim returns the owner that the configs which name a topic give it. Who is asked first, and how many, must not
// depend on the order of arrival.
func (r *Reader) configClaim(id uint32) (claim, bool) {
	n := &r.nodes[id]
	first := uint32(0)
	asked, online, offline, unknown := 0, false, false, false
	for i := n.refs; i != 0; i = r.refs[i].next {
		x := &r.refs[i]
		if x.kind > refAvailability {
			continue
		}
		if first == 0 || r.firstOf(x, &r.refs[first]) {
			first = i
		}
		if n.nrefs > maxAsked {
			if first == n.refs {
				break // the smallest is always at the head
			}
			continue
		}
		asked++
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
	v := r.viewOf(r.configAt(x.from))
	c := v.owner
	c.by = x.from
	c.place = place{device: v.owner.place.device, role: referredRole(x.kind), own: v.owner.place.own}
	switch {
	case asked == 0:
		c.several, c.state, c.place.role = true, Unknown, leafRole(r.name(id))
	case online:
		c.state = Alive
	case offline && !unknown:
		c.state = Offline
	default:
		c.state = Unknown
	}
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
	for i := r.nodes[id].refs; i != 0; i = r.refs[i].next {
		if r.refs[i].kind <= refAvailability {
			return true
		}
	}
	return false
}
