package actions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// LineKind says what a line of the record tells.
type LineKind string

// The kinds of lines. A kind that a version does not know is kept and passed over.
const (
	LineSegment     LineKind = "segment"      // a segment begins, and why
	LineIntent      LineKind = "intent"       // a clear is about to begin
	LineBaseline    LineKind = "baseline"     // what was there before; nothing is sent until it is synced
	LineOutcome     LineKind = "outcome"      // how the clear ended
	LineWatch       LineKind = "watch"        // what the watch for a return saw
	LineRecheck     LineKind = "recheck"      // what a later look saw
	LineUndoIntent  LineKind = "undo intent"  // a restore is about to begin
	LineUndoOutcome LineKind = "undo outcome" // how the restore ended
)

// Line is one line of the record. Of the pointers exactly the one that belongs to Kind is set.
type Line struct {
	Prev      string    `json:"-"` // SHA-256 of the line before; written by hand, in front
	Seq       int64     `json:"-"` // number of the line in the record, from 1; likewise
	Kind      LineKind  `json:"kind"`
	At        time.Time `json:"at"` // UTC
	Operation string    `json:"operation,omitempty"`

	Segment     *SegmentStart `json:"segment,omitempty"`
	Intent      *Intent       `json:"intent,omitempty"`
	Baseline    *Baseline     `json:"baseline,omitempty"`
	Outcome     *Outcome      `json:"outcome,omitempty"`
	Later       *Later        `json:"later,omitempty"` // of watch and recheck
	UndoIntent  *UndoIntent   `json:"undo_intent,omitempty"`
	UndoOutcome *UndoOutcome  `json:"undo_outcome,omitempty"`
}

// SegmentStart says why a file of the record begins.
type SegmentStart struct {
	Number int     `json:"number"`
	Why    string  `json:"why"`
	Damage *Damage `json:"damage,omitempty"` // what stands at the end of the segment before it
	// Moved means that the end of the record was not the one that the head digest named: lines were taken away or changed.
	Moved bool `json:"moved,omitempty"`
}

// Intent is what was about to be done.
type Intent struct {
	Broker      BrokerID `json:"broker"`
	Topic       Name     `json:"topic"`
	Entry       Entry    `json:"entry"`
	Provisional []string `json:"provisional,omitempty"` // why it is provisional; none when it is not
	Expect      string   `json:"expect,omitempty"`      // until when a return must be expected, one sentence
	Tool        string   `json:"tool,omitempty"`
}

// Baseline is what stood before the tombstone.
type Baseline struct {
	Looks    []Look   `json:"looks"`
	Topic    Copy     `json:"topic"`
	Controls []Copy   `json:"controls"`
	Limits   []string `json:"limits,omitempty"`
}

// Look is one observation in the record.
type Look struct {
	Role     string       `json:"role"` // baseline, stored QoS, witness, read-back, confirmation, watch, recheck
	ClientID string       `json:"client_id"`
	User     string       `json:"user"`
	QoS      byte         `json:"qos"`
	Filters  []FilterCode `json:"filters"`
	Fenced   bool         `json:"fenced"`
	QuietMS  int64        `json:"quiet_ms"`
	From     time.Time    `json:"from"`
	To       time.Time    `json:"to,omitzero"`
	Received int          `json:"received"`
	Cut      bool         `json:"cut,omitempty"`
	Error    string       `json:"error,omitempty"`
}

// FilterCode is one filter of a SUBSCRIBE and its SUBACK code.
type FilterCode struct {
	Filter Name `json:"filter"`
	Code   byte `json:"code"`
}

func lookOf(role string, qos byte, o Observation, err error) Look {
	l := Look{Role: role, ClientID: o.ClientID, User: o.User, QoS: qos, Fenced: o.Fenced, QuietMS: o.Quiet.Milliseconds(),
		From: o.From.UTC(), To: o.To.UTC(), Received: len(o.Seen), Cut: o.Cut}
	for _, g := range o.Grants {
		l.Filters = append(l.Filters, FilterCode{Filter: Name(g.Filter), Code: g.Code})
	}
	if err != nil {
		l.Error = err.Error()
	}
	return l
}

// copyOf returns p in the form of the record, with its bytes when they are at most limit.
func copyOf(p inventory.Publication, stamps bool, limit int) Copy {
	c := Copy{
		Topic: Name(p.Topic), Size: len(p.Payload), SHA256: digest(p.Payload), Fingerprint: fingerprintOf(p, stamps),
		Expiry: p.Interval.Kind().String(), ReceivedAt: time.UnixMilli(p.ReceivedAt).UTC(),
	}
	c.Seconds, _ = p.Interval.Seconds()
	if p.QoSKnown {
		q := p.QoS
		c.QoS = &q
	}
	if len(p.Payload)+len(p.Properties) <= limit {
		c.Saved, c.Payload, c.Properties = true, p.Payload, p.Properties
	}
	return c
}

// fingerprintOf is the fingerprint of a publication as the inventory of the same broker shows it: where the broker
// stamps intervals of its own, whether there was one cannot be told.
func fingerprintOf(p inventory.Publication, stamps bool) string {
	i := p.Interval
	if stamps {
		i = expiry.NotKnown()
	}
	return inventory.Fingerprint(p.Payload, p.Properties, i)
}

// SameValue reports whether p, whose payload is whole, is the value of a fingerprint that the inventory, a saved list or
// an earlier look showed. stamps says that the broker adds intervals of its own.
// Where the broker stamps intervals, of which one beyond what a publisher sets is a sign, nobody can tell whether there
// was one: then only the rest of it counts.
func SameValue(fingerprint string, p inventory.Publication, stamps bool) bool {
	return fingerprint == fingerprintOf(p, stamps) || slices.Contains(sameValues(p, stamps), fingerprint)
}

// sameValues returns the fingerprints that p may have had beside its own, nil where there is no doubt.
func sameValues(p inventory.Publication, stamps bool) []string {
	const decades = 1 << 30 // seconds
	if s, finite := p.Interval.Seconds(); !stamps && !(finite && s >= decades) {
		return nil
	}
	var all []string
	for _, i := range []expiry.Interval{expiry.None(), expiry.Seconds(1), expiry.NotKnown()} {
		all = append(all, inventory.Fingerprint(p.Payload, p.Properties, i))
	}
	return all
}

// encode returns the line as it stands in the file, without its end.
func (l Line) encode() ([]byte, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write record line: %w", err)
	}
	b := make([]byte, 0, len(body)+128)
	b = append(b, prefixStart...)
	b = append(b, l.Prev...)
	b = append(b, prefixMiddle...)
	b = strconv.AppendInt(b, l.Seq, 10)
	b = append(b, ',')
	return append(b, body[1:]...), nil
}

// decodeLine reads a line of the record.
func decodeLine(b []byte) (Line, error) {
	prev, seq, ok := readPrefix(b)
	if !ok {
		return Line{}, fmt.Errorf("the line does not begin as a record line does")
	}
	l := Line{Prev: prev, Seq: seq}
	if err := json.Unmarshal(b, &l); err != nil {
		return l, fmt.Errorf("the line is no JSON of ours: %w", err)
	}
	return l, nil
}
