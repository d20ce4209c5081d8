package tui

import (
	"bytes"
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// The cursor on the screen of what looks left behind, and where its keys lead.

// leftLines is how many rows are in sight.
func (m *model) leftLines() int {
	if m.lay.tall {
		return max(m.lay.body-2, 1) // the title and an empty line
	}
	return max(m.lay.body, 1)
}

// clamp keeps the cursor on a row and the row in sight. Of a row that is higher than the screen some part is.
func (l *leftPage) clamp(lines int) {
	l.cur = max(0, min(l.cur, len(l.rows)-1))
	l.at = ""
	if l.cur < len(l.rows) {
		r := &l.rows[l.cur]
		l.at = r.key
		if end := r.at + r.height() - lines; end <= r.at {
			l.top = max(min(l.top, r.at), end)
		} else {
			l.top = min(max(l.top, r.at), end)
		}
	}
	l.top = max(0, min(l.top, l.total-lines))
}

// moveLeft moves the cursor row by row, or by so many lines. A row that is higher than the screen is gone through first.
func (m *model) moveLeft(n int) {
	l, lines := &m.left, m.leftLines()
	r, ok := l.row()
	switch {
	case !ok:
	case n == 1 && r.at+r.height() > l.top+lines, n == -1 && r.at < l.top:
		l.top += n
	case n == 1, n == -1:
		l.cur += n
	default:
		l.cur = l.rowAt(r.at + n)
	}
	l.clamp(lines)
}

// rowAt returns the row to which a line belongs.
func (l *leftPage) rowAt(line int) int {
	i, found := slices.BinarySearchFunc(l.rows, line, func(r leftRow, line int) int { return cmp.Compare(r.at, line) })
	if !found {
		i--
	}
	return max(0, min(i, len(l.rows)-1))
}

func (l *leftPage) row() (leftRow, bool) {
	if l.cur < len(l.rows) {
		return l.rows[l.cur], true
	}
	return leftRow{}, false
}

// foldLeft opens or closes the group under the cursor, which moves to its head.
func (m *model) foldLeft(open bool) tea.Cmd {
	l := &m.left
	if r, ok := l.row(); ok && r.group != nil {
		l.setOpen(r.group.key(), open)
		l.at = "g" + r.group.key()
	}
	return nil
}

func (m *model) foldAllLeft(open bool) tea.Cmd {
	l := &m.left
	if r, ok := l.row(); ok && r.group != nil {
		l.at = "g" + r.group.key()
	}
	l.allShut, l.except = !open, nil
	l.news++
	return nil
}

// enterLeft goes to the topic under the cursor, or opens and closes a group.
func (m *model) enterLeft() tea.Cmd {
	switch r, ok := m.left.row(); {
	case !ok:
	case r.member != nil:
		return m.goTo([]byte(r.member.Topic), false)
	case r.prefix != nil:
		return m.goTo([]byte(r.prefix.Name), true)
	case r.cut:
		if m.left.whole == nil {
			m.left.whole = map[string]bool{}
		}
		m.left.whole[r.key] = !m.left.whole[r.key]
		m.left.news++
	default:
		return m.foldLeft(!m.left.open(r.group.key()))
	}
	return nil
}

// goTo shows a topic, or a level, in the list of topics. A filter is let go of, since it may hide it. Where a topic has no
// row the cursor stands on its topic all the same, and on no other.
func (m *model) goTo(topic []byte, level bool) tea.Cmd {
	l := &m.list
	cmd := m.show(topics)
	l.settle = level
	if m.filter.set() || l.l == nil {
		l.goal = topic
		if m.filter.set() {
			m.tell(notable, "The filter "+PrintableText([]byte(m.filter.String()))+" was let go of: all topics are listed.")
		}
		m.filter.text, m.filter.at = m.filter.text[:0], 0
		m.filter.parse()
		return tea.Batch(cmd, m.relist())
	}
	if l.spec.Tree {
		reveal(l.l, topic)
	}
	l.shown.on, l.top, l.settle = nil, false, false
	l.at, l.line = bytes.Clone(topic), max(m.lay.lines/2-1, 0)
	if l.cur = l.l.Find(topic); level {
		m.land(l.cur)
	}
	return tea.Batch(cmd, m.work())
}

// togglePrefixes shows the table of first levels, or the groups again where they were left.
func (m *model) togglePrefixes() tea.Cmd {
	l := &m.left
	l.prefixes = !l.prefixes
	l.cur, l.top = 0, 0
	l.at, l.beside = l.beside, l.at
	return nil
}

// showLeft shows what looks left behind: the groups, wherever one comes from.
func (m *model) showLeft() tea.Cmd {
	if m.left.prefixes {
		m.togglePrefixes()
	}
	return m.show(leftBehind)
}

// backFromLeft goes back from the table to the groups, and from these to the topics.
func (m *model) backFromLeft() tea.Cmd {
	if m.left.prefixes {
		return m.togglePrefixes()
	}
	return m.show(topics)
}

// leftEnter says what enter does on the row under the cursor.
func (m *model) leftEnter() string {
	r, _ := m.left.row()
	switch {
	case m.lay.w < 60:
		return "enter"
	case r.member != nil:
		return "enter to topic"
	case r.prefix != nil:
		return "enter to level"
	case r.cut && m.left.whole[r.key]:
		return "enter shorter"
	case r.cut:
		return "enter in full"
	}
	return "enter fold"
}

// leftOther says which of the two pages b shows.
func (m *model) leftOther() string {
	if m.left.prefixes {
		return "b groups"
	}
	return "b by prefix"
}
