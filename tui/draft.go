package tui

import (
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// What was typed into an approval that was closed without saving. It is kept by topic until it is saved or emptied, and
// never longer than the screen. It holds no value: what is approved is what the form shows when it is saved.

// draft is what the person changed on one approval; the rest is filled in anew.
type draft struct {
	at      time.Time // when the form was closed
	held    bool      // there was a value, with this fingerprint
	print   string
	was     *actions.Entry      // what the manifest said then; nil = nothing
	typed   [3]*string          // owner, purpose, reason; nil = not changed
	chosen  *int                // of the disposition; nil = not changed
	writers []actions.Writer    // nil = not changed
	halves  map[string]halfDone // by the name that the writer had, "" = a new one
}

// halfDone is what was typed about one writer and not taken over, place by place.
type halfDone []place

// typedPlaces are the places of the texts, in the order of a draft.
func (f *approveForm) typedPlaces() [3]*place { return [3]*place{f.owner, f.purpose, f.reason} }

// keep keeps what was typed, or forgets the draft where nothing of it is left.
func (f *approveForm) keep(m *model) {
	d := &draft{at: m.o.Now(), held: f.held, print: f.value.Fingerprint, was: f.was, halves: f.halves}
	left := len(f.halves) > 0
	for i, x := range f.typedPlaces() {
		if x.dirty {
			text := x.String()
			d.typed[i] = &text
			left = left || text != ""
		}
	}
	if x := f.disposition; x.dirty {
		chosen := x.chosen
		d.chosen = &chosen
		left = left || dispositions[chosen] != actions.Hold
	}
	if f.add.dirty {
		d.writers = append([]actions.Writer{}, f.writers...)
		left = left || len(d.writers) > 0
	}
	if !left {
		delete(m.drafts, string(f.topic))
		return
	}
	if m.drafts == nil {
		m.drafts = map[string]*draft{}
	}
	m.drafts[string(f.topic)] = d
	m.tell(fine, "Not saved. What was typed is kept while this screen runs; a brings it back.")
}

// bring puts a draft into the form, over what was filled in. What shall become of the topic is taken over only where value
// and manifest are what they were: a decision was about those.
func (f *approveForm) bring(d *draft) {
	f.draft = d
	f.halves = maps.Clone(d.halves)
	for i, x := range f.typedPlaces() {
		if text := d.typed[i]; text != nil {
			x.fill(*text)
			x.dirty = true
		}
	}
	if d.writers != nil {
		f.writers, f.taken = append([]actions.Writer(nil), d.writers...), ""
		f.add.dirty = true
	}
	f.otherValue = d.held != f.held || d.print != f.value.Fingerprint
	f.otherEntry = (d.was == nil) != (f.was == nil) || f.was != nil && !f.was.Same(*d.was)
	if d.chosen != nil && !f.otherValue && !f.otherEntry {
		f.disposition.chosen, f.disposition.dirty = *d.chosen, true
	}
	f.forget.hidden = false
}

// writeDraft says that a draft is back, and what is not as it was when it was typed.
func (f *approveForm) writeDraft(m *model, w *writer) {
	d := f.draft
	if d == nil {
		return
	}
	w.text(w.p.pal.warn, "A draft is back: what was typed here until "+instant(d.at, m.now)+" and not saved.")
	if f.otherValue {
		w.text(w.p.pal.bad, "The value changed since: look at it again. What shall become of it is to be chosen anew.")
	}
	if !f.otherEntry {
		return
	}
	w.text(w.p.pal.bad, "The manifest says something else since. What shall become of it is to be chosen anew.")
	if f.was == nil {
		w.item("now there", f.labels, "", "it is not listed any more")
		return
	}
	w.item("now there", f.labels, "", "owner "+said(f.was.Owner)+", purpose "+said(f.was.Purpose)+", "+counted(int64(len(f.was.Writers)), "writer"))
}

// beginAnew forgets the draft of a topic and opens its approval as if there had been none.
func (m *model) beginAnew(topic []byte, group *groupWalk) tea.Cmd {
	delete(m.drafts, string(topic))
	cmd := m.approve(topic, group)
	m.tell(fine, "The draft is emptied.")
	return cmd
}

// keep keeps what was typed about a writer with the approval it belongs to.
func (f *writerForm) keep(*model) {
	if !f.dirty() {
		return
	}
	half := make(halfDone, len(f.all))
	for i, x := range f.all {
		half[i] = *x
		half[i].text = slices.Clone(x.text)
	}
	if f.of.halves == nil {
		f.of.halves = map[string]halfDone{}
	}
	f.of.halves[f.was] = half
}

// bring puts back what was typed about the writer before.
func (f *writerForm) bring(half halfDone) {
	f.again = true
	for i, x := range f.all {
		x.text, x.at, x.chosen, x.dirty = slices.Clone(half[i].text), half[i].at, half[i].chosen, half[i].dirty
	}
}
