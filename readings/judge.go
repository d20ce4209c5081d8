package readings

// The judgement of one topic: every finding, and whether the topic looks left behind.
// Facts in, kinds out; the sentences are in reason.go.

// noted is a finding before it is worded.
type noted struct {
	kind     Kind
	strength Strength
	other    uint32 // the other topic that it is about, 0 for none
}

// verdict is what is known of one topic.
type verdict struct {
	claim   claim
	notes   [16]noted
	n       int
	left    Kind // why it looks left behind
	hazard  bool
	ignored bool
	config  *config
	view    *view
	later   int64 // Unix milliseconds at which it may look left behind although nothing arrives; 0 = never
}

func (v *verdict) note(k Kind, s Strength, other uint32) {
	if v.n < len(v.notes) {
		v.notes[v.n] = noted{kind: k, strength: s, other: other}
		v.n++
	}
}

// leave notes why a topic looks left behind; what was noted first is kept.
func (v *verdict) leave(k Kind) {
	if v.left == NoFinding {
		v.left = k
	}
}

// wait keeps the earliest instant at which the topic has to be judged again.
func (v *verdict) wait(at int64) {
	if v.later == 0 || at < v.later {
		v.later = at
	}
}

// judge reads one retained topic at now, in Unix milliseconds.
func (r *Reader) judge(id uint32, now int64) verdict {
	h := r.heldAt(id)
	var v verdict
	if h.flags&heldIgnored != 0 {
		v.ignored = true
		v.claim = claim{owner: firstLevel(r.name(id)), rule: ruleFirstLevel}
		return v
	}
	if c := r.configOf(h); c != nil {
		v.config, v.view = c, r.viewOf(c)
		v.claim = v.view.owner
		v.claim.place.role = RoleConfig
		r.judgeConfig(&v, now)
	} else {
		v.claim = r.claimOf(id)
		r.judgeHazard(&v, id)
		r.judgeTopic(&v, id, h)
	}
	r.judgeOwner(&v, id, h, now)
	r.judgeName(&v, id, h)
	r.judgeExpiry(&v, h, now)

	// What expires by itself is not left behind, and a hazard is another matter.
	if h.flags&heldFinite != 0 && h.flags&heldServed == 0 || v.hazard {
		v.left = NoFinding
	}
	// Somebody published it a while ago, so it is somebody's. An owner that went offline since is judged by its own
	// instant.
	if v.left != NoFinding && v.left != OwnerOffline && h.lastLive != 0 {
		if until := (int64(h.lastLive) + r.quietFor(h)) * 1000; now < until {
			v.left = NoFinding
			v.wait(until)
		}
	}
	return v
}

func (r *Reader) quietFor(h *held) int64 { return max(quiet, 3*int64(h.gap)) }

// configOf returns the discovery config of a topic, and nil where its prefix is not one for discovery.
func (r *Reader) configOf(h *held) *config {
	if h.config == 0 {
		return nil
	}
	c := &r.configs[h.config]
	if c.flags&cfgTrusted == 0 && r.marked(0, r.origins.get(c.origin).prefix, prefixMark) == 0 {
		return nil
	}
	return c
}

func (r *Reader) judgeConfig(v *verdict, now int64) {
	c, w := v.config, v.view
	alive := v.claim.state == Alive
	switch {
	case c.flags&cfgCut != 0:
		return
	case c.flags&cfgMarker != 0:
		v.note(Marker, Strong, 0)
		v.leave(Marker)
		return
	case c.flags&cfgInvalid != 0:
		v.note(InvalidJSON, Strong, 0)
		if !alive {
			v.leave(InvalidJSON)
		}
	}
	if c.flags&cfgIllegal != 0 {
		v.note(IllegalTopic, Strong, 0)
		if !alive {
			v.leave(IllegalTopic)
		}
	}
	if c.flags&(cfgInvalid|cfgIllegal) != 0 {
		return
	}
	p := r.proofOf(c)
	if p.duplicate != 0 || p.crowded {
		v.note(DuplicateID, Strong, p.duplicate)
		if p.replaced {
			v.leave(DuplicateID)
		}
	}
	switch {
	case p.renamed != 0 && p.old:
		v.note(Renamed, Strong, p.renamed)
		v.leave(Renamed)
	case p.renamed != 0:
		v.note(Renamed, Weak, p.renamed)
	}
	if w.missing != 0 {
		v.note(NeverAvailable, Strong, w.missing)
	}
	r.judgeDangling(v, now)
	if p.older != 0 {
		v.note(Older, Weak, p.older)
	}
}

// judgeDangling looks for a config with nothing behind it. A state that is not retained looks the same until it
// speaks, so only silence makes it look left behind.
func (r *Reader) judgeDangling(v *verdict, now int64) {
	c, w := v.config, v.view
	if !w.reads || w.readHeld || w.heard != 0 || c.eventOnly >= c.components {
		return
	}
	if w.availHeld {
		if w.state != Offline {
			v.note(Dangling, Weak, 0)
		}
		return
	}
	if v.claim.state == Alive {
		v.note(Dangling, Weak, 0)
		return
	}
	v.note(Dangling, Strong, 0)
	if r.since == 0 {
		return
	}
	window := int64(silence)
	if c.expireAfter > 0 {
		window = max(quiet, int64(c.expireAfter))
	}
	if until := r.since + 1000*window; now >= until {
		v.leave(Dangling)
	} else {
		v.wait(until)
	}
}

// judgeHazard looks for what does something by itself.
func (r *Reader) judgeHazard(v *verdict, id uint32) {
	switch {
	case v.claim.place.hazard != NoFinding:
		v.note(v.claim.place.hazard, Hazard, 0)
		v.hazard = true
	case v.claim.place.role == RoleCommand && (v.claim.rule == ruleArea || v.claim.rule == ruleShape):
		v.note(Command, Hazard, r.writer(id))
		v.hazard = true
	default:
		if w := r.writer(id); w != 0 {
			v.note(Command, Hazard, w)
			v.hazard = true
			v.claim.place.role = RoleCommand
		}
	}
}

// writer returns the smallest config that publishes to a topic which no config reads, 0 for none.
func (r *Reader) writer(id uint32) uint32 {
	n := &r.nodes[id]
	if n.nrefs > maxAsked {
		return 0
	}
	best := uint32(0)
	for i := n.refs; i != 0; i = r.refs[i].next {
		switch x := &r.refs[i]; x.kind {
		case refReads, refAvailability:
			return 0
		case refWrites:
			if r.earlier(x.from, best) {
				best = x.from
			}
		}
	}
	return best
}

// judgeTopic looks at what only topics that are no config can have.
func (r *Reader) judgeTopic(v *verdict, id uint32, h *held) {
	p := &v.claim.place
	if p.orphan {
		v.note(HalfCleared, Strong, 0)
		v.leave(HalfCleared)
	}
	if other, old := r.renamedWith(id); other != 0 && p.named != yes {
		if old {
			v.note(Renamed, Strong, other)
			v.leave(Renamed)
		} else {
			v.note(Renamed, Weak, other)
		}
	}
	if p.role == RoleAnnouncement {
		r.judgeIdentity(v)
	}
	if h.flags&heldLooksEmpty != 0 {
		v.note(LooksEmpty, Weak, 0)
	}
	switch p.role {
	case RoleState, RoleOther, RoleAvailability:
		if !v.hazard && r.sharesConfigs(id) && !r.namedByConfig(id) {
			v.note(Unreferenced, Weak, 0)
		}
	}
}

// renamedWith returns the config that took the place of those that name a topic, when all of them were left of a
// rename, and whether it is certain which is the old one.
func (r *Reader) renamedWith(id uint32) (other uint32, old bool) {
	n := &r.nodes[id]
	if n.nrefs > maxAsked {
		return 0, false
	}
	old = true
	for i := n.refs; i != 0; i = r.refs[i].next {
		x := &r.refs[i]
		if x.kind > refAvailability {
			continue
		}
		c := r.configOf(r.heldAt(x.from))
		if c == nil {
			continue
		}
		p := r.proofOf(c)
		if p.renamed == 0 {
			return 0, false
		}
		if r.earlier(p.renamed, other) {
			other = p.renamed
		}
		old = old && p.old
	}
	return other, old
}
