// Package readings turns what a broker retains into readings: whose a topic is, whether the owner lives, who refers to
// it, what is odd about it and how sure that is.
//
// Pure: no goroutines, no clock (every instant is an argument), no broker and no screen. It never says that something
// is dead or safe to delete.
package readings

import (
	"hash/maphash"
	"sync"
)

// Reader keeps what retained topics say about each other and reads one on demand. It follows its facts: after any
// sequence of Put and Remove it reads as a new Reader would that was told the last state only. Before a scan has ended it
// reads what has arrived so far. It is safe for concurrent use; one mutex is held for the length of a call.
type Reader struct {
	mu sync.Mutex
	graph
	convs   []convention
	rulesOf userRules

	held       []held
	freeHeld   []uint32
	configs    []config
	freeConf   []uint32
	refs       []ref
	freeRefs   []uint32
	says       []said
	freeSays   []uint32
	voices     []voice
	freeVoices []uint32
	scopes     map[uint32]uint32 // of what is compared together, when any of it was last heard, where it was asked for
	firsts     map[uint32]uint32 // of topics that many configs name, the smallest of these, where it was asked for
	rules      pool[rule]
	origins    pool[origin]
	fields     []string

	since, now int64 // Unix milliseconds, as of the last Watched or question
	sight      sight
	unread     int // discovery configs that are not whole
	pending    pending
	flagged    map[uint32]struct{} // topics that look left behind or are a hazard, as of their last judgement
	changed    []uint32            // topics whose reading changed and that Touched has not told of
	shares     map[string]*share
	count      Counts
	looks      int // topics that are not printable ASCII

	scratch struct {
		discovery discovery
		signs     []heardSign
	}
}

type heardSign struct {
	conv uint8
	sign sign
}

// Counts are totals that follow every change.
type Counts struct {
	Topics     int // retained topics
	Configs    int // discovery topics, whatever their payload
	Components int // components that those announce
	Left       int // look left behind, as of the last Touched or Groups
	Hazards    int // likewise
}

// New returns an empty Reader with a user's rules. The error is that of r.Check.
func New(r Rules) (*Reader, error) {
	compiled, err := r.compile()
	if err != nil {
		return nil, err
	}
	out := &Reader{
		convs: conventions(), rulesOf: compiled,
		held: make([]held, 1), configs: make([]config, 1), refs: make([]ref, 1), says: make([]said, 1),
		voices: make([]voice, 1), firsts: map[uint32]uint32{}, scopes: map[uint32]uint32{},
		flagged: map[uint32]struct{}{}, shares: map[string]*share{}, sight: sight{configs: true},
	}
	out.graph.init(256)
	out.rules.init()
	out.origins.init()
	out.fields = fieldNames(compiled.fields)
	return out, nil
}

// Put tells that a retained topic came or changed: its payload, its interval, or only an instant. What it said before
// is taken back where it says something else now, and what depends on it is read again when it is next asked for.
func (r *Reader) Put(f Fact) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(f.Topic) == 0 || f.Topic[0] == 0 {
		return // no topic is like that
	}
	id := r.ensureBytes(f.Topic)
	came := r.nodes[id].held == 0
	if came {
		r.come(id)
	}
	h := &r.held[r.nodes[id].held]
	sum := maphash.Bytes(r.seed, f.Payload)
	flags := f.flags()
	other := came || sum != h.sum || clamp32(f.Size) != h.size || (flags^h.flags)&heldCut != 0
	kind := came || (flags^h.flags)&(heldNever|heldFinite) != 0
	last := seconds32(f.LastLive)
	live := last != h.lastLive || f.LiveCount != h.lives

	if kind && !came {
		r.share(id, h.flags, -1)
	}
	if !came && (flags^h.flags)&(heldFell|heldGained) != 0 {
		r.shareMoves(id, h.flags, flags)
	}
	h.flags = h.flags&^factFlags | flags
	h.sum, h.size, h.kept, h.received, h.lastLive = sum, clamp32(f.Size), clamp32(len(f.Payload)), f.ReceivedAt, last
	h.window, h.gap = f.History.Window, f.History.Gap
	h.first, h.lives = seconds32(f.FirstSeen), f.LiveCount
	h.seconds, _ = f.Interval.Seconds()
	if kind {
		r.share(id, h.flags, 1)
		if came {
			r.shareMoves(id, 0, flags)
		}
	}
	was := r.nodes[id].heard
	r.nodes[id].heard = last
	r.scopeHeard(id, was, last)

	before := h.value
	if other {
		h.flags &^= heldLooksEmpty
		if !f.Cut && looksEmpty(f.Payload) {
			h.flags |= heldLooksEmpty
		}
		if f.Cut {
			h.value = ""
		} else {
			h.value = keep(f.Payload, r.fields)
		}
		r.listen(h, f.Payload, f.Cut, came)
	}
	changed := came || h.value != before
	if changed {
		r.nodes[id].flags &^= fSaidOff
	}
	if changed || (last == 0) != (was == 0) || live && r.nodes[id].flags&fSaidOff != 0 {
		r.named(id)
		r.followed(h)
		r.deviceChanged(id, came)
	} else if kind || live && r.announces(h) {
		r.named(id)
		r.followed(h)
	}
	if live && spokeAgain(was, last) {
		r.beside(id)
	}
	r.touch(id)
	if kind && h.config != 0 {
		r.deep(id)
	}
}

// Remove tells that a topic is not retained any more.
func (r *Reader) Remove(topic []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.lookupBytes(topic)
	if id == 0 || r.nodes[id].held == 0 {
		return
	}
	r.leave(id)
}

// Heard tells that a publication was seen live on a topic, whether or not it was retained. It matters for topics that
// configs name and nobody retains: a config whose state is heard is not dangling. at is in Unix milliseconds.
func (r *Reader) Heard(topic []byte, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.lookupBytes(topic)
	if id == 0 {
		id = r.scopeAbove(string(topic))
	}
	if id == 0 || r.nodes[id].held != 0 {
		return // retained topics bring their own instants
	}
	was := r.nodes[id].heard
	r.nodes[id].heard = max(was, seconds32(at))
	r.scopeHeard(id, was, r.nodes[id].heard)
	if spokeAgain(was, r.nodes[id].heard) {
		r.named(id)
		r.beside(id)
	}
}

// Watched tells since when somebody has been watching without a break, and what the time is, both in Unix
// milliseconds. It qualifies every "not seen live". Call it after the scan, after a gap, and now and then.
func (r *Reader) Watched(since, now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if since != r.since {
		r.since = since
		r.touchAll()
	}
	r.now = max(r.now, now)
}

// Counts returns the totals.
func (r *Reader) Counts() Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

func (r *Reader) come(id uint32) {
	var i uint32
	if n := len(r.freeHeld); n > 0 {
		i = r.freeHeld[n-1]
		r.freeHeld = r.freeHeld[:n-1]
	} else {
		r.held = append(r.held, held{})
		i = uint32(len(r.held) - 1)
	}
	r.held[i] = held{node: id}
	r.nodes[id].held = i
	r.count.Topics++
	r.peers(r.lookOf(id))
	if r.rulesOf.ignores(r.name(id)) {
		r.held[i].flags |= heldIgnored
	}
}

func (r *Reader) leave(id uint32) {
	i := r.nodes[id].held
	h := &r.held[i]
	r.share(id, h.flags, -1)
	r.shareMoves(id, h.flags, 0)
	r.named(id)
	r.followed(h)
	r.deviceChanged(id, true)
	r.peers(r.lookOf(id))
	r.dropConfig(h)
	r.silence(h)
	r.unflag(id)
	r.scopeHeard(id, r.nodes[id].heard+1, r.nodes[id].heard) // whatever it was
	r.nodes[id].held = 0
	r.nodes[id].heard = 0
	r.nodes[id].flags &^= fSaidOff | fTouched
	r.held[i] = held{}
	r.freeHeld = append(r.freeHeld, i)
	r.count.Topics--
	r.release(id)
}

// heldAt returns what is retained at a node, or nil.
func (r *Reader) heldAt(id uint32) *held {
	if i := r.nodes[id].held; i != 0 {
		return &r.held[i]
	}
	return nil
}

// configAt returns the config at a node that has one.
func (r *Reader) configAt(id uint32) *config { return &r.configs[r.held[r.nodes[id].held].config] }
