package broker

// Lapses of the live stream that no figure of the broker tells of: this program stood still, or more stood in line
// than a broker surely queues. Looked at once a second.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// stillTime is how long this program may stand still before that is a lapse.
	stillTime = 5 * time.Second
	// probeCopies in a second are worth a PINGREQ that tells how many stand in line before its answer.
	probeCopies = 200
)

// liveLapse watches the live connection for them. Only attend uses it.
type liveLapse struct {
	conn    *Conn
	helpers *sync.WaitGroup
	looked  time.Time
	last    Stats
	asleep  time.Duration
	flood   bool
	probed  bool // a PINGREQ of ours is on its way
	probe   Stats
	answers atomic.Int64
	heard   int64
}

// rest ends a look: what follows until the next one is not our own work.
func (l *liveLapse) rest() { l.looked = time.Now() }

// look takes in what happened since the last look, about a second ago.
func (l *liveLapse) look(ctx context.Context) {
	now := time.Now()
	if !l.looked.IsZero() {
		// The monotonic clock stands while the machine sleeps; the other one does not.
		away := max(now.Sub(l.looked), now.Round(0).Sub(l.looked.Round(0)))
		if away >= stillTime {
			l.asleep += away
		}
	}
	s := l.conn.Stats()
	if n := l.answers.Load(); n != l.heard {
		l.heard, l.probed = n, false
	} else if l.probed && beyondSafe(l.probe, s) {
		l.flood, l.probed = true, false
	}
	if beyondSafe(l.last, s) {
		l.flood = true
	}
	if s.Publications-l.last.Publications >= probeCopies && !l.probed {
		l.probed, l.probe = true, s
		l.helpers.Go(func() {
			if l.conn.Fence(ctx) == nil {
				l.answers.Add(1)
			}
		})
	}
	l.last = s
}

// beyondSafe reports whether more came between two looks than any broker was seen to queue without a loss.
func beyondSafe(from, to Stats) bool {
	return to.WireBytes-from.WireBytes >= safeBytes && to.Publications-from.Publications > safeCopies
}

// noteLapses takes what look found against the scan that ended last, and reports whether that is a new doubt.
func (w *Watcher) noteLapses(l *liveLapse) (doubt bool) {
	e := w.last
	if e == nil || e.ended != "" || !e.live() {
		return false
	}
	if l.asleep > 0 {
		e.since.asleep += l.asleep
		l.asleep, doubt = 0, true
	}
	if l.flood {
		l.flood = false
		// A broker that counts what it drops says it itself.
		if !w.sys.alive() || !w.sys.read().countsDrops() {
			doubt = doubt || !e.since.flood
			e.since.flood = true
		}
	}
	return doubt
}
