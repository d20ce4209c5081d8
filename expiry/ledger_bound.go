package expiry

// The refusal of a Ledger that is full.
// It names the bound, so that the person knows which of the two to look at.

import (
	"fmt"
	"strconv"
)

// Bound is one of the two bounds of a Ledger. The zero value is TopicBound.
type Bound uint8

const (
	// TopicBound is LedgerTopics.
	TopicBound Bound = iota
	// ByteBound is LedgerBytes.
	ByteBound
)

// String returns the bound with its number: "1000 topics" or "16777216 bytes of topic and payload".
func (b Bound) String() string {
	if b == ByteBound {
		return fmt.Sprintf("%d bytes of topic and payload", LedgerBytes)
	}
	return fmt.Sprintf("%d topics", LedgerTopics)
}

// BoundError says that a retained message would take a Ledger over one of its bounds. Nothing was recorded and nothing
// may be sent.
type BoundError struct {
	Topic string
	Bound Bound
	Would int // the number of topics or bytes that the ledger would have held
}

// Error returns one sentence that names the topic, quoted, and the bound.
func (e *BoundError) Error() string {
	return fmt.Sprintf("publish %s: the ledger holds at most %s and would hold %d: clear what is no longer needed first",
		quoted(e.Topic), e.Bound, e.Would)
}

// quoted returns a topic in quotes with everything escaped that a terminal might act on, and cut at a length that fits
// a message.
func quoted(topic string) string {
	const most = 200
	if len(topic) > most {
		return strconv.QuoteToASCII(topic[:most]) + "..."
	}
	return strconv.QuoteToASCII(topic)
}
