package readings

// Signs: a topic speaks for an area. They are gathered by convention, and whoever lies in the area follows them.

import "strings"

// said is one sign as it is kept.
type said struct {
	conv         uint8
	list, guess  bool
	root         bool
	role         Role
	area, source uint32
	live, rule   uint32
	voice        uint32
	next, prev   uint32 // among those of the same voice
	nextOwn      uint32
	names        map[string]struct{}
	name         string
	key, version string
}

// voice gathers the signs of one convention on one area, in no order.
type voice struct {
	conv         uint8
	first, count uint32
	lists, sure  uint32 // signs that are a list, and signs that are no guess
	next         uint32 // among those of the same area, in the order of the conventions
}

// maxSigns is how many topics may speak for one area. Where more do, none of them is believed.
const maxSigns = 64

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
			r.nodes[to].flags |= fScope
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
	x.voice = r.voiceOf(at, conv)
	v := &r.voices[x.voice]
	x.next = v.first
	r.says[i] = x
	if v.first != 0 {
		r.says[v.first].prev = i
	}
	v.first = i
	v.add(&x, 1)
	h.says = i
	r.areaChanged(at)
}

func (v *voice) add(x *said, by uint32) {
	v.count += by
	if x.list {
		v.lists += by
	}
	if !x.guess {
		v.sure += by
	}
}

// voiceOf returns the voice of a convention on an area, and makes it where there is none.
func (r *Reader) voiceOf(at uint32, conv uint8) uint32 {
	link := &r.nodes[at].voices
	for *link != 0 && r.voices[*link].conv < conv {
		link = &r.voices[*link].next
	}
	if *link != 0 && r.voices[*link].conv == conv {
		return *link
	}
	var i uint32
	if n := len(r.freeVoices); n > 0 {
		i = r.freeVoices[n-1]
		r.freeVoices = r.freeVoices[:n-1]
		r.voices[i] = voice{conv: conv, next: *link}
		*link = i
		return i
	}
	i = uint32(len(r.voices))
	next := *link
	*link = i // before the voices move
	r.voices = append(r.voices, voice{conv: conv, next: next})
	return i
}

// unsay takes a sign away, and its voice with the last one.
func (r *Reader) unsay(i uint32) {
	x := r.says[i]
	v := &r.voices[x.voice]
	if x.next != 0 {
		r.says[x.next].prev = x.prev
	}
	if x.prev != 0 {
		r.says[x.prev].next = x.next
	} else {
		v.first = x.next
	}
	v.add(&x, ^uint32(0))
	if v.count == 0 {
		link := &r.nodes[x.area].voices
		for *link != x.voice {
			link = &r.voices[*link].next
		}
		*link = v.next
		*v = voice{}
		r.freeVoices = append(r.freeVoices, x.voice)
	}
	r.rules.drop(x.rule)
	r.says[i] = said{}
	r.freeSays = append(r.freeSays, i)
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
		r.areaChanged(s.area)
		r.unsay(i)
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
			r.looks--
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
