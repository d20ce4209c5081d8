package journal

// What the journal knows of one topic, and how an observation changes that.
// Pure: values in, values out.

import (
	"time"

	"retainscope/expiry"
)

// Record is what the journal knows of one topic. It is a copy, safe to keep.
type Record struct {
	Topic     []byte
	FirstSeen int64 // Unix milliseconds, replay or live
	LastSeen  int64 // replay or live; to the day, unless it was seen live later
	LastLive  int64 // the last live publication; 0 when it was never seen live
	Times     uint64
	// Largest is the largest interval seen, in seconds, and HasLargest tells whether there was any.
	Largest    uint32
	HasLargest bool
	// Interval is that of the last live retained publication; NotKnown when there was none.
	Interval expiry.Interval
	Digest   uint64 // of the last retained payload, see Digest; 0 when it is not known

	gap       int64  // milliseconds between the last two live publications, 0 when fewer than two were seen
	steady    uint16 // how often in a row gap repeated within its tolerance
	refreshes uint16 // live retained publications with an interval, in a row
}

// Cadence returns the learned time between live publications and true once at least two gaps agreed, and otherwise 0
// and false.
func (r Record) Cadence() (time.Duration, bool) {
	if r.steady == 0 {
		return 0, false
	}
	return time.Duration(r.gap) * time.Millisecond, true
}

// History returns what watching has taught about the expiry of the topic, as an inventory would have learned it itself.
func (r Record) History() expiry.History {
	seconds, ok := r.Interval.Seconds()
	if !ok || r.refreshes == 0 {
		return expiry.History{}
	}
	h := expiry.History{Window: seconds, Refreshes: r.refreshes}
	if r.refreshes >= 2 {
		h.Gap = uint32(min(r.gap/1000, int64(^uint32(0))))
		h.Steady = min(r.steady, r.refreshes-2)
	}
	return h
}

// apply returns r after d, and whether anything is different enough to be written: a replay of what is known changes
// nothing but the day on which the topic was last seen.
func (r Record) apply(d *delta) (Record, bool) {
	was := r
	if r.FirstSeen == 0 || d.first < r.FirstSeen {
		r.FirstSeen = d.first
	}
	if day := d.last - d.last%dayMillis; d.kept && day > r.LastSeen {
		r.LastSeen = day
	}
	if d.digest != 0 {
		r.Digest = d.digest
	}
	if d.any && (!r.HasLargest || d.largest > r.Largest) {
		r.Largest, r.HasLargest = d.largest, true
	}
	previous := r.LastLive
	if d.before != 0 {
		// The gaps before this one were not kept, so nothing is said about how steady they were.
		previous, r.gap, r.steady = d.before, 0, 0
	}
	for _, at := range d.recent[:d.n] {
		r.live(at, previous)
		previous = at
	}
	r.Times += d.times
	if d.published {
		r.Interval = d.interval
	}
	if d.broken {
		r.refreshes = 0
	}
	r.refreshes = add(r.refreshes, d.refreshes)
	changed := d.times > 0 || was.Digest != r.Digest || was.FirstSeen != r.FirstSeen || was.LastSeen != r.LastSeen ||
		was.Largest != r.Largest || was.HasLargest != r.HasLargest
	return r, changed
}

const dayMillis = 24 * 60 * 60 * 1000

// live takes the instant of a live publication, and that of the one before it, 0 when there was none.
func (r *Record) live(at, previous int64) {
	if previous > 0 && at > previous {
		gap := at - previous
		if r.gap > 0 && agree(gap, r.gap) {
			r.steady = add(r.steady, 1)
		} else {
			r.steady = 0
		}
		r.gap = gap
	}
	r.LastLive = max(r.LastLive, at)
}

// agree tells whether two gaps are the same cadence: within 2 s and a tenth, as expiry.History has it.
func agree(a, b int64) bool { return max(a, b)-min(a, b) <= 2000+b/10 }

// add returns a+n and stops at the largest value.
func add(a uint16, n uint64) uint16 { return uint16(min(uint64(a)+n, uint64(^uint16(0)))) }
