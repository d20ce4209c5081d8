package tui

import (
	"bytes"
	"strconv"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// One row of the list: what stands in each column, and how long that holds.

func (m *model) drawHeadings(c columns) {
	p := &m.pen
	p.in(p.pal.dim)
	p.to(c.topic)
	p.say("TOPIC" + m.sortSign(inventory.ByTopic))
	p.to(c.expiry)
	p.say("EXPIRY" + m.sortSign(inventory.ByExpiry))
	if c.liveW > 0 {
		p.to(c.live)
		if m.byReceived() {
			p.say("RECEIVED" + m.sortSign(inventory.ByReceived))
		} else {
			p.say("SEEN LIVE" + m.sortSign(inventory.ByLive))
		}
	}
	if c.sizeW > 0 {
		p.rightward(c.size+sizeNumber, "SIZE"+m.sortSign(inventory.BySize))
	}
	if c.readingW > 0 {
		p.to(c.reading)
		p.say("READING" + m.sortSign(inventory.ByReading))
	}
	p.in("")
}

// sortSign marks the heading of the column that a flat list is ordered by.
func (m *model) sortSign(by inventory.SortKey) string {
	switch {
	case m.list.spec.Tree || m.list.spec.Sort != by:
		return ""
	case m.list.spec.Desc:
		return m.pen.g.falling
	}
	return m.pen.g.rising
}

// byReceived reports whether the list is ordered by when the copies came, which then have the column of seen live.
func (m *model) byReceived() bool {
	return !m.list.spec.Tree && m.list.spec.Sort == inventory.ByReceived
}

// receivedAgo says when the copy held came.
func (m *model) receivedAgo(s *inventory.Slot) string {
	d := m.now.Sub(time.UnixMilli(s.ReceivedAt))
	text, hold := span(d)
	m.until(hold)
	if d < time.Second {
		return "now"
	}
	return text + " ago"
}

// sizeNumber is the part of the size column that holds the number and its unit.
const sizeNumber = 6

// wantsLook are the flags that put a sign in front of a row: those that Counts.Findings counts.
const wantsLook = inventory.FlagStillServed | inventory.FlagFell | inventory.FlagEmptyReplay | inventory.FlagLooksEmpty |
	inventory.FlagOddName | inventory.FlagLiveDiffers | inventory.FlagLeft | inventory.FlagHazard

func (m *model) drawRow(r *inventory.Row, c columns, selected bool) {
	p := &m.pen
	if selected {
		p.say(p.g.cursor)
		if m.focus {
			p.hold(p.pal.dim)
		} else {
			p.hold(p.pal.selected)
		}
	} else {
		p.say(" ")
	}
	now := m.now.UnixMilli()
	slot := m.settled(r.Slot)
	if r.Held && slot.Flags&(wantsLook|inventory.FlagNotSeen) != 0 {
		p.sayIn(p.pal.warn, "! ")
	} else {
		p.say("  ")
	}
	m.drawName(r, c)
	p.to(c.expiry)
	switch {
	case r.Held:
		m.drawSlot(&slot, c, now)
	case r.Branch:
		m.drawBranch(r)
	case staying(r):
		if !m.drawAct(r.Prefix, c) {
			m.drawPhrase(wordNotHeld, notable, c)
		}
	}
	if selected {
		p.to(p.right)
	}
}

// drawName writes the level or topic, and for a branch how many topics it holds.
func (m *model) drawName(r *inventory.Row, c columns) {
	p := &m.pen
	end := c.topic + c.topicW
	right := p.right
	p.right = min(end, right)
	defer func() { p.right = right }()
	if !m.list.spec.Tree {
		m.drawFlatName(r)
		return
	}
	step := 2
	if c.topicW < 28 {
		step = 1
	}
	if indent := step * r.Depth; indent <= c.topicW/2 {
		p.to(p.x + indent)
	} else {
		// A deep level keeps room for its name: its depth is a number.
		depth := strconv.Itoa(r.Depth) + p.m.more()
		p.to(c.topic + c.topicW/2 - len(depth))
		p.sayIn(p.pal.dim, depth)
	}
	sign := p.g.leaf
	if r.Branch {
		sign = p.g.closed
		if r.Open {
			sign = p.g.open
		}
	}
	p.say(sign + " ")
	count := ""
	if r.Branch {
		count = " (" + number(r.Sub.Topics) + ")"
		if m.filter.filter != nil && int64(r.Matched) != r.Sub.Topics {
			count = " (" + number(int64(r.Matched)) + ")" // of how many stands where there is room
		}
		if ordering(r) {
			count += " ordering"
		}
	}
	room := p.left() - len(count)
	if room < 4 {
		room, count = p.left(), ""
	}
	switch {
	case len(r.Name) == 0:
		p.sayIn(p.pal.dim, "(empty level)")
	case staying(r) && bytes.IndexByte(r.Name, '/') >= 0:
		var w int
		p.buf, w, _ = p.m.cutMiddle(p.buf, r.Name, room, asName)
		p.x += w
	case r.Branch && !r.Held:
		p.in(p.pal.strong)
		p.wire(r.Name, room, asName)
		p.in("")
	default:
		p.wire(r.Name, room, asName)
	}
	p.sayIn(p.pal.dim, count)
}

// largeLevel is how many topics make a level one whose rows can take a moment.
const largeLevel = 2048

// ordering reports whether rows below r are not shown yet. A level that was never on show is pending as well, but a
// small one is put in order the moment it comes into sight.
func ordering(r *inventory.Row) bool { return r.Pending && r.Sub.Topics > largeLevel }

// drawBranch says in words what is below a level that is no topic itself.
func (m *model) drawBranch(r *inventory.Row) {
	p := &m.pen
	s := &r.Sub
	if m.filter.filter != nil && int64(r.Matched) != s.Topics {
		// The sums are of all that is below, whether it passes or not: beside a filter they mislead.
		of := "of " + number(s.Topics)
		p.facts([]fact{{text: number(int64(r.Matched)) + " " + of + " pass the filter", short: of, style: p.pal.dim}}, p.left(), 2, "")
		return
	}
	all := make([]fact, 0, 8)
	add := func(n int64, what, style string, rank int) {
		if n > 0 {
			all = append(all, fact{text: number(n) + " " + what, style: style, rank: rank})
		}
	}
	add(s.Never, "never", p.pal.never, 5)
	add(s.Expiring, "expire", p.pal.counting, 4)
	add(s.Unknown, "unknown", "", 3)
	add(s.Due, "due", p.pal.warn, 2)
	add(s.Left, "left behind", p.pal.warn, 7)
	add(s.Hazards, "hazard", p.pal.bad, 8)
	add(s.Findings, "!", p.pal.warn, 1)
	p.facts(all, p.left(), 2, "")
}

// drawAct says of a row how the last act on its topic goes, where READING stands or, where that has no room, in place of
// EXPIRY. It reports whether there was one to speak of.
func (m *model) drawAct(topic []byte, c columns) bool {
	text, t, ok := m.actReading(topic)
	if ok {
		m.drawPhrase(text, t, c)
	}
	return ok
}

// drawPhrase writes a phrase where READING stands or, where that has no room, in place of EXPIRY.
func (m *model) drawPhrase(text string, t tone, c columns) {
	p := &m.pen
	at, room := c.reading, c.readingW
	if room == 0 {
		at, room = c.expiry, p.right-c.expiry
	}
	p.to(at)
	p.in(p.pal.of(t))
	p.wire([]byte(inCells(text, room)), room, asText)
	p.in("")
}

func (m *model) drawSlot(s *inventory.Slot, c columns, now int64) {
	p := &m.pen
	if c.readingW == 0 && m.drawAct(s.Topic, c) {
		return
	}
	m.drawExpiry(s, c, now)
	if c.liveW > 0 {
		p.to(c.live)
		text, active := m.seenLive(s)
		if m.byReceived() {
			text, active = m.receivedAgo(s), true
		}
		style := p.pal.dim
		if active {
			style = ""
		}
		p.sayIn(style, text)
	}
	if c.sizeW > 0 {
		p.rightward(c.size+sizeNumber, size(int64(s.Size)))
		if s.Flags.Has(inventory.FlagCut) {
			if c.sizeW > sizeNumber+3 {
				p.sayIn(p.pal.warn, " cut")
			} else {
				p.sayIn(p.pal.warn, "*")
			}
		}
	}
	if c.readingW > 0 {
		p.to(c.reading)
		text, t := m.reading(s, now)
		if len(text) > c.readingW && text == expiry.MissedTwo.String() {
			text = "2 refreshes missed"
		} else if len(text) > c.readingW && text == wordOlder {
			text = wordOlderShort
		}
		p.in(p.pal.of(t))
		p.wire([]byte(inCells(text, c.readingW)), c.readingW, asText)
		p.in("")
	}
}

// drawExpiry writes never, a countdown with its bar, due, stopped or unknown.
func (m *model) drawExpiry(s *inventory.Slot, c columns, now int64) {
	p := &m.pen
	left, counts := s.Remaining(now)
	standing := s.Standing(now)
	switch {
	case standing == expiry.Never:
		p.sayIn(p.pal.never, wordNever)
	case !counts:
		word := unknownOver(&m.link)
		if len(word) > c.expiryW {
			word = wordUnknown
		}
		p.sayIn(p.pal.dim, word)
	case s.StoppedAt != 0 || m.link.State == inventory.Lost:
		p.sayIn(p.pal.dim, wordStopped)
	case standing == expiry.Due:
		p.sayIn(p.pal.warn, wordDue)
	default:
		text, hold := countdown(left)
		m.until(hold)
		p.sayIn(p.pal.counting, text)
		if window := s.History.Window; c.barW > 0 && window > 0 {
			p.to(c.bar)
			p.in(p.pal.counting)
			p.bar(left.Seconds()/float64(window), c.barW)
			p.in("")
		}
	}
}

// seenLive says when the topic was last published while we watched, or since when it was not, and whether it was. A
// replay is never activity. Silence is claimed only for the time in which somebody watched: this program since it began
// without a break, or whoever else did as well where that is remembered.
func (m *model) seenLive(s *inventory.Slot) (string, bool) {
	if s.LastLive != 0 {
		d := m.now.Sub(time.UnixMilli(s.LastLive))
		_, hold := span(d)
		m.until(hold)
		return SeenLive(d, true, 0), true
	}
	if m.o.Silence != nil {
		silent := m.o.Silence(s.Topic, s.FirstSeen, 0, m.now.UnixMilli())
		if silent.Pending {
			m.until(time.Second)
			return m.pen.m.more(), false
		}
		if d := silent.Watched; d > 0 {
			_, hold := span(d)
			m.until(hold)
			return SeenLive(0, false, d), false
		}
	}
	if m.link.State != inventory.Watching {
		return "not known", false
	}
	from := time.UnixMilli(s.FirstSeen)
	if m.link.Since.After(from) {
		from = m.link.Since
	}
	text, hold := span(m.now.Sub(from))
	m.until(hold)
	return "not in " + text, false
}
