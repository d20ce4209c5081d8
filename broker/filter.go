package broker

// The stream of a connection, cut into packets: PUBLISH is decoded and delivered here, the rest goes to the library.
// No goroutine and no socket: bytes in, batches and whole packets out.

import (
	"bytes"
	"fmt"

	"retainscope/inventory"
)

// batchSize is the most publications that are delivered in one call.
const batchSize = 256

// keepBuffer is how much of a grown buffer is kept for the next time.
const keepBuffer = 1 << 20

// filter takes the bytes of one connection in any pieces. It is used by one goroutine.
//
// Memory: a packet that does not end in the piece it began in is collected in carry, which grows by doubling with what
// has really arrived and never by what a length announces. So it holds at most three times the bytes of the largest
// packet for a moment, and that packet is at most maxPacket.
type filter struct {
	maxPacket int
	origin    inventory.Origin
	deliver   Deliver
	// qosKnown tells whether a delivery at QoS 0 shows the stored QoS, see Conn.asked.
	qosKnown func() bool
	// grammar reads the packets; nil means that of MQTT 5.
	grammar grammar
	// plain tells that packets have no properties.
	plain bool
	// control takes a whole packet that is not a QoS 0 PUBLISH. It is borrowed. An error ends the stream.
	control func(packet []byte) error

	fed     bool // something has come
	opened  bool // the CONNACK has passed
	at      int64
	known   bool
	carry   []byte
	scratch []byte
	n       int
	batch   [batchSize]inventory.Publication
}

// grammar is the part of a Session that reads packets.
type grammar interface {
	Publish(first byte, body, scratch []byte, p *inventory.Publication) ([]byte, error)
	Control(first byte, body []byte, opened bool) error
}

// notMQTT says that the first bytes of the server are not a CONNACK.
type notMQTT struct{ first []byte }

func (e *notMQTT) Error() string {
	return fmt.Sprintf("the first bytes of the server are no MQTT: %x", e.first)
}

// v3Connack is the CONNACK of MQTT 3.1.1, which has no properties. Source: MQTT 3.1.1, 3.2.
type v3Connack struct{ code byte }

func (e *v3Connack) Error() string {
	return fmt.Sprintf("the server answered as MQTT 3.1.1 does, with return code %d", e.code)
}

// feed takes the next bytes of the stream, which were read at the given Unix millisecond. Everything that became whole
// has been delivered or passed on when it returns. b is not kept. After an error the stream is over.
func (f *filter) feed(b []byte, at int64) error {
	f.fed, f.at, f.known = true, at, f.qosKnown()
	if f.grammar == nil {
		f.grammar = grammar5{}
	}
	var err error
	if len(f.carry) > 0 {
		if b, err = f.complete(b); err != nil {
			return err
		}
	}
	for len(b) > 0 {
		size, e := f.size(b)
		if e != nil {
			f.flush()
			return e
		}
		if size == 0 || size > len(b) {
			break
		}
		if err = f.packet(b[:size:size]); err != nil {
			f.flush()
			return err
		}
		b = b[size:]
	}
	f.flush()
	if len(b) > 0 {
		f.carry = append(f.carry, b...)
	}
	return nil
}

// complete adds to the packet that began in an earlier piece, handles it when it is whole and returns what follows.
func (f *filter) complete(b []byte) ([]byte, error) {
	for {
		size, err := f.size(f.carry)
		if err != nil {
			return nil, err
		}
		if size == 0 { // inside the fixed header
			if len(b) == 0 {
				return nil, nil
			}
			f.carry, b = append(f.carry, b[0]), b[1:]
			continue
		}
		take := min(size-len(f.carry), len(b))
		if need := len(f.carry) + take; need > cap(f.carry) {
			grown := make([]byte, len(f.carry), max(need, min(2*cap(f.carry), size)))
			copy(grown, f.carry)
			f.carry = grown
		}
		f.carry, b = append(f.carry, b[:take]...), b[take:]
		if len(f.carry) < size {
			return nil, nil
		}
		err = f.packet(f.carry)
		f.flush() // carry is about to be used again
		f.carry = f.carry[:0]
		if cap(f.carry) > keepBuffer {
			f.carry = nil
		}
		return b, err
	}
}

// size returns the length of the packet at the start of b with its fixed header, or 0 when that is not whole yet. A
// packet that may not come, or that is too large, is an error as soon as its header tells.
func (f *filter) size(b []byte) (int, error) {
	if !f.opened && b[0] != typeConnack<<4 && b[0] != typeDisconnect<<4 && b[0] != typeAuth<<4 {
		return 0, &notMQTT{first: bytes.Clone(b[:min(len(b), 16)])}
	}
	t := b[0] >> 4
	if t != typePublish || !f.opened {
		if bad := checkType(b[0], f.opened); bad.code != 0 {
			return 0, bad.of(t)
		}
	}
	n, header := varSize(b[1:])
	if header < 0 {
		return 0, malformed("a length of more than four bytes").of(t) // [MQTT-1.5.5-1]
	}
	if header == 0 {
		return 0, nil
	}
	size := 1 + header + n
	limit := f.maxPacket
	if t != typePublish {
		limit = min(limit, controlLimit)
	}
	if size > limit {
		return 0, fault{0x95, fmt.Sprintf("%d bytes announced, more than the limit of %d", size, limit)}.of(t)
	}
	return size, nil
}

// of names the packet that a fault was found in.
func (f fault) of(t byte) error {
	return &ProtocolError{Code: f.code, Packet: packetName(t), What: f.what}
}

// packet handles one whole packet.
func (f *filter) packet(b []byte) error {
	_, header := varSize(b[1:])
	body := b[1+header:]
	if b[0]>>4 != typePublish {
		f.flush()
		if err := f.grammar.Control(b[0], body, f.opened); err != nil {
			return err
		}
		f.opened = f.opened || b[0]>>4 == typeConnack
		return f.control(b)
	}
	p := &f.batch[f.n]
	var err error
	if f.scratch, err = f.grammar.Publish(b[0], body, f.scratch, p); err != nil {
		return err
	}
	p.ReceivedAt, p.Origin, p.QoSKnown = f.at, f.origin, p.QoS > 0 || f.known
	f.n++
	if p.QoS == 0 {
		if f.n == batchSize {
			f.flush()
		}
		return nil
	}
	// The library acknowledges it, so it is delivered before the library sees it.
	topic := len(p.Topic)
	f.flush()
	if len(b) <= chunkSize {
		return f.control(b)
	}
	return f.control(withoutPayload(b[0], body, topic, f.plain))
}

// flush delivers what is batched.
func (f *filter) flush() {
	if f.n == 0 {
		return
	}
	f.deliver(f.batch[:f.n])
	clear(f.batch[:f.n]) // an idle connection must not hold on to a large payload
	f.n = 0
	f.scratch = f.scratch[:0]
	if cap(f.scratch) > keepBuffer {
		f.scratch = nil
	}
}

// withoutPayload returns the PUBLISH of a QoS above 0 with its topic and packet identifier alone, and with no
// properties where it is not plain. That is what the library needs to acknowledge a large one, of which it would make
// several copies.
func withoutPayload(first byte, body []byte, topic int, plain bool) []byte {
	head := body[:2+topic+2]
	if plain {
		return frame(first, head)
	}
	return frame(first, append(bytes.Clone(head), 0))
}
