package actions

import "fmt"

// reasonNames holds the reason codes that a PUBACK, a SUBACK or a DISCONNECT can carry.
//
// Source: MQTT 5, 2.4.
var reasonNames = map[byte]string{
	0x00: "success",
	0x01: "granted QoS 1",
	0x02: "granted QoS 2",
	0x04: "disconnect with will message",
	0x10: "no matching subscribers",
	0x11: "no subscription existed",
	0x80: "unspecified error",
	0x81: "malformed packet",
	0x82: "protocol error",
	0x83: "implementation specific error",
	0x87: "not authorized",
	0x89: "server busy",
	0x8B: "server shutting down",
	0x8D: "keep alive timeout",
	0x8E: "session taken over",
	0x8F: "topic filter invalid",
	0x90: "topic name invalid",
	0x91: "packet identifier in use",
	0x93: "receive maximum exceeded",
	0x94: "topic alias invalid",
	0x95: "packet too large",
	0x96: "message rate too high",
	0x97: "quota exceeded",
	0x98: "administrative action",
	0x99: "payload format invalid",
	0x9A: "retain not supported",
	0x9B: "QoS not supported",
	0x9C: "use another server",
	0x9D: "server moved",
	0x9E: "shared subscriptions not supported",
	0x9F: "connection rate exceeded",
	0xA0: "maximum connect time",
	0xA1: "subscription identifiers not supported",
	0xA2: "wildcard subscriptions not supported",
}

// ReasonName returns a reason code as two hexadecimal digits and its name, for instance "0x87 not authorized".
func ReasonName(code byte) string {
	if n, ok := reasonNames[code]; ok {
		return fmt.Sprintf("0x%02X %s", code, n)
	}
	return fmt.Sprintf("0x%02X (a code the standard does not name)", code)
}

// explainAnswer returns what an acknowledgement with this code says, and what it does not.
//
// Source: MQTT 5, 3.4.2.1.
func explainAnswer(code byte) string {
	switch {
	case code == 0x00:
		return "acknowledged 0x00: the broker accepted the publication; this does not say that anything was there"
	case code == 0x10:
		return "acknowledged 0x10: accepted, and nobody was subscribed; this is a success"
	case code == 0x87:
		return "refused 0x87 not authorized: this login may not publish here; some brokers keep permissions for minutes after a change"
	case code >= 0x80:
		return "refused " + ReasonName(code)
	default:
		return fmt.Sprintf("acknowledged 0x%02X: accepted, with a code the standard does not allow in this place", code)
	}
}
