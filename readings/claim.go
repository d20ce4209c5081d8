package readings

// Whose a topic is: a user's rule, then the nearest area that accepts it, then its shape, then the configs that name
// it. A level that topics share says nobody's name. The rule that decided is reported.

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
	ruleAnnounced  // the device that a config announces
	ruleWaits      // the topic that a config waits for; no name of anybody
	ruleObject     // the name of the config itself; no name of anybody
	ruleSeveral    // configs of different owners name it: nobody
	ruleFirstLevel // nobody
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
	whose      uint32 // tells owners of one name apart: a node of theirs, 0 where the name is enough
	state      State
	several    bool // more configs name the topic than are asked
	place      place
}

func (c *claim) known() bool { return c.rule != ruleNone && c.rule < ruleWaits }

// maxAsked is how many configs that name a topic are asked for its owner.
const maxAsked = 64

// claimOf returns the owner of a topic; the rule is ruleNone only for the empty topic.
func (r *Reader) claimOf(id uint32) claim {
	if c, ok := r.areaClaim(id); ok {
		if c.rule == ruleArea && r.announcedElsewhere(id, &c) {
			if other, ok := r.configClaim(id); ok {
				return other
			}
		}
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
	return claim{rule: ruleFirstLevel, place: place{role: leafRole(topic)}}
}

// announcedElsewhere reports whether configs name a topic of an area, and all of them wait for somebody else than the
// area's owner. To lie below another's topics makes nothing another's.
func (r *Reader) announcedElsewhere(id uint32, c *claim) bool {
	n := &r.nodes[id]
	if n.reads == 0 || n.nrefs > maxAsked || c.place.role == RoleLiveness || c.place.named == yes {
		return false
	}
	if c.state != Offline && c.place.named != no {
		return false // it makes no difference
	}
	for i := n.refs; i != 0; i = r.refs[i].next {
		if x := &r.refs[i]; x.kind == refReads || x.kind == refAvailability {
			if v := r.viewOf(r.configAt(x.from)); v.waits == 0 || v.owner.area == c.area {
				return false
			}
		}
	}
	return true
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
	c := claim{owner: a.name, convention: r.convs[a.conv].name, rule: ruleArea, conv: a.conv, area: a.node, whose: a.node, place: p}
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

// configClaim returns the owner that the configs which name a topic give it. Who is asked, and how many, must not depend
// on the order of arrival. Where several owners' configs name it, it is whose topics lie nearest to it.
func (r *Reader) configClaim(id uint32) (claim, bool) {
	n := &r.nodes[id]
	if n.nrefs > maxAsked {
		return r.manyClaim(id)
	}
	first, nearest, several := uint32(0), -1, false
	online, offline, unknown := false, false, false
	for i := n.refs; i != 0; i = r.refs[i].next {
		x := &r.refs[i]
		if x.kind > refAvailability {
			continue
		}
		owner := &r.viewOf(r.configAt(x.from)).owner
		near := r.nearness(id, owner)
		switch {
		case first == 0 || near > nearest:
			first, nearest, several = i, near, false
		case near == nearest:
			if had := &r.viewOf(r.configAt(r.refs[first].from)).owner; !had.same(owner) {
				several = true
			}
			if r.firstOf(x, &r.refs[first]) {
				first = i
			}
		}
		switch owner.state {
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
	if several {
		c = claim{rule: ruleSeveral, by: x.from, live: c.live, whose: id, place: place{role: c.place.role}}
	}
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

// same reports whether two configs are of one owner: by its name where it gave one, by its device or what it waits for
// where not.
func (c *claim) same(o *claim) bool {
	return c.owner == o.owner && c.convention == o.convention && (c.whose == o.whose || c.rule == ruleOrigin && o.rule == ruleOrigin)
}

// nearness is how many levels a topic has in common with where the owner's liveness is read.
func (r *Reader) nearness(id uint32, owner *claim) int {
	if owner.live == 0 {
		return 0
	}
	a, b, levels := r.name(id), r.name(owner.live), 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i] && levels < maxDepth; i++ {
		if a[i] == '/' {
			levels++
		}
	}
	return levels
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
