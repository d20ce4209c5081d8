package actions

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"retainscope/expiry"
	"retainscope/inventory"
)

// Observer reads what the broker serves, on connections of its own that publish nothing. Every method may be called
// again; none retries by itself. The broker room satisfies it.
type Observer interface {
	// Observe makes one connection with a fresh client id, has its callbacks in place, sends SUBSCRIBE for
	// q.Filters (in one packet or several, nonshared, Retain Handling 0, No Local 0, Retain As Published 0, so that RETAIN 1 means a replay),
	// reads the SUBACK code of every filter, sends PINGREQ, waits for PINGRESP and then until no replay came for
	// q.Quiet (live copies do not count: a busy neighbour must not keep it open), and closes. It returns what it knows also together with an error. The error is what kept it from looking, as one
	// sentence safe for a terminal; a refused filter is no error but a Grant.
	//
	// Source: MQTT 5, 3.8.3.1 and 3.9.3.
	Observe(ctx context.Context, q Question) (Observation, error)
	// Watch makes one connection and subscribes to the filters (as in a Question, at most 50) at QoS 0, nonshared, with
	// No Local 0 and Retain As Published 1. With replay the stored copies come first (Retain Handling 0), without it
	// only what is published from then on (2). It returns when every filter was granted; the error says which was not,
	// or why there is no connection. ctx bounds the opening only.
	Watch(ctx context.Context, filters [][]byte, replay bool) (Witness, error)
}

// Question is what one look asks for.
type Question struct {
	// Filters are exact topics, with + in place of a level that is not UTF-8, or with wildcards for a bounded scan; at
	// most 50, as they are to be sent.
	Filters [][]byte
	QoS     byte          // asked for every filter
	Quiet   time.Duration // how long no replay may come after the fence, before the look ends
	Max     int           // publications after which the look ends and is called cut; 0 = no bound
}

// Observation is what one look saw. Its slices belong to whoever received it.
type Observation struct {
	ClientID string
	User     string // login of the observer, empty when anonymous
	Grants   []inventory.Grant
	Fenced   bool          // PINGRESP came after SUBACK
	Quiet    time.Duration // how long no replay came at the end, really waited
	From, To time.Time
	// Seen holds every publication in the order in which it came. Retain tells a replay (true) from what was published
	// meanwhile (false). The bytes are whole and are not borrowed.
	Seen []inventory.Publication
	Cut  bool // more came than Question.Max
}

// Witness is a subscription that stands while a clear happens, and after it.
type Witness interface {
	// About returns client id, login, grants and since when it stands.
	About() Observation
	// Fence returns nil when everything that the broker had sent to it before is here. The error is that of ctx or of the
	// connection, or says that the broker did not answer.
	Fence(ctx context.Context) error
	// Drain returns what came since it was called last, without waiting. It may be called at the same time as Next.
	Drain() []inventory.Publication
	// Next waits for the next publication. The error is that of ctx, or says that the connection is lost.
	Next(ctx context.Context) (inventory.Publication, error)
	// Err returns nil while it stands, and otherwise why it sees nothing any more, as one sentence safe for a terminal.
	Err() error
	// Close ends the connection. It may be called twice.
	Close() error
}

// blind returns why the observation of topic counts for nothing, or "" when its silence means something: the filter
// was granted, the fence was answered, and it was quiet for as long as it was to be.
func (o Observation) blind(topic []byte, quiet time.Duration, err error) string {
	if err != nil {
		return "the observer could not look: " + err.Error()
	}
	granted, filter := false, string(filterFor(topic))
	for _, g := range o.Grants {
		if g.Filter != filter {
			continue
		}
		if g.Refused() {
			return "the broker refused the observer's subscription: " + ReasonName(g.Code)
		}
		granted = true
	}
	switch {
	case !granted:
		return "the broker did not answer for the observer's filter"
	case !o.Fenced:
		return "the broker did not answer the observer's PINGREQ"
	case o.Quiet < quiet:
		return fmt.Sprintf("it was quiet for %v only, not for %v", o.Quiet, quiet)
	case o.Cut:
		return "more came than the observer takes"
	}
	return ""
}

// filterFor returns the topic filter that a look uses for one topic: the topic itself, or, where it is not UTF-8, which
// no filter may be, with + in place of such levels. What else that brings is passed over.
//
// Source: MQTT 5, 4.7.3.
func filterFor(topic []byte) []byte {
	if utf8.Valid(topic) {
		return topic
	}
	levels := bytes.Split(topic, []byte("/"))
	for i, l := range levels {
		if !utf8.Valid(l) {
			levels[i] = []byte("+")
		}
	}
	return bytes.Join(levels, []byte("/"))
}

// replay returns the stored copy of topic, the last one when several came, and whether there was one.
func (o Observation) replay(topic []byte) (inventory.Publication, bool) {
	for i := len(o.Seen) - 1; i >= 0; i-- {
		if p := o.Seen[i]; p.Retain && string(p.Topic) == string(topic) {
			return p, true
		}
	}
	return inventory.Publication{}, false
}

// Copy is one retained message as it was read, in the form in which the record keeps it.
type Copy struct {
	Topic       Name      `json:"topic"`
	Size        int       `json:"size"`
	SHA256      string    `json:"sha256"`      // of the payload
	Fingerprint string    `json:"fingerprint"` // see inventory.Fingerprint
	Expiry      string    `json:"expiry"`      // finite, absent, unknown
	Seconds     uint32    `json:"expiry_seconds,omitempty"`
	QoS         *byte     `json:"qos"` // of the stored message, null when not known
	ReceivedAt  time.Time `json:"received_at"`
	// Saved means that Payload and Properties are whole; without it there is no way back.
	Saved      bool   `json:"saved"`
	Payload    []byte `json:"payload,omitempty"`
	Properties []byte `json:"properties,omitempty"`
}

// interval returns the expiry as it was on the wire.
func (c Copy) interval() expiry.Interval {
	switch c.Expiry {
	case expiry.Finite.String():
		return expiry.Seconds(c.Seconds)
	case expiry.Absent.String():
		return expiry.None()
	default:
		return expiry.NotKnown()
	}
}

// ControlState is how a control came out of a clear. The zero value is not compared.
type ControlState uint8

const (
	// NotCompared means that one of the two looks told nothing about it.
	NotCompared ControlState = iota
	// Intact means that payload, properties and the presence of an expiry are the same.
	Intact
	// ChangedLive means that somebody published on it meanwhile; a note, not an alarm.
	ChangedLive
	// ChangedSilently means that it holds something else and that nobody was seen publishing.
	ChangedSilently
	// ClearedBySomeone means that a live tombstone was seen on it.
	ClearedBySomeone
	// ClearedHere means that the record holds a later clear of it: this program took it away.
	ClearedHere
	// RanOut means that it was due to expire and is not observed any more.
	RanOut
	// Lost means that it was quiet and not due, and is not observed any more: the alarm.
	Lost
)

var controlNames = []string{"not compared", "intact", "changed live", "changed without a publication seen",
	"cleared by someone", "cleared from here", "expired", "lost"}

// String returns a short lower-case phrase.
func (s ControlState) String() string { return nameOf(controlNames, uint8(s)) }

// MarshalText writes the phrase.
func (s ControlState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the phrase; one that is not known is NotCompared.
func (s *ControlState) UnmarshalText(b []byte) error {
	i, _ := indexOf(controlNames, string(b))
	*s = ControlState(i)
	return nil
}
