package broker

// Properties on the wire: which there are, where each may stand, how long each is.
// Values are not judged here, and nothing is allocated.

import "encoding/binary"

// shape is how the value of a property is encoded. Source: MQTT 5, 2.2.2.2.
type shape uint8

const (
	noProperty shape = iota
	oneByte
	twoBytes
	fourBytes
	variable // Variable Byte Integer
	prefixed // UTF-8 string or binary data: two bytes of length in front
	pair     // two strings
)

const (
	propMessageExpiry          = 0x02
	propSubscriptionIdentifier = 0x0B
	propReasonString           = 0x1F
	propTopicAlias             = 0x23
	propUserProperty           = 0x26
)

// in is a set of control packet types.
type in uint16

func packetSet(types ...byte) (s in) {
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// propertyRule says what one identifier means. The table is what a client can receive.
type propertyRule struct {
	shape shape
	in    in
}

// propertyRules is indexed by identifier. Source: MQTT 5, table 2-4.
var propertyRules = [0x2B]propertyRule{
	0x01:                       {oneByte, packetSet(typePublish)},                                 // Payload Format Indicator
	propMessageExpiry:          {fourBytes, packetSet(typePublish)},                               //
	0x03:                       {prefixed, packetSet(typePublish)},                                // Content Type
	0x08:                       {prefixed, packetSet(typePublish)},                                // Response Topic
	0x09:                       {prefixed, packetSet(typePublish)},                                // Correlation Data
	propSubscriptionIdentifier: {variable, packetSet(typePublish)},                                //
	0x11:                       {fourBytes, packetSet(typeConnack)},                               // Session Expiry Interval
	0x12:                       {prefixed, packetSet(typeConnack)},                                // Assigned Client Identifier
	0x13:                       {twoBytes, packetSet(typeConnack)},                                // Server Keep Alive
	0x15:                       {prefixed, packetSet(typeConnack)},                                // Authentication Method
	0x16:                       {prefixed, packetSet(typeConnack)},                                // Authentication Data
	0x1A:                       {prefixed, packetSet(typeConnack)},                                // Response Information
	0x1C:                       {prefixed, packetSet(typeConnack, typeDisconnect)},                // Server Reference
	propReasonString:           {prefixed, packetSet(typeConnack, typeDisconnect) | acknowledges}, //
	0x21:                       {twoBytes, packetSet(typeConnack)},                                // Receive Maximum
	0x22:                       {twoBytes, packetSet(typeConnack)},                                // Topic Alias Maximum
	propTopicAlias:             {twoBytes, packetSet(typePublish)},                                //
	0x24:                       {oneByte, packetSet(typeConnack)},                                 // Maximum QoS
	0x25:                       {oneByte, packetSet(typeConnack)},                                 // Retain Available
	propUserProperty:           {pair, packetSet(typePublish, typeConnack, typeDisconnect) | acknowledges},
	0x27:                       {fourBytes, packetSet(typeConnack)}, // Maximum Packet Size
	0x28:                       {oneByte, packetSet(typeConnack)},   // Wildcard Subscription Available
	0x29:                       {oneByte, packetSet(typeConnack)},   // Subscription Identifiers Available
	0x2A:                       {oneByte, packetSet(typeConnack)},   // Shared Subscription Available
}

const acknowledges in = 1<<typePuback | 1<<typePubrec | 1<<typePubrel | 1<<typePubcomp | 1<<typeSuback | 1<<typeUnsuback

// fault is what is wrong with a packet. The zero value is no fault.
type fault struct {
	code byte
	what string
}

func malformed(what string) fault     { return fault{0x81, what} }
func protocolError(what string) fault { return fault{0x82, what} }

// varSize returns the value of the Variable Byte Integer at the start of b and its length, 0 when it is not whole,
// and -1 when it is longer than four bytes.
//
// Source: MQTT 5, 1.5.5.
func varSize(b []byte) (value, size int) {
	for i := 0; i < 4; i++ {
		if i >= len(b) {
			return 0, 0
		}
		value |= int(b[i]&0x7F) << (7 * i)
		if b[i] < 0x80 {
			return value, i + 1
		}
	}
	return 0, -1
}

// block splits b into the property block at its start, without the length in front, and what follows it.
func block(b []byte) (props, rest []byte, f fault) {
	n, size := varSize(b)
	switch {
	case size < 0:
		return nil, nil, malformed("a property length of more than four bytes")
	case size == 0:
		return nil, nil, malformed("it ends inside its property length")
	case n > len(b)-size:
		return nil, nil, malformed("a property length beyond the end of the packet")
	}
	return b[size : size+n : size+n], b[size+n:], fault{}
}

// propertyAt returns the identifier of the property at the start of b, which belongs to a packet of type t, and its
// length with the identifier. seen holds the identifiers met before in the same block.
func propertyAt(b []byte, t byte, seen *uint64) (id byte, size int, f fault) {
	id = b[0]
	if int(id) >= len(propertyRules) || propertyRules[id].in&(1<<t) == 0 {
		return id, 0, malformed("a property that does not belong there")
	}
	if *seen&(1<<id) != 0 && id != propUserProperty && id != propSubscriptionIdentifier {
		return id, 0, protocolError("the same property twice")
	}
	*seen |= 1 << id
	switch propertyRules[id].shape {
	case oneByte:
		size = 2
	case twoBytes:
		size = 3
	case fourBytes:
		size = 5
	case variable:
		_, n := varSize(b[1:])
		if n < 0 {
			return id, 0, malformed("a property value of more than four bytes")
		}
		if n == 0 {
			n = len(b) // beyond the end
		}
		size = 1 + n
	case prefixed:
		size = 1 + prefixedSize(b[1:])
	case pair:
		size = 1 + prefixedSize(b[1:])
		if size < len(b) {
			size += prefixedSize(b[size:])
		} else {
			size = len(b) + 1
		}
	}
	if size > len(b) {
		return id, 0, malformed("a property that ends beyond its block")
	}
	return id, size, fault{}
}

// prefixedSize returns the length of the string or binary data at the start of b with its prefix, even when b is
// shorter than that.
func prefixedSize(b []byte) int {
	if len(b) < 2 {
		return 2
	}
	return 2 + int(binary.BigEndian.Uint16(b))
}
