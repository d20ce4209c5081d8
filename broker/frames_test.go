package broker

// Packets as a server sends them, byte by byte, for scripts and fuzz seeds.
// Nothing here is checked: malformed packets are made with the same functions.

import "encoding/binary"

// varint returns n as a Variable Byte Integer.
func varint(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// control returns a packet with the given first byte, its length in front of the parts.
func control(first byte, parts ...[]byte) []byte {
	body := join(parts...)
	return join([]byte{first}, varint(len(body)), body)
}

// properties returns a property block with its length in front.
func properties(props ...[]byte) []byte {
	body := join(props...)
	return join(varint(len(body)), body)
}

// text returns s with two bytes of length in front.
func text(s string) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...) }

func propByte(id, v byte) []byte        { return []byte{id, v} }
func propTwo(id byte, v uint16) []byte  { return binary.BigEndian.AppendUint16([]byte{id}, v) }
func propFour(id byte, v uint32) []byte { return binary.BigEndian.AppendUint32([]byte{id}, v) }
func propText(id byte, s string) []byte { return join([]byte{id}, text(s)) }
func propUser(key, value string) []byte { return join([]byte{0x26}, text(key), text(value)) }
func propExpiry(seconds uint32) []byte  { return propFour(0x02, seconds) }
func propSubscription(id int) []byte    { return join([]byte{0x0B}, varint(id)) }
func propAlias(alias uint16) []byte     { return propTwo(0x23, alias) }
func propReason(s string) []byte        { return propText(0x1F, s) }

// message is a PUBLISH to be.
type message struct {
	topic, payload string
	qos            byte
	id             uint16
	retain, dup    bool
	props          []byte
}

// publish returns the PUBLISH packet of m.
func publish(m message) []byte {
	first := byte(typePublish<<4) | m.qos<<1
	if m.retain {
		first |= 1
	}
	if m.dup {
		first |= 8
	}
	var id []byte
	if m.qos > 0 {
		id = binary.BigEndian.AppendUint16(nil, m.id)
	}
	return control(first, text(m.topic), id, properties(m.props), []byte(m.payload))
}

// retained returns a retained PUBLISH at QoS 0 without properties.
func retained(topic, payload string) []byte {
	return publish(message{topic: topic, payload: payload, retain: true})
}

func connack(code byte, props ...[]byte) []byte {
	return control(typeConnack<<4, []byte{0, code}, properties(props...))
}

func suback(id uint16, codes ...byte) []byte {
	return control(typeSuback<<4, binary.BigEndian.AppendUint16(nil, id), properties(), codes)
}

func pingresp() []byte { return control(typePingresp << 4) }

func disconnect(code byte, reason string) []byte {
	if reason == "" {
		return control(typeDisconnect<<4, []byte{code}, properties())
	}
	return control(typeDisconnect<<4, []byte{code}, properties(propReason(reason)))
}
