// Package inventory is the retained store of a broker as one login can see it: slots, their changes, and what the list may claim.
//
// Pure: no goroutines, no network, no clock of its own (it reads ReceivedAt), nothing but the standard library and expiry.
package inventory

import "retainscope/expiry"

// Origin tells by which road a Publication reached us. The zero value is Replay.
type Origin uint8

const (
	// Replay is a retained copy sent because of a new subscription on a snapshot connection. Never activity.
	Replay Origin = iota
	// Live is a publication forwarded while it happened, on the live connection with Retain As Published 1.
	Live
	// Answer is a retained copy sent because we asked for its exact topic on the query connection. Never activity.
	Answer
	// Own is a publication that this program sent itself, as the live connection brought it back. It changes the slot as
	// Live does and is nobody's activity.
	Own
)

// Publication is one PUBLISH as it reached us. Topic, Payload and Properties are borrowed: they are valid only during
// the call that hands them over.
//
// Source: MQTT 5, 3.3.
type Publication struct {
	Topic   []byte // exact bytes as received; any bytes, possibly not UTF-8
	Payload []byte
	// Properties holds the PUBLISH properties as on the wire (identifier, value, in order, without the length in
	// front), less Message Expiry Interval, Subscription Identifier and Topic Alias. See Properties.
	Properties []byte
	Interval   expiry.Interval
	ReceivedAt int64 // Unix milliseconds, stamped once when the bytes were read
	QoS        uint8 // as delivered; at a QoS 0 subscription this says nothing about the stored QoS
	QoSKnown   bool  // true only when the delivery can tell the stored QoS
	Retain     bool  // RETAIN as delivered
	Origin     Origin
}
