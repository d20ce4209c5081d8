package broker

// What is published, and the PUBLISH packet that it becomes.
// The one place that encodes a PUBLISH of the publisher, tombstones of its own included.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"retainscope/inventory"
)

// Message is one message to publish. Nothing of it is kept after the call it was given to.
type Message struct {
	Topic   string
	Payload []byte // empty and retained removes what the broker holds
	QoS     byte   // 0 or 1
	Retain  bool
	// ContentType and User are sent as the properties of those names, where the version of MQTT has any; at most 8 KiB
	// together.
	ContentType string
	User        []inventory.UserProperty
}

// propertyLimit keeps the properties of a full ledger within 8 MiB.
const propertyLimit = 8 << 10

// levelLimit is how many levels a topic of ours may have. Brokers end the connection at more, and a ledger would send such
// a topic again on every new one.
const levelLimit = 200

// check returns what keeps m from being published at all. Brokers end the connection for most of it.
func (m *Message) check() error {
	switch {
	case m.Topic == "":
		return errors.New("a message needs a topic")
	case len(m.Topic) > 65535: // 1.5.4
		return fmt.Errorf("the topic has %d bytes and may have 65535", len(m.Topic))
	case !utf8.ValidString(m.Topic):
		return fmt.Errorf("the topic %s is not UTF-8", quoted(m.Topic)) // [MQTT-1.5.4-1]
	case strings.ContainsAny(m.Topic, "+#"):
		return fmt.Errorf("the topic %s has a wildcard in it", quoted(m.Topic)) // [MQTT-3.3.2-2]
	case strings.ContainsFunc(m.Topic, forbidden):
		return fmt.Errorf("the topic %s has a control character or noncharacter in it", quoted(m.Topic))
	case strings.Count(m.Topic, "/") >= levelLimit:
		return fmt.Errorf("the topic has more than %d levels", levelLimit)
	case m.QoS > 1:
		return fmt.Errorf("QoS %d: only 0 and 1 are published", m.QoS)
	case !utf8.ValidString(m.ContentType) || strings.ContainsFunc(m.ContentType, forbidden):
		return errors.New("the content type is no plain UTF-8")
	}
	size := len(m.ContentType)
	for _, u := range m.User {
		size += len(u.Key) + len(u.Value)
		for _, s := range [][]byte{u.Key, u.Value} {
			if !utf8.Valid(s) || strings.ContainsFunc(string(s), forbidden) {
				return errors.New("a user property is no plain UTF-8")
			}
		}
	}
	if size > propertyLimit {
		return fmt.Errorf("the properties have %d bytes and may have %d", size, propertyLimit)
	}
	return nil
}

// forbidden tells which characters a UTF-8 string of MQTT must not or should not hold. Source: MQTT 5, 1.5.4.
func forbidden(r rune) bool {
	return r <= 0x1F || r >= 0x7F && r <= 0x9F || r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF
}

// properties returns the properties of m as on the wire, without the Message Expiry Interval and the length in front.
func (m *Message) properties() []byte {
	var b []byte
	if m.ContentType != "" {
		b = appendPrefixed(append(b, propContentType), m.ContentType)
	}
	for _, u := range m.User {
		b = appendPrefixed(append(b, propUserProperty), string(u.Key))
		b = appendPrefixed(b, string(u.Value))
	}
	return b
}

const propContentType = 0x03

// outgoing is a PUBLISH to be, complete but for its Packet Identifier.
type outgoing struct {
	topic   string
	payload []byte
	props   []byte // with the Message Expiry Interval, without the length in front
	qos     byte
	retain  bool
	plain   bool // of a version without properties
}

// remaining returns the Remaining Length. Source: MQTT 5, 2.1.4.
func (o *outgoing) remaining() int {
	n := 2 + len(o.topic) + len(o.payload)
	if !o.plain {
		n += len(appendVarint(nil, len(o.props))) + len(o.props)
	}
	if o.qos > 0 {
		n += 2
	}
	return n
}

// size returns the length of the packet.
func (o *outgoing) size() int {
	n := o.remaining()
	return 1 + len(appendVarint(nil, n)) + n
}

// packet returns the packet. DUP is never set: nothing of an earlier connection is resumed.
//
// Source: MQTT 5, 3.3.
func (o *outgoing) packet(id uint16) []byte {
	first := byte(typePublish<<4) | o.qos<<1
	if o.retain {
		first |= 1
	}
	b := append(make([]byte, 0, o.size()), first)
	b = appendPrefixed(appendVarint(b, o.remaining()), o.topic)
	if o.qos > 0 {
		b = binary.BigEndian.AppendUint16(b, id)
	}
	if !o.plain {
		b = appendBlock(b, o.props)
	}
	return append(b, o.payload...)
}

// allowed returns why a server that said s in its CONNACK would not take o, with the reason code that it would
// answer, or nil.
func (s ServerInfo) allowed(o *outgoing) *limitError {
	switch {
	case o.qos > s.MaximumQoS:
		return &limitError{0x9B, fmt.Sprintf("the broker takes QoS %d at most", s.MaximumQoS)} // [MQTT-3.2.2-11]
	case o.retain && !s.RetainAvailable:
		return &limitError{0x9A, "the broker keeps no retained messages"} // [MQTT-3.2.2-14]
	case s.MaximumPacketSize > 0 && uint64(o.size()) > uint64(s.MaximumPacketSize):
		return &limitError{0x95, fmt.Sprintf("the packet would have %d bytes and the broker takes %d", o.size(), s.MaximumPacketSize)} // [MQTT-3.2.2-15]
	case o.size() > maxPacket:
		return &limitError{0x95, fmt.Sprintf("the packet would have %d bytes, more than MQTT has room for", o.size())}
	}
	return nil
}

// limitError says which limit of the broker keeps a message from being sent.
type limitError struct {
	code byte
	what string
}

func (e *limitError) Error() string { return e.what + ": " + reasonText(e.code) }
