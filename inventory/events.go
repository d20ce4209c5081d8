package inventory

const (
	eventsKept = 1 << 15 // events
	eventBytes = 2 << 20 // bytes of their topics
)

// eventRing keeps the last events without a pointer in them; topics lie in a ring of bytes of their own.
type eventRing struct {
	ring  []storedEvent // allocated with the first event
	bytes []byte
	seq   uint64 // events so far; the last one has this number
	head  uint64 // bytes of topics so far, with what was left free at the end of the ring
}

type storedEvent struct {
	at   int64
	pos  uint64 // of the topic in the ring of bytes
	n    uint16
	kind EventKind
}

func (r *eventRing) put(at int64, kind EventKind, topic []byte) {
	if r.ring == nil {
		r.ring = make([]storedEvent, eventsKept)
		r.bytes = make([]byte, eventBytes)
	}
	if left := eventBytes - r.head%eventBytes; left < uint64(len(topic)) {
		r.head += left // a topic is not cut in two
	}
	copy(r.bytes[r.head%eventBytes:], topic)
	r.ring[r.seq%eventsKept] = storedEvent{at: at, pos: r.head, n: uint16(len(topic)), kind: kind}
	r.seq++
	r.head += uint64(len(topic))
}

// list returns at most limit events numbered above after, and the number of the last one.
func (r *eventRing) list(after uint64, limit int) ([]Event, uint64) {
	if r.seq > eventsKept && after < r.seq-eventsKept {
		after = r.seq - eventsKept
	}
	if after > r.seq {
		after = r.seq
	}
	var all []Event
	for after < r.seq && (limit <= 0 || len(all) < limit) {
		e := r.ring[after%eventsKept]
		after++
		if e.pos+eventBytes < r.head {
			continue // its topic has been written over
		}
		at := e.pos % eventBytes
		topic := append([]byte(nil), r.bytes[at:at+uint64(e.n)]...)
		all = append(all, Event{At: e.at, Kind: e.kind, Topic: topic})
	}
	return all, after
}
