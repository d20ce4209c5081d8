//go:build linux

package broker

// Reading a TCP socket so that the kernel acknowledges at once and takes in what we have no time for.
// A server that meets a full socket drops messages in silence, so what the kernel holds for us is time to be late in.

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// lateBytes is how much the kernel is asked to hold for us while we do something else; it takes no more than half of its
// own limit (net.ipv4.tcp_rmem).
const lateBytes = 16 << 20

// tcpReader reads one TCP socket, for one goroutine.
//
// Two options are asked for, again and again, since they do not last or must not:
//
// TCP_QUICKACK after each read. Many brokers leave Nagle's algorithm on and wait for our acknowledgement with what is
// left of a burst; the kernel falls back to waiting 40 ms with it.
//
// SO_RCVLOWAT while we do not wait. It makes the receive buffer large at once, without ending the kernel's own tuning of
// it as SO_RCVBUF does, and has the kernel acknowledge what it took in although nobody reads. Otherwise a mosquitto on
// the same machine fills its side in less than 20 ms, drops what comes next, and goes on dropping to the end of the
// store; this way it takes more than 60 ms. Where we do wait it must be 1, or a few bytes would not wake us.
type tcpReader struct {
	raw  syscall.RawConn
	try  func(fd uintptr) bool // attempt, made once so that no read allocates
	late bool                  // SO_RCVLOWAT is lateBytes

	p   []byte
	n   int
	err error
}

// readTCP returns a function that reads nc as tcpReader does, and nc.Read where it is no TCP connection.
func readTCP(nc net.Conn) func([]byte) (int, error) {
	if tcp, ok := nc.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			r := &tcpReader{raw: raw}
			r.try = r.attempt
			return r.read
		}
	}
	return nc.Read
}

func (r *tcpReader) read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	r.p = p
	err := r.raw.Read(r.try)
	r.p = nil
	switch {
	case err != nil: // the connection was closed here
		return 0, err
	case r.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", r.err)}
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// attempt reads once, and returns false where the socket has to be waited for.
func (r *tcpReader) attempt(fd uintptr) bool {
	for {
		r.n, r.err = syscall.Read(int(fd), r.p)
		switch {
		case errors.Is(r.err, syscall.EINTR):
			continue
		case errors.Is(r.err, syscall.EAGAIN):
			if !r.late {
				return false
			}
			r.set(fd, 1) // and look again, for what came before that
			continue
		case r.n > 0:
			if !r.late {
				r.set(fd, lateBytes)
			}
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_TCP, syscall.TCP_QUICKACK, 1)
		}
		return true
	}
}

func (r *tcpReader) set(fd uintptr, n int) {
	_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n)
	r.late = n > 1
}
