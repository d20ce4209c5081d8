package broker

// The life of a publisher: connect, run the steps, repeat what is older, notice the loss, come back.
// The only writer of the current link.

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// stepPatience is how long the connect steps may take, at most, before what is older than the connection is repeated
// without waiting for them; less where the interval is short.
const stepPatience = 30 * time.Second

func (p *Publisher) run() {
	defer p.ended.Done()
	defer close(p.done)
	var wait backoff
	steps := make(chan struct{}) // closed when the steps of the last connection have ended
	close(steps)
	hinted, told := false, false
	for attempt := 0; p.ctx.Err() == nil; {
		l, err := p.dial(p.ctx)
		if err != nil {
			if p.ctx.Err() != nil {
				return
			}
			attempt++
			p.setStatus(func(s *PublisherStatus) { s.Err, s.Attempt = err, attempt })
			hinted = p.connectFailed(err, attempt, hinted)
			if !p.pause(p.delay(&wait)) {
				return
			}
			continue
		}
		attempt = 0
		up := time.Now()
		if !told && !p.plain {
			told = true
			p.cfg.Logger.Info("every retained message expires unless it is repeated", "interval", time.Duration(p.cfg.Interval)*time.Second, "refresh", p.every)
		}
		steps = p.attend(l, steps)
		wait.stood(time.Since(up))
		if p.ctx.Err() != nil {
			return
		}
		lost := l.cause()
		p.setStatus(func(s *PublisherStatus) {
			s.Connected, s.Settled, s.Since, s.Err, s.Lost = false, false, p.cfg.Clock(), lost, lost
		})
		p.cfg.Logger.Warn("the publisher lost its connection", "error", lost)
		if !p.pause(p.delay(&wait)) {
			return
		}
	}
}

// connectFailed logs the first failure of a row, and once in the life of the publisher what may be behind it.
func (p *Publisher) connectFailed(err error, attempt int, hinted bool) bool {
	var e *ConnectError
	_ = errors.As(err, &e)
	switch {
	case e != nil && e.Hint != "" && !hinted:
		p.cfg.Logger.Warn("the publisher cannot connect", "error", err, "hint", e.Hint)
		return true
	case e != nil && p.cfg.Will != nil && (e.Code == 0x9A || e.Code == 0x9B) && attempt == 1:
		p.cfg.Logger.Warn("the broker does not take the last will", "error", err) // 3.2.2.3.4, 3.2.2.3.5
	case attempt == 1:
		p.cfg.Logger.Warn("the publisher cannot connect", "error", err)
	default:
		p.cfg.Logger.Debug("the publisher cannot connect", "error", err, "attempt", attempt)
	}
	return hinted
}

// attend makes l the current link, has its steps run when those of the connection before have ended, and returns when it is
// lost. What it returns is closed when the steps have ended.
func (p *Publisher) attend(l *publishLink, before chan struct{}) (steps chan struct{}) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	l.ctx = ctx
	p.lane <- struct{}{}
	l.since = p.instant() // everything in the ledger is older
	p.link.Store(l)
	p.leave()
	p.setStatus(func(s *PublisherStatus) {
		s.Connected, s.Settled, s.Since, s.Err, s.Attempt = true, false, l.since, nil, 0
		s.Connections++
	})
	steps = make(chan struct{})
	p.ended.Add(1)
	go func() {
		defer p.ended.Done()
		defer close(steps)
		select {
		case <-before:
			p.steps(ctx)
		case <-ctx.Done():
			<-before
		}
	}()
	if p.plain {
		p.await(l, steps)
	} else {
		p.repeat(l, steps)
	}
	select {
	case <-l.conn.Done():
	case <-p.ctx.Done():
		p.depart(l)
		return steps
	}
	p.lane <- struct{}{}
	p.link.CompareAndSwap(l, nil)
	p.leave()
	return steps
}

// await waits for the connect steps; nothing is to be repeated behind them.
func (p *Publisher) await(l *publishLink, steps chan struct{}) {
	select {
	case <-steps:
		p.setStatus(func(s *PublisherStatus) { s.Settled = s.Connected })
	case <-l.conn.Done():
	case <-p.ctx.Done():
	}
}

// repeat waits for the connect steps, but not for ever, and then has repeated what is older than l.
func (p *Publisher) repeat(l *publishLink, steps chan struct{}) {
	patience := time.NewTimer(min(stepPatience, p.every))
	defer patience.Stop()
	select {
	case <-steps:
	case <-patience.C:
		p.cfg.Logger.Warn("the connect steps have not ended: what is older than the connection is repeated without them")
	case <-l.conn.Done():
	case <-p.ctx.Done():
	}
	p.order(l)
}

// delay returns how long to wait before the next attempt: never so long that entries run out meanwhile.
func (p *Publisher) delay(wait *backoff) time.Duration {
	d := wait.next()
	if p.plain {
		return d
	}
	return min(d, max(p.every/2, 100*time.Millisecond))
}

// order asks the refresh for what is older than l. A wish of an earlier connection is void.
func (p *Publisher) order(l *publishLink) {
	select {
	case <-p.reassert:
	default:
	}
	p.reassert <- l
}

// steps runs the connect steps in order until ctx ends.
func (p *Publisher) steps(ctx context.Context) {
	for _, s := range p.cfg.Steps {
		if ctx.Err() != nil {
			return
		}
		if err := p.step(ctx, s); err != nil && ctx.Err() == nil {
			p.cfg.Logger.Warn("a connect step failed", "step", s.Name, "error", err)
		}
	}
}

func (p *Publisher) step(ctx context.Context, s Step) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return s.Run(ctx, p)
}

// pause waits, and returns false when the publisher is to end.
func (p *Publisher) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}
