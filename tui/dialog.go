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
	row     int // the line of the answer chosen, in the last lines made
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

// lines makes the lines of the dialog. Where a low screen has no room for all of them the answers come right under the
// title and the text after them.
func (d *dialog) lines(m *model) []pageLine {
	w := newWriter(&m.pen, m.lay.w)
	w.left = 2
	w.blank()
	d.writeTitle(w)
	d.writeText(w)
	w.blank()
	d.writeChoices(w)
	if len(w.lines) > m.lay.body {
		w.lines = w.lines[:0]
		d.writeTitle(w)
		d.writeChoices(w)
		d.writeText(w)
	}
	return w.lines
}

// top returns the first line to draw where there is room for body lines, so that the answer chosen is in sight.
func (d *dialog) top(body int) int { return max(0, d.row-body+1) }

func (d *dialog) writeTitle(w *writer) {
	p := w.begin()
	p.sayIn(p.pal.strong, d.title)
	w.end()
}

func (d *dialog) writeText(w *writer) {
	for _, t := range d.text {
		w.text("", t)
	}
}

func (d *dialog) writeChoices(w *writer) {
	for i, c := range d.choices {
		p := w.begin()
		if i == d.at {
			d.row = len(w.lines)
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
}
