package testbroker

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Where test ports are taken from: below what Linux, macOS and Windows give to those who ask for any port, so that no
// connection and no listener of somebody else comes to stand on one by chance.
const (
	lowestPort  = 15_000
	highestPort = 32_000
)

// FreePort returns a TCP port on loopback that nobody listens on, and keeps it for this test until it ends: another test
// gets another one, in other processes too, also while nothing listens there between two starts of a broker.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if free(t, port) {
			return port
		}
	}
	t.Fatal("no port is free on loopback")
	return 0
}

// free takes a port for this test where it can be had. The claim is the UDP port of the same number: it ends with the
// process however that ends, and is not in the way of a TCP listener.
func free(t testing.TB, port int) bool {
	t.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	claim, err := net.ListenPacket("udp4", addr)
	if err != nil {
		return false
	}
	l, err := net.Listen("tcp4", addr)
	if err != nil {
		_ = claim.Close()
		return false
	}
	_ = l.Close()
	t.Cleanup(func() { _ = claim.Close() })
	return true
}
