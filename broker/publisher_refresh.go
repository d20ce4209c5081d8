package broker

// The refresh: the ledger repeated every third of the interval, and after a reconnect what is older than it.
// One goroutine, so that two passes never run at once; it holds the lane for one message at a time.

import (
	"context"
	"errors"
	"fmt"
	"time"
)

func (p *Publisher) refresh() {
	defer p.ended.Done()
	timer := time.NewTimer(p.every)
	defer timer.Stop()
	for tick := int64(1); ; {
		select {
		case <-p.ctx.Done():
			return
		case l := <-p.reassert:
			if p.link.Load() != l {
				continue
			}
			pass := p.pass(l, l.since, true)
			l.settled.Store(true)
			p.setStatus(func(s *PublisherStatus) { s.Last, s.Settled = pass, pass.Err == nil && s.Connected })
		case <-timer.C:
			p.tick()
			// A fixed cadence from tick to tick; those that went by meanwhile are skipped.
			next := int64(time.Since(p.start)/p.every) + 1
			if missed := next - tick - 1; missed > 0 {
				p.cfg.Logger.Warn("a pass of the refresh took longer than its period: ticks were skipped", "ticks", missed, "period", p.every)
				p.setStatus(func(s *PublisherStatus) { s.Overruns += missed })
			}
			tick = next
			timer.Reset(time.Until(p.start.Add(time.Duration(tick) * p.every)))
		}
	}
}

// tick runs one pass over all that was published before now. While the connect steps run, it leaves out what is younger
// than the connection.
func (p *Publisher) tick() {
	l := p.link.Load()
	if l == nil {
		p.setStatus(func(s *PublisherStatus) { s.Away++ })
		return
	}
	cutoff := p.instant()
	if !l.settled.Load() {
		cutoff = l.since
	}
	pass := p.pass(l, cutoff, false)
	p.setStatus(func(s *PublisherStatus) { s.Last = pass })
}

// repetition is a message of a pass that waits for its PUBACK.
type repetition struct {
	f         *flight
	topic     string
	tombstone bool
	published time.Time
}

// pass repeats everything that was published before cutoff, in ledger order. One message is in flight, or as many as it
// takes to end in time. A lost connection or a missing answer ends it with one warning; a refusal does not.
func (p *Publisher) pass(l *publishLink, cutoff time.Time, reconnect bool) Pass {
	run := passRun{p: p, l: l, start: time.Now(), Pass: Pass{At: p.cfg.Clock(), Reconnect: reconnect}}
	p.mu.Lock()
	topics := p.ledger.Older(cutoff)
	p.mu.Unlock()
	run.Entries, run.left = len(topics), len(topics)
	for _, topic := range topics {
		for run.Err == nil && len(run.flying) >= run.width() {
			run.Err = run.land()
		}
		if run.Err != nil {
			break
		}
		run.Err = run.repeat(topic, cutoff)
		run.left--
	}
	for run.Err == nil && len(run.flying) > 0 {
		run.Err = run.land()
	}
	return run.end()
}

// passRun is a pass that is running.
type passRun struct {
	Pass
	p      *Publisher
	l      *publishLink
	start  time.Time
	left   int // entries that were not sent yet
	flying []repetition
	news   []string
}

// roundTrip returns the smoothed time of a PUBACK.
func (p *Publisher) roundTrip() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.RoundTrip
}

// measured takes the time that a PUBACK took.
func (p *Publisher) measured(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &p.status; s.RoundTrip == 0 {
		s.RoundTrip = took
	} else {
		s.RoundTrip += (took - s.RoundTrip) / 8
	}
}

// limit returns the most messages of a pass that may be in flight: half of the server's Receive Maximum, so that the
// application always finds room.
func (r *passRun) limit() int { return max(cap(r.l.slots)/2, 1) }

// width returns how many messages should be in flight, so that what is left takes no longer than the rest of half a
// period: one, where that is enough.
func (r *passRun) width() int {
	need := time.Duration(r.left) * r.p.roundTrip()
	room := r.p.every/2 - time.Since(r.start)
	width := r.limit()
	if room > 0 {
		width = min(width, int(need/room)+1)
	}
	r.judge(need)
	return max(width, 1)
}

// judge reports once that the pass cannot end within two thirds of the interval. need is what is left at one message
// at a time.
func (r *passRun) judge(need time.Duration) {
	allowed := 2 * r.p.every
	so := time.Since(r.start)
	if r.Slow || so+need/time.Duration(r.limit()) <= allowed && so <= allowed {
		return
	}
	r.Slow = true
	r.p.cfg.Logger.Error("a pass of the refresh cannot end within two thirds of the interval: entries may expire before they are repeated",
		"entries", r.Entries, "left", r.left, "round trip", r.p.roundTrip(), "in flight at most", r.limit(), "took so far", so, "allowed", allowed)
}

// repeat sends the entry of topic again, if it is still there and older than cutoff. It returns what ends the pass.
func (r *passRun) repeat(topic string, cutoff time.Time) error {
	p, l := r.p, r.l
	if err := l.slot(p.ctx, r.patience()); err != nil {
		if errors.Is(err, errNoSlot) {
			// Nothing is acknowledged any more. On a new connection everything is repeated.
			l.conn.fail(err)
			_ = l.conn.t.socket.Close()
		}
		return err
	}
	if err := p.enter(p.ctx); err != nil {
		l.release()
		return err
	}
	defer p.leave()
	if p.link.Load() != l {
		l.release()
		return l.gone()
	}
	p.mu.Lock()
	e, ok := p.ledger.Entry(topic)
	p.mu.Unlock()
	awaited := e.Tombstone() && e.Published.After(l.since) && p.cfg.Clock().Sub(e.Published) < p.cfg.Timeout
	if !ok || !e.Published.Before(cutoff) || awaited {
		l.release()
		return nil
	}
	o := p.outgoing(e, true)
	if limit := l.conn.server.allowed(&o); limit != nil {
		l.release()
		r.refused(topic, limit.code)
		return nil
	}
	if o.qos == 0 {
		l.release()
	}
	f, handed, err := l.send(&o)
	if handed && p.recorded != nil {
		p.recorded(o.topic, o.payload)
	}
	if err != nil {
		return err
	}
	r.Sent++
	if f == nil {
		if e.Tombstone() { // at QoS 0 nothing ever answers; it was sent twice now
			r.answered(e.Topic, e.Published)
		}
		return nil
	}
	r.flying = append(r.flying, repetition{f, topic, e.Tombstone(), e.Published})
	r.Window = max(r.Window, len(r.flying))
	return nil
}

func (r *passRun) answered(topic string, published time.Time) {
	r.p.mu.Lock()
	r.p.ledger.Answered(topic, published)
	r.p.mu.Unlock()
}

// patience is how long one answer may take: less than a period, so that the next tick finds the pass ended.
func (r *passRun) patience() time.Duration { return min(r.p.cfg.Timeout, r.p.every*9/10) }

// land waits for the answer to the message that was sent first.
func (r *passRun) land() error {
	first := r.flying[0]
	r.flying = r.flying[1:]
	a, err := r.l.await(r.p.ctx, first.f, r.patience()-min(time.Since(first.f.sent), r.patience()))
	if err != nil {
		return err
	}
	r.p.measured(a.took)
	if first.tombstone {
		r.answered(first.topic, first.published)
	}
	if a.code >= 0x80 {
		r.refused(first.topic, a.code)
		return nil
	}
	r.p.mu.Lock()
	delete(r.p.refused, first.topic)
	r.p.mu.Unlock()
	return nil
}

// refused notes a refusal. It is reported when it is the first of this kind for the topic.
func (r *passRun) refused(topic string, code byte) {
	r.Refused++
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if was, known := r.p.refused[topic]; known && was == code {
		return
	}
	r.p.refused[topic] = code
	r.news = append(r.news, fmt.Sprintf("%s: %s", quoted(topic), reasonText(code)))
}

// end counts and reports the pass.
func (r *passRun) end() Pass {
	p := r.p
	r.Took = time.Since(r.start)
	r.judge(0)
	stopped := p.ctx.Err() != nil
	p.mu.Lock()
	for topic := range p.refused { // of what is still held
		if _, ok := p.ledger.Entry(topic); !ok {
			delete(p.refused, topic)
		}
	}
	if r.Err == nil {
		p.status.Passes++
	} else if !stopped {
		p.status.Failed++
	}
	p.mu.Unlock()
	if len(r.news) > 0 {
		p.cfg.Logger.Warn("the broker refused to take a refresh: the entry is kept and tried again", "entries", len(r.news), "first", r.news[0])
	}
	if r.Err != nil && !stopped && !errors.Is(r.Err, context.Canceled) {
		p.cfg.Logger.Warn("a pass of the refresh was cut short; the next one tries again", "sent", r.Sent, "of", r.Entries, "error", r.Err)
	}
	return r.Pass
}
