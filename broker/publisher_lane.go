package broker

// The one step in which a publish is checked, handed to the connection and recorded.
// Whoever is in the lane decides what the wire and the ledger say next, and nobody else does.

import (
	"context"
	"fmt"
	"time"

	"retainscope/expiry"
)

// outgoing returns what goes on the wire for an entry.
func (p *Publisher) outgoing(e expiry.Entry, retain bool) outgoing {
	o := outgoing{topic: e.Topic, payload: e.Payload, props: e.Properties, qos: e.QoS, retain: retain, plain: p.plain}
	if retain && !p.plain {
		o.props = append(expiryProperty(p.cfg.Interval), e.Properties...)
	}
	return o
}

// put checks, sends and records o in one step, holding the lane. Without a link nothing was handed over; otherwise the
// link is the one it was handed to and published is the instant in the ledger.
func (p *Publisher) put(ctx context.Context, o *outgoing, e expiry.Entry) (l *publishLink, f *flight, published time.Time, err error) {
	for {
		if l, err = p.current(); err != nil {
			return nil, nil, published, err
		}
		if limit := l.conn.server.allowed(o); limit != nil {
			return nil, nil, published, limit
		}
		// The slot comes first: whoever waits for one must not keep the lane from the others.
		if o.qos > 0 {
			if err = l.slot(ctx, p.cfg.Timeout); err != nil {
				return nil, nil, published, err
			}
		}
		if err = p.enter(ctx); err == nil {
			if p.link.Load() == l {
				break
			}
			p.leave() // another connection stands by now
		}
		if o.qos > 0 {
			l.release()
		}
		if err != nil {
			return nil, nil, published, err
		}
	}
	defer p.leave()
	keep := o.retain && !p.plain
	if keep {
		p.mu.Lock()
		err = p.ledger.Check(o.topic, len(o.payload))
		p.mu.Unlock()
		if err != nil {
			if o.qos > 0 {
				l.release()
			}
			return nil, nil, published, err
		}
	}
	f, handed, err := l.send(o)
	if !handed {
		return nil, nil, published, fmt.Errorf("%w: %w", ErrNotConnected, err)
	}
	if keep {
		published = p.instant()
		e.Published = published
		p.mu.Lock()
		_ = p.ledger.Record(e) // it was checked, and nobody else records
		p.mu.Unlock()
		if p.recorded != nil {
			p.recorded(o.topic, o.payload)
		}
	}
	return l, f, published, err
}

// enter takes the lane, or returns ctx's error.
func (p *Publisher) enter(ctx context.Context) error {
	select {
	case p.lane <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both were possible
		p.leave()
		return err
	}
	return nil
}

// leave lets the next one into the lane.
func (p *Publisher) leave() { <-p.lane }

// current returns the connection that stands.
func (p *Publisher) current() (*publishLink, error) {
	p.mu.Lock()
	stopping, cause := p.stopping, p.status.Err
	p.mu.Unlock()
	if stopping {
		return nil, ErrStopped
	}
	if l := p.link.Load(); l != nil {
		return l, nil
	}
	if cause != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotConnected, cause)
	}
	return nil, ErrNotConnected
}

// instant returns the present one, later than every one before it: so two publishes, or a publish and a connect, are
// never at the same instant, and a clock that is set back changes no order.
func (p *Publisher) instant() time.Time {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !now.After(p.newest) {
		now = p.newest.Add(1)
	}
	p.newest = now
	return now
}
