package broker

// What we send: one write for each packet, each with a deadline.
// Nothing is queued here; the caller's goroutine writes.

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// packetWriter joins the pieces in which the library hands over a packet and writes them at once. A write that does
// not end within timeout closes the connection: half a packet on the wire cannot be repaired.
type packetWriter struct {
	nc      net.Conn
	timeout time.Duration
	failed  func(error) // told about the first error

	sync.Mutex // held from the first to the last piece of a packet
	buf        []byte
	sent       atomic.Int64 // Unix nanoseconds of the last packet written

	disconnected atomic.Bool // our DISCONNECT is on the wire
}

// Write takes the next piece of a packet and writes the packet when it is whole. The caller holds the lock.
func (w *packetWriter) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	size, ok := packetSize(w.buf)
	if !ok || len(w.buf) < size {
		return len(p), nil
	}
	packet := w.buf
	w.buf = w.buf[:0]
	if cap(w.buf) > 64<<10 {
		w.buf = nil
	}
	if err := w.flush(packet); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *packetWriter) flush(packet []byte) error {
	_ = w.nc.SetWriteDeadline(time.Now().Add(w.timeout))
	if _, err := w.nc.Write(packet); err != nil {
		err = fmt.Errorf("send %s: %w", packetName(packet[0]>>4), err)
		w.failed(err)
		_ = w.nc.Close()
		return err
	}
	w.sent.Store(time.Now().UnixNano())
	if packet[0]>>4 == typeDisconnect {
		w.disconnected.Store(true)
	}
	return nil
}

// packetSize returns the length of the packet that b begins with, once its fixed header is there.
func packetSize(b []byte) (int, bool) {
	n, shift := 0, 0
	for i := 1; i < len(b) && i <= 4; i++ {
		n |= int(b[i]&0x7F) << shift
		if b[i] < 0x80 {
			return 1 + i + n, true
		}
		shift += 7
	}
	return 0, false
}
