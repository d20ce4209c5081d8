package tui

import (
	"math"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// What keys do that is not about one pane alone.

// keypad are the keys of the number pad, which good terminals tell apart from their namesakes.
var keypad = map[rune]rune{
	tea.KeyKpEnter: tea.KeyEnter, tea.KeyKpUp: tea.KeyUp, tea.KeyKpDown: tea.KeyDown, tea.KeyKpLeft: tea.KeyLeft, tea.KeyKpRight: tea.KeyRight,
	tea.KeyKpPgUp: tea.KeyPgUp, tea.KeyKpPgDown: tea.KeyPgDown, tea.KeyKpHome: tea.KeyHome, tea.KeyKpEnd: tea.KeyEnd, tea.KeyKpDelete: tea.KeyDelete,
}

// key gives a key to whoever has the keys: a dialog, the filter line, or the screen.
func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	if code, ok := keypad[msg.Code]; ok {
		msg.Code = code
	}
	switch msg.String() {
	case "ctrl+c":
		return m.leave()
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	}
	switch {
	case m.dialog != nil:
		d := m.dialog
		chosen, over := d.answer(msg.String())
		if !over {
			return nil
		}
		m.dialog = nil
		if chosen < 0 {
			return nil
		}
		return d.then(m, chosen)
	case m.form != nil:
		return m.formKey(msg)
	case m.filter.active:
		return m.edit(msg)
	}
	c := m.command(msg)
	if c == nil {
		m.offHere(msg)
		return nil
	}
	if why := m.why(c); why != "" {
		m.tell(notable, c.keys.Help().Key+" is off: "+why)
		return nil
	}
	if c.where&inPage == 0 {
		m.list.top = false // it is about the row that is seen now
	}
	return c.do(m)
}

// offHere says of a letter or sign that does nothing here where it does: what is typed after it is heard as keys too.
func (m *model) offHere(msg tea.KeyPressMsg) {
	if len(msg.String()) != 1 {
		return
	}
	for i := range m.commands {
		c := &m.commands[i]
		if !key.Matches(msg, c.keys) {
			continue
		}
		of := "the detail of a topic"
		switch {
		case c.where&inList != 0 && m.scope() == inDetail:
			of = "the list; esc goes back"
		case c.where&inList != 0:
			of = "the topics (1)"
		case c.where&inLeft != 0:
			of = "what looks left behind (2)"
		case c.where&inApproved != 0:
			of = "what is approved (3)"
		case c.where&inRecord != 0:
			of = "the record (4)"
		}
		m.tell(notable, msg.String()+" is off here: it is a key of "+of)
		return
	}
}

// move moves the cursor of the list, or scrolls what is shown.
func (m *model) move(rows int) tea.Cmd {
	switch m.scope() {
	case inLeft:
		m.moveLeft(rows)
	case inApproved:
		if m.approved.full {
			m.page.scroll += rows
			m.page.clamp(m.lay.body)
		} else {
			m.moveApproved(rows)
		}
	case inRecord:
		if m.record.full != nil {
			m.page.scroll += rows
			m.page.clamp(m.lay.body)
		} else {
			m.moveRecord(rows)
		}
	case inPage:
		m.page.scroll += rows
		m.page.clamp(m.lay.body)
	case inDetail:
		m.detail.scroll += rows
		m.detail.clamp(m.lay.body)
	default:
		return m.moveCursor(rows)
	}
	return nil
}

// jump goes to an end of the list, or of what is shown.
func (m *model) jump(last bool) tea.Cmd {
	to := 0
	if last {
		to = math.MaxInt32 // further than any page; clamped at once
	}
	switch m.scope() {
	case inLeft:
		m.left.cur = min(to, len(m.left.rows))
		m.left.clamp(m.leftLines())
	case inApproved:
		if m.approved.full {
			m.page.scroll = to
			m.page.clamp(m.lay.body)
		} else {
			m.approved.cur, m.approved.at = min(to, len(m.sheet.entries)), ""
			m.clampApproved()
		}
	case inRecord:
		if m.record.full != nil {
			m.page.scroll = to
			m.page.clamp(m.lay.body)
		} else {
			m.record.cur, m.record.at = min(to, len(m.record.ops)), ""
			m.clampRecord()
		}
	case inPage:
		m.page.scroll = to
		m.page.clamp(m.lay.body)
	case inDetail:
		m.detail.scroll = to
		m.detail.clamp(m.lay.body)
	default:
		return m.jumpCursor(last)
	}
	return nil
}

// screenful is how far a page key goes: one line less than is seen.
func (m *model) screenful() int {
	n := m.lay.body
	switch m.scope() {
	case inList:
		n = m.lay.lines
	case inLeft:
		n = m.leftLines()
	case inApproved:
		if !m.approved.full {
			n = m.tableLines()
		}
	case inRecord:
		if m.record.full == nil {
			n = m.tableLines()
		}
	}
	return max(1, n-1)
}

// show goes to another screen.
func (m *model) show(s screen) tea.Cmd {
	if s == helpPage && m.screen != helpPage {
		m.helpFrom = m.screen
	}
	if m.screen != s {
		m.page.scroll = 0
	}
	m.screen = s
	switch s {
	case approvedPage:
		m.approved.full = false
		if _, listed := m.sheet.index[m.approved.at]; !listed {
			m.approved.at = ""
		}
		if m.paused.IsZero() {
			return m.readManifest()
		}
	case recordPage:
		m.record.full = nil
		if m.paused.IsZero() {
			return m.readRecord()
		}
	}
	return nil
}

// leavePage goes back from a page: from help to where it was opened, from the others to the topics.
func (m *model) leavePage() tea.Cmd {
	if m.screen != helpPage {
		return m.show(topics)
	}
	m.screen, m.page.scroll = m.helpFrom, 0
	return nil
}

func (m *model) toggleHelp() tea.Cmd {
	if m.screen == helpPage {
		return m.leavePage()
	}
	return m.show(helpPage)
}

func (m *model) cycleView() tea.Cmd {
	d := &m.detail
	if d.view == viewBest {
		// The first key must change what is seen.
		d.view = d.body.view
	}
	if d.view++; d.view == viewJSON && !d.body.json {
		d.view++
	}
	if d.view > viewHex {
		d.view = viewText
	}
	return nil
}

// togglePane closes the pane beside the list, or opens it again.
func (m *model) togglePane() tea.Cmd {
	m.noPane = !m.noPane
	m.focus = false
	return nil
}
