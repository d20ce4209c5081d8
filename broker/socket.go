package broker

// The bottom of every connection: the socket itself, with what is counted and asked of it.
// No buffer is set by hand: that would switch off the kernel's own tuning of the receive window.

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// socket counts what comes from a connection and what goes, and reads it in the way that suits the system best.
type socket struct {
	net.Conn
	base time.Time // heard counts from here, so that a step of the wall clock means nothing
	read func([]byte) (int, error)

	bytes, reads atomic.Int64
	wrote        atomic.Int64 // bytes taken by the connection below
	heard        atomic.Int64 // nanoseconds after base at which the last byte came

	size int // bytes of the last read; of the goroutine that reads
}

func newSocket(nc net.Conn) *socket {
	return &socket{Conn: nc, base: time.Now(), read: readTCP(nc)}
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.read(p)
	if n > 0 {
		s.size = n
		s.heard.Store(int64(time.Since(s.base)))
		s.bytes.Add(int64(n))
		s.reads.Add(1)
	}
	return n, err
}

func (s *socket) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	s.wrote.Add(int64(n))
	return n, err
}

// last returns when the last byte came, or when the socket was opened.
func (s *socket) last() time.Time { return s.base.Add(time.Duration(s.heard.Load())) }

// CloseWrite ends our direction and leaves the other open, where the connection can do that.
func (s *socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
