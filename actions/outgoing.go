package actions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// Outgoing is the one publication that an action sends: QoS 1 at most, RETAIN 1, no topic alias. Only this package can
// make one that has a topic. It is a value and is never changed.
type Outgoing struct {
	topic      []byte
	payload    []byte
	properties inventory.Properties
	interval   expiry.Interval
	qos        byte
}

// tombstone is the one place where a tombstone is made: RETAIN 1, no payload, QoS 1, the exact topic, no property. It
// looks at the name and at every protect pattern once more, so that no way around the screens gets past them.
//
// Source: MQTT 5, 3.3.1.3.
func tombstone(topic []byte, p Protection) (Outgoing, error) {
	if err := RefuseTopic(topic); err != nil {
		return Outgoing{}, err
	}
	if f, yes := p.Match(topic); yes {
		return Outgoing{}, fmt.Errorf("topic %s is protected by %s", Quote(topic), Quote([]byte(f)))
	}
	return Outgoing{topic: bytes.Clone(topic), interval: expiry.None(), qos: 1}, nil
}

// restoration is what puts a saved copy back, with what is left of its expiry at now. It refuses a copy without its
// bytes, an empty one (that would be a tombstone), and one with less than a second left: an interval of 0 means never
// on some brokers.
func restoration(c Copy, p Protection, now time.Time) (Outgoing, error) {
	if err := RefuseTopic(c.Topic); err != nil {
		return Outgoing{}, err
	}
	if f, yes := p.Match(c.Topic); yes {
		return Outgoing{}, fmt.Errorf("topic %s is protected by %s", Quote(c.Topic), Quote([]byte(f)))
	}
	switch {
	case !c.Saved:
		return Outgoing{}, errors.New("the payload was not saved: it was larger than the limit for undo")
	case c.Size == 0 || len(c.Payload) != c.Size:
		return Outgoing{}, errors.New("the record holds no whole payload")
	}
	o := Outgoing{topic: c.Topic, payload: c.Payload, properties: c.Properties, interval: c.interval(), qos: 1}
	if c.QoS != nil {
		o.qos = min(*c.QoS, 1)
	}
	if left, counts := o.interval.Remaining(c.ReceivedAt.UnixMilli(), now.UnixMilli()); counts {
		if left < time.Second {
			return Outgoing{}, fmt.Errorf("the message had %d s left when it was read at %s and has run out: nothing to put back",
				c.Seconds, c.ReceivedAt.UTC().Format(time.RFC3339))
		}
		o.interval = expiry.Seconds(uint32(left / time.Second))
	} else {
		o.interval = expiry.None()
	}
	return o, nil
}

// Topic returns the exact bytes of the topic name; nil for a value that must not be sent.
func (o Outgoing) Topic() []byte { return o.topic }

// Payload returns the payload; empty for a tombstone.
func (o Outgoing) Payload() []byte { return o.payload }

// Properties returns the properties in order, without Message Expiry Interval.
func (o Outgoing) Properties() inventory.Properties { return o.properties }

// Interval returns the Message Expiry Interval to send, or none.
func (o Outgoing) Interval() expiry.Interval { return o.interval }

// QoS returns 0 or 1. A tombstone has 1.
func (o Outgoing) QoS() byte { return o.qos }

// Sender puts one publication on the wire. The broker room satisfies it.
type Sender interface {
	// Send makes one connection without any subscription and with a fresh client id, looks whether the server allows
	// retained messages, calls ready once nothing but the write is left to do, serialises exactly one PUBLISH with
	// RETAIN 1 and DUP 0, hands the bytes to o.Check and writes them only when ready and Check agree, and waits for the
	// PUBACK or the end of ctx. It never repeats anything. The receipt holds what is known also together with an error;
	// the error is what kept it from sending, ready's own among it, or from hearing an answer, as one sentence safe for
	// a terminal. A refusal by the server is a Code, not an error.
	Send(ctx context.Context, o Outgoing, ready func() error) (Receipt, error)
}

// Receipt is what happened on the sender's connection.
//
// Source: MQTT 5, 3.4.
type Receipt struct {
	ClientID string
	User     string
	// Packet holds the bytes of the PUBLISH as they were handed to the socket. It is nil only when not one byte can
	// have been written.
	Packet    []byte
	Publishes int // PUBLISH packets counted at the socket of this connection
	SentAt    time.Time

	Answered       bool // a PUBACK came; always false at QoS 0
	AnswerID       uint16
	Code           byte
	Reason         string                   // reason string as received, not safe for a terminal
	UserProperties []inventory.UserProperty // user properties of the PUBACK
	AnsweredAt     time.Time

	Disconnected   bool // the server sent DISCONNECT
	DisconnectCode byte
}

// unsent reports whether nothing was put on the wire, and why; err is the sender's.
func (r Receipt) unsent(err error) (why string, nothing bool) {
	switch {
	case r.Packet != nil || r.Publishes != 0:
		return "", false
	case err != nil:
		return err.Error(), true
	}
	return "the sender gave no reason", true
}

// answer says what came back.
func (r Receipt) answer() string {
	if r.Answered {
		return explainAnswer(r.Code)
	}
	return "sent, no answer"
}

// Packet says what the bytes of one PUBLISH are.
type Packet struct {
	Length        int    `json:"length"` // of the whole packet
	Retain        bool   `json:"retain"`
	Dup           bool   `json:"dup"`
	QoS           byte   `json:"qos"`
	TopicLength   int    `json:"topic_length"`
	ID            uint16 `json:"packet_identifier"`
	PropertyBytes int    `json:"property_bytes"`
	PayloadLength int    `json:"payload_length"`
	SHA256        string `json:"sha256"` // of the whole packet
}

var errShort = errors.New("the packet ends too early")

// Check reads the serialised packet and returns what it is; the error says how it differs from what o asks for. A
// sender calls it before the first byte is written.
//
// Source: MQTT 5, 3.3.
func (o Outgoing) Check(packet []byte) (Packet, error) {
	f, topic, props, payload, err := readPublish(packet)
	switch {
	case err != nil:
		return f, err
	case len(o.topic) == 0:
		return f, errors.New("nothing may be sent: no topic was approved")
	case !f.Retain:
		return f, errors.New("the packet has RETAIN 0: it would leave the stored message alone") // 3.3.1.3
	case f.Dup:
		return f, errors.New("the packet has DUP 1, and nothing was sent before") // 3.3.1.1
	case f.QoS != o.qos:
		return f, fmt.Errorf("the packet has QoS %d, not %d", f.QoS, o.qos)
	case f.QoS > 0 && f.ID == 0:
		return f, errors.New("the packet has the Packet Identifier 0") // 2.2.1
	case !bytes.Equal(topic, o.topic):
		return f, fmt.Errorf("the packet names the topic %s, not %s", Quote(topic), Quote(o.topic))
	case !bytes.Equal(payload, o.payload):
		return f, fmt.Errorf("the packet has a payload of %d bytes that is not the one of %d bytes asked for", len(payload), len(o.payload))
	}
	want := len(o.properties)
	if s, ok := o.interval.Seconds(); ok {
		want += 5
		if !bytes.Contains(props, []byte{0x02, byte(s >> 24), byte(s >> 16), byte(s >> 8), byte(s)}) { // 3.3.2.3.3
			return f, fmt.Errorf("the packet does not carry the Message Expiry Interval %d", s)
		}
	}
	if len(props) != want || inventory.Fingerprint(payload, props, expiry.None()) != inventory.Fingerprint(o.payload, o.properties, expiry.None()) {
		return f, errors.New("the packet carries other properties than those asked for")
	}
	return f, nil
}

// readPublish takes one whole PUBLISH apart.
func readPublish(b []byte) (f Packet, topic []byte, props inventory.Properties, payload []byte, err error) {
	sum := sha256.Sum256(b)
	f.Length, f.SHA256 = len(b), hex.EncodeToString(sum[:])
	if len(b) < 2 {
		return f, nil, nil, nil, errShort
	}
	if b[0]>>4 != 3 {
		return f, nil, nil, nil, fmt.Errorf("the packet is of type %d, not a PUBLISH", b[0]>>4)
	}
	f.Dup, f.QoS, f.Retain = b[0]&0x08 != 0, b[0]>>1&3, b[0]&1 != 0
	remaining, rest, err := readLength(b[1:])
	if err != nil {
		return f, nil, nil, nil, err
	}
	if remaining != len(rest) {
		return f, nil, nil, nil, fmt.Errorf("the packet says that %d bytes follow, and %d do", remaining, len(rest))
	}
	take := func(n int) []byte {
		if err != nil || len(rest) < n {
			err = errShort
			return nil
		}
		p := rest[:n]
		rest = rest[n:]
		return p
	}
	if l := take(2); l != nil {
		f.TopicLength = int(l[0])<<8 | int(l[1])
	}
	topic = take(f.TopicLength)
	if f.QoS > 0 {
		if id := take(2); id != nil {
			f.ID = uint16(id[0])<<8 | uint16(id[1])
		}
	}
	if err != nil {
		return f, nil, nil, nil, err
	}
	n, rest2, err2 := readLength(rest)
	if err2 != nil {
		return f, nil, nil, nil, err2
	}
	rest = rest2
	props = inventory.Properties(take(n))
	f.PropertyBytes, f.PayloadLength = n, len(rest)
	return f, topic, props, rest, err
}

// readLength reads a Variable Byte Integer.
//
// Source: MQTT 5, 1.5.5.
func readLength(b []byte) (int, []byte, error) {
	n := 0
	for i := 0; i < 4 && i < len(b); i++ {
		n |= int(b[i]&0x7F) << (7 * i)
		if b[i]&0x80 == 0 {
			if i > 0 && b[i] == 0 { // 1.5.5: the shortest form
				break
			}
			return n, b[i+1:], nil
		}
	}
	return 0, nil, errors.New("the packet has a length that is none")
}
