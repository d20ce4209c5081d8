package broker

// The goroutine that decodes: read-ahead to filter, batches to the sink, the rest to the library.

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"retainscope/inventory"
)

// goodbyeTime bounds the DISCONNECT that tells a server what it did wrong.
const goodbyeTime = time.Second

// decodeLoop feeds the filter until the stream ends, by its end or by its fault.
func (c *Conn) decodeLoop() {
	defer close(c.decoded)
	defer c.rest.close() // the library sees the end after everything that came before it
	for {
		b, at, err := c.ahead.next()
		if err != nil {
			c.fail(lost(err))
			return
		}
		if err := c.filter.feed(b, at); err != nil {
			c.fail(err)
			var violation *ProtocolError
			if errors.As(err, &violation) && c.filter.opened && !c.filter.plain {
				c.out.goodbye(violation.Code)
			}
			c.ahead.drop(err)
			return
		}
	}
}

// deliver hands a batch to the sink, unless the connection is being closed.
func (c *Conn) deliver(batch []inventory.Publication) {
	if c.closing.Load() {
		return
	}
	if c.filter.plain && c.filter.origin == inventory.Live {
		if batch = withoutReplays(batch); len(batch) == 0 {
			return
		}
	}
	if c.cfg.hold != nil {
		c.cfg.hold(batch)
	}
	c.publications.Add(int64(len(batch)))
	c.lastAt.Store(batch[len(batch)-1].ReceivedAt)
	c.sink(batch)
}

// withoutReplays moves what was published just now to the front of batch and returns it. A subscription of a limited
// version brings retained copies whether they are wanted or not, and they alone have RETAIN 1.
//
// Source: MQTT 3.1.1, [MQTT-3.3.1-8] and [MQTT-3.3.1-9].
func withoutReplays(batch []inventory.Publication) []inventory.Publication {
	n := 0
	for i := range batch {
		if batch[i].Retain {
			continue
		}
		if n != i {
			batch[n] = batch[i]
		}
		n++
	}
	return batch[:n]
}

// control takes a whole packet that is not a QoS 0 PUBLISH and hands it to the library.
func (c *Conn) control(packet []byte) error {
	switch packet[0] >> 4 {
	case typePingresp:
		c.pings.response()
	case typeDisconnect:
		_, header := varSize(packet[1:])
		c.rest.put(packet)
		return serverDisconnect(packet[1+header:])
	}
	c.rest.put(packet)
	return nil
}

// lost says in words how the connection ended below MQTT.
func lost(err error) error {
	var violation *ProtocolError
	switch {
	case errors.As(err, &violation):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the broker closed the connection without a reason: %w", err)
	case errors.Is(err, syscall.ECONNRESET):
		return fmt.Errorf("the broker reset the connection: %w", syscall.ECONNRESET)
	case errors.Is(err, syscall.ETIMEDOUT):
		return fmt.Errorf("the broker cannot be reached any more: %w", syscall.ETIMEDOUT)
	}
	return fmt.Errorf("the connection was lost: %w", safeError{err})
}

// safeError is an error whose text is safe for a terminal.
type safeError struct{ err error }

func (e safeError) Error() string { return plain(e.err.Error()) }
func (e safeError) Unwrap() error { return e.err }
