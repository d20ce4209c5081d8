package broker

// One connection of a publisher: what was sent on it and not acknowledged yet.
// A fresh session each: nothing is ever resumed or resent by the protocol, the ledger is the only re-assertion.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/inventory"
)

// ErrNoAnswer is wrapped by the error of a publish that was handed to the connection and that the broker did not
// acknowledge: it may or may not have taken effect.
var ErrNoAnswer = errors.New("no acknowledgement")

// publishLink is one connection. Whoever holds the publisher's lane may send on it.
type publishLink struct {
	conn  *Conn
	wire  *publishWire
	since time.Time // when it stood, in the publisher's instants
	ctx   context.Context
	// slots holds a token for each flight: no more than the server's Receive Maximum. [MQTT-3.3.4-7]
	slots chan struct{}
	// settled is set when the entries older than this connection have been re-asserted on it, or nobody waits for
	// the connect steps any more.
	settled atomic.Bool

	mu      sync.Mutex
	flights map[uint16]*flight
	last    uint16 // Packet Identifier
}

// flight is a PUBLISH at QoS 1 that is not acknowledged yet.
type flight struct {
	id     uint16
	sent   time.Time
	answer chan answered // capacity 1
}

// answered is a PUBACK and how long it took.
type answered struct {
	puback
	took time.Duration
}

// dial makes a connection with the publisher's identity and will.
func (p *Publisher) dial(ctx context.Context) (*publishLink, error) {
	l := &publishLink{flights: make(map[uint16]*flight)}
	l.wire = &publishWire{acked: l.acked}
	cfg := p.cfg.Config
	if p.plain {
		cfg.identity, cfg.will, l.wire.in.plain = p.cfg.Identity, p.cfg.Will, true
	} else {
		l.wire.connect = func(packet []byte) ([]byte, error) {
			return withWill(packet, p.cfg.Identity, p.cfg.Will, p.cfg.Interval)
		}
	}
	var err error
	if l.conn, err = dialPublishing(ctx, cfg, l.wire); err != nil {
		return nil, err
	}
	l.slots = make(chan struct{}, l.conn.Server().ReceiveMaximum)
	return l, nil
}

// dialPublishing is Dial for a connection without subscriptions, with w between its transport and the rest.
func dialPublishing(ctx context.Context, cfg Config, w *publishWire) (*Conn, error) {
	if err := cfg.fitting(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	t, err := dialTransport(limited, cfg)
	if err != nil {
		return nil, err
	}
	w.Conn, w.socket = t.Conn, t.socket
	t.Conn = w
	// Without a subscription nothing is delivered. The origin decides only how soon after another a reader looks.
	return open(limited, cfg, t, func([]inventory.Publication) {}, inventory.Replay)
}

// slot takes one of the server's Receive Maximum, for a publish at QoS 1. It returns an error that wraps ErrNotConnected
// when the connection ends, one that is errNoSlot when none becomes free within limit, or ctx's error.
func (l *publishLink) slot(ctx context.Context, limit time.Duration) error {
	select {
	case l.slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.conn.Done():
		return l.gone()
	case <-timer.C:
		return fmt.Errorf("%w: the broker left %d publishes unacknowledged for %s", errNoSlot, cap(l.slots), limit)
	}
}

var errNoSlot = errors.New("nothing more may be sent")

// release gives a slot back that was not used.
func (l *publishLink) release() { <-l.slots }

// send writes o. The caller holds the lane, and a slot where o is at QoS 1: then there is a flight, unless nothing was
// handed over. handed tells whether the transport took any byte of it; with an error it may have taken a part.
func (l *publishLink) send(o *outgoing) (f *flight, handed bool, err error) {
	id := uint16(0)
	if o.qos > 0 {
		f = l.book()
		id = f.id
	}
	before := l.wire.handed.Load()
	l.conn.out.Lock()
	_, err = l.conn.out.Write(o.packet(id))
	l.conn.out.Unlock()
	if handed = l.wire.handed.Load() != before; !handed && f != nil {
		l.mu.Lock()
		delete(l.flights, id)
		l.mu.Unlock()
		l.release()
		f = nil
	}
	return f, handed, err
}

// book gives a flight its Packet Identifier. There is a free one: a slot was taken. [MQTT-2.2.1-3]
func (l *publishLink) book() *flight {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		l.last++
		if _, used := l.flights[l.last]; !used && l.last != 0 {
			f := &flight{id: l.last, sent: time.Now(), answer: make(chan answered, 1)}
			l.flights[l.last] = f
			return f
		}
	}
}

// acked takes a PUBACK. One that nothing waits for is ignored.
func (l *publishLink) acked(a puback) {
	l.mu.Lock()
	f := l.flights[a.id]
	delete(l.flights, a.id)
	l.mu.Unlock()
	if f != nil {
		f.answer <- answered{a, time.Since(f.sent)}
		l.release()
	}
}

// await returns the answer to f. It returns an error that wraps ErrNoAnswer when the connection ends or limit passes before,
// or ctx's error as well.
func (l *publishLink) await(ctx context.Context, f *flight, limit time.Duration) (answered, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var why error
	select {
	case a := <-f.answer:
		return a, nil
	case <-l.conn.Done():
		why = l.conn.ended("publish", nil)
	case <-ctx.Done():
		why = ctx.Err()
	case <-timer.C:
		why = fmt.Errorf("the broker said nothing for %s", limit)
	}
	select {
	case a := <-f.answer: // it came in the same moment
		return a, nil
	default:
		return answered{}, fmt.Errorf("%w: %w", ErrNoAnswer, why)
	}
}

// quiet waits until everything sent has been answered, for at most limit.
func (l *publishLink) quiet(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// Whoever can take every slot knows that nothing is in flight.
	for range cap(l.slots) {
		select {
		case l.slots <- struct{}{}:
		case <-l.conn.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// cause returns why the connection ended.
func (l *publishLink) cause() error {
	if err := l.conn.Err(); err != nil {
		return err
	}
	return net.ErrClosed
}

// gone returns the error of what could not be sent any more.
func (l *publishLink) gone() error { return fmt.Errorf("%w: %w", ErrNotConnected, l.cause()) }
