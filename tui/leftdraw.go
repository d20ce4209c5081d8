package tui

import (
	"strconv"

	"retainscope/inventory"
)

// How the screen of what looks left behind is drawn.

func (m *model) drawLeft() {
	p := &m.pen
	l := &m.left
	m.buildLeft()
	lines := m.lay.body
	if m.lay.tall {
		p.to(1)
		m.drawLeftTitle()
		p.nl()
		p.nl()
		lines -= 2
	}
	words := m.leftWords()
	i := l.rowAt(l.top)
	for y := range lines {
		switch line := l.top + y; {
		case y < len(words):
			p.ready(words[y])
		case line < l.total:
			if line == l.rows[i].at+l.rows[i].height() {
				i++
			}
			m.drawLeftRow(&l.rows[i], line-l.rows[i].at, i == l.cur)
		}
		p.nl()
	}
}

// leftWords says why there is no row.
func (m *model) leftWords() []pageLine {
	l := &m.left
	if len(l.rows) > 0 {
		return nil
	}
	text := []string{"Nothing looks left behind, by what is retained and by what was seen so far.",
		"That is not a proof: a topic that nobody's convention explains has no owner here, and is not judged."}
	switch {
	case m.o.Readings == nil:
		text = []string{"Readings are switched off (readings.enabled)."}
	case !l.have:
		text = []string{"Reading what is retained."}
	case len(l.data.Prefixes) == 0 && m.sum.Topics > 0:
		// Topics are here and none was read yet: silence of the reader is no finding.
		text = []string{"What looks left behind is worked out when the scan has ended. Nothing can be said before."}
	case m.sum.Topics == 0 && (m.link.Scanning || m.cov.Claim == inventory.Scanning):
		text = []string{"Nothing came yet, so nothing can be said. What looks left behind is worked out when the scan has ended."}
	case m.sum.Topics == 0 && m.cov.Claim == inventory.Verified && m.cov.Known == 0:
		text = []string{"No retained topic is here, and the broker's own count says that it holds none: there was nothing to judge."}
	case m.sum.Topics == 0:
		// Where nothing was shown there was nothing to judge.
		text = []string{"No retained topic was shown to this login, so nothing was judged. That is not an empty store: c says what this list may claim."}
	case m.cov.Claim == inventory.Unverified || m.cov.Claim == inventory.Incomplete:
		words, _ := m.claimWords()
		text = append(text, "What was shown to this login is "+words+": what it was not shown is not judged. c says more.")
	}
	return prose(&m.pen, text, m.lay.w-2)
}

func (m *model) drawLeftTitle() {
	p := &m.pen
	l := &m.left
	if l.prefixes {
		p.facts([]fact{
			{text: "First levels, and how much of each carries an expiry", short: "First levels", style: p.pal.strong, rank: 5},
			{text: "by " + prefixOrders[l.byPrefix], style: p.pal.dim, rank: 4},
		}, p.left()-1, 3, p.g.dot)
		return
	}
	p.facts([]fact{
		{text: counted(int64(len(l.data.Groups)), "group") + " by owner and device", short: counted(int64(len(l.data.Groups)), "group"), style: p.pal.strong, rank: 6},
		{text: "by " + groupOrders[l.order] + ", hazards first", short: "by " + groupOrders[l.order], style: p.pal.dim, rank: 5},
		{text: "nothing is chosen here; each topic is looked at by itself", short: "nothing is chosen here", style: p.pal.dim, rank: 2},
	}, p.left()-1, 3, p.g.dot)
}

// drawLeftRow draws one line of a row.
func (m *model) drawLeftRow(r *leftRow, line int, selected bool) {
	p := &m.pen
	if selected && (line == 0 || m.left.top == r.at+line) {
		p.say(p.g.cursor)
	} else {
		p.say(" ")
	}
	if selected {
		p.hold(p.pal.selected)
	}
	switch {
	case r.prefix != nil:
		m.drawPrefix(r.prefix)
	case r.member != nil:
		m.drawMember(r.member)
	case r.reason != nil:
		p.to(5)
		if line == 0 {
			p.sayIn(p.pal.dim, r.label)
		}
		p.to(5 + labelWidth(m))
		p.sentence(r.reason[line])
	default:
		m.drawGroup(r.group)
	}
	if selected {
		p.to(p.right)
	}
}

func (m *model) drawGroup(g *Group) {
	p := &m.pen
	if g.Hazard {
		p.sayIn(p.pal.bad, "! ")
	} else {
		p.say("  ")
	}
	sign := p.g.closed
	if m.left.open(g.key()) {
		sign = p.g.open
	}
	p.say(sign + " ")
	right := []fact{}
	if g.Go > 0 {
		words := " left behind"
		if m.lay.w < 60 {
			words = " left" // whose they are needs the room
		}
		right = append(right, fact{text: number(int64(g.Go)) + words, style: p.pal.warn, rank: 9})
	}
	switch {
	case g.Hazard:
		right = append(right, fact{text: "hazard", style: p.pal.bad, rank: 10})
	case m.lay.w >= 60 || g.Go == 0:
		right = append(right, fact{text: g.Strength, rank: 6})
	}
	if m.lay.w >= 60 || g.Go == 0 {
		right = append(right, fact{text: "owner " + g.State, style: p.pal.dim, rank: 5})
	}
	if g.Silent > 0 {
		text, hold := span(g.Silent)
		m.until(hold)
		right = append(right, fact{text: "silent " + text, style: p.pal.dim, rank: 4})
	}
	right = p.m.fit(right, max(p.left()/2, 10), 2)
	cells := -2
	for _, f := range right {
		cells += f.cells(p.m) + 2
	}
	end := p.right - 1 - cells
	m.drawOwner(g, end-2)
	p.to(end)
	p.facts(right, cells, 2, "")
}

// drawOwner writes whose the group is, up to column end.
func (m *model) drawOwner(g *Group, end int) {
	p := &m.pen
	name := g.Owner
	if name == "" {
		name = "(no owner known)"
	}
	p.in(p.pal.strong)
	p.wire([]byte(name), end-p.x, asText)
	p.in("")
	if g.Device != "" && g.Device != g.Owner && end-p.x > 8 {
		p.say(" / ")
		p.wire([]byte(g.Device), end-p.x, asText)
	}
	if g.Convention != "" && g.Convention != g.Owner && end-p.x > len(g.Convention)+3 {
		p.sayIn(p.pal.dim, " "+g.Convention)
	}
}

// roleIn returns the word for a role, a shorter one where it has no room and a space behind it.
func roleIn(role string, width int) string {
	if len(role) < width {
		return role
	}
	switch role {
	case "availability":
		return "avail."
	case "announcement":
		return "record"
	case "attribute":
		return "attr."
	case "liveness":
		return "live"
	}
	return role[:width-1]
}

func (m *model) drawMember(x *Member) {
	p := &m.pen
	p.to(3)
	if x.Hazard {
		p.sayIn(p.pal.bad, "!")
	}
	p.to(5)
	p.sayIn(p.pal.dim, roleIn(x.Role, labelWidth(m)))
	p.to(5 + labelWidth(m))
	right := p.right
	text, style, cells := x.Phrase, p.pal.dim, 40
	said, t, listed := m.approvalReading([]byte(x.Topic))
	if text == wordNotListed {
		listed, style = false, p.pal.warn
	}
	if listed {
		text, style = said, p.pal.of(t)
	}
	switch {
	case m.lay.w >= 100:
	case !listed && text != wordNotListed:
		cells = -1 // the topic needs the room
	case m.lay.w >= 60:
		cells = 18
	case !listed:
		cells, text = 8, "unlisted"
	case t == alarming:
		cells, text = 5, "appr!"
	default:
		cells, text = 5, "appr."
	}
	p.right -= cells + 2
	if cells < 0 {
		p.right = right
	}
	var w int
	p.buf, w, _ = p.m.cutMiddle(p.buf, []byte(x.Topic), p.left()-1, asName)
	p.x += w
	p.right = right
	if cells > 0 {
		p.to(right - cells - 1)
		p.in(style)
		p.sentence(inCells(text, cells))
		p.in("")
	}
}

func (m *model) drawPrefix(x *Prefix) {
	p := &m.pen
	p.to(3)
	name := x.Name
	narrow := m.lay.w < 60
	facts := []fact{{text: counted(int64(x.Topics), "topic"), rank: 8}}
	switch s := x.share(); {
	case s < 0:
		facts = append(facts, fact{text: "expiry not known", short: "?", style: p.pal.dim, rank: 9})
	default:
		facts = append(facts, fact{text: strconv.Itoa(s/10) + "% with expiry", short: strconv.Itoa(s/10) + "%", style: p.pal.counting, rank: 9})
	}
	if x.Began > 0 {
		facts = append(facts, fact{text: number(int64(x.Began)) + " began to use it", short: number(int64(x.Began)) + " began", style: p.pal.good, rank: 6})
	}
	if x.Fell > 0 {
		facts = append(facts, fact{text: number(int64(x.Fell)) + " fell back", style: p.pal.warn, rank: 7})
	}
	nameW := 34
	if narrow {
		nameW = 18
	}
	if name == "" {
		p.sayIn(p.pal.dim, "(empty level)")
	} else {
		p.wire([]byte(name), nameW, asName)
	}
	p.to(3 + nameW + 2)
	p.facts(facts, p.left()-1, 2, "")
}
