//go:build !linux

package broker

// Systems without TCP_QUICKACK.
// There the end of a burst may wait for a delayed acknowledgement, about 40 ms.

import "net"

// quickAcknowledge returns a function that does nothing.
func quickAcknowledge(net.Conn) func() { return func() {} }
