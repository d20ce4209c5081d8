package journal

// What was observed since the last flush, one small record per topic.
// No allocation for a topic that waits already; nothing here knows the file.

import (
	"crypto/sha256"
	"encoding/binary"

	"retainscope/expiry"
)

// Digest returns what Seen.Digest holds for a payload: the first eight bytes of its SHA-256, never 0.
func Digest(payload []byte) uint64 { return DigestOf(sha256.Sum256(payload)) }

// DigestOf is Digest for a payload whose SHA-256 is known.
func DigestOf(sum [sha256.Size]byte) uint64 {
	if d := binary.BigEndian.Uint64(sum[:]); d != 0 {
		return d
	}
	return 1
}

// sightings is how many live publications of a topic are kept one by one between two flushes. Three make two gaps, and
// two gaps that agree are a cadence.
const sightings = 4

// delta is what was observed of one topic since the last flush.
type delta struct {
	first, last int64 // Unix milliseconds
	kept        bool  // the broker keeps it: a row may be made for it
	digest      uint64
	largest     uint32 // largest interval, where any is true
	any         bool

	published bool            // a live retained publication was among them
	interval  expiry.Interval // of the last of those
	refreshes uint64          // of those, with an interval, in a row
	broken    bool            // one without an interval came before that row

	times  uint64           // live publications
	before int64            // instant of the one before the oldest in recent, 0 when there was none in this delta
	recent [sightings]int64 // instants of the last ones, oldest first
	n      int              // how many are there
}

// pending maps topics to what waits for the next flush. The zero value is empty and ready.
type pending struct {
	topics map[string]*delta
	spare  []*delta
}

func (p *pending) len() int { return len(p.topics) }

// add takes one observation. It returns false, and nothing changes, when it is of a new topic and limit topics wait.
func (p *pending) add(s *Seen, limit int) bool {
	d := p.topics[string(s.Topic)]
	if d == nil {
		if len(p.topics) >= limit {
			return false
		}
		if p.topics == nil {
			p.topics = make(map[string]*delta)
		}
		d = p.fresh()
		*d = delta{first: s.At, last: s.At}
		p.topics[string(s.Topic)] = d
	}
	d.add(s)
	return true
}

func (p *pending) fresh() *delta {
	if len(p.spare) == 0 {
		p.spare = make([]*delta, 0, 64)
		for slab := make([]delta, 64); len(slab) > 0; slab = slab[1:] {
			p.spare = append(p.spare, &slab[0])
		}
	}
	d := p.spare[len(p.spare)-1]
	p.spare = p.spare[:len(p.spare)-1]
	return d
}

func (d *delta) add(s *Seen) {
	d.first, d.last = min(d.first, s.At), max(d.last, s.At)
	if s.Retain || !s.Live {
		d.kept = true
		if s.Digest != 0 {
			d.digest = s.Digest
		}
		if seconds, ok := s.Interval.Seconds(); ok {
			d.largest, d.any = max(d.largest, seconds), true
		}
	}
	if !s.Live {
		return
	}
	d.times++
	if d.n == 0 || s.At > d.recent[d.n-1] { // two in one millisecond are no gap
		d.remember(s.At)
	}
	if !s.Retain {
		return
	}
	d.published, d.interval = true, s.Interval
	if _, ok := s.Interval.Seconds(); ok {
		d.refreshes++
	} else {
		d.refreshes, d.broken = 0, true // another kind of publisher, from here on
	}
}

// remember takes the instant of a live publication and lets go of the oldest beyond what is kept.
func (d *delta) remember(at int64) {
	if d.n == sightings {
		d.before = d.recent[0]
		copy(d.recent[:], d.recent[1:])
		d.n--
	}
	d.recent[d.n] = at
	d.n++
}

// merge puts the older observations of a flush that failed in front of what came since.
func (p *pending) merge(older map[string]*delta) {
	for topic, old := range older {
		d := p.topics[topic]
		if d == nil {
			if p.topics == nil {
				p.topics = make(map[string]*delta)
			}
			p.topics[topic] = old
			continue
		}
		d.precede(old)
	}
}

// precede makes d tell what old and then d told.
func (d *delta) precede(old *delta) {
	d.first, d.last = min(d.first, old.first), max(d.last, old.last)
	d.kept = d.kept || old.kept
	if d.digest == 0 {
		d.digest = old.digest
	}
	d.largest, d.any = max(d.largest, old.largest), d.any || old.any
	if !d.published {
		d.published, d.interval = old.published, old.interval
	}
	if !d.broken {
		d.refreshes, d.broken = d.refreshes+old.refreshes, old.broken
	}
	d.times += old.times
	if d.before != 0 {
		return // some of its own were let go already, and what old kept is older than those
	}
	late := d.recent
	n := d.n
	d.before, d.recent, d.n = old.before, old.recent, old.n
	for _, at := range late[:n] {
		if d.n == 0 || at > d.recent[d.n-1] {
			d.remember(at)
		}
	}
}

// take returns what waits and leaves nothing.
func (p *pending) take() map[string]*delta {
	taken := p.topics
	p.topics = nil
	return taken
}

// giveBack returns what was written for use by later topics.
func (p *pending) giveBack(written map[string]*delta, limit int) {
	for topic, d := range written {
		if len(p.spare) >= limit {
			break
		}
		p.spare = append(p.spare, d)
		delete(written, topic)
	}
}
