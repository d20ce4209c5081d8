package tui

import (
	"bytes"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// Where the cursor goes: by keys, and when a filter is typed.

// land puts the cursor on the row at p, and on whatever topic or level that is.
func (m *model) land(p inventory.Pos) {
	l := &m.list
	l.cur, l.at = p, nil
	if r := l.l.Rows(p, 1, nil); len(r) > 0 {
		l.cur, l.at = r[0].Pos, r[0].Prefix
	}
}

// goHome puts the cursor where it was before the filter was typed, or on the first hit where that row is not listed.
func (m *model) goHome(made *inventory.Listing) {
	l := &m.list
	a, acted := m.actOn(l.shown.on)
	stays := l.shown.on != nil && bytes.Equal(l.shown.on, l.home) && (m.filter.filter == nil || acted && m.lists(a))
	if !stays {
		l.shown.on = nil // another filter is asked for what passes it
	}
	if len(l.home) > 0 {
		if l.spec.Tree {
			reveal(made, l.home)
		}
		p := made.Find(l.home)
		if rows := made.Rows(p, 1, nil); len(rows) > 0 && bytes.Equal(rows[0].Prefix, l.home) && (rows[0].Held || m.filter.filter == nil) {
			m.land(p)
			return
		}
		if stays {
			l.cur = p // beside it
			return
		}
	}
	l.line, l.first = 0, false
	m.land(made.First())
	const near = 16 // levels above a first hit that are passed over
	for i, r := range made.Rows(l.cur, near, nil) {
		if !r.Branch {
			l.line = i
			m.land(r.Pos)
			return
		}
	}
}

// moveCursor moves the cursor by rows.
func (m *model) moveCursor(rows int) tea.Cmd {
	l := &m.list
	if l.l == nil {
		return nil
	}
	l.top = false
	if !m.paused.IsZero() {
		m.moveStill(rows)
		return nil
	}
	rows, onList := m.stepOff(rows)
	if !onList {
		return nil
	}
	to, moved := l.l.Move(l.cur, rows)
	m.land(to)
	l.line = min(max(l.line+moved, 0), max(m.lay.lines-1, 0))
	return nil
}

// jumpCursor moves the cursor to an end.
func (m *model) jumpCursor(last bool) tea.Cmd {
	l := &m.list
	if l.l == nil {
		return nil
	}
	l.top = !last
	if !m.paused.IsZero() {
		m.moveStill(map[bool]int{true: len(m.still.rows), false: -len(m.still.rows)}[last])
		return nil
	}
	l.shown.on = nil
	if last {
		l.line = max(m.lay.lines-1, 0)
		m.land(l.l.Last())
	} else {
		l.line = 0
		m.land(l.l.First())
	}
	return nil
}
