package broker

// What a connection that publishes adds, between its transport and its Conn: the last will in the CONNECT on the way out,
// the count of PUBLISH packets that were handed over, and every PUBACK on the way in.

import (
	"encoding/binary"
	"net"
	"sync/atomic"

	"retainscope/inventory"
)

// publishWire is a net.Conn around the transport of a connection that publishes. Packets come to Write whole, one in each
// call.
type publishWire struct {
	net.Conn
	socket  *socket                             // below Conn: what it took was handed over
	connect func(packet []byte) ([]byte, error) // rewrites the CONNECT; may be nil
	guard   func(packet []byte) error           // sees a PUBLISH before its first byte is written, and may stop it; may be nil
	acked   func(puback)                        // called on the goroutine that reads

	handed atomic.Int64 // PUBLISH packets of which at least one byte was taken by the socket
	in     ackStream
}

// puback is an acknowledgement of a PUBLISH at QoS 1.
//
// Source: MQTT 5, 3.4.
type puback struct {
	id     uint16
	code   byte
	reason string                   // as received
	user   []inventory.UserProperty // as received
}

// Write sends one packet.
func (w *publishWire) Write(packet []byte) (int, error) {
	switch packet[0] >> 4 {
	case typeConnect:
		if w.connect == nil {
			break
		}
		rewritten, err := w.connect(packet)
		if err != nil {
			return 0, err
		}
		if _, err := w.Conn.Write(rewritten); err != nil {
			return 0, err
		}
		return len(packet), nil
	case typePublish:
		if w.guard != nil {
			if err := w.guard(packet); err != nil {
				return 0, err
			}
		}
		before := w.socket.wrote.Load()
		n, err := w.Conn.Write(packet)
		if w.socket.wrote.Load() != before || err == nil {
			w.handed.Add(1)
		}
		return n, err
	}
	return w.Conn.Write(packet)
}

// Read returns what the server sent, without PUBACK packets. It returns a *ProtocolError for one that is malformed.
func (w *publishWire) Read(p []byte) (int, error) {
	for {
		n, err := w.Conn.Read(p)
		kept, bad := w.in.take(p[:n], w.acked)
		if bad != nil {
			return kept, bad
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// ackStream takes PUBACK packets out of a stream that comes in pieces.
type ackStream struct {
	plain bool   // of a version whose PUBACK is a packet identifier alone
	begun bool   // a packet has passed: what looks like a PUBACK before that is no MQTT
	head  []byte // the fixed header of the packet at hand, and all of it where it is a PUBACK
	left  int    // bytes that are still to come of a packet that passes
}

// take moves everything but PUBACK packets to the front of b and returns its length. A packet that may not come passes
// like any other: the filter behind says what is wrong.
func (s *ackStream) take(b []byte, acked func(puback)) (kept int, err error) {
	for i := 0; i < len(b); {
		if s.left > 0 {
			n := min(s.left, len(b)-i)
			kept += copy(b[kept:], b[i:i+n])
			i, s.left = i+n, s.left-n
			continue
		}
		s.head = append(s.head, b[i])
		ours := s.begun && s.head[0]>>4 == typePuback
		if !ours {
			b[kept] = b[i]
			kept++
		}
		i++
		n, header := varSize(s.head[1:])
		switch {
		case header == 0:
			continue
		case !ours:
			s.begun, s.left = true, n
		case header < 0 || n > controlLimit:
			return kept, malformed("a length beyond any sense").of(typePuback)
		case len(s.head) < 1+header+n:
			continue
		default:
			ack, bad := decodePuback(s.head[0], s.head[1+header:])
			if s.plain && n != 2 {
				bad = malformed("it is not as long as its packet identifier")
			}
			if bad.code != 0 {
				return kept, bad.of(typePuback)
			}
			acked(ack)
		}
		s.head = s.head[:0]
	}
	return kept, nil
}

// decodePuback reads a PUBACK. Without a reason code it is a success.
//
// Source: MQTT 5, 3.4.2.1.
func decodePuback(first byte, body []byte) (puback, fault) {
	if bad := checkControl(first, body, true); bad.code != 0 {
		return puback{}, bad
	}
	ack := puback{id: binary.BigEndian.Uint16(body)}
	if len(body) > 2 {
		ack.code = body[2]
	}
	if len(body) > 3 {
		if props, _, bad := block(body[3:]); bad.code == 0 {
			ack.reason = reasonString(typePuback, props)
			ack.user = userProperties(typePuback, props)
		}
	}
	return ack, fault{}
}
