package tui

import (
	"bytes"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// The picture held still: rows, counts and claims as they were when p was pressed. What cannot be shown as it was then
// is not shown, and keys that need the store as it is now are off.

// stillRows is how many rows are kept above and below the cursor, so that one can move about in them.
const stillRows = 1000

// stillness holds what is kept while the picture stands.
type stillness struct {
	rows []inventory.Row
	at   int // the row of the cursor
	// first is the number of the first kept row in the listing, -1 in a tree; total is how many topics were listed.
	first, total int
	said         map[string]wording // what READING said, where more than expiry speaks in it
	// rests is what the readings of the rows in sight rested on. Of all the kept rows it would be too much to ask.
	rests map[string]Evidence
	work  stillWork
}

// wording is a phrase and its tone.
type wording struct {
	text string
	tone tone
}

// noStore is why a key that needs the store as it is now does nothing; "" = it works.
func (m *model) noStore() string {
	if m.paused.IsZero() {
		return ""
	}
	return "the picture is held still; p moves on"
}

// why returns why the key of c does nothing now; "" = it works.
func (m *model) why(c *command) string {
	if c.moves {
		if why := m.noStore(); why != "" {
			return why
		}
	}
	if c.off == nil {
		return ""
	}
	return c.off(m)
}

func (m *model) togglePause() tea.Cmd {
	if !m.paused.IsZero() {
		came := m.still.work
		m.paused, m.still, m.statusStale = time.Time{}, stillness{}, true
		return m.catchUp(came)
	}
	m.paused = m.o.Now()
	m.still = m.keep()
	m.still.work = m.keepWork()
	m.tell(notable, "The picture is held still; watching goes on. p again moves on.")
	return nil
}

// keep copies the rows around the cursor. Those in sight stay exactly as they were drawn; the others are read in small
// parts, so that nothing waits long for the store.
func (m *model) keep() stillness {
	l := &m.list
	if l.l == nil || len(l.shown.rows) == 0 {
		return stillness{}
	}
	const part = 100
	var above, below []inventory.Row
	mid := slices.Clone(l.shown.rows) // as they were drawn, with those that stay
	top, last := l.cur, l.cur
	if i := slices.IndexFunc(mid, listedRow); i >= 0 {
		top = mid[i].Pos
	}
	for i := range mid {
		if listedRow(mid[i]) {
			last = mid[i].Pos
		}
	}
	for len(above) < stillRows {
		from, moved := l.l.Move(top, -part)
		if moved == 0 {
			break
		}
		above = append(l.l.Rows(from, -moved, nil), above...)
		top = from
	}
	for len(below) < stillRows {
		next, moved := l.l.Move(last, 1)
		if moved == 0 {
			break
		}
		rows := l.l.Rows(next, part, nil)
		if len(rows) == 0 {
			break
		}
		below = append(below, rows...)
		last = rows[len(rows)-1].Pos
	}
	s := stillness{at: len(above) + l.shown.line, first: -1, total: l.l.Len()}
	s.rows = append(append(append(s.rows, above...), mid...), below...)
	if m.o.Readings != nil || m.o.Retiring != nil {
		said := make(map[string]wording, len(s.rows))
		for i := range s.rows {
			if r := &s.rows[i]; r.Held {
				text, t := m.reading(&r.Slot, m.now.UnixMilli())
				said[string(r.Slot.Topic)] = wording{text, t}
			}
		}
		s.said = said
		s.rests = make(map[string]Evidence, len(l.rows))
		for i := range l.rows {
			if r := &l.rows[i]; r.Held {
				if e, ok := m.o.Readings.Evidence(r.Slot.Topic, m.now.UnixMilli()); ok {
					s.rests[string(r.Slot.Topic)] = e
				}
			}
		}
	}
	if i := l.l.Index(l.cur); i >= 0 {
		s.first = max(0, i-s.at)
	}
	return s
}

// placeInList returns the number of the cursor's row, -1 in a tree, and how many topics are listed, as shown.
func (m *model) placeInList() (row, total int) {
	l := &m.list
	switch {
	case l.l == nil:
		return -1, 0
	case m.paused.IsZero():
		return l.l.Index(l.cur), l.l.Len()
	case m.still.first < 0:
		return -1, m.still.total
	}
	return m.still.first + m.still.at, m.still.total
}

// moveStill moves the cursor among the kept rows.
func (m *model) moveStill(rows int) {
	s := &m.still
	to := max(0, min(s.at+rows, len(s.rows)-1))
	if len(s.rows) == 0 {
		return
	}
	m.list.line = min(max(m.list.line+to-s.at, 0), max(m.lay.lines-1, 0))
	s.at = to
}

// windowStill takes the rows of the window out of the kept ones.
func (m *model) windowStill() {
	l, s := &m.list, &m.still
	n := max(m.lay.lines, 1)
	l.line = min(max(l.line, 0), n-1)
	top := max(0, min(s.at-l.line, len(s.rows)-n))
	end := min(top+n, len(s.rows))
	l.rows = append(l.rows[:0], s.rows[top:end]...)
	l.line = max(0, min(s.at-top, len(l.rows)-1))
	m.linger(nil, n)
	if r, ok := m.row(); ok {
		if !staying(r) {
			l.cur = r.Pos
		}
		l.at = append(l.at[:0], r.Prefix...)
	}
}

// detailStill reads what the pane shows of a kept row, and takes it only where it is still what it was then.
func (m *model) detailStill(r *inventory.Row) {
	d := &m.detail
	if d.have && sameContent(&d.d.Slot, &r.Slot) {
		d.d.Slot = r.Slot
		return
	}
	found, ok := m.inv.Detail(r.Slot.Ref)
	d.have = ok && sameContent(&found.Slot, &r.Slot) && bytes.Equal(found.Topic, r.Slot.Topic)
	if d.have {
		d.d = found
		d.d.Slot = r.Slot
	}
}
