package actions

import (
	"cmp"
	"fmt"
	"slices"
)

// Decision is what a manifest would do with one entry. The zero value is WouldHold.
type Decision uint8

const (
	// WouldHold means that nothing is decided, or that the approval is not complete: nothing would be sent.
	WouldHold Decision = iota
	// WouldClear means that a clear would be sent.
	WouldClear
	// WouldPreserve means that the manifest says to leave it.
	WouldPreserve
	// WouldRefuse means that the name cannot be cleared or that a pattern protects it.
	WouldRefuse
	// HasChanged means that the value is not the one approved: nothing would be sent.
	HasChanged
	// IsAbsent means that the topic is not among those seen: nothing would be sent.
	IsAbsent
	// WasCleared means that the record tells of a clear for which exactly this approval was used, and that the topic was
	// not seen since: it is done.
	WasCleared
	// IsUsedUp means that a message was sent for the approval, or may have been, and that the topic is there again, or
	// that it is not known to be cleared: nothing would be sent before it is approved anew.
	IsUsedUp
)

var decisionNames = []string{"hold", "clear", "preserve", "refuse", "changed", "absent", "cleared", "used up"}

// String returns one word, or two.
func (d Decision) String() string { return nameOf(decisionNames, uint8(d)) }

// Checked is one entry with what would become of it.
type Checked struct {
	Entry       Entry
	Decision    Decision
	Why         string   // one sentence, safe for a terminal
	Provisional []string // for WouldClear: why the retirement would be provisional
	Controls    [][]byte // for WouldClear: the neighbours that would be read before and after
	Held        *Held    // what the topic holds, nil when nothing was seen or no store was looked at
}

// DryRun is what a manifest would select, refuse and preserve. Nothing was published to make it.
type DryRun struct {
	Entries  []Checked // in the order of the manifest
	Unlisted int       // topics seen that the manifest does not list: they stay on hold
	Looked   bool      // a store was looked at
	Notes    []string  // sentences
}

// Count returns how many entries have the decision.
func (d DryRun) Count(want Decision) int {
	n := 0
	for _, c := range d.Entries {
		if c.Decision == want {
			n++
		}
	}
	return n
}

// Check returns what the manifest would do, entry by entry. The store is a model of what was seen, nil when there is
// none; broker is the one it was seen on, the zero value when that is not known; now is Unix ms. Topics are compared
// byte for byte: a prefix selects nothing. past is what the record of the manifest says.
func Check(m *Manifest, store *Model, p Protection, broker BrokerID, past Past, now int64) DryRun {
	d := DryRun{Looked: store != nil}
	guard, err := Protect(p.filters, m.protect)
	if err != nil {
		d.Notes = append(d.Notes, err.Error())
	}
	var elsewhere error
	if broker.URL != "" {
		if elsewhere = m.Broker().Same(broker); elsewhere != nil {
			d.Notes = append(d.Notes, elsewhere.Error()+": every clear would be refused")
		}
	}
	listed := 0
	var near []Candidate
	if store != nil {
		near = store.candidates()
	}
	for _, e := range m.Entries() {
		c := Checked{Entry: e}
		if store != nil {
			if h, ok := store.Get(e.Topic); ok {
				listed++
				c.Held = &h
			}
		}
		c.decide(Grounds{guard, elsewhere, past}, near, now)
		d.Entries = append(d.Entries, c)
	}
	if store != nil {
		d.Unlisted = store.Len() - listed
		d.Notes = append(d.Notes, store.notes...)
	}
	return d
}

// decide is given the topics of the store, nil when none was looked at.
func (c *Checked) decide(g Grounds, near []Candidate, now int64) {
	e := c.Entry
	if _, err := tombstone(e.Topic, g.Guard); err != nil { // whatever shall become of it
		c.Decision, c.Why = WouldRefuse, err.Error()
		return
	}
	st, by, err := g.Stand(e, func() Sight { return c.sight(near != nil) })
	switch st {
	case OnHold:
		c.Why = "nothing is decided"
	case ToPreserve:
		c.Decision, c.Why = WouldPreserve, Quote([]byte(cmp.Or(e.Reason, "the manifest says so")))
	case Lacking:
		c.Why = err.Error()
	case Barred, Elsewhere:
		c.Decision, c.Why = WouldRefuse, err.Error()
	case UsedUp, ThereAgain, Done:
		c.spent(st, by, near != nil)
	case NotThere:
		c.Decision, c.Why = IsAbsent, "the topic is not among those seen; nothing would be sent"
	case ChangedSince:
		c.Decision = HasChanged
		c.Why = fmt.Sprintf("approved was the fingerprint %.12s, seen is %.12s; nothing would be sent", e.Fingerprint, c.Held.Fingerprint)
	case Holds:
		c.Decision, c.Provisional = WouldClear, e.Provisional()
		c.Why = "approved; what the topic holds was not looked at"
		if near != nil {
			c.Why = "approved, and the value is the one approved"
			c.Controls = SelectControls(e.Topic, near, now, 0)
		}
	}
}

// sight is what the store that was looked at has of the topic.
func (c *Checked) sight(looked bool) Sight {
	switch {
	case !looked:
		return NotLookedAt
	case c.Held == nil:
		return NothingSeen
	case c.Held.fits(c.Entry.Fingerprint):
		return ApprovedSeen
	}
	return OtherSeen
}

// spent says how an entry stands whose approval was used by s.
func (c *Checked) spent(st Standing, s Summary, looked bool) {
	c.Decision = IsUsedUp
	switch st {
	case ThereAgain:
		c.Why = fmt.Sprintf("the approval was used by operation %s (%s, begun %s), and the topic is there again: approve it anew, or set it to hold", s.ID, s.standing(), at(s.Begun))
	case UsedUp:
		c.Why = fmt.Sprintf("the approval was used by operation %s (%s, begun %s): approve it anew, or set it to hold", s.ID, s.standing(), at(s.Begun))
	case Done:
		c.Decision = WasCleared
		c.Why = fmt.Sprintf("cleared %s by operation %s", at(s.Begun), s.ID)
		if s.Verdict != ClearedVerified {
			c.Why += " (" + s.standing() + ")"
		}
		if !looked {
			c.Why += "; whether it is there again was not looked at"
		}
	}
}

// Rehearse publishes into the model what the dry run would send, and returns the topics: the store as it would be.
func (d DryRun) Rehearse(store *Model) [][]byte {
	var cleared [][]byte
	for _, c := range d.Entries {
		if c.Decision == WouldClear {
			store.Publish(c.Entry.Topic, nil, true)
			cleared = append(cleared, c.Entry.Topic)
		}
	}
	slices.SortFunc(cleared, slices.Compare)
	return cleared
}
