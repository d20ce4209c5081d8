package tui

import (
	"bytes"
	"context"
	"encoding/hex"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// The clear of one approved topic: what will be sent, byte for byte, what is there now, what follows from it. It stands
// on no, and is sent by a word that is typed.

type clearForm struct {
	places
	entry   actions.Entry // as it was when the form was opened
	confirm actions.Confirmation
	near    nearby
	guess   Evidence
	value   inventory.Detail // what is held now
	held    bool
	shown   string // fingerprint of value
	expect  string // when a return must be expected
	within  time.Duration

	earlier string // what came of a clear of the same topic before
	again   tone

	no, word, send, watch *place
	watches               []time.Duration // what watch chooses from
}

// noClear is why the topic under the cursor cannot be cleared; "" = its clear can be opened.
func (m *model) noClear() string {
	if why := m.noRetiring(); why != "" {
		return why
	}
	topic, ok := m.clearable()
	if !ok {
		return "no topic is under the cursor"
	}
	if m.running != nil {
		return "the " + m.running.verb() + " of " + Printable(m.running.topic) + " is under way; one at a time"
	}
	e, listed := m.sheet.entry(topic)
	if !listed {
		return "it is not approved; a says whose it is and approves it"
	}
	if st, _, why := m.stand(e); st != standApproved && st != standProvisional {
		return why
	}
	return m.noConnection()
}

// clearable is subject, but for a group, which is not one topic.
func (m *model) clearable() ([]byte, bool) {
	if m.scope() == inLeft {
		r, ok := m.left.row()
		if !ok || r.member == nil {
			return nil, false
		}
	}
	topic, _, ok := m.subject()
	return topic, ok
}

// askClear opens the clear of the topic under the cursor.
func (m *model) askClear() tea.Cmd {
	topic, ok := m.clearable()
	if !ok {
		return nil
	}
	e, listed := m.sheet.entry(topic)
	if !listed {
		return nil
	}
	confirm, err := actions.ConfirmationFor(*e)
	if err != nil {
		m.tell(alarming, asSentence(err.Error()))
		return nil
	}
	f := &clearForm{entry: *e, confirm: confirm}
	f.entry.Topic = bytes.Clone(e.Topic)
	if m.o.Readings != nil {
		f.guess, _ = m.o.Readings.Evidence(topic, m.now.UnixMilli())
	}
	if ref, ok := m.inv.Find(topic); ok {
		if s, ok := m.inv.Slot(ref); ok {
			f.within, f.expect = actions.Forecast(s.History)
		}
	}
	f.earlier, f.again = m.clearedBefore(f.entry.Topic)
	f.no = buttonAt("no: nothing is sent")
	f.word = &place{label: "type it", hint: "here"}
	f.send = buttonAt("send the empty message")
	f.layWatches(m)
	f.all = []*place{f.no, f.watch, f.word, f.send}
	m.openForm(f)
	return tea.Batch(m.readManifest(), m.findNear(f.entry.Topic))
}

// layWatches offers how long a return is watched for.
func (f *clearForm) layWatches(m *model) {
	f.watches = []time.Duration{m.watchTime()}
	if f.within > m.watchTime() {
		f.watches = append(f.watches, f.within)
	}
	f.watches = append(f.watches, 0)
	f.watch = chosenAt("watch")
	for _, d := range f.watches {
		label := "not at all"
		if d > 0 {
			label = about(d)
		}
		f.watch.options = append(f.watch.options, label)
	}
	if m.o.Retiring.Terms().Window <= 0 {
		f.watch.chosen = len(f.watches) - 1
	}
}

// clearedBefore says what came of the last clear of a topic that was sent; "" = there was none.
func (m *model) clearedBefore(topic []byte) (string, tone) {
	for i := range m.record.ops {
		s := &m.record.ops[i]
		if !bytes.Equal(s.Topic, topic) || !s.Open && !s.Verdict.Sent() || s.SentNothing {
			continue
		}
		words, t := summaryWords(s)
		text := "cleared " + instant(s.Begun, m.now) + " already: " + words
		if !s.Restored && s.Verdict == actions.CameBack {
			text += ". Somebody still writes it; to clear it again and again retires nothing"
		}
		return text, t
	}
	return "", calm
}

func (f *clearForm) base() *places { return &f.places }

func (f *clearForm) title() (string, []byte) { return "Clear", f.entry.Topic }

// refresh looks at what is held now: the key that sends goes dead when that is not what was approved.
func (f *clearForm) refresh(m *model) {
	if hex, held := m.heldPrint(f.entry.Topic); !held {
		f.held, f.shown = false, ""
	} else if hex != f.shown {
		if ref, ok := m.inv.Find(f.entry.Topic); ok {
			f.value, f.held = m.inv.Detail(ref)
			f.shown = f.value.Fingerprint
		}
	}
	f.send.off = f.cannot(m)
	if f.send.off == "" && !f.confirm.Accepts(f.word.String()) {
		f.send.off = "type " + toType(f.confirm) + " first, exactly"
	}
}

// cannot is why nothing can be sent; "" = it can.
func (f *clearForm) cannot(m *model) string {
	if m.running != nil {
		return "the " + m.running.verb() + " of " + Printable(m.running.topic) + " is under way"
	}
	if why := m.noRetiring(); why != "" {
		return why
	}
	e, listed := m.sheet.entry(f.entry.Topic)
	switch {
	case !listed || e.Disposition != f.entry.Disposition || e.Fingerprint != f.entry.Fingerprint:
		return "the approval was changed while this was open"
	}
	if st, _, why := m.stand(e); st != standApproved && st != standProvisional {
		if st == standChanged {
			return "the value changed: what is there now is not what was approved"
		}
		return why
	}
	if why := m.noConnection(); why != "" {
		return why
	}
	if !f.near.known {
		return "the neighbours are still being looked for"
	}
	return ""
}

// toType says what is to be typed.
func toType(c actions.Confirmation) string {
	switch {
	case c.Word == "":
		return c.Digits
	case c.Digits == "":
		return PrintableText([]byte(c.Word))
	}
	return PrintableText([]byte(c.Word)) + " or " + c.Digits
}

func (f *clearForm) entered(m *model, x *place) tea.Cmd {
	switch x {
	case f.no:
		m.closeForm()
		m.tell(fine, "Nothing was sent.")
	case f.word, f.send:
		f.refresh(m) // what was drawn is a moment old
		if f.send.off != "" {
			m.tell(notable, "Nothing was sent: "+f.send.off)
			return nil
		}
		return f.clear(m)
	default:
		f.step(1)
	}
	return nil
}

// clear runs it. The form closes; the row says how it goes.
func (f *clearForm) clear(m *model) tea.Cmd {
	m.closeForm()
	a := &act{topic: f.entry.Topic, watch: f.watches[f.watch.chosen], expect: f.expect}
	if f.within > 0 {
		a.expectBy = m.o.Now().Add(f.within)
	}
	r := m.o.Retiring
	req := actions.Request{Topic: f.entry.Topic, Fingerprint: f.entry.Fingerprint, Expect: f.expect}
	if len(f.near.controls) > 0 {
		req.Controls = f.near.controls
	}
	return m.begin(a, func(ctx context.Context, told func(actions.Progress)) actedMsg {
		op, err := r.Clear(ctx, req, told)
		return actedMsg{op: op, err: err}
	})
}

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
	case m.fits(&f.entry, f.shown):
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
