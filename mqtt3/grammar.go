package mqtt3

// Packets of MQTT 3.1.1 as a client may receive them. The first byte and the length were checked before.

import (
	"encoding/binary"

	"retainscope/broker"
	"retainscope/expiry"
	"retainscope/inventory"
)

// Control packet types. Source: MQTT 3.1.1, 2.2.1.
const (
	typeConnect    = 1
	typeConnack    = 2
	typePublish    = 3
	typePuback     = 4
	typePubrel     = 6
	typeSubscribe  = 8
	typeSuback     = 9
	typeUnsuback   = 11
	typePingresp   = 13
	typeDisconnect = 14
)

// packetNames names the packets that a server may send, and those that it must not.
var packetNames = map[byte]string{
	typeConnack: "CONNACK", typePublish: "PUBLISH", typePuback: "PUBACK", typePubrel: "PUBREL", typeSuback: "SUBACK",
	typeUnsuback: "UNSUBACK", typePingresp: "PINGRESP", typeDisconnect: "DISCONNECT",
}

// Codes of a fault, as MQTT 5 numbers them; 3.1.1 has none and never sends one.
const (
	malformedPacket = 0x81
	protocolError   = 0x82
)

func fault(code, t byte, what string) error {
	name, ok := packetNames[t]
	if !ok {
		name = "a packet"
	}
	return &broker.ProtocolError{Code: code, Packet: name, What: what, Version: Version{}.String()}
}

// Publish reads a PUBLISH. Its interval is never known: nothing on the wire tells one.
//
// Source: MQTT 3.1.1, 3.3.
func (s *session) Publish(first byte, body, scratch []byte, p *inventory.Publication) ([]byte, error) {
	payload, err := broker.PublishHead(first, body, p)
	switch {
	case err != nil:
		return scratch, err
	case len(p.Topic) == 0:
		return scratch, fault(malformedPacket, typePublish, "no topic") // [MQTT-4.7.3-1]
	}
	p.Payload, p.Properties, p.Interval = payload, nil, expiry.NotKnown()
	return scratch, nil
}

// Control checks what the library would take as it comes: it reads beyond the end of what it asked for when a SUBACK
// answers more filters, and takes a CONNACK with an unknown return code for a success.
func (s *session) Control(first byte, body []byte, _ bool) error {
	t := first >> 4
	switch t {
	case typeConnack:
		return checkConnack(body)
	case typeSuback:
		return s.checkSuback(body)
	case typePuback, typePubrel, typeUnsuback:
		if len(body) != 2 {
			return fault(malformedPacket, t, "it is not as long as its packet identifier")
		}
	case typePingresp:
		if len(body) != 0 {
			return fault(malformedPacket, t, "it is not empty")
		}
	default:
		return fault(protocolError, t, "only a client sends it")
	}
	return nil
}

// checkConnack checks a CONNACK. Source: MQTT 3.1.1, 3.2.
func checkConnack(body []byte) error {
	switch {
	case len(body) > 2:
		return fault(protocolError, typeConnack, "it is one of another version of MQTT")
	case len(body) < 2, body[0]&0xFE != 0:
		return fault(malformedPacket, typeConnack, "wrong acknowledge flags")
	case body[1] > lastReturnCode:
		return fault(malformedPacket, typeConnack, "an unknown return code")
	}
	return nil
}

// checkSuback checks a SUBACK against the SUBSCRIBE that it answers; one that answers nothing passes and is ignored.
//
// Source: MQTT 3.1.1, 3.9.
func (s *session) checkSuback(body []byte) error {
	if len(body) < 3 {
		return fault(malformedPacket, typeSuback, "it ends before its first return code")
	}
	for _, code := range body[2:] {
		if code > 2 && code != 0x80 {
			return fault(malformedPacket, typeSuback, "a return code that does not exist") // [MQTT-3.9.3-2]
		}
	}
	id := binary.BigEndian.Uint16(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, ok := s.asked[id]
	delete(s.asked, id)
	if ok && asked != len(body)-2 {
		return fault(protocolError, typeSuback, "it does not answer as many filters as were asked for") // [MQTT-3.8.4-5]
	}
	return nil
}
