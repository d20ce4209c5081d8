package broker

// What is learned between scans: the broker's later figures, drops while we only watch, a count that moves away.
// A claim is raised and lowered here; what lowers it also makes a scan due.

import (
	"context"
	"slices"
	"time"

	"retainscope/inventory"
)

// restless is how many looks in a row may find figures still coming in before they are taken as they are: some brokers
// tell theirs every second.
const restless = 3

// recountTime bounds a question for the $SYS topics between scans.
const recountTime = 2 * time.Second

// followFigures looks, once a second between scans, whether figures that came meanwhile say more than was known. It
// returns true when there is a new doubt about what is held, so that a scan is due.
func (w *Watcher) followFigures(ctx context.Context) (doubt bool) {
	e := w.last
	if e == nil || e.ended != "" || !e.live() {
		return false
	}
	topics := w.inv.Counts().Topics
	w.apart.look(topics - w.extras)
	if !w.sys.alive() {
		return false
	}
	v := w.sys.read()
	if v.live == w.judgedAt {
		return false
	}
	if v.live != w.figuresAt && w.moving < restless {
		w.figuresAt = v.live // a tick may still be coming in: look again in a second
		w.moving++
		return false
	}
	w.judgedAt, w.figuresAt, w.moving = v.live, v.live, 0
	w.toldBroker(v.version)
	expired := w.expiries.since(v.at) // before what is held: what goes in between is explained by nothing
	held := w.held(ctx)
	w.extras = topics - held
	return w.judge(ctx, v, held, expired)
}

// judge takes one whole tick of the broker; expired is how many topics expired here since it came.
func (w *Watcher) judge(ctx context.Context, v sysValues, held, expired int64) (doubt bool) {
	e := w.last
	before, _ := e.claim()
	now := e.later(v, held)
	now.counted, now.expired = time.Now(), expired
	claim, _ := now.claim()
	if n, moved := v.dropsSince(now.after); moved && (!e.since.drops || n != e.since.dropped) {
		now.since.drops, now.since.dropped = true, n
		doubt = true
	}
	if now.since.figures && now.now.countsDrops() {
		now.since.flood, now.since.figures = false, false
		e.since.flood, e.since.figures = false, false
	}
	waited := w.apart.waiting
	off, sure := w.apart.tick(now.known(), held)
	switch {
	case now.known() >= 0 && (!w.apart.known || now.agrees()):
		// The first count since the scan, or one that agrees: from now on it is this difference that is expected.
		w.apart.known, w.apart.base, w.apart.waiting = true, now.known()-held, false
		now.since.differs = false
	case !off, w.apart.base > 0 && now.nothingDropped() && !doubt:
		// Where topics are hidden from this login their number moves, and that says nothing.
	case sure:
		doubt = doubt || !e.since.differs
		now.since.differs, now.since.count, now.since.here = true, now.known(), held
	default:
		if !waited {
			w.recountBetween(ctx)
		}
		if !doubt {
			return false // figures of two instants are not shown beside each other: the next tick decides
		}
	}
	*e = now
	w.republish(e)
	return doubt || claim > before
}

// recountBetween asks for the $SYS topics anew, since those that expired and were collected make a count look too low.
func (w *Watcher) recountBetween(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, recountTime)
	defer cancel()
	ticks := w.sys.read().countLive
	if n := w.sys.recount(ctx); n >= 0 {
		w.sys.figs.correct(n, ticks)
	}
}

// follow starts to look for what speaks against the scan that has just ended.
func (w *Watcher) follow(e *evidence) {
	w.last = e
	w.apart.begin(e)
	w.judgedAt, w.figuresAt, w.moving = e.now.live, e.now.live, 0
	w.extras = w.inv.Counts().Topics - e.held
}

func (w *Watcher) republish(e *evidence) {
	c := e.coverage()
	w.setCoverage(func(old *inventory.Coverage) {
		c.Away, c.Notes = old.Away, old.Notes
		c.StartedAt, c.EndedAt = old.StartedAt, old.EndedAt
		if c.CountedAt.IsZero() {
			c.CountedAt = c.EndedAt
		}
		*old = c
	})
}

// doubted says when what is in doubt is scanned again.
func (w *Watcher) doubted(again time.Time) {
	if w.last == nil || w.last.ended != "" {
		return
	}
	w.last.since.again = again
	w.republish(w.last)
}

// withNote returns notes with one more, once.
func withNote(notes []string, note string) []string {
	if slices.Contains(notes, note) {
		return notes
	}
	return append(slices.Clone(notes), note)
}
