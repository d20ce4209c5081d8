package actions

import (
	"time"

	"retainscope/inventory"
)

// Outcome is how a clear ended, with its facts. The only payload in it is that of an overrun.
type Outcome struct {
	Verdict     Verdict  `json:"verdict"`
	Obstacle    Obstacle `json:"obstacle"`
	Sentence    string   `json:"sentence"`              // what happened, in plain words, safe for a terminal
	Why         string   `json:"why,omitempty"`         // the cause behind it, one sentence, safe for a terminal
	Provisional []string `json:"provisional,omitempty"` // why the retirement is provisional; none when it is not

	Packet  *Packet        `json:"packet,omitempty"` // as written to the socket
	Receipt *ReceiptRecord `json:"receipt,omitempty"`

	Found Found `json:"found"`         // what the read-back tells of the topic
	Now   *Copy `json:"now,omitempty"` // the copy seen last, where it is not the approved one or is still there
	// Overrun is a value that nobody approved and that went as well: it was written between the last comparison and the
	// tombstone. It is saved for undo as the baseline is.
	Overrun  *Copy           `json:"overrun,omitempty"`
	Return   *Return         `json:"return,omitempty"`
	Echo     bool            `json:"echo,omitempty"` // the empty message reached the witness: supporting evidence only
	Controls []ControlResult `json:"controls,omitempty"`
	Looks    []Look          `json:"looks,omitempty"`
	Limits   []string        `json:"limits,omitempty"` // what this evidence cannot tell
	Notes    []string        `json:"notes,omitempty"`
	Until    time.Time       `json:"until,omitzero"` // up to when the statements hold
}

// ReceiptRecord is a Receipt in the record.
type ReceiptRecord struct {
	ClientID       string    `json:"client_id"`
	User           string    `json:"user"`
	Publishes      int       `json:"publishes"` // PUBLISH packets counted at the socket
	SentAt         time.Time `json:"sent_at,omitzero"`
	Answered       bool      `json:"answered"`
	AnswerID       uint16    `json:"answer_packet_identifier,omitempty"`
	Code           byte      `json:"code"`
	CodeName       string    `json:"code_name,omitempty"`
	Reason         string    `json:"reason,omitempty"`          // as received
	UserProperties []string  `json:"user_properties,omitempty"` // quoted
	AnsweredAt     time.Time `json:"answered_at,omitzero"`
	Disconnect     *byte     `json:"disconnect_code,omitempty"`
	Error          string    `json:"error,omitempty"`
}

func receiptOf(r Receipt, err error) *ReceiptRecord {
	out := &ReceiptRecord{ClientID: r.ClientID, User: r.User, Publishes: r.Publishes, SentAt: r.SentAt.UTC(),
		Answered: r.Answered, AnswerID: r.AnswerID, Code: r.Code, Reason: r.Reason, AnsweredAt: r.AnsweredAt.UTC()}
	if r.Answered {
		out.CodeName = ReasonName(r.Code)
	}
	for _, u := range r.UserProperties {
		out.UserProperties = append(out.UserProperties, Quote(u.Key)+"="+Quote(u.Value))
	}
	if r.Disconnected {
		c := r.DisconnectCode
		out.Disconnect = &c
	}
	if err != nil {
		out.Error = err.Error()
	}
	return out
}

// Return is a value that came after the tombstone.
type Return struct {
	// At is when the first publication was seen, zero when nobody saw it come: then it was there at the next look.
	At          time.Time `json:"at,omitzero"`
	AfterMS     int64     `json:"after_ms"` // from the acknowledgement to At, or to the look that found it
	Same        bool      `json:"same"`     // the approved value, or another one
	Fingerprint string    `json:"fingerprint"`
}

// ControlResult is one control before and after.
type ControlResult struct {
	Topic  Name         `json:"topic"`
	State  ControlState `json:"state"`
	Before string       `json:"before"` // fingerprint
	After  string       `json:"after,omitempty"`
}

// Later is what the watch for a return, or a recheck, saw.
type Later struct {
	From     time.Time       `json:"from"`
	Until    time.Time       `json:"until"`
	Found    Found           `json:"found"`
	Return   *Return         `json:"return,omitempty"`
	Now      *Copy           `json:"now,omitempty"`
	Controls []ControlResult `json:"controls,omitempty"`
	Looks    []Look          `json:"looks,omitempty"`
	Note     string          `json:"note,omitempty"` // in a person's words, for instance "after the gateway was restarted"
	Why      string          `json:"why,omitempty"`  // what cut it short
	Sentence string          `json:"sentence"`
}

// UndoIntent is what was about to be put back.
type UndoIntent struct {
	Of          string   `json:"of"` // the operation that is undone
	Broker      BrokerID `json:"broker"`
	Topic       Name     `json:"topic"`
	Fingerprint string   `json:"fingerprint"`
	Size        int      `json:"size"`
	QoS         byte     `json:"qos"`
	Seconds     *uint32  `json:"expiry_seconds"`       // what is left, null for none
	Overwrites  string   `json:"overwrites,omitempty"` // fingerprint of what is there and was confirmed to go
	By          string   `json:"by"`
}

// UndoResult is how a restore ended. The zero value is not known.
type UndoResult uint8

const (
	// UndoUnknown means that there is an intent and no outcome.
	UndoUnknown UndoResult = iota
	// Restored means acknowledged, read back, and equal in bytes, properties and expiry.
	Restored
	// RestoredOtherwise means that what was read back differs.
	RestoredOtherwise
	// RestoreUnverified means acknowledged, and that the read-back tells nothing.
	RestoreUnverified
	// RestoreRefused means that the broker answered with a code of 0x80 or above.
	RestoreRefused
	// RestoreNoAnswer means that no acknowledgement came.
	RestoreNoAnswer
	// RestoreNotSent means that a precondition did not hold.
	RestoreNotSent
)

var undoNames = []string{"unknown", "restored", "restored, but differs", "acknowledged, could not verify", "refused", "no answer", "not sent"}

// String returns the result as a person reads it.
func (u UndoResult) String() string { return nameOf(undoNames, uint8(u)) }

// MarshalText writes the result.
func (u UndoResult) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the result; one that is not known is UndoUnknown.
func (u *UndoResult) UnmarshalText(b []byte) error {
	i, _ := indexOf(undoNames, string(b))
	*u = UndoResult(i)
	return nil
}

// UndoOutcome is how a restore ended, with its facts.
type UndoOutcome struct {
	Of       string         `json:"of"`
	Result   UndoResult     `json:"result"`
	Obstacle Obstacle       `json:"obstacle"`
	Sentence string         `json:"sentence"`
	Why      string         `json:"why,omitempty"`
	Occupant *Copy          `json:"occupant,omitempty"` // what the topic held before
	Overrun  *Copy          `json:"overrun,omitempty"`  // what somebody wrote after the last look and was overwritten
	Packet   *Packet        `json:"packet,omitempty"`
	Receipt  *ReceiptRecord `json:"receipt,omitempty"`
	Now      *Copy          `json:"now,omitempty"`     // what was read back
	Differs  []string       `json:"differs,omitempty"` // in what, as sentences
	Looks    []Look         `json:"looks,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
}

// sent is everything that was learned from the tombstone on.
type sent struct {
	receipt Receipt
	sendErr error
	fault   string // why the bytes on the wire are in doubt; empty when they are not
	left    bool   // the person left before the evidence was complete

	approved string // fingerprint
	before   Copy
	stamps   bool
	limit    int // bytes of a value that is saved

	look     Observation // of the read-back
	blind    string      // why the read-back tells nothing; empty when it does
	witness  []inventory.Publication
	controls []ControlResult
	lookedAt time.Time
}

// WithoutPayloads returns the outcome as it can be shown and passed on.
func (o *Outcome) WithoutPayloads() *Outcome {
	if o == nil || o.Overrun == nil {
		return o
	}
	bare, c := *o, *o.Overrun
	c.Payload, c.Properties = nil, nil
	bare.Overrun = &c
	return &bare
}
