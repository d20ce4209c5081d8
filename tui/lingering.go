package tui

import (
	"bytes"

	"retainscope/inventory"
)

// The row of a topic that was just cleared does not vanish: it stays where it was and says how the clear goes. So does
// the row under the cursor, whatever takes it out of the list: the next key is meant for it, and for no other topic. Such
// a row is no row of the listing; it is put between those when the window is read.

// shown are the rows of the window with those that stay.
type shown struct {
	rows   []inventory.Row
	line   int    // of the cursor in rows
	on     []byte // the topic or level of the staying row that the cursor is on; nil = it is on a row of the listing
	beside []byte // in a list that is not ordered by topic: the row that took its place
}

// wordNotHeld is what a row that stays says of a topic, or of all below a level.
const wordNotHeld = "no longer held"

// staying reports whether a row is not in the listing and stays for a while.
func staying(r *inventory.Row) bool { return r.Pos.IsZero() }

func listedRow(r inventory.Row) bool { return !staying(&r) }

// linger makes shown out of the rows of the window, at most n.
func (m *model) linger(was []byte, n int) {
	l := &m.list
	s := &l.shown
	s.rows = append(s.rows[:0], l.rows...)
	s.line = l.line
	if len(m.acts) == 0 && s.on == nil || l.l == nil {
		return
	}
	if !m.paused.IsZero() {
		s.on = nil // it is one of the rows that were kept
		return
	}
	on := -1
	put := func(topic []byte, beside *[]byte) {
		here := bytes.Equal(s.on, topic) || s.on == nil && was != nil && bytes.Equal(was, topic)
		at, ok := m.placeOf(topic, beside, here, n)
		if !ok {
			return
		}
		s.rows = append(s.rows, inventory.Row{})
		copy(s.rows[at+1:], s.rows[at:])
		s.rows[at] = m.stayingRow(topic)
		if at <= s.line && len(s.rows) > 1 {
			s.line++
		}
		if on >= at {
			on++
		}
		if here {
			on, s.on = at, topic
		}
	}
	for i := len(m.acts) - 1; i >= 0; i-- {
		a := m.acts[i]
		if last, _ := m.actOn(a.topic); last != a || !a.stays(m.now) || !m.lists(a) || m.hasRow(a.topic) {
			continue
		}
		put(a.topic, &a.beside)
	}
	if on < 0 && s.on != nil && !m.hasRow(s.on) {
		put(s.on, &s.beside)
	}
	if on < 0 {
		s.on = nil
	} else {
		s.line = on
	}
	if over := len(s.rows) - n; over > 0 {
		cut := max(0, min(over, s.line-n+1))
		s.rows = s.rows[cut : cut+n]
		s.line -= cut
	}
	s.line = max(0, min(s.line, len(s.rows)-1))
}

// lists reports whether the filter in force would show the topic of an act.
func (m *model) lists(a *act) bool {
	f := m.filter.filter
	return f == nil || a.before.Topic != nil && f.Match(a.before, a.before.Head, m.now.UnixMilli())
}

// placeOf returns where in the window the row of a topic stays, and false where it is out of sight. here says that the
// cursor is on it; beside is kept from window to window.
func (m *model) placeOf(topic []byte, beside *[]byte, here bool, n int) (int, bool) {
	l := &m.list
	rows := l.shown.rows
	if !l.spec.Tree && (l.spec.Sort != inventory.ByTopic || l.spec.Desc) {
		// In another order nothing tells where it would stand: it stays beside the row that took its place.
		if here && l.line < len(l.rows) && *beside == nil {
			*beside = bytes.Clone(l.rows[l.line].Prefix)
		}
		for i := range rows {
			if *beside != nil && bytes.Equal(rows[i].Prefix, *beside) {
				return i, true
			}
		}
		return min(l.line, len(rows)), here || len(rows) == 0
	}
	if m.shut(topic) {
		return 0, false
	}
	at := 0
	for at < len(rows) && levelsBefore(rows[at].Prefix, topic) {
		at++
	}
	switch {
	case here || len(rows) == 0:
		return at, true
	case at == 0:
		return at, rows[0].Pos == l.l.First()
	}
	return at, at < len(rows) || len(rows) < n
}

// levelsBefore reports whether a stands before b in the order of topics: level by level, each by its bytes.
func levelsBefore(a, b []byte) bool {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		return a[i] == '/' || b[i] != '/' && a[i] < b[i]
	}
	return len(a) < len(b)
}

// stayingRow returns the row of a topic or level that the listing has no row of.
func (m *model) stayingRow(topic []byte) inventory.Row {
	row := inventory.Row{Name: topic, Prefix: topic}
	if up, ok := m.levelAbove(topic); ok {
		row.Name, row.Depth = topic[len(up.Prefix)+1:], up.Depth+1
	}
	if ref, ok := m.inv.Find(topic); ok {
		row.Slot, row.Held = m.inv.Slot(ref)
	}
	return row
}

// levelAbove returns the row of the nearest level above a topic or level that the tree has a row of.
func (m *model) levelAbove(topic []byte) (inventory.Row, bool) {
	for end := bytes.LastIndexByte(topic, '/'); m.list.spec.Tree && end >= 0; end = bytes.LastIndexByte(topic[:end], '/') {
		if up := m.list.l.Rows(m.list.l.Find(topic[:end]), 1, nil); len(up) > 0 && bytes.Equal(up[0].Prefix, topic[:end]) {
			return up[0], true
		}
	}
	return inventory.Row{}, false
}

// shut reports whether a branch that is closed hides a topic or level.
func (m *model) shut(topic []byte) bool {
	up, ok := m.levelAbove(topic)
	return ok && up.Branch && !up.Open
}

// holdOn keeps the cursor on its topic or level where that has no row in the listing any more, or not yet.
func (m *model) holdOn() {
	l := &m.list
	if l.at == nil || l.shown.on != nil {
		return
	}
	switch rows := l.l.Rows(l.cur, 1, nil); {
	case len(rows) > 0 && bytes.Equal(rows[0].Prefix, l.at):
	case m.hasRow(l.at):
		l.cur = l.l.Find(l.at)
	case !m.shut(l.at):
		l.shown.on, l.shown.beside = bytes.Clone(l.at), nil
	}
}

// stepOff moves the cursor off a staying row, or onto the one beside it, and reports how many rows are left to move and
// whether the cursor is on a row of the listing now.
func (m *model) stepOff(rows int) (left int, onList bool) {
	s := &m.list.shown
	by := 1
	if rows < 0 {
		by = -1
	}
	if s.on == nil {
		if next := s.line + by; (rows == 1 || rows == -1) && next >= 0 && next < len(s.rows) && staying(&s.rows[next]) {
			s.on = bytes.Clone(s.rows[next].Prefix)
			return 0, false
		}
		return rows, true
	}
	for i := s.line + by; i >= 0 && i < len(s.rows); i += by {
		r := &s.rows[i]
		if staying(r) {
			if rows == by {
				s.on = bytes.Clone(r.Prefix)
				return 0, false
			}
			continue
		}
		s.on = nil
		m.list.line = max(0, i-s.above(i))
		m.land(r.Pos)
		return rows - by, true
	}
	m.leaveStaying()
	return rows, true
}

// above counts the rows that stay above the i-th.
func (s *shown) above(i int) int {
	n := 0
	for j := range s.rows[:i] {
		if staying(&s.rows[j]) {
			n++
		}
	}
	return n
}

// leaveStaying takes the cursor back to the listing.
func (m *model) leaveStaying() {
	l := &m.list
	if l.shown.on == nil {
		return
	}
	l.shown.on = nil
	m.land(l.cur)
}

// backAgain puts the cursor on a topic that has its row again, where it was on its staying row.
func (m *model) backAgain() {
	l := &m.list
	if l.shown.on == nil {
		return
	}
	if _, held := m.inv.Find(l.shown.on); held && l.spec.Tree {
		reveal(l.l, l.shown.on)
	}
	if m.hasRow(l.shown.on) {
		l.cur, l.shown.on = l.l.Find(l.shown.on), nil
	}
}

// hasRow reports whether the listing has a row of exactly this topic. One with a filter learns of it only when it is made
// again.
func (m *model) hasRow(topic []byte) bool {
	rows := m.list.l.Rows(m.list.l.Find(topic), 1, nil)
	return len(rows) > 0 && bytes.Equal(rows[0].Prefix, topic)
}

// writeStaying says in the detail pane what became of a topic whose row stays.
func (m *model) writeStaying(w *writer, topic []byte) {
	m.writeTopic(w, topic)
	if _, acted := m.actOn(topic); acted {
		w.text(w.p.pal.dim, "Not held here any more: an empty retained message was seen on it. Its row stays for a while to say what came of it.")
	} else {
		w.text(w.p.pal.dim, "Not held here any more; what was seen last of it stands among the events (6). Its row stays while the cursor is on it: keys are meant for it, and for no other topic.")
	}
	m.writeAct(w, topic)
	m.writeDecision(w, topic)
}
