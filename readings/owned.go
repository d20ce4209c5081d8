package readings

// The part of a judgement that comes from the owner: its list, its liveness, its expiry.
// Everything here needs a claim; without an owner nothing is said.

import "retainscope/expiry"

// judgeOwner looks at what the owner's liveness and the owner's own list say.
func (r *Reader) judgeOwner(v *verdict, id uint32, h *held, now int64) {
	c := &v.claim
	named := c.place.named
	if v.view != nil {
		named = v.view.named
	}
	if named == no && c.rule == ruleArea {
		if c.state == Alive && !c.place.unsure {
			v.note(Unnamed, Strong, r.listOf(c))
			v.leave(Unnamed)
		} else {
			v.note(Unnamed, Medium, r.listOf(c))
		}
	}
	if c.place.partial && c.state == Alive {
		// It may have been published in part when it was read, or somebody cleared the rest: only silence tells more.
		v.note(Incomplete, Medium, 0)
		if until := (int64(max(h.lastLive, r.heardBelow(id))) + silence) * 1000; now >= until {
			r.leaveAfter(v, Incomplete, silence, now)
		} else {
			v.wait(until)
		}
	}
	r.judgeStamp(v, h)
	switch {
	case v.view != nil && v.view.deviceDown:
		v.note(DeviceOffline, Weak, v.view.source)
	case c.state == Offline:
		v.note(OwnerOffline, Medium, c.live)
		if c.live == id {
			s := Medium
			if h.flags&heldFinite != 0 {
				s = Weak
			}
			v.note(Will, s, 0)
		}
		r.judgeOffline(v, id, h, now)
	case c.state == Alive && c.place.live != "":
		if at := r.lookup(c.place.live); at != 0 && r.nodes[at].held != 0 && r.sayPlain(at, *c.place.rule) == Offline {
			v.note(DeviceOffline, Weak, at)
		}
	}
}

// judgeOffline decides whether what an offline owner has looks left behind: not when the owner was seen to go a moment
// ago, nor before one that comes and goes would be due again, nor while the topic itself was published lately.
func (r *Reader) judgeOffline(v *verdict, id uint32, h *held, now int64) {
	until, by := int64(0), id
	if live := v.claim.live; live != 0 && r.nodes[live].heard != 0 {
		until, by = int64(r.nodes[live].heard)+r.heardAwake(live), live
	}
	if own := int64(h.lastLive) + r.quietFor(h); h.lastLive != 0 && v.claim.live != id && own > until {
		until, by = own, id
	}
	// More configs name it than were asked, or could be read.
	unsure := v.claim.several || v.view == nil && v.claim.area == 0 && v.claim.rule != ruleUser && v.claim.rule != ruleShape && r.mayHideConfigs()
	switch {
	case now < until*1000:
		v.wait(until * 1000)
		if !unsure {
			v.spared = spared{OwnerOffline, by, until * 1000}
		}
	case !unsure:
		v.leave(OwnerOffline)
	}
}

// heardAwake returns how many seconds an owner that was seen to go may stay away: three of its turns where it was seen to
// come and go, as a sensor does that sleeps.
func (r *Reader) heardAwake(live uint32) int64 {
	h := r.heldAt(live)
	if h == nil || h.lives < 2 || h.lastLive <= h.first {
		return grace
	}
	turn := 2 * int64(h.lastLive-h.first) / int64(h.lives)
	return min(max(grace, 3*turn), silence)
}

// judgeStamp looks for a topic without expiry whose owner's liveness topic has one.
func (r *Reader) judgeStamp(v *verdict, h *held) {
	c := &v.claim
	if h.flags&heldNever == 0 || c.state != Alive || c.live == 0 || !c.known() {
		return
	}
	if src := r.heldAt(c.live); src == nil || src.flags&heldFinite == 0 {
		return
	}
	stamped := c.place.stamped
	if v.config != nil {
		// Anybody may have announced an owner's topics; only what the owner announced itself would carry its expiry.
		o := r.origins.get(v.config.origin)
		stamped = stamped && (o.convention == c.convention || o.name == c.owner)
	}
	if !stamped {
		v.note(Unstamped, Weak, c.live)
		return
	}
	v.note(Unstamped, Medium, c.live)
	// Configs are announced anew by whoever runs, so one without expiry is an old one. Any other topic may be somebody
	// else's who publishes below the owner's name.
	if h.flags&heldFell == 0 && v.config != nil {
		v.leave(Unstamped)
	}
}

// listOf returns the topic in which the owner names what it has.
func (r *Reader) listOf(c *claim) uint32 {
	best := uint32(0)
	r.eachSign(c.area, func(s *said) {
		if s.conv == c.conv && s.list && r.earlier(s.source, best) {
			best = s.source
		}
	})
	return best
}

// judgeExpiry looks at what the expiry says.
func (r *Reader) judgeExpiry(v *verdict, h *held, now int64) {
	if h.flags&heldFell != 0 {
		v.note(FellBack, Medium, 0)
	}
	switch h.standing(now) {
	case expiry.MissedOne, expiry.MissedTwo:
		v.note(RefreshMissed, Medium, 0)
	}
	if h.flags&heldServed != 0 {
		v.note(StillServed, Medium, 0)
	}
	if h.flags&heldEmptyReplay != 0 {
		v.note(EmptyReplay, Weak, 0)
	}
	if at := h.nextStanding(now); at != 0 {
		v.wait(at)
	}
}
