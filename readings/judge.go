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
	unread  bool // too large to be read
	config  *config
	view    *view
	spared  spared
	later   int64 // Unix milliseconds at which it may look left behind although nothing arrives; 0 = never
}

// spared is why a topic is not called left behind although something speaks against it: it, or what belongs to it, was
// heard lately. The zero value is that nothing of the kind holds.
type spared struct {
	kind  Kind
	by    uint32 // the topic that was heard
	until int64  // Unix milliseconds
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

	// What an owner that went offline left is left behind only where it stays: where the wire tells no expiry it may go by
	// itself.
	if h.flags&(heldNever|heldFinite) == 0 {
		v.spared = spared{}
		if v.left == OwnerOffline {
			v.left = NoFinding
		}
	}
	// What expires by itself is not left behind, and a hazard is another matter.
	if h.flags&heldFinite != 0 && h.flags&heldServed == 0 || v.hazard {
		v.left, v.spared = NoFinding, spared{}
	}
	// Somebody published it a while ago, so it is somebody's. An owner that went offline since is judged by its own
	// instant.
	if v.left != NoFinding && v.left != OwnerOffline {
		until, by := int64(0), id
		if h.lastLive != 0 {
			until = (int64(h.lastLive) + r.quietFor(h)) * 1000
		}
		if at, heard := r.heardBeside(&v); heard != 0 && (heard+quiet)*1000 > until {
			until, by = (heard+quiet)*1000, at
		}
		if now < until {
			v.spared = spared{v.left, by, until}
			v.left = NoFinding
			v.wait(until)
		}
	}
	return v
}

// heardBeside returns what of all that belongs to the topic was heard last, and when, in Unix seconds, 0 for never: what a
// config reads, where only that config reads it; another topic of the same device, where its owner does not name the
// device.
func (r *Reader) heardBeside(v *verdict) (by uint32, at int64) {
	p := &v.claim.place
	if v.left != Renamed && v.left != Unnamed {
		return 0, 0
	}
	hear := func(id, heard uint32) {
		if int64(heard) > at {
			by, at = id, int64(heard)
		}
	}
	if v.view != nil {
		hear(v.view.speaker, v.view.heard)
	}
	if v.claim.area != 0 && p.device != "" {
		if id := r.lookup(r.name(v.claim.area) + "/" + p.device); id != 0 {
			hear(id, r.nodes[id].heard)
		}
		if id := r.lookup(p.live); p.live != "" && id != 0 {
			hear(id, r.nodes[id].heard)
		}
	}
	return by, at
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
		v.note(TooLarge, Weak, 0)
		v.unread = true
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
	case p.renamed != 0 && p.sure:
		v.note(Renamed, Strong, p.renamed)
		v.leave(Renamed)
	case p.renamed != 0 && p.old:
		v.note(Renamed, Medium, p.renamed)
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
// speaks, so only silence makes it look left behind, and only to who would have heard it.
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
	if w.unseen {
		v.note(Dangling, Weak, 0)
		return
	}
	v.note(Dangling, Strong, 0)
	r.leaveAfter(v, Dangling, c.patience(), now)
}

// patience is how many seconds a config may say nothing before it looks left behind.
func (c *config) patience() int64 {
	switch {
	case c.expireAfter > 0:
		return max(quiet, int64(c.expireAfter))
	case c.flags&cfgMeasures != 0:
		return silence
	default:
		return 7 * silence
	}
}

// leaveAfter notes that a topic looks left behind once somebody has watched for so many seconds, and saw everything.
func (r *Reader) leaveAfter(v *verdict, k Kind, seconds, now int64) {
	if r.since == 0 || r.sight.lost {
		return
	}
	if until := r.since + 1000*seconds; now >= until {
		v.leave(k)
	} else {
		v.wait(until)
	}
}

// judgeTopic looks at what only topics that are no config can have.
func (r *Reader) judgeTopic(v *verdict, id uint32, h *held) {
	p := &v.claim.place
	if p.orphan {
		v.note(HalfCleared, Strong, 0)
		if !r.sight.lost {
			v.leave(HalfCleared)
		}
	}
	if other, s := r.renamedWith(id); other != 0 && p.named != yes {
		v.note(Renamed, s, other)
		if s == Strong && !r.mayHideConfigs() {
			v.leave(Renamed)
		}
	}
	if p.role == RoleAnnouncement {
		r.judgeIdentity(v)
	}
	if h.flags&heldLooksEmpty != 0 {
		v.note(LooksEmpty, Weak, 0)
	}
	if h.flags&heldCut != 0 && anyWhole(r.convs, nameOf(r.name(id))) {
		v.note(TooLarge, Weak, 0)
		v.unread = true
	}
	switch p.role {
	case RoleState, RoleOther, RoleAvailability:
		if !v.hazard && r.sharesConfigs(id) && !r.namedByConfig(id) {
			v.note(Unreferenced, Weak, 0)
		}
	}
}

// renamedWith returns the config that took the place of those that name a topic, when all of them were left of a
// rename, and how sure that is of the least sure of them.
func (r *Reader) renamedWith(id uint32) (other uint32, s Strength) {
	n := &r.nodes[id]
	if n.nrefs > maxAsked {
		return 0, Weak
	}
	s = Strong
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
		switch {
		case p.renamed == 0:
			return 0, Weak
		case !p.old:
			s = Weak
		case !p.sure:
			s = min(s, Medium)
		}
		if r.earlier(p.renamed, other) {
			other = p.renamed
		}
	}
	return other, s
}
