package mqtt3

// What goes out, on its way: the keep-alive that the library is not told of, and what is to be remembered of a packet.

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"

	"retainscope/broker"
)

// wire is the net.Conn that the library works on. It writes each packet in one piece.
type wire struct {
	*broker.Wire
	s *session

	mu  sync.Mutex
	bye error // why no DISCONNECT is on the wire, nil when one is
}

// Write sends one packet.
func (w *wire) Write(packet []byte) (int, error) {
	switch packet[0] >> 4 {
	case typeConnect:
		packet = withKeepAlive(packet, w.s.hello.KeepAlive)
	case typeSubscribe:
		id, n := subscribed(packet)
		w.s.mu.Lock()
		w.s.asked[id] = n
		w.s.mu.Unlock()
	case typeDisconnect:
		n, err := w.Wire.Write(packet)
		w.mu.Lock()
		w.bye = err
		w.mu.Unlock()
		return n, err
	}
	return w.Wire.Write(packet)
}

// said returns nil when a DISCONNECT was sent, and otherwise why not.
func (w *wire) said() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bye
}

// body returns what follows the fixed header of a packet of ours.
func body(packet []byte) []byte {
	_, n := binary.Uvarint(packet[1:])
	return packet[1+n:]
}

// keepAliveAt is where the Keep Alive of a CONNECT stands in its body: behind protocol name, level and flags.
//
// Source: MQTT 3.1.1, 3.1.2.
const keepAliveAt = 2 + len("MQTT") + 1 + 1

// withKeepAlive returns a copy of a CONNECT with the Keep Alive d.
func withKeepAlive(packet []byte, d time.Duration) []byte {
	packet = bytes.Clone(packet)
	binary.BigEndian.PutUint16(body(packet)[keepAliveAt:], uint16(d/time.Second))
	return packet
}

// subscribed returns the packet identifier of a SUBSCRIBE and how many filters it has.
//
// Source: MQTT 3.1.1, 3.8.2 and 3.8.3.
func subscribed(packet []byte) (id uint16, filters int) {
	b := body(packet)
	id, b = binary.BigEndian.Uint16(b), b[2:]
	for ; len(b) > 2; filters++ {
		b = b[2+int(binary.BigEndian.Uint16(b))+1:]
	}
	return id, filters
}
