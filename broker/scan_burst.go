package broker

// The snapshot side of a scan: where retained copies go, and how the end of their burst is told.
// The rule is a PINGRESP and then a quiet time; what it cannot show is said in coverage.go.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/inventory"
)

// snapshot counts the retained copies of one connection on their way into the inventory.
type snapshot struct {
	inv    *inventory.Inventory
	conn   *Conn
	copies atomic.Int64
	// ownOnly has topics that begin with $ left out of copies: they came of an extra filter.
	ownOnly bool
	made    time.Time
	last    atomic.Int64 // when the last retained copy came, in nanoseconds since made: no clock that is set matters
}

// dialSnapshot makes a connection for retained copies. Retain As Published is left 0 on it, so that RETAIN means
// "because of the subscription"; what else comes is live traffic that the live connection takes.
func (w *Watcher) dialSnapshot(ctx context.Context) (*snapshot, error) {
	s := &snapshot{inv: w.inv, made: time.Now(), ownOnly: w.extraOnly()}
	conn, err := w.dialPatient(ctx, s.take, inventory.Replay)
	s.conn = conn
	return s, err
}

// patience is how long a busy broker may be silent before an answer is given up. A broker that walks millions of
// topics sends nothing meanwhile.
const patience = 60 * time.Second

// dialPatient connects within the usual time, and then waits longer for answers.
func (w *Watcher) dialPatient(ctx context.Context, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, w.cfg.Timeout)
	defer cancel()
	conn, err := Dial(ctx, w.cfg.Config, deliver, origin)
	if err == nil {
		conn.cfg.Timeout = max(conn.cfg.Timeout, patience) // nobody else has the connection yet
	}
	return conn, err
}

// take is called on the connection's decode goroutine.
func (s *snapshot) take(batch []inventory.Publication) {
	n, extra := 0, 0
	for i := range batch {
		if batch[i].Retain {
			if n != i {
				batch[n] = batch[i]
			}
			n++
			if s.ownOnly && len(batch[i].Topic) > 0 && batch[i].Topic[0] == '$' {
				extra++
			}
		}
	}
	if n == 0 {
		return
	}
	s.inv.Apply(batch[:n])
	s.copies.Add(int64(n - extra))
	s.last.Store(int64(time.Since(s.made)))
}

// burst says how the end of a burst was found.
type burst struct {
	fenced  bool
	pings   int64 // PINGREQ without an answer
	trickle bool
}

const (
	// silentTime without a byte is when a PINGRESP may have been dropped: another PINGREQ settles that.
	silentTime = 2 * time.Second
	mostPings  = 3
	// trickleTime is how long single copies are waited for after the fence; trickleCopies in that time are a burst.
	trickleTime   = 30 * time.Second
	trickleCopies = 100
)

// end waits for the end of a burst: a PINGRESP to a PINGREQ sent now, and then quiet without a retained copy. Where
// hopeful returns true and nothing has come at all, five times as long is waited. tell is called now and then. The
// error is ctx's or the connection's.
func (s *snapshot) end(ctx context.Context, quiet time.Duration, hopeful func() bool, tell func()) (burst, error) {
	var b burst
	fencing, cancel := context.WithCancel(ctx)
	answers := make(chan bool, mostPings)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	first := s.copies.Load()
	var sent, answered int64
	var asked, fencedAt, mark time.Time
	ask := func() {
		sent++
		asked = time.Now()
		waiting.Go(func() { answers <- s.conn.Fence(fencing) == nil })
	}
	ask()
	tick := time.NewTicker(min(max(quiet/20, 5*time.Millisecond), 100*time.Millisecond))
	defer tick.Stop()
	var marked int64
	for {
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case <-s.conn.Done():
			return b, s.conn.ended("scan", nil)
		case ok := <-answers:
			if ok {
				if answered++; answered == 1 {
					b.fenced, fencedAt, mark, marked = true, time.Now(), time.Now(), s.copies.Load()
				}
			}
		case <-tick.C:
			tell()
		}
		now := time.Now()
		if answered == 0 {
			silent := now.Sub(latest(asked, s.conn.Stats().LastByte))
			switch {
			case silent < silentTime:
			case sent < mostPings:
				ask()
			case silent >= max(quiet, patience/4):
				b.pings = sent
				return b, nil
			}
			continue
		}
		need := quiet
		if s.copies.Load() == first && hopeful() {
			need = 5 * quiet
		}
		if now.Sub(latest(fencedAt, s.made.Add(time.Duration(s.last.Load())))) >= need {
			b.pings = sent - answered
			return b, nil
		}
		if now.Sub(mark) >= trickleTime {
			n := s.copies.Load()
			if n-marked < trickleCopies {
				b.trickle = true
				return b, nil
			}
			mark, marked = now, n
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
