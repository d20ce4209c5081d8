package broker

// The library's end of a connection: what the filter leaves over goes in, whole packets come out.
// No publication of QoS 0 passes here.

import (
	"io"
	"sync"
)

// handoffLimit is how many bytes may wait for the library before the filter waits for it.
const handoffLimit = 64 << 10

// handoff is a pipe of bounded length from the filter to the library.
type handoff struct {
	mu     sync.Mutex
	moved  sync.Cond
	buf    []byte
	closed bool
}

func newHandoff() *handoff {
	h := &handoff{}
	h.moved.L = &h.mu
	return h
}

// put hands over a copy of one packet. It waits while the library is behind, and drops the packet once close was called.
func (h *handoff) put(packet []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.buf) > handoffLimit && !h.closed {
		h.moved.Wait()
	}
	if h.closed {
		return
	}
	h.buf = append(h.buf, packet...)
	h.moved.Broadcast()
}

// Read gives the library what was put. It returns io.EOF once close was called and everything was read.
func (h *handoff) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.buf) == 0 && !h.closed {
		h.moved.Wait()
	}
	if len(h.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, h.buf)
	h.buf = h.buf[n:]
	if len(h.buf) == 0 {
		h.buf = nil
	}
	h.moved.Broadcast()
	return n, nil
}

// close ends the pipe: Read returns what is left and then io.EOF.
func (h *handoff) close() {
	h.mu.Lock()
	h.closed = true
	h.moved.Broadcast()
	h.mu.Unlock()
}
