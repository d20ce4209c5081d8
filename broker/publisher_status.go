package broker

// What a publisher tells of itself: values, to be looked at whenever somebody wants to.

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PublisherStatus is the state of a Publisher at one instant.
type PublisherStatus struct {
	Connected bool
	Since     time.Time // of Connected
	// Err is why there is no connection: the last connect's or what ended the last connection. nil while connected, and
	// before the first attempt has ended.
	Err         error
	Lost        error // what ended the last connection that stood; nil before the first loss
	Attempt     int   // connects that failed in a row
	Connections int64 // that stood so far
	// Settled tells that the connect steps have run on this connection and what is older than it has been repeated.
	Settled bool

	Topics  int // in the ledger
	Bytes   int // of their topics and payloads
	Pending int // tombstones that were not answered

	Interval  time.Duration // that every retained message carries; 0 with a limited version
	Every     time.Duration // distance of two passes of the refresh; 0 where there is none
	RoundTrip time.Duration // of a PUBACK, smoothed; 0 before the first
	Last      Pass          // the last pass, of either kind
	Passes    int64         // that ran to their end
	Failed    int64         // that a lost connection or a missing answer cut short
	Away      int64         // that were skipped for want of a connection
	Overruns  int64         // ticks that were missed because a pass was still running
}

// Pass is one repetition of the ledger.
type Pass struct {
	At        time.Time
	Took      time.Duration
	Reconnect bool // of what is older than the connection, rather than of all on a tick
	Entries   int  // that were due
	Sent      int
	Refused   int
	Window    int // the most messages that were in flight at once
	// Slow tells that it did not end, or could not have ended, within two thirds of the interval: entries may run out
	// before they are repeated.
	Slow bool
	Err  error // what cut it short
}

// Status returns the present state. It is cheap and never waits for the network.
func (p *Publisher) Status() PublisherStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Topics, s.Bytes, s.Pending = p.ledger.Len(), p.ledger.Bytes(), p.ledger.Pending()
	s.Interval, s.Every = time.Duration(p.cfg.Interval)*time.Second, p.every
	return s
}

// Changed returns a channel that holds one signal when Status has changed since the last one was taken, but for its
// Topics, Bytes and Pending.
func (p *Publisher) Changed() <-chan struct{} { return p.changed }

func (p *Publisher) setStatus(f func(*PublisherStatus)) {
	p.mu.Lock()
	f(&p.status)
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// farewell is how long Stop waits for the acknowledgements of what was sent last.
const farewell = time.Second

// Stop ends the refresh and the connect steps, leaves the broker with a DISCONNECT that discards the last will, clears
// the ledger, and returns when every goroutine of the publisher has ended. What the ledger held stays at the broker until its
// interval has passed. Where ctx ends first the socket is closed and the broker publishes the will; the error says so,
// and also when a connect step ignored that its context had ended. A second call waits for the first and returns the
// same.
func (p *Publisher) Stop(ctx context.Context) error {
	p.stop.Do(func() { p.left = p.end(ctx) })
	return p.left
}

func (p *Publisher) end(ctx context.Context) error {
	p.mu.Lock()
	p.stopping, p.goodbye = true, ctx
	p.mu.Unlock()
	p.cancel()
	ended := make(chan struct{})
	go func() { p.ended.Wait(); close(ended) }()
	var err error
	select {
	case <-ended:
	case <-p.done:
		select {
		case <-ended:
		case <-ctx.Done():
			err = errors.New("stop the publisher: a connect step still runs")
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ledger.Clear()
	clear(p.refused)
	p.status.Connected, p.status.Settled, p.status.Since = false, false, p.cfg.Clock()
	return errors.Join(p.departed, err)
}

// depart leaves the broker for good, within the context that Stop was given.
func (p *Publisher) depart(l *publishLink) {
	p.mu.Lock()
	ctx := p.goodbye
	p.mu.Unlock()
	l.quiet(ctx, farewell)
	// A publish that is being written is waited for, so that nothing cuts into it; then there is no link any more.
	if err := p.enter(ctx); err == nil {
		p.link.Store(nil)
		p.leave()
	}
	err := l.conn.Close(ctx)
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		p.departed = fmt.Errorf("stop the publisher: the broker may not have been told and may publish the last will: %w", err)
	}
}
