package actions

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Entry is what a person decided about one exact topic. The zero value decides nothing.
type Entry struct {
	Topic       []byte      `json:"-"`       // exact bytes
	Owner       string      `json:"owner"`   // who the topic belongs to; evidence in a person's words, never a prefix alone
	Purpose     string      `json:"purpose"` // what the retained value is for
	Disposition Disposition `json:"disposition"`
	Reason      string      `json:"reason,omitempty"` // why
	ApprovedBy  string      `json:"approved_by"`
	ApprovedAt  time.Time   `json:"approved_at"`
	Fingerprint string      `json:"fingerprint"` // of the value as the person saw it; see inventory.Fingerprint
	Writers     []Writer    `json:"writers,omitempty"`

	// Line is the line of the manifest at which the entry begins, 0 for one that was not read from a file.
	Line int `json:"-"`
	// Refusal is why the topic of an entry that a person wrote by hand cannot be one; nil for a proper entry.
	Refusal error `json:"-"`
}

// Person is who sits at the terminal, as the operating system tells.
type Person struct {
	Login    string // the user that the process runs as
	SudoUser string // SUDO_USER, empty without sudo
}

// Name returns the person who acts: under sudo the one who called it.
func (p Person) Name() string {
	if p.SudoUser != "" {
		return p.SudoUser
	}
	return p.Login
}

// CheckApproval returns nil when e may be cleared as far as the manifest tells, and otherwise the first thing that is
// missing. A pattern that protects the topic is not looked at here.
func (e Entry) CheckApproval() error {
	topic := Quote(e.Topic)
	switch {
	case e.Refusal != nil:
		return e.Refusal
	case e.Disposition == Hold:
		return fmt.Errorf("topic %s is on hold", topic)
	case e.Disposition == Preserve:
		return fmt.Errorf("topic %s is to be preserved", topic)
	case e.Owner == "":
		return fmt.Errorf("topic %s has no owner: whose it is was not said", topic)
	case e.Purpose == "":
		return fmt.Errorf("topic %s has no purpose: what the value is for was not said", topic)
	case e.ApprovedBy == "" || e.ApprovedAt.IsZero():
		return fmt.Errorf("topic %s is not approved: who and when is missing", topic)
	case !isFingerprint(e.Fingerprint):
		return fmt.Errorf("topic %s has no fingerprint of the value as approved", topic)
	}
	return nil
}

// Provisional returns why a clear of this entry can only be provisional, as sentences; none when every writer that
// was named is established as silent, its will included.
func (e Entry) Provisional() []string {
	if len(e.Writers) == 0 {
		return []string{"no writer is named: who could write the topic again is not established"}
	}
	var why []string
	for _, w := range e.Writers {
		why = append(why, w.open()...)
	}
	return why
}

// clone returns a copy that shares nothing with e.
func (e Entry) clone() Entry {
	e.Topic = slices.Clone(e.Topic)
	e.Writers = slices.Clone(e.Writers)
	return e
}

func isFingerprint(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Confirmation is what a person types to send a clear. Make it with ConfirmationFor.
type Confirmation struct {
	// Word is the last level of the topic, or the whole topic where it begins with $; empty where it cannot be typed.
	Word string
	// Digits are the first six digits of the fingerprint; empty where only the word counts.
	Digits string
}

// ConfirmationFor returns what must be typed for e. A name in printable ASCII is typed; a printable name in another
// script may be typed, or the digits instead; a name with invisible or control runes, or with spaces at an end, can
// only be confirmed with the digits. It fails when e has no fingerprint.
func ConfirmationFor(e Entry) (Confirmation, error) {
	if !isFingerprint(e.Fingerprint) {
		return Confirmation{}, errors.New("confirm topic: it has no fingerprint")
	}
	word := lastLevel(e.Topic)
	if len(e.Topic) > 0 && e.Topic[0] == '$' {
		word = e.Topic // a name of the broker's own kind is typed in full
	}
	c := Confirmation{Digits: e.Fingerprint[:6]}
	if !plainText(word) || len(word) == 0 || word[0] == ' ' || word[len(word)-1] == ' ' {
		return c, nil
	}
	c.Word = string(word)
	if !slices.ContainsFunc(word, func(b byte) bool { return b >= 0x80 }) {
		c.Digits = ""
	}
	return c, nil
}

// Accepts reports whether typed is exactly what was asked for. The empty text never is.
func (c Confirmation) Accepts(typed string) bool {
	return typed != "" && (typed == c.Word || typed == c.Digits)
}
