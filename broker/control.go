package broker

// What a server may send besides PUBLISH: checked for form before the library sees it, which is less strict.
// Framing, lengths and the places of properties; what a reason code means is for the library and the caller.

import (
	"bytes"
	"encoding/binary"

	"retainscope/inventory"
)

// controlLimit is the largest packet other than PUBLISH that is taken. None of them needs a tenth of it, and the
// library allocates by the length they announce.
const controlLimit = 1 << 20

// checkControl returns what is wrong with a control packet other than PUBLISH, which came after the CONNACK or, with
// opened false, as the first packet.
func checkControl(first byte, body []byte, opened bool) fault {
	t := first >> 4
	if f := checkType(first, opened); f.code != 0 {
		return f
	}
	switch t {
	case typeConnack:
		if len(body) < 2 || body[0]&0xFE != 0 {
			return malformed("wrong acknowledge flags") // 3.2.2.1
		}
		return checkTail(t, body[2:])
	case typeSuback, typeUnsuback:
		if len(body) < 2 {
			return malformed("it ends inside its packet identifier")
		}
		codes, f := checkBlock(t, body[2:])
		if f.code == 0 && len(codes) == 0 {
			return protocolError("no reason code")
		}
		return f
	case typePuback, typePubrel:
		// The reason code and the properties may be left out. 3.4.2.1, 3.6.2.1
		switch {
		case len(body) < 2:
			return malformed("it ends inside its packet identifier")
		case len(body) <= 3:
			return fault{}
		}
		return checkTail(t, body[3:])
	case typeDisconnect:
		// The same holds here. 3.14.2.1, 3.14.2.2.1
		if len(body) <= 1 {
			return fault{}
		}
		return checkTail(t, body[1:])
	case typePingresp:
		if len(body) != 0 {
			return malformed("it is not empty")
		}
	}
	return fault{}
}

// checkType returns what is wrong with the first byte of a control packet at its place in the stream.
func checkType(first byte, opened bool) fault {
	t, flags := first>>4, first&0x0F
	switch t {
	case 0:
		return malformed("there is none")
	case typeConnect, typeSubscribe, typeUnsubscribe, typePingreq:
		return protocolError("only a client sends it")
	case typeAuth:
		return protocolError("no authentication method was agreed on") // 4.12
	case typePubrec, typePubcomp:
		return protocolError("nothing was published at QoS 2")
	case typeConnack:
		if opened {
			return protocolError("a second one")
		}
	case typePublish:
		if !opened {
			return protocolError("before CONNACK") // [MQTT-3.2.0-1]
		}
		return fault{} // its flags mean something
	default:
		if !opened && t != typeDisconnect {
			return protocolError("before CONNACK")
		}
	}
	want := byte(0)
	if t == typePubrel {
		want = 2
	}
	if flags != want {
		return malformed("wrong flags in its first byte") // [MQTT-2.1.3-1]
	}
	return fault{}
}

// checkTail checks a property block that must reach to the end of its packet.
func checkTail(t byte, b []byte) fault {
	rest, f := checkBlock(t, b)
	if f.code == 0 && len(rest) != 0 {
		return malformed("more bytes than its properties take")
	}
	return f
}

// checkBlock checks the property block at the start of b and returns what follows it.
func checkBlock(t byte, b []byte) ([]byte, fault) {
	props, rest, f := block(b)
	var seen uint64
	for at := 0; f.code == 0 && at < len(props); {
		var size int
		_, size, f = propertyAt(props[at:], t, &seen)
		at += size
	}
	return rest, f
}

// reasonString returns the Reason String of a checked property block, as received, or nothing.
func reasonString(t byte, props []byte) string {
	var seen uint64
	for at := 0; at < len(props); {
		id, size, f := propertyAt(props[at:], t, &seen)
		if f.code != 0 {
			return ""
		}
		if id == propReasonString {
			return string(props[at+3 : at+3+int(binary.BigEndian.Uint16(props[at+1:]))])
		}
		at += size
	}
	return ""
}

// userProperties returns a copy of the user properties of a checked property block, in their order.
func userProperties(t byte, props []byte) (users []inventory.UserProperty) {
	var seen uint64
	for at := 0; at < len(props); {
		id, size, f := propertyAt(props[at:], t, &seen)
		if f.code != 0 {
			return users
		}
		if id == propUserProperty {
			pair := bytes.Clone(props[at+1 : at+size])
			key := prefixedSize(pair)
			users = append(users, inventory.UserProperty{Key: pair[2:key:key], Value: pair[key+2:]})
		}
		at += size
	}
	return users
}

// serverDisconnect reads a checked DISCONNECT. Without a body it is a normal disconnection. Source: MQTT 5, 3.14.2.1.
func serverDisconnect(body []byte) *ServerDisconnect {
	d := &ServerDisconnect{}
	if len(body) > 0 {
		d.Code = body[0]
	}
	if len(body) > 1 {
		if props, _, f := block(body[1:]); f.code == 0 {
			d.Reason = plain(reasonString(typeDisconnect, props))
		}
	}
	return d
}
