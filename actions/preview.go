package actions

import "encoding/binary"

// Preview returns the bytes of the one PUBLISH that clears topic, as they will be on the wire, and where in them its
// Packet Identifier stands: two bytes that are chosen when it is sent and are 0 here. It is for a person to read; what
// is sent is made elsewhere and looked at again as it is written. The error says why the topic cannot be one.
//
// Source: MQTT 5, 3.3.
func Preview(topic []byte) (packet []byte, id int, err error) {
	if err := RefuseTopic(topic); err != nil {
		return nil, 0, err
	}
	const retainQoS1 = 0x33 // PUBLISH, DUP 0, QoS 1, RETAIN 1
	packet = append(packet, retainQoS1)
	rest := 2 + len(topic) + 2 + 1
	for n := rest; ; n >>= 7 {
		if n < 0x80 {
			packet = append(packet, byte(n))
			break
		}
		packet = append(packet, byte(n)|0x80)
	}
	packet = binary.BigEndian.AppendUint16(packet, uint16(len(topic)))
	packet = append(packet, topic...)
	id = len(packet)
	return append(packet, 0, 0, 0), id, nil // Packet Identifier, and no properties
}
