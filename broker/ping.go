package broker

// PINGREQ and PINGRESP: the keep-alive, and the fence that marks a place in the stream of publications.
// The library's own pinger is not used: it ends a connection whose PINGRESP waits behind a long burst.

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	paholog "github.com/eclipse/paho.golang/paho/log"
)

// pings keeps the PINGREQ that are on the wire, oldest first. A PINGRESP has no identifier, so each one answers the
// oldest: where a server dropped one, a fence is told later, never sooner, than its place in the stream.
type pings struct {
	c *Conn

	mu       sync.Mutex
	waiting  []chan struct{} // one for each PINGREQ; closed by its PINGRESP
	sent     int64
	answered int64
}

// send writes a PINGREQ and returns the channel that its PINGRESP closes.
func (p *pings) send() (<-chan struct{}, error) {
	answer := make(chan struct{})
	p.c.out.Lock() // the order in waiting is the order on the wire
	defer p.c.out.Unlock()
	p.mu.Lock()
	p.waiting = append(p.waiting, answer)
	p.sent++
	p.mu.Unlock()
	_, err := p.c.out.Write([]byte{typePingreq << 4, 0})
	return answer, err
}

// response takes a PINGRESP that was reached in decode order. One that nothing asked for is ignored.
func (p *pings) response() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return
	}
	close(p.waiting[0])
	p.waiting = p.waiting[1:]
	p.answered++
}

func (p *pings) counts() (sent, answered int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent, p.answered
}

// Fence sends a PINGREQ and returns nil when its PINGRESP has been reached in decode order: every publication that
// came before it has been delivered. It returns ctx's error when that ends first, and the connection's error when the
// connection does. After an unanswered fence a later one is answered late, see pings. Any goroutine may call it, but
// not the one that delivers.
//
// Source: MQTT 5, 3.12 and 3.13.
func (c *Conn) Fence(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	answer, err := c.pings.send()
	if err != nil {
		return c.ended("fence", err)
	}
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("fence: no PINGRESP: %w", ctx.Err())
	case <-c.done:
		select {
		case <-answer:
			return nil
		default:
		}
		return c.ended("fence", nil)
	}
}

// Run is called by the library for the life of the connection. It sends a PINGREQ when nothing was sent or nothing
// received for the keep-alive, and returns an error when the server has been silent for one and a half of it. Any byte
// received is life.
//
// Source: MQTT 5, 3.1.2.10 and [MQTT-3.1.2-22], applied to the other side.
func (p *pings) Run(ctx context.Context, _ net.Conn, keepAlive uint16) error {
	if keepAlive == 0 {
		return nil
	}
	interval := time.Duration(keepAlive) * time.Second
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		now := time.Now()
		heard, asked := p.c.t.socket.last(), p.c.out.last()
		if p.c.ahead.full() {
			heard = now // it is we who do not listen
		}
		if silent := now.Sub(heard); silent >= interval*3/2 {
			err := fmt.Errorf("the broker has been silent for %s", silent.Round(time.Second))
			p.c.fail(err)
			return err
		}
		quiet := heard.Add(interval)
		if now.Sub(asked) >= interval || (!now.Before(quiet) && asked.Before(quiet)) {
			if _, err := p.send(); err != nil {
				return err
			}
			asked = now
		}
		if !now.Before(quiet) {
			quiet = heard.Add(interval * 3 / 2)
		}
		timer.Reset(max(min(asked.Add(interval).Sub(now), quiet.Sub(now)), interval/8))
	}
}

// PacketSent, PacketReceived and PingResp are the library's news; the wire itself is watched instead.
func (p *pings) PacketSent()               {}
func (p *pings) PacketReceived()           {}
func (p *pings) PingResp()                 {}
func (p *pings) SetDebug(_ paholog.Logger) {}
