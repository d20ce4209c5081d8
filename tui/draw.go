package tui

import (
	"strings"
	"time"

	"retainscope/inventory"
)

// One frame, from top to bottom.

// draw makes the frame for the instant now.
func (m *model) draw(now time.Time) {
	p := &m.pen
	p.start()
	m.changes = m.now.Add(time.Hour)
	if !m.paused.IsZero() {
		m.changes = now.Add(time.Hour)
	}
	if m.lay.tiny {
		m.drawTiny()
	} else {
		m.drawHeader()
		m.drawBody()
		m.drawFooter(now)
	}
	if string(p.buf) != m.frame {
		m.frame = string(p.buf)
	}
}

func (m *model) drawTiny() {
	p := &m.pen
	p.right = m.lay.w
	if m.w > 0 {
		// Before the terminal told its size there is nothing to say.
		p.say("too small: 32x7 is the least")
	}
}

func (m *model) drawBody() {
	p := &m.pen
	l := m.lay
	p.right = l.w
	switch {
	case m.dialog != nil:
		lines := m.dialog.lines(m)
		m.drawLines(lines, m.dialog.top(m.lay.body))
	case m.form != nil:
		m.drawForm()
	case m.screen == leftBehind:
		m.drawLeft()
	case m.screen == approvedPage && !m.approved.full:
		m.drawApproved()
	case m.screen == recordPage && m.record.full == nil:
		m.drawRecord()
	case m.screen != topics:
		m.page.build(m)
		m.page.draw(p, l.body)
	case m.focus && !l.wide:
		m.detail.build(m, l.pane)
		m.detail.draw(p, l.body, l.w)
	default:
		m.drawTopics()
	}
}

// drawLines writes ready lines from the given one on and fills the body.
func (m *model) drawLines(lines []pageLine, from int) {
	p := &m.pen
	for y := range m.lay.body {
		if i := from + y; i < len(lines) {
			p.ready(lines[i])
		}
		p.nl()
	}
}

func (m *model) drawTopics() {
	p := &m.pen
	l := m.lay
	width := l.list
	if l.wide {
		width-- // a cell between the last column and the wall
	}
	least := leastTopic
	if m.list.spec.Tree {
		least = leastLevel
	}
	c := columnsFor(width, least, !m.list.spec.Tree && m.list.spec.Sort == inventory.BySize, m.link.Limited())
	var empty []pageLine
	if len(m.list.shown.rows) == 0 {
		empty = prose(p, m.emptyWords(), l.list-2)
	}
	if l.wide {
		m.detail.build(m, l.pane)
	}
	m.list.apart = nil
	if !m.list.spec.Tree {
		m.list.apart = m.tellApart(m.list.shown.rows, c.topicW)
	}
	for y := range l.body {
		p.right = l.list
		row := y
		if l.tall {
			row--
		}
		switch {
		case row < 0:
			m.drawHeadings(c)
		case empty != nil:
			if i := row - 1; i >= 0 && i < len(empty) {
				p.ready(empty[i])
			}
		case row < len(m.list.shown.rows):
			m.drawRow(&m.list.shown.rows[row], c, row == m.list.shown.line)
		}
		if l.wide {
			p.held = false
			p.in("")
			p.to(l.list)
			p.right = l.w
			style := p.pal.dim
			if m.focus {
				style = p.pal.strong
			}
			p.sayIn(style, p.g.wall)
			m.detail.drawLine(p, y)
		}
		p.nl()
	}
}

// drawFooter writes the rule, which also carries what was just said, and the keys.
func (m *model) drawFooter(now time.Time) {
	p := &m.pen
	p.right = m.lay.w
	said, style := m.said(now)
	if len(m.spread) > 0 {
		said = m.spread[0]
	}
	if m.lay.tall {
		p.in(p.pal.dim)
		if said == "" {
			said, style = m.place(), p.pal.dim
		}
		if said != "" {
			p.say(strings.Repeat(p.g.rule, 2) + " ")
			p.in(style)
			p.sentence(said)
			p.in(p.pal.dim)
			p.say(" ")
		}
		p.fill(p.g.rule)
		p.nl()
		for i := 1; i < len(m.spread); i++ {
			p.to(3)
			p.in(style)
			p.sentence(m.spread[i])
			p.nl()
		}
	} else if m.filter.active || said == "" && m.filter.set() && m.scope() == inList && m.form == nil && m.dialog == nil {
		p.to(1)
		m.drawFilterText()
		return
	} else if said != "" {
		p.to(1)
		p.in(style)
		p.sentence(said)
		p.in("")
		for i := 1; i < len(m.spread); i++ {
			p.nl()
			p.to(1)
			p.in(style)
			p.sentence(m.spread[i])
			p.in("")
		}
		return
	}
	p.to(1)
	p.facts(m.footer(), m.lay.w-2, 2, "")
}

// footer lists the keys that work here, the most needed last to go.
func (m *model) footer() []fact {
	p := &m.pen
	if m.dialog != nil {
		return []fact{{text: p.g.updown + " choose", rank: 3}, {text: "enter do it", rank: 4}, {text: "esc back", rank: 5}}
	}
	if m.form != nil {
		return m.form.base().footer(p)
	}
	if m.filter.active {
		return []fact{{text: "enter keep", rank: 5}, {text: "esc clear", rank: 4}, {text: p.g.updown + " move", rank: 3}, {text: "ctrl+u empty", rank: 2}}
	}
	here := m.scope()
	all := []fact{}
	switch here {
	case inList:
		if len(m.list.shown.rows) == 0 {
			break
		}
		all = append(all, fact{text: p.g.updown + " move", rank: 8})
		if m.list.spec.Tree && m.paused.IsZero() {
			all = append(all, fact{text: p.g.leftright + " fold", rank: 5})
		}
		all = append(all, fact{text: "enter detail", rank: 8})
		if m.lay.w < 60 {
			all[len(all)-1].text = "enter"
		}
	case inApproved:
		if len(m.sheet.entries) == 0 {
			break
		}
		what := " move"
		if m.approved.full {
			what = " scroll"
		}
		all = append(all, fact{text: p.g.updown + what, rank: 8})
	case inRecord:
		if len(m.record.ops) == 0 {
			break
		}
		what := " move"
		if m.record.full != nil {
			what = " scroll"
		}
		all = append(all, fact{text: p.g.updown + what, rank: 8})
	case inLeft:
		all = append(all, fact{text: p.g.updown + " move", rank: 8})
		if !m.left.prefixes {
			all = append(all, fact{text: p.g.leftright + " fold", rank: 7})
		}
	default:
		all = append(all, fact{text: p.g.updown + " scroll", rank: 8})
	}
	if here == inDetail {
		all = append(all, fact{text: "n/N next/before", rank: 7})
	}
	for i := range m.commands {
		c := &m.commands[i]
		if c.short == "" || c.where&here == 0 || m.why(c) != "" {
			continue
		}
		if here&(inPage|inLeft|inApproved|inRecord) != 0 && c.shows == m.screen && c.shows != topics || c.short == "p pause" && !m.paused.IsZero() {
			continue
		}
		rank := c.rank
		if c.own&here != 0 {
			rank += 4
		}
		text := c.short
		if c.says != nil {
			text = c.says(m)
		}
		all = append(all, fact{text: text, rank: rank})
	}
	if !m.paused.IsZero() {
		all = append([]fact{{text: "p go on", rank: 11}}, all...)
	}
	if m.job != nil || m.running != nil && here == inList {
		all = append([]fact{{text: "esc stop", rank: 11}}, all...)
	}
	return all
}

// newerAbove is how many rows stand above the window in a list that has the newest first.
func (m *model) newerAbove() int {
	l := &m.list
	if l.spec.Tree || !l.spec.Desc || l.spec.Sort != inventory.ByLive && l.spec.Sort != inventory.ByReceived || len(l.rows) == 0 || !m.paused.IsZero() {
		return 0
	}
	return l.l.Index(l.rows[0].Pos)
}

// place says where the cursor is in what.
func (m *model) place() string {
	l := &m.list
	if m.screen == leftBehind && len(m.left.rows) > 0 {
		return "row " + number(int64(m.left.cur+1)) + " of " + number(int64(len(m.left.rows)))
	}
	if n := len(m.sheet.entries); m.screen == approvedPage && !m.approved.full && n > 0 && m.form == nil && !m.approved.astray {
		return "entry " + number(int64(m.approved.cur+1)) + " of " + number(int64(n))
	}
	if n := len(m.record.ops); m.screen == recordPage && m.record.full == nil && n > 0 && m.form == nil {
		return "operation " + number(int64(m.record.cur+1)) + " of " + number(int64(n))
	}
	if m.screen != topics || l.l == nil || m.form != nil {
		return ""
	}
	i, n := m.placeInList()
	text := counted(int64(n), "topic")
	if i >= 0 && n > 0 {
		text = "row " + number(int64(i)+1) + " of " + number(int64(n))
	}
	if r, ok := m.row(); ok && staying(r) && m.paused.IsZero() {
		text = "this row is not in the list now"
	} else if above := m.newerAbove(); above > 0 {
		text += ", " + number(int64(above)) + " newer above (g)"
	}
	// What happened a while ago stands among the events; here it would be taken for news.
	if e := m.news.last; e.At != 0 && m.now.Sub(time.UnixMilli(e.At)) < notableFor {
		m.until(notableFor - m.now.Sub(time.UnixMilli(e.At)))
		topic, _, _ := m.pen.m.cut(nil, e.Topic, 60, asName)
		text += " " + m.pen.g.dot + " " + millis(e.At, m.now) + " " + e.Kind.String() + ": " + string(topic)
	}
	return text
}
