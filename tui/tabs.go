package tui

import (
	"strings"
	"time"
	"unicode/utf8"

	"retainscope/inventory"
)

// The tab line: which screens there are, how the list is made, the filter.

// tab is one entry of the tab line; a new screen is one more row here.
type tab struct {
	name   string
	short  string // on a narrow screen
	screen screen
}

var tabs = []tab{
	{"1 Topics", "1 Topics", topics}, {"2 Left behind", "2 Left", leftBehind}, {"3 Approved", "3 Appr.", approvedPage},
	{"4 Record", "4 Record", recordPage},
	{"5 Coverage", "5 Cover", coveragePage}, {"6 Events", "6 Events", eventsPage},
}

// drawTabs is the last header line: which screens there are, how the list is made, and the filter.
func (m *model) drawTabs() {
	p := &m.pen
	p.to(1)
	for _, t := range tabs {
		style := p.pal.dim
		name := " " + t.name + " "
		if t.screen != m.screen {
			switch filtered := m.filterShown(); {
			case m.lay.w < 100 && filtered:
				name = " " + t.short[:1] + " " // the filter needs the room
			case m.lay.w < 100 || m.lay.w < 140 && filtered:
				name = " " + t.short + " "
			}
		}
		if t.screen == recordPage && (m.record.open > 0 || m.record.wrong != "") {
			// Something has no outcome, or was changed.
			name, style = strings.TrimRight(name, " ")+"! ", p.pal.bad
		}
		if t.screen == m.screen {
			style = p.pal.selected
			if style == "" {
				name = "[" + t.name + "]"
			}
			if m.dialog != nil || m.form != nil {
				style = p.pal.dim // what is asked has the keys: no other screen can be gone to
			}
		}
		p.sayIn(style, name)
		p.say(" ")
	}
	m.drawFilter()
}

// filterShown reports whether the filter is on show: it is of the topics alone, and other screens do not go by it.
func (m *model) filterShown() bool { return m.filter.active || m.filter.set() && m.screen == topics }

// drawFilter says how the list is made, on the rest of the line.
func (m *model) drawFilter() {
	p := &m.pen
	p.to(p.x + 1)
	if m.filterShown() {
		right := p.right
		how := m.shortOrder()
		if how != "" && p.left() >= utf8.RuneCountInString(how)+leastFilter {
			p.right -= utf8.RuneCountInString(how) + 2
		} else {
			how = ""
		}
		m.drawFilterText()
		p.right = right
		if how != "" {
			p.rightward(m.lay.w-1, how)
		}
		return
	}
	how := "tree"
	if !m.list.spec.Tree {
		how = "flat, by " + m.list.spec.Sort.String()
		if m.list.spec.Desc {
			how += ", turned round"
		}
	}
	if m.list.pending && m.o.Now().Sub(m.list.started) > 300*time.Millisecond {
		how += ": putting in order"
	}
	if short := m.shortOrder(); short != "" && utf8.RuneCountInString(how)+1 > p.left() {
		how = short
	}
	p.rightward(m.lay.w-1, how)
}

// leastFilter is how many cells the text of the filter keeps beside the order of the list.
const leastFilter = 21

// shortOrder says in few words how a flat list is ordered; "" = by topic, or it is a tree.
func (m *model) shortOrder() string {
	l := &m.list.spec
	switch {
	case l.Tree || l.Sort == inventory.ByTopic && !l.Desc:
		return ""
	case l.Desc:
		return "by " + l.Sort.String() + m.pen.g.falling
	}
	return "by " + l.Sort.String()
}

func (m *model) drawFilterText() {
	p := &m.pen
	f := &m.filter
	p.sayIn(p.pal.strong, "/ ")
	// The end that is typed at stays in sight.
	text := []byte(string(f.text))
	note := ""
	switch {
	case f.active && len(f.text) == 0:
		note = "words, a/+/b, is:never, size>1k, expiry<10m, -not"
	case f.err != "" && !m.lay.tall && f.filter == nil:
		note = "faulty; all are listed"
	case f.err != "" && !m.lay.tall:
		note = "faulty; listed: " + PrintableText([]byte(f.good))
	case f.err != "":
		note = f.err
	case m.list.pending:
		note = "looking"
	case m.list.l != nil:
		_, n := m.placeInList()
		note = counted(int64(n), "topic")
	}
	room := max(p.left()-1, 1)
	if note != "" && len(f.text) > 0 {
		room = max(room-min(len(note)+2, room/2), 1)
	}
	if f.active {
		f.caret = f.draw(p, room)
	} else {
		p.wire(text, room, asText)
	}
	if note != "" {
		p.to(p.x + 2)
		style := p.pal.dim
		if f.err != "" {
			style = p.pal.warn
		}
		p.in(style)
		p.sentence(note)
		p.in("")
	}
}
