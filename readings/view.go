package readings

// What a config's own topics say of it: whose it is, whether what it waits for is online.
// A view is made on demand and forgotten when something it was made from changed.

import "strings"

// view is what a config's own topics say about it.
type view struct {
	owner      claim
	waitsFor   uint32 // the smallest of its availability topics
	state      State  // by the availability topics, all sets together
	source     uint32
	readHeld   bool // one of the topics it reads is retained
	reads      bool // it reads any
	availHeld  bool
	unseen     bool   // one of the topics it names would not have been seen here
	missing    uint32 // a topic that an "all" set waits for, 0 for none
	heard      uint32 // Unix seconds of the latest live publication on a topic it reads or waits for
	speaker    uint32 // the topic of that, 0 for none
	named      answer
	anyOnline  bool // some availability topic says online
	notAllOff  bool // some says something else than offline, or nothing
	waits      int  // for how many availability topics
	deviceDown bool // offline, and only the device's own topic says so
}

// hear takes in when a topic that the config reads or waits for was last heard. Of equals the first by name counts, so that
// the order of arrival does not.
func (r *Reader) hear(v *view, id uint32) {
	switch heard := r.nodes[id].heard; {
	case heard > v.heard:
		v.heard, v.speaker = heard, id
	case heard != 0 && heard == v.heard && r.earlier(id, v.speaker):
		v.speaker = id
	}
}

// setView gathers one availability set.
type setView struct {
	total, absent, online, offline, foreign uint32
	missing, source                         uint32
}

// result is what the topics of a set say together.
//
// Source: Home Assistant, MQTT availability_mode.
func (s setView) result(m mode) State {
	switch m {
	case modeAll:
		switch {
		case s.offline > 0:
			return Offline
		case s.online == s.total:
			return Alive
		}
	case modeAny:
		switch {
		case s.online > 0:
			return Alive
		case s.offline == s.total:
			return Offline
		}
	default: // the latest counts, and which was the latest is not on the wire
		switch {
		case s.online > 0 && s.offline == 0 && s.foreign == 0:
			return Alive
		case s.offline > 0 && s.online == 0 && s.foreign == 0:
			return Offline
		}
	}
	return Unknown
}

// viewOf returns the config's view, made again where needed.
func (r *Reader) viewOf(c *config) *view {
	if c.flags&cfgViewed != 0 {
		return &c.view
	}
	c.view = view{}
	v := &c.view
	var few [4]setView
	sets := few[:]
	if len(c.modes) > len(few) {
		sets = make([]setView, len(c.modes))
	}
	h := r.heldAt(c.node)
	best := refKind(0)
	for i := h.own; i != 0; i = r.refs[i].nextOwn {
		x := &r.refs[i]
		if x.kind > refAvailability {
			continue
		}
		n := &r.nodes[x.to]
		v.unseen = v.unseen || n.held == 0 && x.kind != refWrites && !r.sees(n.name)
		switch x.kind {
		case refReads:
			v.reads = true
			v.readHeld = v.readHeld || n.held != 0
			r.hear(v, x.to)
		case refAvailability:
			v.waits++
			if r.earlier(x.to, v.waitsFor) {
				v.waitsFor = x.to
			}
			v.availHeld = v.availHeld || n.held != 0
			r.hear(v, x.to)
			r.availability(&sets[x.set], x)
		}
		r.claimFor(v, x, &best)
	}
	first := true
	for i, m := range c.modes {
		s := sets[i]
		v.anyOnline = v.anyOnline || s.online > 0
		v.notAllOff = v.notAllOff || s.offline < s.total
		if m == modeAll && s.missing != 0 && (v.missing == 0 || r.name(s.missing) < r.name(v.missing)) {
			v.missing = s.missing
		}
		state := s.result(m)
		switch {
		case first:
			v.state, v.source = state, s.source
		case state == Alive || v.state != Alive && state == Unknown:
			// One component that lives is enough, and one that cannot be read is enough not to know.
			v.state, v.source = state, s.source
		}
		first = false
	}
	if best != refAvailability && v.waits > 0 {
		// It reads or writes what lies in somebody's area, and waits for somebody else.
		v.owner, v.named = claim{}, notKnown
	}
	r.settleOwner(c, v)
	c.flags |= cfgViewed
	return v
}

// availability adds what one topic says to its set.
func (r *Reader) availability(s *setView, x *ref) {
	s.total++
	n := &r.nodes[x.to]
	if n.held == 0 {
		s.absent++
		if n.heard == 0 && r.sees(n.name) && (s.missing == 0 || r.name(x.to) < r.name(s.missing)) {
			s.missing = x.to
		}
		return
	}
	switch r.say(x.to, x.rule) {
	case Alive:
		s.online++
		if s.offline == 0 && r.earlier(x.to, s.source) {
			s.source = x.to
		}
	case Offline:
		if s.offline == 0 || r.earlier(x.to, s.source) {
			s.source = x.to
		}
		s.offline++
	default:
		s.foreign++
	}
}

func (r *Reader) earlier(a, b uint32) bool { return b == 0 || r.name(a) < r.name(b) }

// say returns what the retained value of a topic means under a rule of the pool.
func (r *Reader) say(node, ruleNumber uint32) State { return r.sayPlain(node, r.rules.get(ruleNumber)) }

// sayPlain is say for a rule that is not in the pool.
func (r *Reader) sayPlain(node uint32, x rule) State {
	h := r.heldAt(node)
	if h == nil || h.flags&heldCut != 0 {
		return Unknown
	}
	state := x.read(h.value)
	if state == Offline {
		r.nodes[node].flags |= fSaidOff
	}
	return state
}

// claimFor lets the area of a named topic say whose config this is. Availability topics speak before those that are
// read, and these before commands.
func (r *Reader) claimFor(v *view, x *ref, best *refKind) {
	cl, ok := r.areaClaim(x.to)
	if !ok {
		return
	}
	switch rank := [...]refKind{refReads: 2, refWrites: 1, refAvailability: 3}[x.kind]; {
	case rank > *best:
		*best = rank
		keep := v.owner
		v.owner = cl
		if v.owner.place.device == "" && keep.conv == cl.conv && keep.area == cl.area {
			v.owner.place = keep.place
		}
	case v.owner.place.device == "" && cl.conv == v.owner.conv && cl.area == v.owner.area:
		v.owner.place = cl.place
	case cl.conv == v.owner.conv && cl.area == v.owner.area && cl.place.partial:
		v.owner.place.partial = true
	}
	if cl.place.device == "" {
		return
	}
	switch {
	case cl.place.named == yes:
		v.named = yes
	case v.named == notKnown:
		v.named = cl.place.named
	}
}

// settleOwner fills in who owns a config that no area claims, and whether it is the device or its owner that is off.
func (r *Reader) settleOwner(c *config, v *view) {
	o := r.origins.get(c.origin)
	if v.owner.known() {
		// The owner speaks for all it has; a config's own availability speaks for one device.
		v.deviceDown = v.state == Offline && v.owner.state != Offline
		return
	}
	if o.name == "" && r.adopt(c, v) {
		return
	}
	w := &v.owner
	w.place.device, w.convention = c.label, "Home Assistant discovery"
	if o.convention != "" {
		w.convention = o.convention
	}
	w.state, w.live = v.state, v.source
	if w.live == 0 {
		w.live = v.waitsFor
	}
	w.whose = r.deviceKey(c)
	switch {
	case o.name != "":
		w.owner, w.rule = o.name, ruleOrigin
	case o.identifier != "":
		w.owner, w.rule = o.identifier, ruleIdentifier
	case w.whose != 0 && c.label != "":
		w.owner, w.rule = c.label, ruleAnnounced
	case w.whose != 0:
		w.owner, w.rule = r.objectOf(c), ruleAnnounced
	case w.live != 0:
		w.owner, w.rule, w.whose = r.speaker(w.live), ruleWaits, w.live
	default:
		w.owner, w.rule = r.objectOf(c), ruleObject
	}
	if w.whose == 0 {
		w.whose = c.node
	}
	// Of several topics one may be the device's and another its owner's. Where a gateway speaks for the device and it waits
	// for one topic only, that is the device's.
	if v.state == Offline && (v.notAllOff || c.flags&cfgVia != 0 && v.waits == 1) {
		v.deviceDown = true
		w.state = Unknown
		if v.anyOnline {
			w.state = Alive
		}
	}
}

// speaker returns a name for who speaks on a liveness topic: the topic, without a last level that says only what it is for.
func (r *Reader) speaker(live uint32) string {
	above, leaf := lastLevel(r.name(live))
	switch strings.ToLower(strings.TrimPrefix(leaf, "$")) {
	case "status", "availability", "available", "avail", "online", "lwt", "state", "connected", "connection", "alive", "live", "will":
		if above != "" {
			return above
		}
	}
	return r.name(live)
}
