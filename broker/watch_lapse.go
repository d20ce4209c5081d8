package broker

// Lapses of the live stream that no figure of the broker tells of: this program stood still, or more stood in line
// than a broker surely queues. Looked at once a second.

import (
	"context"
	"sync"
	"time"

	"retainscope/inventory"
)

const (
	// stillTime is how long this program may stand still before that is a lapse.
	stillTime = 5 * time.Second
	// probeCopies in a second are worth a PINGREQ that tells how many stand in line before its answer.
	probeCopies = 200
	// probeTime is how often a PINGREQ is sent while a scan or a question waits for the broker.
	probeTime = 3 * time.Second
	// muteTime without an answer and without a byte is when the broker is said not to answer.
	muteTime = 5 * time.Second
)

// liveLapse watches the live connection for them. Only attend uses it.
type liveLapse struct {
	conn    *Conn
	helpers *sync.WaitGroup
	looked  time.Time
	last    Stats
	asleep  time.Duration
	flood   bool
	behind  bool      // our own read-ahead was full, or is
	scanned Stats     // when the last scan began
	mute    time.Time // since when the broker has not answered; zero where it does
	// waiting is closed by the answer to the PINGREQ that is on its way, nil when none is; atAnswer is set before.
	waiting  chan struct{}
	atAnswer Stats
	asked    time.Time
	before   Stats // at the look before the PINGREQ
}

// rest ends a look: what follows until the next one is not our own work.
func (l *liveLapse) rest() { l.looked = time.Now() }

// scan says that a scan begins: what was missed of the live changes before it brings.
func (l *liveLapse) scan() {
	l.scanned = l.conn.Stats()
	l.behind = false // where it still is, the next look finds out
}

// look takes in what happened since the last look, about a second ago. hopes says that an answer of the broker is
// waited for somewhere.
func (l *liveLapse) look(ctx context.Context, hopes bool) {
	now := time.Now()
	if !l.looked.IsZero() {
		// The monotonic clock stands while the machine sleeps; the other one does not.
		away := max(now.Sub(l.looked), now.Round(0).Sub(l.looked.Round(0)))
		if away >= stillTime {
			l.asleep += away
		}
	}
	s := l.conn.Stats()
	if l.beyondSafe(l.last, s) {
		l.flood = true
	}
	if s.Stalled > max(l.last.Stalled, l.scanned.Stalled) || l.conn.ahead.full() {
		l.behind = true
	}
	select {
	case <-l.waiting:
		l.flood = l.flood || l.beyondSafe(l.before, l.atAnswer)
		l.waiting, l.mute = nil, time.Time{}
	default:
	}
	switch {
	case l.waiting == nil && (s.Publications-l.last.Publications >= probeCopies || hopes && now.Sub(l.asked) >= probeTime):
		l.before, l.asked = l.last, now
		l.probe(ctx)
	case l.waiting != nil && s.Backlog == 0 && now.Sub(latest(l.asked, s.LastByte)) >= muteTime && l.mute.IsZero():
		// With a backlog the answer may be in what we have not decoded: then it is we who do not listen.
		l.mute = latest(l.asked, s.LastByte)
	case l.waiting != nil && l.beyondSafe(l.before, s):
		l.flood = true
	case l.waiting != nil && now.Sub(l.asked) >= 2*muteTime:
		// The answer itself may have been dropped: that to another PINGREQ stands for it.
		l.asked = now
		l.helpers.Go(func() { _ = l.conn.Fence(ctx) })
	}
	l.last = s
}

// probe sends a PINGREQ whose answer look will find.
func (l *liveLapse) probe(ctx context.Context) {
	answered := make(chan struct{})
	l.waiting = answered
	l.helpers.Go(func() {
		if l.conn.Fence(ctx) == nil {
			l.atAnswer = l.conn.Stats()
			close(answered)
		}
	})
}

// beyondSafe reports whether more came between two looks than any broker was seen to queue without a loss.
func (l *liveLapse) beyondSafe(from, to Stats) bool {
	return to.WireBytes-from.WireBytes >= l.conn.cfg.safeSize() && to.Publications-from.Publications > safeCopies
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
	if l.behind {
		l.behind = false
		doubt = doubt || e.since.behind == 0
		e.since.behind = max(l.last.Stalled-l.scanned.Stalled, 1)
		e.since.behindFor = l.last.StalledFor - l.scanned.StalledFor
		w.republish(e)
	}
	if l.flood {
		l.flood = false
		// A broker that counts what it drops tells with its next figures; nothing has to be asked for before.
		waits := w.sys.alive() && w.sys.read().countsDrops()
		doubt = doubt || !e.since.flood && !waits
		if !e.since.flood {
			e.since.flood, e.since.figures = true, waits
			w.republish(e)
		}
	}
	if e.since.figures && !w.sys.alive() {
		e.since.figures, doubt = false, true
	}
	if e.since.mute != l.mute {
		e.since.mute = l.mute
		w.republish(e)
	}
	return doubt
}

// noteMute has the state of the connection say that the broker does not answer, or that it does again.
func (w *Watcher) noteMute(since time.Time) {
	text := ""
	if !since.IsZero() {
		text = "no answer since " + since.Format("15:04:05")
	}
	w.mu.Lock()
	changed := w.link.State == inventory.Watching && w.link.Err != text
	if changed {
		w.link.Err = text
	}
	w.mu.Unlock()
	if changed {
		w.signal()
	}
}
