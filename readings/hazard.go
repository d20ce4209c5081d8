package readings

// What does something by itself: a message that is kept where commands go. Whoever listens there carries it out whenever
// it connects.

// judgeHazard looks for it.
func (r *Reader) judgeHazard(v *verdict, id uint32) {
	p := &v.claim.place
	if p.hazard != NoFinding {
		v.note(p.hazard, Hazard, 0)
		v.hazard = true
		return
	}
	writer, writes := r.writer(id)
	switch {
	case writes:
		p.role = RoleCommand
	case p.role != RoleCommand || r.nodes[id].reads > 0 && v.claim.rule != ruleArea && v.claim.rule != ruleShape:
		return
	case v.claim.rule != ruleArea && v.claim.rule != ruleShape:
		// Only its name says so: what listens there, if anything, is not known.
		v.note(Command, Medium, 0)
		return
	}
	v.note(Command, Hazard, writer)
	v.hazard = true
}

// writer returns the smallest config that publishes to a topic and does not read it itself, and whether there is one. Of
// very many it returns none by name, and takes the topic for a command only where nobody reads it.
func (r *Reader) writer(id uint32) (config uint32, found bool) {
	n := &r.nodes[id]
	switch {
	case n.writes == 0:
		return 0, false
	case n.reads == 0 && n.nrefs > maxAsked:
		return 0, true
	case n.nrefs > maxAsked:
		return 0, false
	}
	for i := n.refs; i != 0; i = r.refs[i].next {
		if x := &r.refs[i]; x.kind == refWrites && r.earlier(x.from, config) && !r.readBy(n, x.from) {
			config = x.from
		}
	}
	return config, config != 0
}

// readBy reports whether one config reads a topic, or waits for it.
func (r *Reader) readBy(n *node, config uint32) bool {
	if n.reads == 0 {
		return false
	}
	for i := n.refs; i != 0; i = r.refs[i].next {
		if x := &r.refs[i]; x.from == config && (x.kind == refReads || x.kind == refAvailability) {
			return true
		}
	}
	return false
}

// commandLeaf reports whether the last level says that commands go there.
func commandLeaf(leaf string) bool {
	switch leaf {
	case "set", "command", "cmd":
		return true
	default:
		return false
	}
}
