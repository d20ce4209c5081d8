package inventory

import "time"

// Claim is what a scan may say of the list it made. The zero value is Scanning.
type Claim uint8

const (
	// Scanning means that the burst has not ended by the stated rule.
	Scanning Claim = iota
	// Verified means that an independent count agrees, or that a full $SYS interval ticked after the burst and the
	// broker's dropped counter did not move.
	Verified
	// NoSignOfLoss means fence answered, quiet, and less wire bytes than any broker was seen to lose from.
	NoSignOfLoss
	// Unverified means that more than that came and no count is to be had.
	Unverified
	// Incomplete means that there is evidence of loss, or that a filter was refused, or that the connection ended.
	Incomplete
)

// String returns "scanning", "verified", "no sign of loss", "unverified" or "incomplete".
func (c Claim) String() string {
	switch c {
	case Verified:
		return "verified"
	case NoSignOfLoss:
		return "no sign of loss"
	case Unverified:
		return "unverified"
	case Incomplete:
		return "incomplete"
	default:
		return "scanning"
	}
}

// Grant is the answer of the broker to one topic filter of a SUBSCRIBE.
//
// Source: MQTT 5, 3.9.3.
type Grant struct {
	Filter string
	Code   byte // SUBACK reason code; below 0x80 it was granted
}

// Refused reports whether the filter was refused.
func (g Grant) Refused() bool { return g.Code >= 0x80 }

// Gap explains a part, or possible part, of the difference between what was seen and what is there.
type Gap struct {
	Count int64  // how many topics or messages; -1 when that is not known
	Text  string // one plain sentence, already safe for a terminal
}

// Span is a time during which nobody was watching, for instance between a loss and a reconnect.
type Span struct {
	From, To time.Time // To is zero while it lasts
}

// Coverage says what the list may claim: filters granted or refused, the broker's own count, gaps, and what a scan
// could not see. It is a value: whoever holds one may keep it; slices are never changed after it was handed out.
type Coverage struct {
	Claim  Claim
	Rule   string // the rule that ended the scan, or what it waits for while it runs; one sentence
	Grants []Grant

	Seen  int64 // retained topics held after the scan
	Known int64 // what the broker says it holds, less its own $SYS topics as far as that is known; -1 when it does not say
	// KnownFrom names where Known was read, for instance "$SYS/broker/retained messages/count".
	KnownFrom string
	Dropped   int64 // how far the broker's own dropped counter rose during the scan; -1 when it does not say
	WireBytes int64 // bytes received on the snapshot connections
	// Discarded counts publications that we ourselves had to drop because the read-ahead was full.
	Discarded int64

	Gaps     []Gap
	Away     []Span   // spans without a live connection, oldest first, at most 32
	Remedies []string // what a person can do when the list is not complete; sentences
	Notes    []string // what is true of this broker once and for all, for instance that it stamps expiry by itself

	StartedAt, EndedAt time.Time // EndedAt is zero while the scan runs
	// CountedAt is the instant that Claim, Rule, Seen and Known are of: the end of the scan, or that of the broker's own
	// figures which the list was held against last. Zero while the scan runs.
	CountedAt time.Time
	Slices    int // fenced slices asked for after the first scan
}

// Missing returns Known minus Seen where that is positive, and 0 otherwise or when Known is not known.
func (c Coverage) Missing() int64 {
	if c.Known < 0 || c.Known <= c.Seen {
		return 0
	}
	return c.Known - c.Seen
}
