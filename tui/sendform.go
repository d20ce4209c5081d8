package tui

import (
	tea "charm.land/bubbletea/v2"
)

// A form that sends something: it stands on no, and sends by a word that is typed, or by its last button.

// sendForm is what such forms have in common.
type sendForm struct {
	places
	no, word, send *place
}

func newSendForm(send string) sendForm {
	return sendForm{no: buttonAt("no: nothing is sent"), word: &place{label: "type it", hint: "here"}, send: buttonAt(send)}
}

func (f *sendForm) base() *places { return &f.places }

// enter does what enter means on x; do sends. The form was refreshed just now.
func (f *sendForm) enter(m *model, x *place, do func(m *model) tea.Cmd) tea.Cmd {
	switch x {
	case f.no:
		m.closeForm()
		m.tell(fine, "Nothing was sent.")
	case f.word, f.send:
		if f.send.off != "" {
			m.tell(notable, "Nothing was sent: "+f.send.off)
			return nil
		}
		m.closeForm()
		return do(m)
	default:
		f.step(1)
	}
	return nil
}

// underWay says which act runs, "" = none does: there is one at a time.
func (m *model) underWay() string {
	if m.running == nil {
		return ""
	}
	return "the " + m.running.verb() + " of " + Printable(m.running.topic) + " is under way; one at a time"
}
