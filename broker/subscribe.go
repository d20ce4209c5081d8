package broker

// SUBSCRIBE and UNSUBSCRIBE with their answers.
// A refusal is an answer, not an error.

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"retainscope/inventory"
)

// answerPatience is how many times Config.Timeout an answer is waited for while other packets arrive. A broker whose
// queue is full drops the answer with the rest, and then it never comes.
const answerPatience = 30

// longestText is the most bytes that a string on the wire can have. The library cuts longer ones without a word.
const longestText = 65535

// Subscribe sends one SUBSCRIBE for all of subs and returns one Grant for each, in their order. A refused filter is a
// Grant whose Refused is true; the error is then nil. An error means that no usable answer came: ctx ended, the
// connection ended (its error is inside, and the first of the filters is named), a filter is empty or too long, the packet would be larger than the server
// takes, the server was silent for Config.Timeout or sent everything but the answer for thirty times that, or the
// SUBACK did not fit; grants that came with such a SUBACK are returned as well.
//
// Source: MQTT 5, 3.8 and 3.9.
func (c *Conn) Subscribe(ctx context.Context, subs []Subscription) ([]inventory.Grant, error) {
	if len(subs) == 0 {
		return nil, nil
	}
	size := 0
	for _, s := range subs {
		size += 3 + len(s.Filter)
		if n := len(s.Filter); n == 0 || n > longestText {
			return nil, fmt.Errorf("subscribe: a topic filter of %d bytes; 1 to %d are possible", n, longestText)
		}
	}
	if err := c.fits("subscribe", size); err != nil {
		return nil, err
	}
	c.note(subs)
	var codes []byte
	err := c.request(ctx, "subscribe", func(ctx context.Context) (err error) {
		codes, err = c.session.Subscribe(ctx, subs)
		return err
	})
	if codes == nil {
		return nil, c.cutShort(ctx, filtersOf(subs), err)
	}
	var grants []inventory.Grant
	for i, code := range codes[:min(len(codes), len(subs))] {
		grants = append(grants, inventory.Grant{Filter: subs[i].Filter, Code: code})
	}
	if len(codes) != len(subs) {
		return grants, fmt.Errorf("subscribe: the SUBACK answers %d filters, %d were asked for", len(codes), len(subs))
	}
	return grants, nil
}

func filtersOf(subs []Subscription) []string {
	filters := make([]string, len(subs))
	for i, s := range subs {
		filters[i] = s.Filter
	}
	return filters
}

// fits returns an error when a request with a payload of size bytes is more than the server takes. The library does
// not look at that, and the server would end the connection.
func (c *Conn) fits(what string, size int) error {
	size += 2 + 1 // packet identifier, no properties
	size += 1 + len(binary.AppendUvarint(nil, uint64(size)))
	if limit := int(c.server.MaximumPacketSize); limit > 0 && size > limit {
		return fmt.Errorf("%s: a packet of %d bytes, and the broker takes %d bytes at most", what, size, limit)
	}
	return nil
}

// note remembers the lowest QoS that was ever subscribed to: a delivery at QoS 0 tells the stored QoS only where no
// subscription asked for QoS 0.
func (c *Conn) note(subs []Subscription) {
	for _, s := range subs {
		if s.QoS == 0 {
			c.asked.Store(askedAt0)
			return
		}
	}
	c.asked.CompareAndSwap(0, askedAbove0)
}

// Unsubscribe sends one UNSUBSCRIBE for all of filters. It returns nil when every one was answered with success or
// with "No subscription existed", and an error that names the first refused filter otherwise. Other errors are those
// of Subscribe.
//
// Source: MQTT 5, 3.10 and 3.11.
func (c *Conn) Unsubscribe(ctx context.Context, filters []string) error {
	if len(filters) == 0 {
		return nil
	}
	size := 0
	for _, f := range filters {
		size += 2 + len(f)
	}
	if err := c.fits("unsubscribe", size); err != nil {
		return err
	}
	var codes []byte
	err := c.request(ctx, "unsubscribe", func(ctx context.Context) (err error) {
		codes, err = c.session.Unsubscribe(ctx, filters)
		return err
	})
	if codes == nil {
		return c.cutShort(ctx, filters, err)
	}
	for i, code := range codes {
		if code >= 0x80 && i < len(filters) {
			return fmt.Errorf("unsubscribe from %q: %s", filters[i], reasonText(code))
		}
	}
	return nil
}

// request runs f, which waits for an answer, and ends it when the connection ends or the server is silent.
func (c *Conn) request(ctx context.Context, what string, f func(context.Context) error) error {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	finished := make(chan struct{})
	defer close(finished)
	start := time.Now()
	go func() {
		timer := time.NewTimer(c.cfg.Timeout)
		defer timer.Stop()
		for {
			select {
			case <-finished:
				return
			case <-c.done:
				cancel(c.ended(what, nil))
				return
			case <-timer.C:
			}
			// While bytes arrive the answer may be behind them: some brokers send a whole burst before SUBACK.
			since := c.t.socket.last()
			if since.Before(start) {
				since = start
			}
			if c.out.busy() || c.ahead.full() {
				since = time.Now()
			}
			left := c.cfg.Timeout - time.Since(since)
			if waited := time.Since(start); left <= 0 || waited >= answerPatience*c.cfg.Timeout {
				cancel(fmt.Errorf("%s: no answer from the broker for %s", what, waited.Round(time.Millisecond)))
				return
			}
			timer.Reset(left)
		}
	}()
	err := f(waiting)
	if err == nil {
		return nil
	}
	if c.Err() != nil {
		return c.ended(what, err)
	}
	if cause := context.Cause(waiting); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("%s: %w", what, err)
}
