//go:build !linux

package broker

// Systems without TCP_QUICKACK and without a receive buffer that grows with SO_RCVLOWAT.
// There the end of a burst may wait for a delayed acknowledgement, about 40 ms.

import "net"

// readTCP returns nc.Read.
func readTCP(nc net.Conn) func([]byte) (int, error) { return nc.Read }
