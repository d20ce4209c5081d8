package broker

// What we send: one write for each packet, each with a deadline.
// Nothing is queued here; the caller's goroutine writes.

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// packetWriter joins the pieces in which the library hands over a packet and writes them at once. A write that does
// not end within timeout closes the connection: half a packet on the wire cannot be repaired.
type packetWriter struct {
	nc      net.Conn
	socket  io.Closer // below nc: closing it ends a write that hangs, and writes nothing itself
	timeout time.Duration
	failed  func(error) // told about the first error

	lane chan struct{} // holds a token from the first to the last piece of a packet
	buf  []byte
	base time.Time
	sent atomic.Int64 // nanoseconds after base at which the last packet was written

	disconnected atomic.Bool // our DISCONNECT is on the wire
}

func newPacketWriter(t *transport, timeout time.Duration, failed func(error)) *packetWriter {
	return &packetWriter{nc: t, socket: t.socket, timeout: timeout, failed: failed, lane: make(chan struct{}, 1), base: time.Now()}
}

// Lock waits for the end of the packet that is being written.
func (w *packetWriter) Lock() { w.lane <- struct{}{} }

// Unlock lets the next packet be written.
func (w *packetWriter) Unlock() { <-w.lane }

// Write takes the next piece of a packet and writes the packet when it is whole. The caller holds the lock.
func (w *packetWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	size, ok := packetSize(w.buf)
	if !ok || len(w.buf) < size {
		return len(p), nil
	}
	packet := w.buf
	w.buf = w.buf[:0]
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	if err := w.flush(packet, w.timeout); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *packetWriter) flush(packet []byte, timeout time.Duration) error {
	if w.disconnected.Load() {
		return net.ErrClosed // nothing may follow a DISCONNECT. [MQTT-3.14.4-2]
	}
	_ = w.nc.SetWriteDeadline(time.Now().Add(timeout))
	if _, err := w.nc.Write(packet); err != nil {
		name := packetName(packet[0] >> 4)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("the broker took no %s for %s: %w", name, timeout, os.ErrDeadlineExceeded)
		} else {
			err = fmt.Errorf("could not send %s: %w", name, safeError{err})
		}
		w.failed(err)
		_ = w.socket.Close()
		return err
	}
	w.sent.Store(int64(time.Since(w.base)))
	if packet[0]>>4 == typeDisconnect {
		w.disconnected.Store(true)
	}
	return nil
}

// busy reports whether a packet is just being written, which has a time limit of its own.
func (w *packetWriter) busy() bool { return len(w.lane) > 0 }

// goodbye sends a DISCONNECT with a reason code, for at most goodbyeTime, unless something else is just being written.
//
// Source: MQTT 5, 4.13.1.
func (w *packetWriter) goodbye(code byte) {
	select {
	case w.lane <- struct{}{}:
	default:
		return
	}
	defer w.Unlock()
	_ = w.flush([]byte{typeDisconnect << 4, 2, code, 0}, goodbyeTime)
}

// last returns when the last packet was written, or when the connection was made.
func (w *packetWriter) last() time.Time { return w.base.Add(time.Duration(w.sent.Load())) }

// packetSize returns the length of the packet that b begins with, once its fixed header is there.
func packetSize(b []byte) (int, bool) {
	if len(b) < 2 {
		return 0, false
	}
	n, header := varSize(b[1:])
	return 1 + header + n, header > 0
}
