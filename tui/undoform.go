package tui

import (
	"bytes"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// Putting back what a clear removed: the same bytes, properties and QoS, and what is left of the expiry. It stands on
// no; what lies there by now is overwritten only when that is typed.

type undoForm struct {
	sendForm
	op     *actions.Operation
	topics [][]byte // that can be put back: the topic of the clear, and neighbours that went with it

	what    *place
	confirm actions.Confirmation // where something lies there
	over    string               // its fingerprint, as shown
	value   inventory.Detail
}

// undoable returns the operation that u undoes here, and false where there is none.
func (m *model) undoable() (id string, ok bool) {
	if m.scope() == inRecord {
		s, ok := m.recordRow()
		if !ok {
			return "", false
		}
		return s.ID, true
	}
	if a, ok := m.actHere(); ok && !a.restore && a.over && a.op.ID != "" && a.op.Outcome.Verdict.Sent() && a.op.Verdict() != actions.Refused {
		return a.op.ID, true
	}
	return m.record.last, m.record.last != ""
}

// noUndo is why nothing can be put back here; "" = it can be looked at.
func (m *model) noUndo() string {
	switch {
	case m.o.Retiring == nil:
		return m.noManifest()
	case m.o.Retiring.Terms().Off != "":
		return m.o.Retiring.Terms().Off
	case m.running != nil:
		return m.underWay()
	case m.record.loading && !m.record.have:
		return "the record is being read"
	}
	if _, ok := m.undoable(); !ok {
		return "the record holds no verified clear that was not put back; 4 shows every one"
	}
	return m.noConnection()
}

// askUndo reads the operation and asks.
func (m *model) askUndo() tea.Cmd {
	id, ok := m.undoable()
	if !ok {
		return nil
	}
	return m.readOperation(id, true)
}

// openUndo opens the question for an operation that was read.
func (m *model) openUndo(op *actions.Operation) tea.Cmd {
	f := &undoForm{sendForm: newSendForm("put it back"), op: op, topics: lostBy(op)}
	f.what = chosenAt("what", named(quotedNames(f.topics)...)...)
	f.what.hidden = len(f.topics) < 2
	f.word.hidden = true
	f.all = []*place{f.no, f.what, f.word, f.send}
	m.openForm(f)
	return nil
}

// lostBy returns the topic of an operation, and the neighbours that were not observed after it.
func lostBy(op *actions.Operation) [][]byte {
	topics := [][]byte{op.Topic}
	add := func(all []actions.ControlResult) {
		for _, c := range all {
			if c.State == actions.Lost && !holds(topics, c.Topic) {
				topics = append(topics, c.Topic)
			}
		}
	}
	if op.Outcome != nil {
		add(op.Outcome.Controls)
	}
	for _, l := range op.Later {
		add(l.Controls)
	}
	return topics
}

func holds(topics [][]byte, t []byte) bool {
	for _, x := range topics {
		if bytes.Equal(x, t) {
			return true
		}
	}
	return false
}

type quoted string

func (q quoted) String() string { return string(q) }

func quotedNames(topics [][]byte) []quoted {
	names := make([]quoted, len(topics))
	for i, t := range topics {
		names[i] = quoted(Printable(t))
	}
	return names
}

func (f *undoForm) title() (string, []byte) { return "Put back", f.topic() }

func (f *undoForm) topic() []byte { return f.topics[f.what.chosen] }

func (f *undoForm) refresh(m *model) {
	switch hex, held := m.heldPrint(f.topic()); {
	case !held:
		f.over, f.word.hidden = "", true
	case hex != f.over:
		if ref, ok := m.inv.Find(f.topic()); ok {
			f.value, _ = m.inv.Detail(ref)
		}
		f.over, f.word.hidden = f.value.Fingerprint, false
		f.word.fill("") // what was typed was about another value
		f.confirm, _ = actions.ConfirmationFor(actions.Entry{Topic: f.topic(), Fingerprint: f.over})
	}
	f.send.label = "put it back"
	if f.over != "" {
		f.send.label = "overwrite what is there with it"
	}
	f.send.off = f.cannot(m)
	if f.send.off == "" && f.over != "" && !f.confirm.Accepts(f.word.String()) {
		f.send.off = "something is there; type " + toType(f.confirm) + " first, exactly, to overwrite it"
	}
}

// cannot is why it cannot be put back; "" = it can.
func (f *undoForm) cannot(m *model) string {
	if why := m.underWay(); why != "" {
		return why
	}
	if err := f.op.Intent.Broker.Same(m.o.Retiring.Terms().Broker); err != nil {
		return err.Error()
	}
	c, err := f.op.Undoable(f.topic())
	if err != nil {
		return err.Error()
	}
	if left, counts := leftOf(&c, m.now); counts && left < time.Second {
		return "its expiry has run out: nothing is left to put back"
	}
	if by, yes := m.sheet.guard.Match(f.topic()); yes {
		return "the pattern " + actions.Quote([]byte(by)) + " protects it"
	}
	return m.noConnection()
}

// leftOf returns what is left of the expiry of a saved copy, and false where it has none.
func leftOf(c *actions.Copy, now time.Time) (time.Duration, bool) {
	if c.Expiry != "finite" {
		return 0, false
	}
	return c.ReceivedAt.Add(time.Duration(c.Seconds) * time.Second).Sub(now), true
}

func (f *undoForm) entered(m *model, x *place) tea.Cmd { return f.enter(m, x, f.restore) }

func (f *undoForm) restore(m *model) tea.Cmd {
	r, a := m.o.Retiring, &act{topic: f.topic(), restore: true}
	req := actions.RestoreRequest{Operation: f.op.ID, Topic: f.topic(), Overwrite: f.over}
	return m.begin(a, func(ctx context.Context, told func(actions.Progress)) actedMsg {
		undo, err := r.Restore(ctx, req, told)
		return actedMsg{undo: undo, err: err}
	})
}

func (f *undoForm) write(m *model, w *writer) {
	m.writeExactTopic(w, m.form)
	w.text(w.p.pal.dim, "Operation "+f.op.ID+" of "+instant(f.op.Begun, m.now)+": "+f.op.Verdict().String()+".")
	f.places.write(w, f.no)
	f.places.write(w, f.what)
	if why := f.cannot(m); why != "" {
		w.text(w.p.pal.bad, "Nothing can be put back: "+asSentence(why))
	}
	w.blank()
	if c, err := f.op.Undoable(f.topic()); err == nil {
		f.writeCopy(m, w, &c)
	}
	if f.over == "" {
		w.item("there now", f.labels, w.p.pal.good, "nothing is shown to this login; it is looked at once more before anything is sent")
	} else {
		same := ""
		if c, err := f.op.Undoable(f.topic()); err == nil && c.Fingerprint == f.over {
			same = " (the value that would be put back)"
		}
		w.item("there now", f.labels, w.p.pal.bad, "SOMETHING"+same+", fingerprint "+f.over[:12]+w.p.m.more()+", "+valueWords(m, &f.value))
		writePayload(w, &f.value, f.labels)
	}
	w.item("who hears", f.labels, "", "every subscriber of this topic gets the message, now; what reacts to it reacts")
	w.item("after that", f.labels, "", "it is read back and compared byte for byte; before and after stand in the record")
	w.blank()
	if f.over != "" {
		w.text("", "To overwrite what is there, type "+toType(f.confirm)+" and press enter. Pasted text does not count.")
	}
	f.places.write(w, f.word)
	f.places.write(w, f.send)
}

// writeCopy says what will be put back.
func (f *undoForm) writeCopy(m *model, w *writer, c *actions.Copy) {
	text := size(int64(c.Size)) + ", read " + instant(c.ReceivedAt, m.now)
	if c.QoS != nil {
		text += ", QoS " + number(int64(min(*c.QoS, 1)))
	} else {
		text += ", stored QoS not known: put back at 1"
	}
	w.item("is put back", f.labels, "", text)
	expires := "none"
	if left, counts := leftOf(c, m.now); counts {
		words, hold := countdown(left)
		m.until(hold)
		expires = words + " of " + exact(time.Duration(c.Seconds)*time.Second) + " are left and counted on"
	}
	w.item("expiry", f.labels, "", expires)
	w.item("fingerprint", f.labels, w.p.pal.dim, c.Fingerprint[:min(16, len(c.Fingerprint))]+w.p.m.more())
	d := inventory.Detail{Payload: c.Payload, Kept: len(c.Payload)}
	d.Size = c.Size
	writePayload(w, &d, f.labels)
	if n := len(inventory.Properties(c.Properties).User()); n > 0 {
		w.item("properties", f.labels, "", counted(int64(n), "user property")+", in order")
	}
}
