package broker

// One scan from the first figure to the last word: $SYS, snapshot, end of the burst, figures again, slices where they
// help, then the topics that did not come. What it may claim is decided in coverage.go.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"retainscope/inventory"
)

// largeStore is from how many topics on the cost to the broker's other clients is told before a scan.
const largeStore = 50_000

// SnapshotBegins is the message of the debug record that the log gets when a scan has read the broker's own figures and
// makes the connection for the retained copies.
const SnapshotBegins = "the snapshot connection is made"

// standstill is how long a single-threaded broker serves nobody else while it hands out n retained topics.
func standstill(n int64) time.Duration { return time.Duration(n) * 3 * time.Microsecond }

// scan asks for the whole store once and publishes what it may claim. It reports whether the scan came to its end.
func (w *Watcher) scan(ctx context.Context, helpers *sync.WaitGroup) bool {
	w.stopLinger()
	started := w.now()
	w.setBoth(func(l *inventory.Link, c *inventory.Coverage) {
		l.Scanning, l.ScanDone, l.ScanOf = true, 0, -1
		c.Claim, c.Rule, c.StartedAt, c.EndedAt, c.CountedAt = inventory.Scanning, askText(w.last), started, time.Time{}, time.Time{}
		c.Gaps, c.Remedies = nil, nil
	})
	e := evidence{filters: w.cfg.Filters, quiet: w.cfg.Quiet, unix: w.cfg.safeSize() == safeUnix}
	snap := w.scanWhole(ctx, &e)
	if e.ended == "" && e.live() {
		unseen := w.unseen(ctx)
		few := len(unseen) <= unseenFew
		if few {
			w.settleUnseen(ctx, &e, unseen) // what is gone would make the count disagree
		}
		if !w.cfg.Slices || e.pings == 0 {
			w.settleFigures(ctx, &e) // an unanswered ping is loss enough to go on at once
		}
		if w.cfg.Slices {
			w.sliceWhereItHelps(ctx, &e)
		}
		if !few {
			// No claim before that: it would be of a list that is about to lose what the broker does not have any more.
			unseen = w.unseen(ctx)
			w.setCoverage(func(c *inventory.Coverage) { c.Rule = e.unseenRule(len(unseen)) })
			w.settleUnseen(ctx, &e, unseen)
		}
	}
	if ctx.Err() != nil && e.ended == "" {
		e.ended = "the connection was lost"
	}
	w.publish(&e, started, w.now())
	e.after = e.now
	w.follow(&e)
	w.scanOnce.Do(func() { close(w.scanned) })
	if w.cfg.Tap != nil {
		w.cfg.Tap.Scanned()
	}
	if snap != nil {
		if w.cfg.Once || e.ended != "" {
			shut(snap.conn)
		} else {
			w.startLinger(ctx, helpers, snap)
		}
	}
	return e.ended == ""
}

// live reports whether at least one filter was granted, so that there is something to scan.
func (e *evidence) live() bool { return len(e.refused()) < len(e.grants) }

// scanWhole makes the snapshot connection and takes the burst. The connection is returned open, nil when there is none.
func (w *Watcher) scanWhole(ctx context.Context, e *evidence) *snapshot {
	w.progress(0, -1, "reading the broker's own figures")
	if !w.sys.alive() {
		w.sys.close()
		w.sys = openSys(ctx, w.cfg.Config)
	}
	e.before = w.sys.read()
	e.now = e.before
	w.toldBroker(e.before.version)
	expected := e.before.known()
	if expected > 0 {
		w.inv.Expect(int(expected))
	}
	w.progress(0, expected, "%s", startText(expected))
	w.cfg.Logger.Debug(SnapshotBegins, "expected", expected)
	decisive := w.live.seen() != nil // a topic that this pass should bring
	var snap *snapshot
	conn, grants, err := w.subscribed(ctx, func() (conn *Conn, err error) {
		if snap, err = w.dialSnapshot(ctx); err == nil {
			w.inv.BeginScan()
		}
		return snap.conn, err
	}, Subscription{})
	if conn == nil {
		e.ended = lossText(err)
		return nil
	}
	for pass := 1; ; pass++ {
		if !w.takeBurst(ctx, e, snap, grants, err, expected) {
			return snap
		}
		switch {
		case e.copies > 0:
			w.live.settled()
		case decisive:
			e.wildcards = w.askWildcards(ctx)
		default:
			w.live.curious.Store(true)
			if w.live.seen() != nil && pass < 2 {
				decisive = true
				ask, _ := w.wanted()
				_ = conn.unsubscribeIn(ctx, ask, w.portions.most())
				w.inv.BeginScan()
				grants, err = w.subscribeAll(ctx, conn, Subscription{}, w.portions.most())
				continue
			}
		}
		return snap
	}
}

// takeBurst takes the answer to the SUBSCRIBE of a pass and waits for the end of its burst. It returns false when either
// failed or nothing was granted.
func (w *Watcher) takeBurst(ctx context.Context, e *evidence, snap *snapshot, grants []inventory.Grant, err error, expected int64) bool {
	own := min(len(grants), len(w.cfg.Filters))
	e.grants, e.extra, e.unseen = grants[:own:own], grants[own:], nil
	for i, g := range w.liveGrants {
		if g.Refused() && i < own && !grants[i].Refused() {
			e.unseen = append(e.unseen, g)
		}
	}
	if err != nil {
		e.ended = lossText(err)
	}
	if err == nil && !e.live() {
		return false
	}
	if err == nil {
		var b burst
		hopeful := func() bool { return w.sys.read().known() > 0 }
		b, err = snap.end(ctx, w.cfg.Quiet, hopeful, func() {
			w.progress(snap.copies.Load(), expected, "%s", startText(expected))
		})
		e.fenced, e.pings, e.trickle = b.fenced, b.pings, b.trickle
		if err != nil {
			e.ended = lossText(err)
		}
	}
	s := snap.conn.Stats()
	w.cfg.Logger.Debug("the burst has ended", "copies", snap.copies.Load(), "bytes", s.WireBytes, "reads", s.ReadCalls, "stalls", s.Stalled,
		"stalled", s.StalledFor, "fenced", e.fenced, "pings", e.pings)
	e.copies, e.wire, e.allWire = snap.copies.Load(), s.WireBytes, s.WireBytes
	e.stalls, e.stalled, e.discards = s.Stalled, s.StalledFor, s.Discarded
	e.held = w.held(ctx)
	e.now = w.sys.read()
	return err == nil
}

func startText(expected int64) string {
	if expected < largeStore {
		return "scanning"
	}
	return fmt.Sprintf("scanning; a single-threaded broker serves nobody else for about %s", roundTime(standstill(expected)))
}

// settleFigures waits for the broker's next figures where they decide.
func (w *Watcher) settleFigures(ctx context.Context, e *evidence) {
	if !e.needsTick() || !w.sys.alive() || (e.now.live == 0 && e.now.count < 0 && e.now.version == "") {
		return
	}
	const text = "waiting for the broker's next $SYS figures, at most %s"
	w.setCoverage(func(c *inventory.Coverage) {
		c.Rule = e.endRule() + "; now " + fmt.Sprintf(text, roundTime(w.cfg.SysWait)) + "."
	})
	start := time.Now()
	for left := w.cfg.SysWait; left > 0 && e.needsTick() && ctx.Err() == nil; left = w.cfg.SysWait - time.Since(start) {
		w.progress(e.held, e.known(), text, roundTime(w.cfg.SysWait))
		v, ok := w.sys.nextTick(ctx, left)
		e.expired = w.expiries.since(v.at) // before what is held: what goes in between is explained by nothing
		e.now, e.held = v, w.held(ctx)
		e.mute = w.sys.mute
		e.ticked = ok
		if !ok {
			break
		}
	}
	e.waited = time.Since(start)
	w.recount(ctx, e)
}

// recount asks for the $SYS topics anew where the count and the list differ: on mosquitto 2.0 they expire, and whoever
// reads them in between makes our number of them wrong. The new number is used only where it settles the difference:
// it lacks those that had expired and were still counted.
func (w *Watcher) recount(ctx context.Context, e *evidence) {
	if e.now.count < 0 || e.now.own < 0 || e.agrees() || !w.sys.alive() {
		return
	}
	if n := w.sys.recount(ctx); n >= 0 && e.now.count-n == e.held {
		e.now.own = n
	}
}

// startLinger keeps the snapshot connection for a while: what comes late is still taken. A new scan ends it.
func (w *Watcher) startLinger(ctx context.Context, helpers *sync.WaitGroup, snap *snapshot) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	w.stopLinger = func() {
		cancel()
		<-ended
		w.stopLinger = func() {}
	}
	helpers.Go(func() {
		defer close(ended)
		defer cancel()
		w.linger(ctx, snap)
		shut(snap.conn)
	})
}

func (w *Watcher) linger(ctx context.Context, snap *snapshot) {
	before := snap.copies.Load()
	timer := time.NewTimer(4 * w.cfg.Quiet)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-snap.conn.Done():
	case <-timer.C:
	}
	w.inv.EndScan()
	if n := snap.copies.Load() - before; n > 0 {
		held := w.held(ctx)
		w.setCoverage(func(c *inventory.Coverage) {
			c.Seen, c.CountedAt = held, time.Now()
			if c.Known < held {
				c.Known, c.KnownFrom = -1, "" // the count is older than what came late: no total any more
			}
			c.Notes = withNote(c.Notes, "Retained copies came after the scan had ended by its rule; they were taken.")
		})
	}
}

// publish puts the evidence of a scan that has ended into Status.
func (w *Watcher) publish(e *evidence, started, ended time.Time) {
	c := e.coverage()
	c.Notes = w.habitNotes()
	w.setBoth(func(l *inventory.Link, old *inventory.Coverage) {
		l.Scanning, l.Progress, l.ScanDone, l.ScanOf = false, "", 0, -1
		c.Away = old.Away
		c.StartedAt, c.EndedAt, c.CountedAt = started, ended, ended
		*old = c
	})
}

// toldBroker notes what the broker calls itself.
func (w *Watcher) toldBroker(version string) {
	if version != "" {
		w.versionTold.Store(true)
		w.setLink(func(l *inventory.Link) { l.Broker = version })
	}
}
