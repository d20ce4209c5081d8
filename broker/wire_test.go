package broker

// A connection in memory whose server end is driven by a script: expect CONNECT, send bytes, pause, close.
// Works inside synctest: everything waits on conditions and timers, nothing on a socket.

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"
)

// half is one direction of a connection in memory. A write waits while more than limit bytes are unread.
type half struct {
	mu     sync.Mutex
	moved  sync.Cond
	buf    []byte
	limit  int
	ended  bool  // the writer closed: io.EOF after what is left
	broken error // nobody will read, or a reset
}

func newHalf(limit int) *half {
	h := &half{limit: limit}
	h.moved.L = &h.mu
	return h
}

func (h *half) set(f func()) {
	h.mu.Lock()
	f()
	h.moved.Broadcast()
	h.mu.Unlock()
}

// memConn is one end. Reads return as much as there is, as a socket does.
type memConn struct {
	in, out               *half
	readLimit, writeLimit deadline
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) set(h *half, t time.Time) {
	h.set(func() {
		if d.timer != nil {
			d.timer.Stop()
			d.timer = nil
		}
		d.at = t
		if !t.IsZero() {
			d.timer = time.AfterFunc(time.Until(t), func() { h.set(func() {}) })
		}
	})
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// newPair returns the two ends of a connection in memory. The client's writes wait while more than limit bytes are
// unread by the server; the server's writes wait at 4 MiB.
func newPair(limit int) (client, server *memConn) {
	up, down := newHalf(limit), newHalf(4<<20)
	return &memConn{in: down, out: up}, &memConn{in: up, out: down}
}

func (c *memConn) Read(p []byte) (int, error) {
	h := c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.broken != nil:
			return 0, h.broken
		case len(h.buf) > 0:
			n := copy(p, h.buf)
			h.buf = h.buf[n:]
			h.moved.Broadcast()
			return n, nil
		case h.ended:
			return 0, io.EOF
		case c.readLimit.passed():
			return 0, os.ErrDeadlineExceeded
		}
		h.moved.Wait()
	}
}

func (c *memConn) Write(p []byte) (int, error) {
	h := c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	written := 0
	for {
		switch {
		case h.broken != nil:
			return written, h.broken
		case h.ended:
			return written, net.ErrClosed
		case len(p) == 0:
			return written, nil
		case c.writeLimit.passed():
			return written, os.ErrDeadlineExceeded
		case len(h.buf) < h.limit:
			n := min(len(p), h.limit-len(h.buf))
			h.buf = append(h.buf, p[:n]...)
			p, written = p[n:], written+n
			h.moved.Broadcast()
			continue
		}
		h.moved.Wait()
	}
}

// CloseWrite ends the direction away from c.
func (c *memConn) CloseWrite() error { c.out.set(func() { c.out.ended = true }); return nil }

// Close ends both directions. The other end reads what is left and then io.EOF; its writes fail.
func (c *memConn) Close() error {
	_ = c.CloseWrite()
	c.in.set(func() {
		if c.in.broken == nil {
			c.in.broken = net.ErrClosed
		}
	})
	return nil
}

var errReset = errors.New("connection reset by peer")

// reset breaks both directions at once; what is unread is lost.
func (c *memConn) reset() {
	c.in.set(func() { c.in.broken = errReset })
	c.out.set(func() { c.out.broken = errReset })
}

func (c *memConn) LocalAddr() net.Addr  { return memAddr{} }
func (c *memConn) RemoteAddr() net.Addr { return memAddr{} }

type memAddr struct{}

func (memAddr) Network() string { return "memory" }
func (memAddr) String() string  { return "memory" }

func (c *memConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}
func (c *memConn) SetReadDeadline(t time.Time) error  { c.readLimit.set(c.in, t); return nil }
func (c *memConn) SetWriteDeadline(t time.Time) error { c.writeLimit.set(c.out, t); return nil }

// wireServer accepts the connections that a Config of its own makes.
type wireServer struct {
	t        testing.TB
	incoming chan *wire
	limit    int
}

func newWireServer(t testing.TB) *wireServer {
	return &wireServer{t: t, incoming: make(chan *wire), limit: 1 << 20}
}

// config returns a Config whose Dial ends here. A dial waits for accept, and fails when its context ends.
func (s *wireServer) config() Config {
	return Config{URL: "mqtt://wire.test:1883", wire: func(ctx context.Context) (net.Conn, error) {
		client, server := newPair(s.limit)
		select {
		case s.incoming <- &wire{memConn: server, client: client, t: s.t, r: bufio.NewReader(server)}:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

// accept returns the next connection. Where the script may run on a goroutine of its own, so may accept.
func (s *wireServer) accept() *wire {
	s.t.Helper()
	select {
	case w := <-s.incoming:
		return w
	case <-time.After(time.Hour): // a test that hangs outside synctest ends by its own limit
		s.t.Fatal("nobody connected")
		return nil
	}
}

// wire is the server's end of one connection, driven by a script.
type wire struct {
	*memConn
	client *memConn
	t      testing.TB
	r      *bufio.Reader
}

// next returns the next packet that the client sends: its first byte and what follows the fixed header.
func (w *wire) next() (byte, []byte, error) {
	first, err := w.r.ReadByte()
	if err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(w.r) // for up to four bytes the same encoding
	if err != nil {
		return 0, nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(w.r, body)
	return first, body, err
}

// expect returns the body of the next packet, which must be of type t.
func (w *wire) expect(t byte) []byte {
	w.t.Helper()
	first, body, err := w.next()
	if err != nil || first>>4 != t {
		_ = w.Close()
		w.t.Fatalf("expected %s, got first byte 0x%02X, %v", packetName(t), first, err)
	}
	return body
}

// send writes bytes to the client.
func (w *wire) send(parts ...[]byte) {
	w.t.Helper()
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			w.t.Errorf("send to the client: %v", err)
			return
		}
	}
}

// connect takes the CONNECT and accepts it; it returns the CONNECT's body.
func (w *wire) connect(props ...[]byte) []byte {
	w.t.Helper()
	body := w.expect(typeConnect)
	w.send(connack(0, props...))
	return body
}

// subscribe takes a SUBSCRIBE and answers it; without codes every filter gets the QoS it asked for. It returns the
// filters and the options byte of each.
func (w *wire) subscribe(codes ...byte) (filters []string, options []byte) {
	w.t.Helper()
	id, filters, options := w.subscribeOnly()
	if len(codes) == 0 {
		for _, o := range options {
			codes = append(codes, o&3)
		}
	}
	w.send(suback(id, codes...))
	return filters, options
}

// subscribeOnly takes a SUBSCRIBE and leaves the answer to the script.
func (w *wire) subscribeOnly() (id uint16, filters []string, options []byte) {
	w.t.Helper()
	body := w.expect(typeSubscribe)
	id, rest := binary.BigEndian.Uint16(body), body[2:]
	n, size := binary.Uvarint(rest)
	for rest = rest[size+int(n):]; len(rest) > 0; {
		l := int(binary.BigEndian.Uint16(rest))
		filters = append(filters, string(rest[2:2+l]))
		options = append(options, rest[2+l])
		rest = rest[3+l:]
	}
	return id, filters, options
}

// unsubscribe takes an UNSUBSCRIBE, answers every filter with success and returns them.
func (w *wire) unsubscribe() (filters []string) {
	w.t.Helper()
	body := w.expect(typeUnsubscribe)
	var codes []byte
	n, size := binary.Uvarint(body[2:])
	for rest := body[2+size+int(n):]; len(rest) > 0; {
		l := int(binary.BigEndian.Uint16(rest))
		filters, codes, rest = append(filters, string(rest[2:2+l])), append(codes, 0), rest[2+l:]
	}
	w.send(control(typeUnsuback<<4, body[:2], []byte{0}, codes))
	return filters
}

// pong takes a PINGREQ and answers it.
func (w *wire) pong() {
	w.t.Helper()
	w.expect(typePingreq)
	w.send(pingresp())
}

// over reads until the client has closed its direction and returns the first bytes of the packets that still came.
func (w *wire) over() (packets []byte) {
	for {
		first, _, err := w.next()
		if err != nil {
			return packets
		}
		packets = append(packets, first)
	}
}
