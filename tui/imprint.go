package tui

import (
	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// Fingerprints of what is held, to tell whether it is what was approved.

// imprint is the fingerprint of a held copy.
type imprint struct {
	ref      inventory.Ref
	at       int64
	size     int
	interval expiry.Kind
	live     uint32
	head     string
	hex      string
}

// sight is what the store holds of the topic of an entry, beside what was approved.
func (m *model) sight(e *actions.Entry) actions.Sight {
	hex, held := m.heldPrint(e.Topic)
	switch {
	case !held:
		return actions.NothingSeen
	case hex == e.Fingerprint:
		return actions.ApprovedSeen
	}
	if ref, ok := m.inv.Find(e.Topic); ok && actions.FitsStamped(m.inv, ref, e.Fingerprint) {
		return actions.ApprovedSeen
	}
	return actions.OtherSeen
}

// heldPrint returns the fingerprint of what is held of a topic, and false where nothing is.
func (m *model) heldPrint(topic []byte) (string, bool) {
	ref, ok := m.inv.Find(topic)
	if !ok {
		return "", false
	}
	s, ok := m.inv.Slot(ref)
	if !ok {
		return "", false
	}
	p, ok := m.sheet.prints[string(topic)]
	if ok && p.ref == ref && p.at == s.ReceivedAt && p.size == s.Size && p.interval == s.Interval.Kind() && p.live == s.LiveCount && p.head == string(s.Head) {
		return p.hex, true
	}
	d, ok := m.inv.Detail(ref)
	if !ok {
		return "", false
	}
	if m.sheet.prints == nil || len(m.sheet.prints) > 10_000 {
		m.sheet.prints = map[string]imprint{}
	}
	m.sheet.prints[string(topic)] = imprint{ref, d.ReceivedAt, d.Size, d.Interval.Kind(), d.LiveCount, string(d.Head), d.Fingerprint}
	return d.Fingerprint, true
}
