package readings

// References: one topic names another, or shares a key with it. Kept as lists through numbers, in no order, so that
// taking one away costs the same as adding it.

// refKind is how a reference binds. The public kinds come first.
type refKind uint8

const (
	refReads refKind = iota + 1
	refWrites
	refAvailability
	refLiveness // the owner's liveness is read there
	refID       // a unique id, shared by two configs: a duplicate
	refDevice   // a device's identifier
	refKey      // an identity
	refLook     // how the topic looks on a screen
	refMark     // a feature of an area
	refScope    // the topics whose reading follows that feature
)

// ref is one reference, from a retained topic to any node.
type ref struct {
	from, to   uint32
	next, prev uint32 // among those to the same node
	nextOwn    uint32 // among those from the same topic
	rule       uint32 // of an availability
	set        uint16 // which availability set of the config
	kind       refKind
}

// bind adds a reference.
func (r *Reader) bind(h *held, to uint32, kind refKind, set uint16, rule uint32) {
	i := r.newRef()
	n := &r.nodes[to]
	r.refs[i] = ref{from: h.node, to: to, next: n.refs, nextOwn: h.own, rule: rule, set: set, kind: kind}
	h.own = i
	if n.refs != 0 {
		r.refs[n.refs].prev = i
	}
	n.refs = i
	n.nrefs++
	n.count(kind, 1)
	if kind <= refLiveness {
		r.touch(to)
	}
	if kind <= refAvailability {
		r.shareNamed(to, 1)
		if first := r.firsts[to]; first != 0 && r.name(h.node) < r.name(first) {
			r.firsts[to] = h.node
		}
	}
}

func (n *node) count(kind refKind, by uint32) {
	switch kind {
	case refReads, refAvailability:
		n.reads += by
	case refWrites:
		n.writes += by
	}
}

func (r *Reader) newRef() uint32 {
	if n := len(r.freeRefs); n > 0 {
		i := r.freeRefs[n-1]
		r.freeRefs = r.freeRefs[:n-1]
		return i
	}
	r.refs = append(r.refs, ref{})
	return uint32(len(r.refs) - 1)
}

// unbind takes a reference out of the list of the node it points to. The node stays for the caller to release.
func (r *Reader) unbind(i uint32) {
	x := r.refs[i]
	n := &r.nodes[x.to]
	if x.next != 0 {
		r.refs[x.next].prev = x.prev
	}
	if x.prev != 0 {
		r.refs[x.prev].next = x.next
	} else {
		n.refs = x.next
	}
	n.nrefs--
	n.count(x.kind, ^uint32(0))
	if x.kind <= refAvailability {
		r.shareNamed(x.to, -1)
		if r.firsts[x.to] == x.from {
			delete(r.firsts, x.to)
		}
	}
	r.rules.drop(x.rule)
	r.refs[i] = ref{}
	r.freeRefs = append(r.freeRefs, i)
}

// keyName is the name of a node that no topic can be.
func keyName(kind byte, parts ...string) string {
	n := 2
	for _, p := range parts {
		n += len(p) + 1
	}
	b := make([]byte, 0, n)
	b = append(b, 0, kind)
	for _, p := range parts {
		b = append(append(b, p...), 0)
	}
	return string(b)
}
