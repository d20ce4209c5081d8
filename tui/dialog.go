package tui

import (
	tea "charm.land/bubbletea/v2"
)

// A dialog asks one question and returns the answer; what follows from it is done by whoever opened it.

// choice is one answer.
type choice struct {
	label string
	off   string // why it cannot be chosen; "" = it can
}

// dialog is one question with its answers.
type dialog struct {
	title   string
	text    []string
	choices []choice
	at      int
	then    func(m *model, chosen int) tea.Cmd
}

// answer takes a key and returns the number of the chosen answer and true when the dialog is over; -1 is none.
func (d *dialog) answer(key string) (int, bool) {
	switch key {
	case "esc", "q":
		return -1, true
	case "up", "k", "left", "h", "shift+tab":
		d.step(-1)
	case "down", "j", "right", "l", "tab":
		d.step(1)
	case "enter":
		if d.choices[d.at].off == "" {
			return d.at, true
		}
	}
	return 0, false
}

// step moves to the next answer that can be chosen.
func (d *dialog) step(by int) {
	for i := d.at + by; i >= 0 && i < len(d.choices); i += by {
		if d.choices[i].off == "" {
			d.at = i
			return
		}
	}
}

func (d *dialog) lines(m *model) []pageLine {
	w := newWriter(&m.pen, m.lay.w)
	w.left = 2
	w.blank()
	p := w.begin()
	p.sayIn(p.pal.strong, d.title)
	w.end()
	for _, t := range d.text {
		w.text("", t)
	}
	w.blank()
	for i, c := range d.choices {
		p := w.begin()
		if i == d.at {
			p.say(p.g.cursor + " ")
			p.in(p.pal.selected)
		} else {
			p.say("  ")
		}
		if c.off != "" {
			p.in(p.pal.dim)
		}
		p.sentence(c.label)
		if c.off != "" {
			p.sentence(" (" + c.off + ")")
		}
		w.end()
	}
	return w.lines
}
