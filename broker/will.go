package broker

// The last will of a publisher, written into the CONNECT as it goes out.
// The library encodes a will without its Message Expiry Interval, so that a retained one would stay for ever.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// connectPrefix is what every CONNECT of MQTT 5 begins with, after its fixed header. Source: MQTT 5, 3.1.2.1, 3.1.2.2.
var connectPrefix = []byte{0, 4, 'M', 'Q', 'T', 'T', 5}

const (
	flagWill       = 1 << 2
	flagWillQoS    = 3 // as a shift
	flagWillRetain = 1 << 5
)

// withWill returns a copy of a CONNECT packet with another Client Identifier and, where will is not nil, with that
// will, which carries seconds as its Message Expiry Interval. The will's clock starts when the server publishes it. It
// returns an error when packet is no CONNECT of MQTT 5, or one that has a will already.
//
// Source: MQTT 5, 3.1.2.3, 3.1.2.5 to 3.1.2.7, 3.1.3.2.
func withWill(packet []byte, id string, will *Message, seconds uint32) ([]byte, error) {
	body, ok := connectBody(packet)
	if !ok {
		return nil, errors.New("the first packet is no CONNECT of MQTT 5")
	}
	flags := body[len(connectPrefix)]
	if flags&(flagWill|flagWillRetain|3<<flagWillQoS) != 0 {
		return nil, errors.New("the CONNECT has a will already")
	}
	header := len(connectPrefix) + 3 // flags and keep alive
	props, rest, bad := block(body[header:])
	if bad.code != 0 || len(rest) < prefixedSize(rest) {
		return nil, fmt.Errorf("the CONNECT cannot be read: %s", bad.what)
	}
	rest = rest[prefixedSize(rest):] // user name and password

	out := bytes.Clone(body[:header])
	out = appendBlock(out, props)
	out = appendPrefixed(out, id)
	if will != nil {
		out[len(connectPrefix)] = flags | flagWill | will.QoS<<flagWillQoS
		if will.Retain {
			out[len(connectPrefix)] |= flagWillRetain
		}
		out = appendBlock(out, append(expiryProperty(seconds), will.properties()...))
		out = appendPrefixed(out, will.Topic)
		out = appendPrefixed(out, string(will.Payload))
	}
	return frame(typeConnect<<4, append(out, rest...)), nil
}

// connectBody returns what follows the fixed header of a CONNECT of MQTT 5.
func connectBody(packet []byte) ([]byte, bool) {
	if len(packet) < 2 || packet[0] != typeConnect<<4 {
		return nil, false
	}
	n, header := varSize(packet[1:])
	if header <= 0 || len(packet) != 1+header+n {
		return nil, false
	}
	body := packet[1+header:]
	return body, len(body) > len(connectPrefix)+3 && bytes.HasPrefix(body, connectPrefix)
}

// checkWill returns what keeps m from being a will.
func checkWill(m *Message) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("last will: %w", err)
	}
	if len(m.Payload) > 65535 { // binary data. 1.5.6
		return fmt.Errorf("last will: its payload has %d bytes and may have 65535", len(m.Payload))
	}
	return nil
}

// frame returns a packet with the given first byte.
func frame(first byte, body []byte) []byte {
	return append(appendVarint([]byte{first}, len(body)), body...)
}

// appendVarint appends n as a Variable Byte Integer. Source: MQTT 5, 1.5.5.
func appendVarint(b []byte, n int) []byte {
	for n > 0x7F {
		b, n = append(b, byte(n)|0x80), n>>7
	}
	return append(b, byte(n))
}

// appendBlock appends a property block with its length in front.
func appendBlock(b, props []byte) []byte { return append(appendVarint(b, len(props)), props...) }

// appendPrefixed appends s, of at most 65535 bytes, with its length in front. Source: MQTT 5, 1.5.4, 1.5.6.
func appendPrefixed(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// expiryProperty returns the Message Expiry Interval as a property. Source: MQTT 5, 3.3.2.3.3.
func expiryProperty(seconds uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{propMessageExpiry}, seconds)
}
