package demo

// The few packets a small publisher needs, written and read by hand, so that a writer of the house can be exactly what
// its story says (a 3.1.1 client, an interval on a single publish). No session, no retry, no QoS 2.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	typeConnect    = 1
	typeConnack    = 2
	typePublish    = 3
	typePuback     = 4
	typeSubscribe  = 8
	typeSuback     = 9
	typeDisconnect = 14

	level311 = 4 // protocol level of MQTT 3.1.1
	level5   = 5 // protocol level of MQTT 5

	propExpiry         = 0x02
	propContentType    = 0x03
	propReceiveMaximum = 0x21
	propUser           = 0x26

	// maxInbound bounds what one packet may make us allocate.
	maxInbound = 1 << 20
)

// outgoing is one PUBLISH as a writer wants it on the wire.
type outgoing struct {
	topic       string
	payload     []byte
	expiry      *uint32
	contentType string
	user        [][2]string
	retain      bool
}

func appendString(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// appendLength appends a Variable Byte Integer. Source: MQTT 5, 1.5.5.
func appendLength(b []byte, n int) []byte {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func frame(first byte, body []byte) []byte {
	return append(appendLength([]byte{first}, len(body)), body...)
}

// connectPacket starts a clean session with keep alive off: the writers are silent for long. Source: MQTT 5, 3.1.
func connectPacket(level byte, clientID string, who Login) []byte {
	const clean, withUser, withPassword = 0x02, 0x80, 0x40
	flags := byte(clean)
	if who.User != "" {
		flags |= withUser
	}
	if who.Password != "" {
		flags |= withPassword
	}
	b := appendString(nil, "MQTT")
	b = append(b, level, flags, 0, 0)
	if level == level5 {
		b = append(b, 0)
	}
	b = appendString(b, clientID)
	for _, s := range []string{who.User, who.Password} {
		if s != "" {
			b = appendString(b, s)
		}
	}
	return frame(typeConnect<<4, b)
}

// publishPacket builds a PUBLISH at QoS 1 with packet identifier id. Source: MQTT 5, 3.3.
func publishPacket(level byte, id uint16, m outgoing) []byte {
	first := byte(typePublish<<4 | 1<<1)
	if m.retain {
		first |= 1
	}
	b := appendString(nil, m.topic)
	b = binary.BigEndian.AppendUint16(b, id)
	if level == level5 {
		var p []byte
		if m.expiry != nil {
			p = binary.BigEndian.AppendUint32(append(p, propExpiry), *m.expiry)
		}
		if m.contentType != "" {
			p = appendString(append(p, propContentType), m.contentType)
		}
		for _, u := range m.user {
			p = appendString(appendString(append(p, propUser), u[0]), u[1])
		}
		b = append(appendLength(b, len(p)), p...)
	}
	return frame(first, append(b, m.payload...))
}

// subscribePacket asks for one exact topic at QoS 0. Source: MQTT 5, 3.8.
func subscribePacket(level byte, id uint16, topic string) []byte {
	b := binary.BigEndian.AppendUint16(nil, id)
	if level == level5 {
		b = append(b, 0)
	}
	return frame(typeSubscribe<<4|2, append(appendString(b, topic), 0))
}

func disconnectPacket() []byte { return frame(typeDisconnect<<4, nil) }

// packet is one packet as it came in: its first byte and everything behind the length.
type packet struct {
	first byte
	body  []byte
}

func (p packet) kind() byte { return p.first >> 4 }

var errTruncated = errors.New("packet is shorter than it says")

func readPacket(r *bufio.Reader) (packet, error) {
	first, err := r.ReadByte()
	if err != nil {
		return packet{}, err
	}
	n, shift := 0, 0
	for {
		c, err := r.ReadByte()
		if err != nil {
			return packet{}, err
		}
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			break
		}
		if shift += 7; shift > 21 {
			return packet{}, errors.New("length of a packet has more than four bytes")
		}
	}
	if n > maxInbound {
		return packet{}, fmt.Errorf("packet of %d bytes is too large", n)
	}
	p := packet{first: first, body: make([]byte, n)}
	_, err = io.ReadFull(r, p.body)
	return p, err
}

// splitProperties returns the properties at the head of b and what follows them.
func splitProperties(b []byte) (props, rest []byte, err error) {
	n, shift := 0, 0
	for i, c := range b {
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			if b = b[i+1:]; n > len(b) {
				return nil, nil, errTruncated
			}
			return b[:n], b[n:], nil
		}
		if shift += 7; shift > 21 {
			break
		}
	}
	return nil, nil, errTruncated
}

// connack returns the reason code and the Receive Maximum, 65535 where none was sent. Source: MQTT 5, 3.2.
func (p packet) connack(level byte) (code byte, receiveMaximum int, err error) {
	if p.kind() != typeConnack || len(p.body) < 2 {
		return 0, 0, fmt.Errorf("packet type %d in answer to CONNECT", p.kind())
	}
	receiveMaximum = 65535
	if level != level5 || len(p.body) == 2 {
		return p.body[1], receiveMaximum, nil
	}
	props, _, err := splitProperties(p.body[2:])
	if err != nil {
		return 0, 0, err
	}
	if v, ok := findUint16(props, propReceiveMaximum); ok {
		receiveMaximum = int(v)
	}
	return p.body[1], receiveMaximum, nil
}

// findUint16 walks CONNACK properties for one that is a two-byte integer.
func findUint16(b []byte, want byte) (uint16, bool) {
	for len(b) > 0 {
		id := b[0]
		b = b[1:]
		var n int
		switch id {
		case 0x24, 0x25, 0x28, 0x29, 0x2a: // one byte
			n = 1
		case 0x13, 0x21, 0x22: // two bytes
			n = 2
		case 0x11, 0x27: // four bytes
			n = 4
		case 0x12, 0x15, 0x16, 0x1a, 0x1c, 0x1f: // a string or binary data
			if len(b) < 2 {
				return 0, false
			}
			n = 2 + int(binary.BigEndian.Uint16(b))
		case propUser: // two strings
			if len(b) < 2 {
				return 0, false
			}
			k := 2 + int(binary.BigEndian.Uint16(b))
			if len(b) < k+2 {
				return 0, false
			}
			n = k + 2 + int(binary.BigEndian.Uint16(b[k:]))
		default:
			return 0, false
		}
		if len(b) < n {
			return 0, false
		}
		if id == want {
			return binary.BigEndian.Uint16(b), true
		}
		b = b[n:]
	}
	return 0, false
}

// puback returns the packet identifier and the reason code. Source: MQTT 5, 3.4.
func (p packet) puback() (id uint16, code byte, err error) {
	if len(p.body) < 2 {
		return 0, 0, errTruncated
	}
	if len(p.body) > 2 {
		code = p.body[2]
	}
	return binary.BigEndian.Uint16(p.body), code, nil
}

// publish returns topic and payload of a PUBLISH at QoS 0. Source: MQTT 5, 3.3.
func (p packet) publish(level byte) (topic string, payload []byte, err error) {
	if len(p.body) < 2 {
		return "", nil, errTruncated
	}
	n := 2 + int(binary.BigEndian.Uint16(p.body))
	if len(p.body) < n {
		return "", nil, errTruncated
	}
	topic, payload = string(p.body[2:n]), p.body[n:]
	if level == level5 {
		if _, payload, err = splitProperties(payload); err != nil {
			return "", nil, err
		}
	}
	return topic, payload, nil
}
