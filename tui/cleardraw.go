package tui

import (
	"encoding/hex"

	"retainscope/actions"
	"retainscope/inventory"
)

// How the clear is drawn: what there is to decide on.

func (f *clearForm) title() (string, []byte) { return "Clear", f.entry.Topic }

func (f *clearForm) write(m *model, w *writer) {
	m.writeExactTopic(w, m.form)
	f.places.write(w, f.no)
	if f.cannot(m) != "" {
		w.text(w.p.pal.bad, "Nothing can be sent: "+asSentence(f.cannot(m)))
	}
	w.blank()
	f.writeValues(m, w)
	w.blank()
	w.item("is sent", f.labels, "", "one PUBLISH: RETAIN 1, QoS 1, DUP 0, no properties, 0 bytes of payload, once, on a connection of its own")
	f.writePacket(m, w)
	w.item("who hears", f.labels, "", "every subscriber of this topic gets one empty message, now")
	w.item("a return", f.labels, f.returnStyle(w), f.returnWords(m))
	undo, style := f.undoWords(m, w)
	w.item("undo", f.labels, style, undo)
	switch n := len(f.near.controls); {
	case !f.near.known:
		w.item("controls", f.labels, w.p.pal.dim, "looking for neighbours")
	case n == 0:
		w.item("controls", f.labels, w.p.pal.warn, "none are known here; the neighbourhood is scanned, and without one nothing can be verified")
	default:
		w.item("controls", f.labels, "", counted(int64(n), "neighbour")+" read before and after:")
		writeNames(w, f.near.controls, f.labels, 3)
	}
	for i, why := range f.entry.Provisional() {
		label := ""
		if i == 0 {
			label = "provisional"
		}
		w.item(label, f.labels, w.p.pal.warn, why)
	}
	if f.earlier != "" {
		w.item("before", f.labels, w.p.pal.of(f.again), f.earlier)
	}
	w.blank()
	f.places.write(w, f.watch)
	w.text("", "To send it, type "+toType(f.confirm)+f.whatToType()+" and press enter. Pasted text does not count.")
	f.places.write(w, f.word)
	f.places.write(w, f.send)
}

func (f *clearForm) whatToType() string {
	switch {
	case f.confirm.Word == "":
		return " (the first digits of the fingerprint, since the name cannot be typed)"
	case f.entry.Topic[0] == '$':
		return " (the whole topic)"
	}
	return " (the last level of the topic)"
}

// writeValues writes the value as approved against the value now.
func (f *clearForm) writeValues(m *model, w *writer) {
	by := ", approved by " + f.entry.ApprovedBy + " " + instant(f.entry.ApprovedAt, m.now)
	w.item("approved", f.labels, "", "fingerprint "+f.entry.Fingerprint[:12]+w.p.m.more()+by)
	switch {
	case !f.held:
		w.item("now", f.labels, w.p.pal.bad, "no retained message of it is shown to this login")
		return
	case m.sight(&f.entry) == actions.ApprovedSeen:
		w.item("now", f.labels, w.p.pal.good, "the same, "+valueWords(m, &f.value))
	default:
		w.item("now", f.labels, w.p.pal.bad, "ANOTHER VALUE, fingerprint "+f.shown[:12]+w.p.m.more()+", "+valueWords(m, &f.value))
	}
	writePayload(w, &f.value, f.labels)
}

// writePacket writes the bytes that go on the wire.
func (f *clearForm) writePacket(m *model, w *writer) {
	packet, id, err := actions.Preview(f.entry.Topic)
	if err != nil {
		w.item("", f.labels, w.p.pal.bad, err.Error())
		return
	}
	const mostShown = 120
	text := spaced(hex.EncodeToString(packet[:min(id, mostShown)]))
	if id > mostShown {
		text += " " + m.pen.m.more()
	}
	w.item("", f.labels, w.p.pal.dim, text+" .. .. 00  ("+counted(int64(len(packet)), "byte")+"; .. is the packet's number)")
}

// returnWords says whether and when the owner would publish it again.
func (f *clearForm) returnWords(m *model) string {
	text := f.expect
	if text == "" && m.link.State == inventory.Watching {
		text = "watching since " + instant(m.link.Since, m.now) + " taught nothing about when its owner publishes it"
	}
	if f.guess.State == "online" {
		text += "; its owner is said to be online and may publish it again whenever it likes, for instance when it starts"
	}
	if f.guess.Role == "config" {
		text += "; a discovery config is usually published again when its program or Home Assistant starts"
	}
	return text
}

func (f *clearForm) returnStyle(w *writer) string {
	if f.expect != "" || f.guess.State == "online" {
		return w.p.pal.warn
	}
	return ""
}

// undoWords says what undo will be able to do.
func (f *clearForm) undoWords(m *model, w *writer) (string, string) {
	limit := m.o.Retiring.Terms().UndoLimit
	switch {
	case f.held && f.value.Size+len(f.value.Properties) > limit:
		return "OFF: its " + size(int64(f.value.Size)) + " are more than the " + size(int64(limit)) + " that are saved; it could not be put back", w.p.pal.bad
	case f.held && f.value.Flags.Has(inventory.FlagExpiring):
		return "u puts it back: same bytes and properties, with what is then left of its expiry", ""
	}
	return "u puts it back: same bytes, QoS as far as it can be learned, and properties in order", ""
}
