package broker

// What was taken out of the list because it had expired and the broker had nothing any more: a count that the broker told
// before that still has it.

import "sync"

// expiries counts them by the instant at which they were asked for. Safe for concurrent use; its zero value is ready.
type expiries struct {
	mu  sync.Mutex
	all []expired // oldest first
}

type expired struct {
	at int64 // Unix ms
	n  int64
}

const (
	// expiriesTime is for how long they are kept, in milliseconds: figures older than that explain nothing.
	expiriesTime = 60_000
	expiriesMost = 4096
)

// add notes one topic that was asked for at the instant at.
func (x *expiries) add(at int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := len(x.all); n > 0 && x.all[n-1].at >= at {
		x.all[n-1].n++ // questions are put one after the other
		return
	}
	x.all = append(x.all, expired{at, 1})
	drop := max(0, len(x.all)-expiriesMost)
	for x.all[drop].at < at-expiriesTime {
		drop++
	}
	x.all = append(x.all[:0], x.all[drop:]...)
}

// since returns how many were asked for after the instant of the broker's figures; none where that is not known.
func (x *expiries) since(at int64) (n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := len(x.all) - 1; at > 0 && i >= 0 && x.all[i].at > at; i-- {
		n += x.all[i].n
	}
	return n
}
