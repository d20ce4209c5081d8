package inventory

const (
	eventsKept = 1 << 15 // events of each ring
	eventBytes = 2 << 20 // bytes of their topics
)

// events keeps the last events. Values and topics that come change all day long and on a busy broker fill a ring within a
// second: what went, or changed whether it expires, has one of its own. The sums count every event.
type events struct {
	small, weighty eventRing
	seq            uint64 // events so far; the last one has this number
	sums           EventCounts
}

// eventRing keeps the last events without a pointer in them; topics lie in a ring of bytes of their own.
type eventRing struct {
	ring  []storedEvent // allocated with the first event
	bytes []byte
	n     uint64 // events so far
	head  uint64 // bytes of topics so far, with what was left free at the end of the ring
}

type storedEvent struct {
	seq  uint64
	at   int64
	pos  uint64 // of the topic in the ring of bytes
	n    uint16
	kind EventKind
}

// Small reports whether k is one of the kinds that a busy broker brings all the time: a topic that came, a new value.
func (k EventKind) Small() bool { return k == Replaced || k == Appeared || k == FoundChanged }

func (e *events) put(at int64, kind EventKind, topic []byte) {
	e.seq++
	e.sums[kind]++
	r := &e.weighty
	if kind.Small() {
		r = &e.small
	}
	r.put(e.seq, at, kind, topic)
}

func (r *eventRing) put(seq uint64, at int64, kind EventKind, topic []byte) {
	if r.ring == nil {
		r.ring = make([]storedEvent, eventsKept)
		r.bytes = make([]byte, eventBytes)
	}
	if left := eventBytes - r.head%eventBytes; left < uint64(len(topic)) {
		r.head += left // a topic is not cut in two
	}
	copy(r.bytes[r.head%eventBytes:], topic)
	r.ring[r.n%eventsKept] = storedEvent{seq: seq, at: at, pos: r.head, n: uint16(len(topic)), kind: kind}
	r.n++
	r.head += uint64(len(topic))
}

// after returns the place of the first event that is kept and numbered above seq.
func (r *eventRing) after(seq uint64) uint64 {
	lo, hi := r.n-min(r.n, eventsKept), r.n
	for lo < hi {
		mid := lo + (hi-lo)/2
		if r.ring[mid%eventsKept].seq > seq {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// list returns at most limit events numbered above after, and the number of the last one looked at.
func (e *events) list(after uint64, limit int) ([]Event, uint64) {
	return e.from(e.small.after(after), e.weighty.after(after), after, limit)
}

// latest returns the events numbered above after, of small kinds at most the latest small, of the others at most the
// latest weighty, and the number of the last event.
func (e *events) latest(after uint64, small, weighty int) ([]Event, uint64) {
	s := max(e.small.after(after), e.small.n-min(e.small.n, uint64(small)))
	w := max(e.weighty.after(after), e.weighty.n-min(e.weighty.n, uint64(weighty)))
	return e.from(s, w, after, 0)
}

// from returns the events of both rings from the places s and w on, in their order.
func (e *events) from(s, w, after uint64, limit int) ([]Event, uint64) {
	var all []Event
	for limit <= 0 || len(all) < limit {
		r, at := &e.small, &s
		switch {
		case s == e.small.n && w == e.weighty.n:
			return all, e.seq
		case s == e.small.n, w < e.weighty.n && e.weighty.ring[w%eventsKept].seq < e.small.ring[s%eventsKept].seq:
			r, at = &e.weighty, &w
		}
		x := r.ring[*at%eventsKept]
		*at++
		after = x.seq
		if x.pos+eventBytes < r.head {
			continue // its topic has been written over
		}
		from := x.pos % eventBytes
		topic := append([]byte(nil), r.bytes[from:from+uint64(x.n)]...)
		all = append(all, Event{At: x.at, Kind: x.kind, Topic: topic})
	}
	return all, after
}
