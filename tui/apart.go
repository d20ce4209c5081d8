package tui

import (
	"bytes"
	"unicode/utf8"

	"retainscope/inventory"
)

// Names that would look the same once they are cut, told apart: what they have in common in front is left out.

// tellApart returns for each row of a flat list from which byte of its name on it is drawn in width cells: 0, unless
// another row would look the same.
func (m *model) tellApart(rows []inventory.Row, width int) map[*inventory.Row]int {
	var same map[string][]*inventory.Row
	for i := range rows {
		r := &rows[i]
		if len(r.Name) <= width {
			continue
		}
		text, _, whole := m.pen.m.cutMiddle(nil, r.Name, width, asName)
		if whole {
			continue
		}
		if same == nil {
			same = map[string][]*inventory.Row{}
		}
		same[string(text)] = append(same[string(text)], r)
	}
	var from map[*inventory.Row]int
	for _, alike := range same {
		if len(alike) < 2 {
			continue
		}
		if from == nil {
			from = map[*inventory.Row]int{}
		}
		for _, r := range alike {
			from[r] = startApart(alike, width)
		}
	}
	return from
}

// startApart returns where rows that look the same begin to differ, or the level in which they do where that has room.
func startApart(alike []*inventory.Row, width int) int {
	name := alike[0].Name
	common := len(name)
	for _, r := range alike[1:] {
		n := 0
		for n < min(common, len(r.Name)) && r.Name[n] == name[n] {
			n++
		}
		common = n
	}
	level := bytes.LastIndexByte(name[:common], '/') + 1
	if common-level <= width/2 {
		return level
	}
	at := max(level, common-width/4)
	for at > 0 && at < len(name) && !utf8.RuneStart(name[at]) {
		at--
	}
	return at
}

// drawFlatName writes the topic of a row of a flat list.
func (m *model) drawFlatName(r *inventory.Row) {
	p := &m.pen
	var w int
	if from := m.list.apart[r]; from > 0 && p.left() > 2 {
		p.say(p.m.more())
		p.buf, w, _ = p.m.cut(p.buf, r.Name[from:], p.left(), asName)
	} else {
		p.buf, w, _ = p.m.cutMiddle(p.buf, r.Name, p.left(), asName)
	}
	p.x += w
}
