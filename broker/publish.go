package broker

// One PUBLISH out of its bytes.
// Framing and lengths are strict; what a topic or payload holds is not judged, and nothing is copied without need.

import (
	"encoding/binary"

	"retainscope/expiry"
	"retainscope/inventory"
)

// decodePublish fills p from the PUBLISH with the given first byte and body. Slices are borrowed from body, or from
// scratch where a property had to be taken out of the middle; scratch is returned with what was appended to it.
// ReceivedAt and Origin are left to the caller.
//
// Source: MQTT 5, 3.3.
func decodePublish(first byte, body, scratch []byte, p *inventory.Publication) ([]byte, fault) {
	body, f := publishHead(first, body, p)
	if f.code != 0 {
		return scratch, f
	}
	props, payload, f := block(body)
	if f.code != 0 {
		return scratch, f
	}
	p.Payload = payload
	p.Interval = expiry.None()
	p.Properties, scratch, f = keptProperties(props, scratch, p)
	if f.code == 0 && len(p.Topic) == 0 {
		// A topic may be missing only where a Topic Alias stands for it, and we never allow one. 3.3.2.3.4.
		return scratch, fault{0x94, "no topic"}
	}
	return scratch, f
}

// PublishHead fills the QoS, the RETAIN and the topic of p, as every version of MQTT has them, and returns what follows
// the topic and the packet identifier. The error is a *ProtocolError.
//
// Source: MQTT 5, 3.3.1, 3.3.2.1 and 3.3.2.2.
func PublishHead(first byte, body []byte, p *inventory.Publication) ([]byte, error) {
	rest, f := publishHead(first, body, p)
	if f.code != 0 {
		return nil, f.of(typePublish)
	}
	return rest, nil
}

func publishHead(first byte, body []byte, p *inventory.Publication) ([]byte, fault) {
	p.QoS = first >> 1 & 3
	p.Retain = first&1 != 0
	if p.QoS == 3 {
		return nil, malformed("QoS 3") // [MQTT-3.3.1-4]
	}
	if len(body) < 2 {
		return nil, malformed("it ends inside its topic")
	}
	end := 2 + int(binary.BigEndian.Uint16(body))
	if end > len(body) {
		return nil, malformed("a topic beyond the end of the packet")
	}
	p.Topic = body[2:end:end]
	body = body[end:]
	if p.QoS > 0 {
		if len(body) < 2 {
			return nil, malformed("it ends inside its packet identifier")
		}
		if body[0] == 0 && body[1] == 0 {
			return nil, protocolError("a packet identifier of 0") // [MQTT-2.2.1-3]
		}
		body = body[2:]
	}
	return body, fault{}
}

// keptProperties returns props without Message Expiry Interval, Subscription Identifier and Topic Alias, and sets the
// interval of p. What is kept is borrowed from props while it is in one piece there, and copied to scratch otherwise.
func keptProperties(props, scratch []byte, p *inventory.Publication) ([]byte, []byte, fault) {
	var seen uint64
	from, to := 0, 0 // the kept piece of props
	base := -1       // where the copy starts in scratch
	for at := 0; at < len(props); {
		id, size, f := propertyAt(props[at:], typePublish, &seen)
		if f.code != 0 {
			return nil, scratch, f
		}
		next := at + size
		switch id {
		case propMessageExpiry:
			p.Interval = expiry.Seconds(binary.BigEndian.Uint32(props[at+1:]))
		case propSubscriptionIdentifier, propTopicAlias:
		default:
			switch {
			case base >= 0:
				scratch = append(scratch, props[at:next]...)
			case from == to:
				from, to = at, next
			case to == at:
				to = next
			default:
				base = len(scratch)
				scratch = append(append(scratch, props[from:to]...), props[at:next]...)
			}
		}
		at = next
	}
	if base >= 0 {
		return scratch[base:len(scratch):len(scratch)], scratch, fault{}
	}
	return props[from:to:to], scratch, fault{}
}
