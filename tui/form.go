package tui

import (
	tea "charm.land/bubbletea/v2"
)

// A form shows what there is to decide on and has places to type and to choose. What follows from it is done by its
// owner. Letters do nothing but where text is typed, so a key that repeats itself decides nothing.

// form is one such screen over the others.
type form interface {
	// base returns the places of the form.
	base() *places
	// title returns what is decided and about which topic; it stays in sight.
	title() (what string, topic []byte)
	// write writes everything else in order; a place is written with base().write.
	write(m *model, w *writer)
	// entered is called for enter on a place, and does what it means there.
	entered(m *model, x *place) tea.Cmd
	// refresh is called before every frame: what is shown may have changed.
	refresh(m *model)
}

// formKey gives a key to the form that is open.
func (m *model) formKey(msg tea.KeyPressMsg) tea.Cmd {
	f := m.form.base()
	x := f.now()
	switch k := msg.String(); k {
	case "esc":
		if f, ok := m.form.(interface{ keep(m *model) }); ok {
			f.keep(m)
		}
		m.closeForm()
		return nil
	case "up", "shift+tab":
		f.step(-1)
		return nil
	case "down", "tab":
		f.step(1)
		return nil
	case "pgup":
		f.top, f.free = max(0, f.top-max(m.formBody()-1, 1)), true
		return nil
	case "pgdown":
		f.top, f.free = f.top+max(m.formBody()-1, 1), true
		return nil
	}
	if !f.seen(m.formBody()) {
		f.free = false // what is out of sight is brought into sight, and nothing more
		return nil
	}
	switch k := msg.String(); k {
	case "enter":
		m.form.refresh(m) // what was drawn is a moment old
		if x.kind == buttonPlace && x.off != "" {
			m.tell(notable, "Off: "+x.off)
			return nil
		}
		return m.form.entered(m, x)
	case "left", "right":
		if x.kind == chosenPlace {
			m.choosePlace(x, map[string]int{"left": -1, "right": 1}[k])
			return nil
		}
	case "space":
		if x.kind == chosenPlace {
			m.choosePlace(x, 1)
			return nil
		}
	}
	switch to := f.word(); {
	case x.kind == typedPlace:
		f.free = false
		if x.key(msg) {
			x.dirty = true
		}
	case msg.Text != "" && to != nil: // a key that repeats itself must not write there, so it is only said where
		m.tell(notable, "Nothing is typed here: go down to \""+to.label+"\", and type there.")
	}
	return nil
}

// word returns the place where a word is to be typed that confirms something, nil where there is none.
func (p *places) word() *place {
	for _, x := range p.all {
		if x.kind == typedPlace && !x.paste && !x.hidden {
			return x
		}
	}
	return nil
}

// choosePlace goes to another of the options, round and round.
func (m *model) choosePlace(x *place, by int) {
	if x.off != "" {
		m.tell(notable, "Off: "+x.off)
		return
	}
	to := (x.chosen + by + len(x.options)) % len(x.options)
	if to != x.chosen {
		x.chosen, x.dirty = to, true
	}
}

// formPaste takes pasted text where the place of the cursor takes any.
func (m *model) formPaste(text string) {
	x := m.form.base().now()
	if x.kind != typedPlace {
		return
	}
	if !x.paste {
		m.tell(notable, "This must be typed: pasted text confirms nothing.")
		return
	}
	if x.insert(text) {
		x.dirty = true
	}
}

// openForm puts a form over what is shown, or over the form that is open.
func (m *model) openForm(f form) {
	if m.form != nil {
		m.under = append(m.under, m.form)
	}
	m.form, m.toast = f, toast{}
	f.base().top, f.base().free = 0, true // first what it is about
}

// closeForm goes back to what was under the form.
func (m *model) closeForm() {
	m.form = nil
	if n := len(m.under); n > 0 {
		m.form, m.under = m.under[n-1], m.under[:n-1]
	}
}

// drawForm fills the body with the form.
func (m *model) drawForm() {
	p := &m.pen
	f := m.form.base()
	w := newWriter(p, m.lay.w)
	w.left = 3 // the places begin before, with their cursor
	f.row, f.caret = 0, -1
	f.labels = factWidth
	if m.lay.w < 60 {
		f.labels = 10
	}
	m.form.write(m, w)
	f.lines = len(w.lines)
	body := m.formBody()
	what, topic := m.form.title()
	p.to(1)
	p.sayIn(p.pal.strong, what+" ")
	p.wire(topic, p.left()-1, asName)
	p.nl()
	if !f.free {
		// The line under the place of the cursor is seen as well: it says why.
		f.top = max(min(f.top, f.row-1), f.row-body+2, 0)
		if body < 4 {
			f.top = f.row
		}
	}
	f.top = max(0, min(f.top, f.lines-body))
	more := f.lines - f.top - body
	f.cut = 0
	if more > 0 && f.top+body-1 != f.row {
		f.cut = 1
	}
	for y := range body {
		switch i := f.top + y; {
		case y == body-1 && f.cut > 0:
			p.to(1)
			p.sayIn(p.pal.dim, p.m.more()+" "+number(int64(more+1))+" more lines, pgdn")
		case i < f.lines:
			p.ready(w.lines[i])
		}
		p.nl()
	}
}

// formBody is how many lines of a form are in sight under its title.
func (m *model) formBody() int { return max(m.lay.body-1, 1) }

// formCursor returns where the terminal's cursor belongs on a form, and whether it is typed there.
func (m *model) formCursor() (x, y int, ok bool) {
	f := m.form.base()
	y = f.row - f.top
	if f.caret < 0 || y < 0 || y >= m.formBody() {
		return 0, 0, false
	}
	return min(f.caret, m.lay.w-1), m.lay.head + 1 + y, true
}
