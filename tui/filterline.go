package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// The filter line: one line of text that narrows the list while it is typed.

type filterLine struct {
	typedLine
	active  bool
	filter  *inventory.Filter      // of the last text that could be read; nil = everything
	good    string                 // the text that it was read from
	err     string                 // why the present text cannot be read
	finding func(name string) bool // whether there is such a finding; nil = not known here
	caret   int                    // the column of the caret in the last frame
}

func (f *filterLine) init(text string) {
	f.fill(text)
	f.parse()
}

// set reports whether a filter is in force or typed.
func (f *filterLine) set() bool { return f.filter != nil || len(f.text) > 0 }

// parse reads the text and returns whether another filter is in force than before.
func (f *filterLine) parse() bool {
	text := strings.TrimSpace(string(f.text))
	if text == "" {
		changed := f.filter != nil
		f.filter, f.good, f.err = nil, "", ""
		return changed
	}
	made, err := inventory.ParseFilter(text)
	if err != nil {
		f.err = err.Error()
		return false
	}
	f.err = ""
	for _, name := range made.Findings() {
		if f.finding != nil && !f.finding(name) {
			f.err = "there is no finding " + name
			return false
		}
	}
	changed := f.filter == nil || f.filter.String() != made.String()
	f.filter, f.good = made, text
	return changed
}

// still says what the list shows while the text cannot be read.
func (f *filterLine) still() string {
	if f.filter == nil {
		return "The list still shows everything."
	}
	return "The list still shows what passes: " + PrintableText([]byte(f.good))
}

// cursor returns where the terminal's cursor belongs, and whether anything is typed.
func (m *model) cursor() (x, y int, ok bool) {
	switch {
	case m.lay.tiny || m.dialog != nil:
		return 0, 0, false
	case m.form != nil:
		return m.formCursor()
	case !m.filter.active:
		return 0, 0, false
	}
	if m.lay.tall {
		return m.filter.caret, m.lay.head - 1, true
	}
	return m.filter.caret, m.lay.h - 1, true
}

func (m *model) openFilter() tea.Cmd {
	m.filter.active = true
	m.filter.at = len(m.filter.text)
	m.list.home = append(m.list.home[:0], m.list.at...)
	return nil
}

// edit takes a key while the line is open.
func (m *model) edit(msg tea.KeyPressMsg) tea.Cmd {
	f := &m.filter
	switch k := msg.String(); k {
	case "enter":
		cmd := m.typed()
		if f.err != "" {
			// What is kept must be what is in force.
			m.tell(notable, "Not kept: "+asSentence(f.err)+" "+f.still())
			return cmd
		}
		f.active = false
		return cmd
	case "esc":
		f.active = false
		f.text, f.at = f.text[:0], 0
		return m.typed()
	case "up":
		return m.choose(-1)
	case "down":
		return m.choose(1)
	case "pgup":
		return m.choose(-m.screenful())
	case "pgdown":
		return m.choose(m.screenful())
	}
	if f.key(msg) {
		return m.typed()
	}
	return nil
}

// choose moves the cursor while the line is open; the row it comes to is then the one to stay on.
func (m *model) choose(rows int) tea.Cmd {
	cmd := m.moveCursor(rows)
	if m.list.l != nil {
		if r := m.list.l.Rows(m.list.cur, 1, nil); len(r) > 0 {
			m.list.home = append(m.list.home[:0], r[0].Prefix...)
		}
	}
	return cmd
}

// paste takes pasted text, which is heard only where text is typed: nothing pasted is ever taken for keys.
func (m *model) paste(text string) tea.Cmd {
	switch {
	case m.dialog != nil:
		return nil
	case m.form != nil:
		m.formPaste(text)
		return nil
	case !m.filter.active:
		return nil
	}
	if m.filter.insert(text) {
		return m.typed()
	}
	return nil
}

// typed has the list made anew where the text means another filter now.
func (m *model) typed() tea.Cmd {
	if !m.filter.parse() {
		return nil
	}
	m.list.seek = true
	return m.relist()
}

// escape stops what runs, and clears the filter where nothing does.
func (m *model) escape() tea.Cmd {
	if m.job != nil {
		m.job.cancel()
		return nil
	}
	if m.running != nil {
		m.stopAct()
		return nil
	}
	m.filter.text, m.filter.at = m.filter.text[:0], 0
	m.list.home = append(m.list.home[:0], m.list.at...) // what was found stays under the cursor
	return m.typed()
}
