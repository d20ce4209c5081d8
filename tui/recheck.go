package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// Looking again at what an operation of the record was about, and at the record itself.

// askRecheck asks for a word about the look that is made again.
func (m *model) askRecheck() tea.Cmd {
	s, ok := m.recordRow()
	if !ok {
		return nil
	}
	f := &noteForm{id: s.ID, topic: s.Topic, open: s.Open}
	f.look, f.note, f.no = buttonAt("look now: one new subscription, nothing is sent"), typedAt("note", "such as: after the gateway was restarted"), buttonAt("not now")
	f.all = []*place{f.look, f.note, f.no}
	m.openForm(f)
	return nil
}

// noteForm asks for a note and looks again.
type noteForm struct {
	places
	id             string
	topic          []byte
	open           bool
	look, note, no *place
}

func (f *noteForm) base() *places { return &f.places }

func (f *noteForm) title() (string, []byte) { return "Look again at", f.topic }

func (f *noteForm) refresh(m *model) { f.look.off = m.noRecheck() }

func (f *noteForm) write(m *model, w *writer) {
	m.writeExactTopic(w, m.form)
	text := "A new observer reads the topic and the controls of that clear, and what it sees is added to the record. Worth it after a broker, a gateway or a bridge was restarted, or when its owner runs again."
	if f.open {
		text = "That clear has no outcome: the program was stopped in between. A new observer reads what is there now; whether the empty message was sent stays unknown, and it is not sent again."
	}
	w.text("", text)
	w.blank()
	for _, x := range f.all {
		f.places.write(w, x)
	}
}

func (f *noteForm) entered(m *model, x *place) tea.Cmd {
	switch x {
	case f.note:
		f.focus(f.look)
		return nil
	case f.look:
		m.closeForm()
		return m.recheck(f.id, f.topic, f.note.String())
	}
	m.closeForm()
	return nil
}

// noRecheck is why the operation under the cursor cannot be looked at again; "" = it can.
func (m *model) noRecheck() string {
	s, ok := m.recordRow()
	switch {
	case !ok:
		return "no operation is under the cursor"
	case m.job != nil:
		return "something runs already: " + m.job.what
	case s.Running != "":
		return "it is running, by " + s.Running + ": there is no outcome yet"
	}
	if err := s.Broker.Same(m.o.Retiring.Terms().Broker); err != nil {
		return err.Error()
	}
	return m.noConnection()
}

type recheckedMsg struct {
	id    string
	later actions.Later
	err   error
}

// recheckLimit bounds a look that was asked for.
const recheckLimit = 2 * time.Minute

func (m *model) recheck(id string, topic []byte, note string) tea.Cmd {
	ctx, cancel := context.WithTimeout(m.ctx, recheckLimit)
	m.job = &job{what: "Looking again at " + Printable(topic), cancel: cancel}
	r := m.o.Retiring
	return m.task(func() tea.Msg {
		defer cancel()
		later, err := r.Recheck(ctx, id, note)
		return recheckedMsg{id, later, err}
	})
}

func (m *model) rechecked(msg recheckedMsg) tea.Cmd {
	m.job = nil
	m.still.look(msg.id)
	text, t := asSentence(msg.later.Sentence), fine
	switch {
	case msg.later.Return != nil || slices.ContainsFunc(msg.later.Controls, func(c actions.ControlResult) bool { return c.State == actions.Lost }):
		t = alarming
	case msg.later.Found != actions.NotObserved:
		t = notable
	}
	if msg.err != nil {
		text, t = asSentence(PrintableText([]byte(msg.err.Error())))+" "+text, alarming
	}
	m.announce(t, text)
	cmds := []tea.Cmd{m.readRecord()}
	if m.record.full != nil && m.record.full.ID == msg.id {
		cmds = append(cmds, m.readOperation(msg.id, false))
	}
	return tea.Batch(cmds...)
}

type verifiedMsg struct {
	v   actions.Verification
	err error
}

// verifyRecord checks every line of the record.
func (m *model) verifyRecord() tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.job = &job{what: "Checking every line of the record", cancel: cancel}
	r := m.o.Retiring
	return m.task(func() tea.Msg {
		defer cancel()
		v, err := r.Verify(ctx)
		return verifiedMsg{v, err}
	})
}

func (m *model) verified(msg verifiedMsg) {
	m.job = nil
	v := msg.v
	switch {
	case errors.Is(msg.err, context.Canceled):
		m.tell(notable, "Stopped.")
	case msg.err != nil:
		m.announce(alarming, asSentence(PrintableText([]byte(msg.err.Error()))))
	case v.Bad != nil:
		m.announce(alarming, "The record was changed or is broken: "+v.Bad.String()+".")
	case !v.HeadFits:
		m.announce(alarming, "Every line fits the one before, but the end is another: "+asSentence(v.Head))
	default:
		m.announce(fine, "All "+counted(v.Lines, "line")+" are as they were written. "+asSentence(v.Head))
	}
}

func (m *model) noVerify() string {
	if m.o.Retiring == nil {
		return m.noManifest()
	}
	if m.job != nil {
		return "something runs already: " + m.job.what
	}
	return ""
}
