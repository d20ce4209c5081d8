package broker

// What is true of a broker once and for all, in sentences: what it does to intervals, what it says it cannot do.

import (
	"retainscope/expiry"
	"retainscope/inventory"
)

// habitNotes returns the notes for Coverage, and has the inventory stop telling intervals where the broker is proven to
// add its own.
func (w *Watcher) habitNotes() []string {
	h := w.inv.Habits()
	if _, sure := h.Stamps(); sure == expiry.Certain && !w.stamps.Swap(true) {
		w.inv.SetBrokerStamps(true)
	}
	notes := h.Notes()
	if w.cfg.Version.Limited() {
		notes = append([]string{inventory.LimitedView}, notes...)
		if w.doubts.overflown() {
			notes = append(notes, "More topics are published live than are asked for again over MQTT 3.1.1: what the broker keeps of the others is found by the next scan.")
		}
	}
	if w.noRetain.Load() {
		notes = append(notes, "The broker says that it keeps no retained messages (Retain Available 0).")
	}
	return append(notes, w.portions.notes()...)
}

// refreshNotes puts notes that came up since the scan into Status.
func (w *Watcher) refreshNotes() {
	notes := w.habitNotes()
	if len(notes) == 0 {
		return
	}
	w.mu.Lock()
	changed := false
	for _, n := range notes {
		with := withNote(w.cov.Notes, n)
		changed = changed || len(with) != len(w.cov.Notes)
		w.cov.Notes = with
	}
	w.mu.Unlock()
	if changed {
		w.signal()
	}
}
