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

// fits reports whether what is held, with this fingerprint, is what was approved. Where the broker stamps intervals two
// fingerprints of one value can differ.
func (m *model) fits(e *actions.Entry, hex string) bool {
	if hex == e.Fingerprint {
		return true
	}
	ref, ok := m.inv.Find(e.Topic)
	if !ok {
		return false
	}
	_, sure := m.inv.Habits().Stamps()
	s, ok := m.inv.Slot(ref)
	const beyond = 1 << 30 // seconds; no publisher means that
	if n, finite := s.Interval.Seconds(); !ok || sure != expiry.Certain && !(finite && n >= beyond) || s.Flags.Has(inventory.FlagCut) {
		return false
	}
	d, ok := m.inv.Detail(ref)
	if !ok {
		return false
	}
	return actions.SameValue(e.Fingerprint, inventory.Publication{Payload: d.Payload, Properties: d.Properties, Interval: d.Interval}, sure == expiry.Certain)
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
