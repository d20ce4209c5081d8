package tui

// A screen that is a list of its own, with headings and without a pane: the manifest and the record.

// table is what is drawn of one.
type table struct {
	title    []fact
	headings func() // nil = there is no row
	words    []pageLine
	top, n   int
	row      func(i int)
}

// tableLines is how many rows of a table are in sight.
func (m *model) tableLines() int {
	if m.lay.tall {
		return max(m.lay.body-3, 1) // the title, an empty line, the headings
	}
	return max(m.lay.body, 1)
}

// drawTable fills the body with rows, or with the words that stand in their place.
func (m *model) drawTable(t table) {
	p := &m.pen
	lines := m.lay.body
	if m.lay.tall {
		p.to(1)
		p.facts(t.title, p.left()-1, 3, p.g.dot)
		p.nl()
		p.nl()
		if t.headings != nil {
			t.headings()
		}
		p.nl()
		lines -= 3
	}
	for y := range lines {
		switch i := t.top + y; {
		case y == lines-1 && len(t.words) > lines:
			p.to(1)
			p.sayIn(p.pal.dim, p.m.more()+" "+number(int64(len(t.words)-lines+1))+" more lines")
		case t.words != nil && y < len(t.words):
			p.ready(t.words[y])
		case t.words == nil && i < t.n:
			t.row(i)
		}
		p.nl()
	}
}
