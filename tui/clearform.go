package tui

import (
	"bytes"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// The clear of one approved topic: what will be sent, byte for byte, what is there now, what follows from it. It stands
// on no, and is sent by a word that is typed.

type clearForm struct {
	sendForm
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

	watch   *place
	watches []time.Duration // what it chooses from
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
	if why := m.underWay(); why != "" {
		return why
	}
	e, listed := m.sheet.entry(topic)
	if !listed {
		return "it is not approved; a says whose it is and approves it"
	}
	if st, _, why := m.stand(e); !st.holds() {
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
	f := &clearForm{sendForm: newSendForm("send the empty message"), entry: *e, confirm: confirm}
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
		if s.Running != "" {
			return "a clear of it was begun " + instant(s.Begun, m.now) + " and is running, by " + s.Running, alarming
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
	if why := m.underWay(); why != "" {
		return why
	}
	if why := m.noRetiring(); why != "" {
		return why
	}
	e, listed := m.sheet.entry(f.entry.Topic)
	switch {
	case !listed || e.Disposition != f.entry.Disposition || e.Fingerprint != f.entry.Fingerprint:
		return "the approval was changed while this was open"
	}
	if st, _, why := m.stand(e); !st.holds() {
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

func (f *clearForm) entered(m *model, x *place) tea.Cmd { return f.enter(m, x, f.clear) }

// clear runs it. The row says how it goes.
func (f *clearForm) clear(m *model) tea.Cmd {
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
