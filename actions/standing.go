package actions

import (
	"retainscope/expiry"
	"retainscope/inventory"
)

// Whether an approval still holds is decided here, for everybody who counts, filters, shows or acts.

// Standing is how an entry of a manifest stands to what is held and to what was done. Only an approval that Holds would
// be acted upon. The zero value is OnHold.
type Standing uint8

const (
	// OnHold means that nothing is decided.
	OnHold Standing = iota
	// ToPreserve means that the manifest says to leave it.
	ToPreserve
	// Barred means that the topic is none that can be cleared, or that a pattern protects what is marked clear.
	Barred
	// Lacking means that something an approval needs is missing.
	Lacking
	// Elsewhere means that it was approved on another broker, or for another login.
	Elsewhere
	// UsedUp means that an empty message was sent for the approval, or may have been: it is approved anew, or set to hold.
	UsedUp
	// ThereAgain is UsedUp, and the topic holds a value now.
	ThereAgain
	// Done is UsedUp by a clear that the broker accepted, and nothing was seen of the topic now.
	Done
	// NotThere means that nothing was seen of the topic.
	NotThere
	// ChangedSince means that the topic holds another value than the one approved.
	ChangedSince
	// Holds means that the topic is to be cleared, that the approval was not used, and that the value is the one approved,
	// as far as it was looked at.
	Holds
)

// Sight is what was seen of a topic beside its approval.
type Sight uint8

const (
	// NotLookedAt means that nobody looked.
	NotLookedAt Sight = iota
	// NothingSeen means that no value was seen.
	NothingSeen
	// OtherSeen means that another value was seen than the one approved.
	OtherSeen
	// ApprovedSeen means that the value approved was seen.
	ApprovedSeen
)

// Grounds are what the entries of a manifest are held against.
type Grounds struct {
	Guard     Protection // of the settings and of the manifest
	Elsewhere error      // why the manifest is not for this broker and login; nil = it is, or that is not known
	Past      Past       // what the record says
}

// Stand returns how e stands; see is asked what its topic holds, where that matters. For UsedUp, ThereAgain and Done it
// also returns the operation that used the approval; for Barred, Lacking and Elsewhere an error says why.
func (g Grounds) Stand(e Entry, see func() Sight) (Standing, Summary, error) {
	if e.Refusal != nil {
		return Barred, Summary{}, e.Refusal
	}
	switch e.Disposition {
	case Hold:
		return OnHold, Summary{}, nil
	case Preserve:
		return ToPreserve, Summary{}, nil
	}
	if _, err := tombstone(e.Topic, g.Guard); err != nil {
		return Barred, Summary{}, err
	}
	if err := e.CheckApproval(); err != nil {
		return Lacking, Summary{}, err
	}
	if g.Elsewhere != nil {
		return Elsewhere, Summary{}, g.Elsewhere
	}
	seen := see()
	if s, spent := g.Past.Spent(e); spent {
		switch {
		case seen == OtherSeen || seen == ApprovedSeen:
			return ThereAgain, s, nil
		case s.Cleared():
			return Done, s, nil
		}
		return UsedUp, s, nil
	}
	switch seen {
	case NothingSeen:
		return NotThere, Summary{}, nil
	case OtherSeen:
		return ChangedSince, Summary{}, nil
	}
	return Holds, Summary{}, nil
}

// Holding returns the topics of the entries whose approval holds by what inv holds now, in their order.
func (g Grounds) Holding(entries []Entry, inv *inventory.Inventory) [][]byte {
	var topics [][]byte
	for _, e := range entries {
		if s, _, _ := g.Stand(e, func() Sight { return SeeIn(inv, e) }); s == Holds {
			topics = append(topics, e.Topic)
		}
	}
	return topics
}

// SeeIn returns what inv holds of the topic of e.
func SeeIn(inv *inventory.Inventory, e Entry) Sight {
	ref, ok := inv.Find(e.Topic)
	if !ok {
		return NothingSeen
	}
	d, ok := inv.Detail(ref)
	switch {
	case !ok:
		return NothingSeen
	case d.Fingerprint == e.Fingerprint || FitsStamped(inv, ref, e.Fingerprint):
		return ApprovedSeen
	}
	return OtherSeen
}

// FitsStamped reports whether what inv holds is the value of a fingerprint that reads otherwise, because the broker
// stamps intervals: then two fingerprints of one value can differ. It is false where the payload was cut.
func FitsStamped(inv *inventory.Inventory, ref inventory.Ref, fingerprint string) bool {
	_, sure := inv.Habits().Stamps()
	stamps := sure == expiry.Certain
	s, ok := inv.Slot(ref)
	const beyond = 1 << 30 // seconds; no publisher means that
	if n, finite := s.Interval.Seconds(); !ok || !stamps && !(finite && n >= beyond) || s.Flags.Has(inventory.FlagCut) {
		return false
	}
	d, ok := inv.Detail(ref)
	return ok && SameValue(fingerprint, inventory.Publication{Payload: d.Payload, Properties: d.Properties, Interval: d.Interval}, stamps)
}
