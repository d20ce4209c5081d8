package broker

// The life of a watcher: attend to the live connection, notice its loss, come back, scan when that is due.
// Every goroutine of a watcher is started here or in scan, and ends before run does.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"retainscope/inventory"
)

const (
	// steadyTime is how long a connection must have stood before the back-off starts anew: one that is accepted and
	// ended over and over is not a success.
	steadyTime  = 30 * time.Second
	firstDelay  = time.Second
	longDelay   = time.Minute
	tellSpans   = 32
	shortestGap = 10 * time.Second
	longestGap  = 15 * time.Minute
	// gapPerTopic keeps automatic scans below a third of a percent of a single-threaded broker's time, which is about
	// three microseconds a topic.
	gapPerTopic = time.Millisecond
)

// backoff is the delay before the next attempt to connect.
type backoff struct{ delay time.Duration }

// next returns a random time around the present delay, and doubles it.
func (b *backoff) next() time.Duration {
	b.delay = min(max(b.delay*2, firstDelay), longDelay)
	return b.delay/2 + rand.N(b.delay)
}

// stood tells how long the last connection stood.
func (b *backoff) stood(d time.Duration) {
	if d >= steadyTime {
		b.delay = 0
	}
}

// scanGap returns the distance that automatic scans of a store of n topics keep.
func scanGap(n int64) time.Duration {
	return min(max(time.Duration(n)*gapPerTopic, shortestGap), longestGap)
}

func (w *Watcher) run(conn *Conn) {
	defer w.ended.Done()
	defer w.scanOnce.Do(func() { close(w.scanned) })
	defer w.cancel()
	var wait backoff
	due := w.now() // when the next automatic scan may start
	for {
		up := w.now()
		next, lost, err := w.attend(conn, due)
		w.tapBlind(conn.Stats().LastByte)
		due = next
		wait.stood(w.now().Sub(up))
		if w.ctx.Err() != nil || w.cfg.Once {
			w.leave(err)
			return
		}
		if conn = w.reconnect(&wait); conn == nil {
			w.leave(nil)
			return
		}
		w.back(lost, due)
	}
}

// leave says in Status that nobody watches any more.
func (w *Watcher) leave(err error) {
	w.setLink(func(l *inventory.Link) {
		l.State, l.Since, l.Scanning, l.Progress = inventory.Lost, w.now(), false, ""
		if err != nil {
			l.Err = lossText(err)
		}
	})
}

func (w *Watcher) lost(at time.Time, err error) {
	w.inv.SetAway(true)
	w.setLink(func(l *inventory.Link) {
		l.State, l.Since, l.Attempt, l.Err = inventory.Lost, at, 0, lossText(err)
	})
	w.setCoverage(func(c *inventory.Coverage) {
		away := append(append([]inventory.Span(nil), c.Away...), inventory.Span{From: at})
		c.Away = away[max(0, len(away)-tellSpans):]
	})
}

// back says that the live connection stands again, and first that the store was not asked for anew yet, where that is so.
func (w *Watcher) back(lost, due time.Time) {
	now := w.now()
	w.tapWatching(now)
	if due.After(now) {
		w.deferred(due)
	}
	w.setLink(func(l *inventory.Link) {
		l.State, l.Since, l.Attempt, l.RetryAt, l.Err = inventory.Watching, now, 0, time.Time{}, ""
	})
	w.setCoverage(func(c *inventory.Coverage) {
		away := append([]inventory.Span(nil), c.Away...)
		if n := len(away); n > 0 {
			away[n-1] = inventory.Span{From: lost, To: now}
		}
		c.Away = away
	})
	w.inv.SetAway(false)
}

// reconnect tries until it has a live connection again, and returns nil when the watcher is to end.
func (w *Watcher) reconnect(wait *backoff) *Conn {
	for attempt := 1; ; attempt++ {
		delay := wait.next()
		w.setLink(func(l *inventory.Link) { l.RetryAt = w.now().Add(delay) })
		if !w.pause(w.ctx, delay) {
			return nil
		}
		w.setLink(func(l *inventory.Link) { l.Attempt, l.RetryAt = attempt, time.Time{} })
		conn, err := w.connectLive(w.ctx)
		if err == nil {
			return conn
		}
		if w.ctx.Err() != nil {
			return nil
		}
		w.cfg.Logger.Info("reconnect failed", "attempt", attempt, "error", err)
		w.setLink(func(l *inventory.Link) { l.Err = lossText(err) })
	}
}

// pause waits for d and reports whether ctx still stands.
func (w *Watcher) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// attend works while conn stands: it scans at due and when asked to, keeps the expiring topics honest, and closes conn.
// It returns when the next automatic scan may start, and when and why conn was lost; Status shows the loss before that.
func (w *Watcher) attend(conn *Conn, due time.Time) (next, lost time.Time, err error) {
	ctx, cancel := context.WithCancel(w.ctx)
	var helpers sync.WaitGroup
	defer func() {
		cancel()
		helpers.Go(func() { shut(conn) })
		helpers.Wait()
		helpers.Go(w.queries.close)
		w.sys.close()
		w.sys = nil
		helpers.Wait()
	}()
	helpers.Go(func() { w.tend(ctx) })
	if w.cfg.Version.Limited() && !w.cfg.Once {
		helpers.Go(func() { w.followDoubts(ctx) })
	}

	var (
		running bool
		failed  int // scans in a row that did not come to their end
		again   bool
		ended   time.Time // when the last scan did
		doubts  int       // scans in a row that were made due by a doubt
		lapse   = liveLapse{conn: conn, helpers: &helpers}
		done    = make(chan bool, 1)
		auto    = time.NewTimer(max(due.Sub(w.now()), 0))
		second  = time.NewTicker(time.Second)
	)
	defer auto.Stop()
	defer second.Stop()
	// doubted makes a scan due, ever later where one doubt follows the other: a broker may drop for others all the time.
	doubted := func() {
		gap := scanGap(w.inv.Counts().Topics)
		if w.now().Sub(ended) > 2*(gap<<min(doubts, 6)) {
			doubts = 0
		}
		at := latest(w.now(), ended.Add(gap<<min(doubts, 6)))
		doubts++
		w.doubted(at)
		auto.Reset(at.Sub(w.now()))
	}
	start := func() {
		running, again = true, false
		lapse.scan()
		auto.Stop()
		helpers.Go(func() { done <- w.scan(ctx, &helpers) })
	}
	for {
		select {
		case <-conn.Done():
			now := w.now()
			if !w.cfg.Once && w.ctx.Err() == nil {
				w.lost(now, conn.Err())
			}
			if running {
				cancel()
				if <-done { // it had come to its end when the connection was lost
					due = now.Add(scanGap(w.inv.Counts().Topics))
				}
			}
			return due, now, conn.Err()
		case <-w.ctx.Done():
			return due, time.Time{}, nil
		case <-w.rescan:
			if again = running; !again {
				start()
			}
		case <-auto.C:
			if !running {
				start()
			}
		case ok := <-done:
			running, ended = false, w.now()
			if w.cfg.Once {
				return due, time.Time{}, nil
			}
			if ok {
				failed = 0
			} else {
				failed++
			}
			gap := scanGap(w.inv.Counts().Topics)
			due = w.now().Add(gap << min(failed, 6))
			if !ok {
				auto.Reset(due.Sub(w.now()))
			}
			if again {
				start()
			}
		case <-second.C:
			lapse.look(ctx, running || w.questions.Load() > 0)
			w.noteMute(lapse.mute)
			if !running {
				doubt := w.followFigures(ctx)
				if w.noteLapses(&lapse) || doubt {
					doubted()
				}
				w.refreshNotes()
				if w.live.wantsScan() {
					auto.Reset(max(due.Sub(w.now()), 0))
				}
			}
			lapse.rest()
		}
	}
}

// deferred says why the store is not asked for although the connection is back.
func (w *Watcher) deferred(due time.Time) {
	n := w.inv.Counts().Topics
	w.setCoverage(func(c *inventory.Coverage) {
		c.Claim = inventory.Incomplete
		c.Rule = fmt.Sprintf("The connection was away and the store was not asked for again yet: automatic scans of %s topics keep a distance of %s, the next starts at %s.",
			grouped(n), roundTime(scanGap(n)), due.Format("15:04:05"))
		c.Gaps = []inventory.Gap{{Count: -1, Text: "What changed while nobody watched is not known."}}
		c.Remedies = []string{"Scan now, or wait for the next scan."}
	})
}
