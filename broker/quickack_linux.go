//go:build linux

package broker

// TCP_QUICKACK, which only Linux has.
// It does not last: the kernel falls back by itself, so it is asked for again after each read.

import (
	"net"
	"syscall"
)

// quickAcknowledge returns a function that asks the kernel to acknowledge at once what nc has received.
func quickAcknowledge(nc net.Conn) func() {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return func() {}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return func() {}
	}
	set := func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) }
	return func() { _ = raw.Control(set) }
}
