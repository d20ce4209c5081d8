package tui

import (
	"bytes"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// Where the cursor goes: by keys, and when a filter is typed.

// goHome puts the cursor where it was before the filter was typed, or on the first hit where that row is not listed.
func (m *model) goHome(made *inventory.Listing) {
	l := &m.list
	if len(l.home) > 0 {
		if l.spec.Tree {
			reveal(made, l.home)
		}
		p := made.Find(l.home)
		if rows := made.Rows(p, 1, nil); len(rows) > 0 && bytes.Equal(rows[0].Prefix, l.home) && (rows[0].Held || m.filter.filter == nil) {
			l.cur = p
			return
		}
	}
	l.cur, l.line, l.first = made.First(), 0, false
	const near = 16 // levels above a first hit that are passed over
	for i, r := range made.Rows(l.cur, near, nil) {
		if !r.Branch {
			l.cur, l.line = r.Pos, i
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
	if !m.paused.IsZero() {
		m.moveStill(rows)
		return nil
	}
	rows, onList := m.stepOff(rows)
	if !onList {
		return nil
	}
	var moved int
	l.cur, moved = l.l.Move(l.cur, rows)
	l.line = min(max(l.line+moved, 0), max(m.lay.lines-1, 0))
	return nil
}

// jumpCursor moves the cursor to an end.
func (m *model) jumpCursor(last bool) tea.Cmd {
	l := &m.list
	if l.l == nil {
		return nil
	}
	if !m.paused.IsZero() {
		m.moveStill(map[bool]int{true: len(m.still.rows), false: -len(m.still.rows)}[last])
		return nil
	}
	m.leaveStaying()
	defer func() {
		if r := l.l.Rows(l.cur, 1, nil); len(r) > 0 {
			l.at = append(l.at[:0], r[0].Prefix...)
		}
	}()
	if last {
		l.cur, l.line = l.l.Last(), max(m.lay.lines-1, 0)
	} else {
		l.cur, l.line = l.l.First(), 0
	}
	return nil
}
