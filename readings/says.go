package readings

// The two arenas that tie the tree together: references (one topic names another, or shares a key with it) and signs
// (a topic speaks for an area). Both are lists through numbers, so that taking one away costs the same as adding it.

import "strings"

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

// said is one sign as it is kept.
type said struct {
	conv         uint8
	list, guess  bool
	root         bool
	role         Role
	area, source uint32
	live, rule   uint32
	next         uint32 // among those on the same area, in the order of convention and source
	nextOwn      uint32
	names        map[string]struct{}
	name         string
	key, version string
}

// bind adds a reference. The first of a node's references is always the one from the smallest topic, so that who is
// asked first does not depend on the order of arrival.
func (r *Reader) bind(h *held, to uint32, kind refKind, set uint16, rule uint32) {
	i := r.newRef()
	n := &r.nodes[to]
	r.refs[i] = ref{from: h.node, to: to, nextOwn: h.own, rule: rule, set: set, kind: kind}
	h.own = i
	if first := n.refs; first == 0 || r.name(h.node) < r.name(r.refs[first].from) {
		r.linkFirst(i, n)
	} else {
		second := r.refs[first].next
		r.refs[i].prev, r.refs[i].next = first, second
		r.refs[first].next = i
		if second != 0 {
			r.refs[second].prev = i
		}
	}
	n.nrefs++
	if kind <= refLiveness {
		r.touch(to)
	}
	if kind <= refAvailability {
		r.shareNamed(to, 1)
	}
}

func (r *Reader) linkFirst(i uint32, n *node) {
	r.refs[i].prev, r.refs[i].next = 0, n.refs
	if n.refs != 0 {
		r.refs[n.refs].prev = i
	}
	n.refs = i
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
		r.smallestFirst(n)
	}
	n.nrefs--
	if x.kind <= refAvailability {
		r.shareNamed(x.to, -1)
	}
	r.rules.drop(x.rule)
	r.refs[i] = ref{}
	r.freeRefs = append(r.freeRefs, i)
}

func (r *Reader) smallestFirst(n *node) {
	best := n.refs
	if best == 0 {
		return
	}
	for i := r.refs[best].next; i != 0; i = r.refs[i].next {
		if r.name(r.refs[i].from) < r.name(r.refs[best].from) {
			best = i
		}
	}
	if best == n.refs {
		return
	}
	x := r.refs[best]
	r.refs[x.prev].next = x.next
	if x.next != 0 {
		r.refs[x.next].prev = x.prev
	}
	r.linkFirst(best, n)
}

// speak adds what a topic says, and the references that make its neighbours follow it.
func (r *Reader) speak(h *held, conv uint8, s sign) {
	var live uint32
	if s.live != "" {
		live = r.ensure(s.live)
		r.bind(h, live, refLiveness, 0, 0)
	}
	if s.mark != "" {
		r.addMark(h, r.convs[conv].name, s.area, s.mark)
		if s.scope != "" {
			to := r.ensure(s.scope)
			r.bind(h, to, refScope, 0, 0)
			r.areaChanged(to)
		}
		return
	}
	if s.area == "" {
		return
	}
	if s.key != "" {
		to := r.ensure(keyName('k', r.convs[conv].name, s.key))
		r.bind(h, to, refKey, 0, 0)
		r.peers(to)
	}
	at := r.ensure(s.area)
	i := r.newSaid()
	x := said{
		conv: conv, list: s.list, guess: s.guess, root: s.root, role: s.role, area: at, source: h.node, live: live,
		rule: r.rules.take(s.rule), nextOwn: h.says, name: s.name, key: s.key, version: s.version,
	}
	if len(s.names) > 0 {
		x.names = make(map[string]struct{}, len(s.names))
		for _, n := range s.names {
			x.names[n] = struct{}{}
		}
	}
	r.says[i] = x
	h.says = i
	link := &r.nodes[at].signs
	for *link != 0 && r.before(&r.says[*link], &r.says[i]) {
		link = &r.says[*link].next
	}
	r.says[i].next = *link
	*link = i
	r.areaChanged(at)
}

// before is the order of the signs on one area. Two signs of one source keep the order in which they were given.
func (r *Reader) before(a, b *said) bool {
	if a.conv != b.conv {
		return a.conv < b.conv
	}
	return r.name(a.source) <= r.name(b.source)
}

func (r *Reader) newSaid() uint32 {
	if n := len(r.freeSays); n > 0 {
		i := r.freeSays[n-1]
		r.freeSays = r.freeSays[:n-1]
		return i
	}
	r.says = append(r.says, said{})
	return uint32(len(r.says) - 1)
}

// silence takes back everything a topic said and named.
func (r *Reader) silence(h *held) {
	for i := h.says; i != 0; {
		s := r.says[i]
		link := &r.nodes[s.area].signs
		for *link != i {
			link = &r.says[*link].next
		}
		*link = s.next
		r.areaChanged(s.area)
		r.rules.drop(s.rule)
		r.says[i] = said{}
		r.freeSays = append(r.freeSays, i)
		r.release(s.area)
		i = s.nextOwn
	}
	h.says = 0
	for i := h.own; i != 0; {
		x := r.refs[i]
		r.unbind(i)
		switch x.kind {
		case refID, refDevice, refKey:
			r.peers(x.to)
		case refLook:
			r.peers(x.to)
			r.touch(r.lookup(lookName(r.name(x.to))))
		case refMark:
			r.markChanged(x.to)
		case refScope:
			r.areaChanged(x.to)
		case refReads, refWrites, refAvailability, refLiveness:
			r.touch(x.to)
		}
		r.release(x.to)
		i = x.nextOwn
	}
	h.own = 0
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

// addMark counts a feature in an area of a convention.
func (r *Reader) addMark(h *held, conv, area, mark string) {
	to := r.ensure(keyName('m', conv, area, mark))
	r.bind(h, to, refMark, 0, 0)
	r.markChanged(to)
}

// markChanged has an area read again when a feature of it came, went, or stopped being the only one. More than two do
// not make a difference to anybody.
func (r *Reader) markChanged(mark uint32) {
	n := &r.nodes[mark]
	if n.nrefs > 2 {
		return
	}
	_, rest, _ := strings.Cut(n.name[2:], "\x00")
	area, _, _ := strings.Cut(rest, "\x00")
	if at := r.lookup(area); at != 0 {
		r.areaChanged(at)
	}
}

// marked returns how many topics showed a feature in an area.
func (r *Reader) marked(conv uint8, area, mark string) int {
	return r.markedBy(r.convs[conv].name, area, mark)
}

func (r *Reader) markedBy(conv, area, mark string) int {
	var room [128]byte
	b := append(room[:0], 0, 'm')
	for _, p := range [...]string{conv, area, mark} {
		b = append(append(b, p...), 0)
	}
	if i := r.lookupBytes(b); i != 0 {
		return int(r.nodes[i].nrefs)
	}
	return 0
}
