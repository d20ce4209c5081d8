package tui

import (
	"strings"
	"time"

	"retainscope/inventory"
)

// The header: which broker, whether it is watched, how much is held, and what that may claim.

func (m *model) drawHeader() {
	p := &m.pen
	p.right = m.lay.w
	m.drawWhere()
	p.nl()
	if !m.lay.tall {
		m.drawShortCounts()
		p.nl()
		return
	}
	m.drawCounts()
	p.nl()
	m.drawClaim()
	p.nl()
	if m.lay.note {
		p.say(" ")
		p.sayIn(p.pal.dim, "Note: ")
		p.sentence(m.cov.Notes[0])
		if n := len(m.cov.Notes); n > 1 {
			p.sayIn(p.pal.dim, " (+"+number(int64(n-1))+", c)")
		}
		p.nl()
	}
	m.drawTabs()
	p.nl()
}

// drawWhere is the first line: whose store this is, and at its end whether it is watched.
func (m *model) drawWhere() {
	p := &m.pen
	word, state, style := m.state()
	w := 1 + 1 + len(state) // the sign is one cell, the words are ASCII
	p.to(1)
	all := []fact{{text: "retainscope", style: p.pal.strong, rank: 2}}
	if m.link.URL != "" {
		all = append(all, fact{text: m.link.URL, rank: 9, wire: true})
	}
	if m.link.Insecure {
		all = append(all, fact{text: "INSECURE: certificate not checked", short: "INSECURE", style: p.pal.bad, rank: 10})
	}
	if m.link.Broker != "" {
		all = append(all, fact{text: strings.Replace(m.link.Broker, " version ", " ", 1), rank: 4, wire: true})
	}
	if m.link.Protocol != "" {
		version := fact{text: "MQTT " + m.link.Protocol, rank: 1, wire: true}
		if m.link.Limited() {
			version.text, version.short, version.style, version.rank = version.text+" (limited)", m.link.Protocol+" limited", p.pal.warn, 8
		}
		all = append(all, version)
	}
	if m.link.User != "" {
		all = append(all, fact{text: "as " + m.link.User, rank: 5, wire: true})
	}
	end := m.lay.w - w - 3 // two cells between, one at the edge
	p.facts(all, max(end-p.x, 8), 2, "")
	p.to(m.lay.w - w - 1)
	p.sayIn(style, word+" "+state)
}

// state returns the sign, the words and the style of the connection.
func (m *model) state() (sign, words, style string) {
	p := &m.pen
	if !m.paused.IsZero() {
		return p.g.lost, "PAUSED " + instant(m.paused, m.paused), p.pal.warn
	}
	since := instant(m.link.Since, m.now)
	switch m.link.State {
	case inventory.Watching:
		if m.link.Err != "" {
			// The connection stands, and yet the broker does not answer on it.
			if m.lay.w < 60 {
				return p.g.lost, "silent", p.pal.warn
			}
			return p.g.lost, Printable([]byte(m.link.Err)), p.pal.warn
		}
		if m.lay.w < 60 {
			return p.g.live, "live", p.pal.good
		}
		return p.g.live, "live " + since, p.pal.good
	case inventory.Lost:
		words = "LOST " + since
		if m.lay.w < 60 {
			words = "LOST"
		}
		if !m.link.RetryAt.IsZero() {
			left, hold := span(m.link.RetryAt.Sub(m.now))
			m.until(min(hold, time.Second))
			words += ", retry in " + left
		} else {
			words += ", trying"
		}
		return p.g.lost, words, p.pal.bad
	}
	return p.g.lost, "connecting", p.pal.warn
}

// drawCounts is the second line.
func (m *model) drawCounts() {
	p := &m.pen
	p.to(1)
	all := []fact{
		{text: number(m.sum.Topics) + " retained", style: p.pal.strong, rank: 10},
	}
	if m.link.Limited() {
		all = append(all, fact{text: "expiry " + wordUnknown311, short: "expiry unknown", rank: 8})
	} else {
		all = append(all, fact{text: number(m.sum.Expiring) + " expire", style: p.pal.counting, rank: 6},
			fact{text: number(m.sum.Never) + " never", style: p.pal.never, rank: 8})
	}
	if m.sum.Unknown > 0 && !m.link.Limited() {
		all = append(all, fact{text: number(m.sum.Unknown) + " unknown", rank: 5})
	}
	if m.sum.Due > 0 {
		all = append(all, fact{text: number(m.sum.Due) + " due", style: p.pal.warn, rank: 7})
	}
	if m.sum.Left > 0 {
		all = append(all, fact{text: number(m.sum.Left) + " look left behind", short: number(m.sum.Left) + " left behind", style: p.pal.warn, rank: 8})
	}
	if m.sum.Hazards > 0 {
		all = append(all, fact{text: counted(m.sum.Hazards, "hazard"), style: p.pal.bad, rank: 8})
	}
	if m.sum.Findings > 0 {
		all = append(all, fact{text: number(m.sum.Findings) + " worth a look (!)", short: number(m.sum.Findings) + " !", style: p.pal.warn, rank: 3})
	}
	all = append(all, m.ghostFacts()...)
	// Both ends of the line are fitted together, so that the one does not crowd out what matters more in the other.
	all = append(all, m.seen()...)
	kept := p.m.fit(all, m.lay.w-2, 3)
	split := len(kept)
	for split > 0 && kept[split-1].right {
		split--
	}
	p.facts(kept[:split], p.left(), 3, p.g.dot)
	used := 0
	for _, f := range kept[split:] {
		used += f.cells(p.m) + 3
	}
	p.to(max(p.x, m.lay.w-1-used+3))
	p.facts(kept[split:], p.left(), 3, "")
}

// seen says how much of the store was seen, as far as the broker tells.
func (m *model) seen() []fact {
	p := &m.pen
	c := m.cov
	switch {
	case c.Claim == inventory.Scanning:
		return nil
	case c.Known < 0:
		return []fact{{text: "seen " + number(c.Seen) + ", the broker tells no total", short: "seen " + number(c.Seen) + " of ?", style: p.pal.dim, rank: 2, right: true}}
	}
	all := []fact{{text: "seen " + number(c.Seen) + " of " + number(c.Known) + " known to the broker",
		short: "seen " + number(c.Seen) + " of " + number(c.Known), rank: 7, right: true}}
	if c.Known < c.Seen {
		// The broker's count is older than the list: a share of it says nothing.
		all[0].text = "seen " + number(c.Seen) + ", the broker counted " + number(c.Known) + " before"
		all[0].short = "seen " + number(c.Seen) + ", counted " + number(c.Known)
	}
	if n := c.Missing(); n > 0 {
		all = append(all, fact{text: "! " + number(n) + " not seen", style: p.pal.bad, rank: 9, right: true})
	}
	return all
}

// claimWords returns how the claim is said and drawn.
func (m *model) claimWords() (string, string) {
	p := &m.pen
	switch m.cov.Claim {
	case inventory.Verified:
		if notShown(m.cov) > 0 {
			return "Verified for this login", p.pal.warn
		}
		return "Verified", p.pal.good
	case inventory.NoSignOfLoss:
		return "No sign of loss", p.pal.good
	case inventory.Unverified:
		return "Unverified", p.pal.warn
	case inventory.Incomplete:
		return "INCOMPLETE", p.pal.bad
	}
	return "Scanning", p.pal.warn
}

// drawClaim is the third line: the claim and the rule it stands on, or how far the scan is, or why nobody watches.
func (m *model) drawClaim() {
	p := &m.pen
	p.to(1)
	if alarm := m.alarm(); alarm != "" {
		if m.lay.w < 120 && (m.link.Scanning || m.cov.Claim == inventory.Scanning) {
			alarm = m.shortAlarm() // how far the scan is needs the room
		}
		p.sayIn(p.pal.bad, alarm)
		p.to(p.x + 2)
	}
	switch {
	case m.link.State == inventory.Lost:
		p.sayIn(p.pal.bad, "Not watched")
		p.say(", countdowns are stopped")
		if m.link.Err != "" {
			p.say(": ")
			p.sentence(m.link.Err)
		}
	case m.link.Scanning || m.cov.Claim == inventory.Scanning:
		m.drawProgress()
	default:
		words, style := m.claimWords()
		p.sayIn(style, words)
		p.say(m.checkedAt())
		if since := m.since(); since != "" {
			p.say(", ")
			p.sayIn(p.pal.warn, since)
		}
		if n := notShown(m.cov); n > 0 {
			p.say("; ")
			p.sayIn(p.pal.warn, moreCounted(n))
		}
		if m.cov.Rule != "" {
			p.say(": ")
			p.sentence(plainFirst(m.cov.Rule))
		}
	}
}

// drawShortCounts is the second and last header line of a low screen.
func (m *model) drawShortCounts() {
	p := &m.pen
	p.to(1)
	if m.filter.active {
		// The line of the keys holds the filter.
		p.facts(m.footer(), m.lay.w-2, 2, "")
		return
	}
	if m.link.Scanning || m.cov.Claim == inventory.Scanning {
		m.drawProgress()
		return
	}
	words, style := m.claimWords()
	all := []fact{
		{text: number(m.sum.Topics) + " retained", short: number(m.sum.Topics), style: p.pal.strong, rank: 5},
		{text: number(m.sum.Never) + " never", style: p.pal.never, rank: 4},
	}
	if m.link.Limited() {
		all[1] = fact{text: "expiry " + wordUnknown311, short: "3.1.1 limited", style: p.pal.warn, rank: 6}
	}
	all = append(all, m.ghostFacts()...)
	since := m.since()
	if since != "" {
		since = ", " + since
	}
	switch n := notShown(m.cov); {
	case m.link.State == inventory.Lost:
		all = append(all, fact{text: "not watched", style: p.pal.bad, rank: 10})
	case n > 0:
		all = append(all, fact{text: words + m.checkedAt() + since, short: words, style: style, rank: 10},
			fact{text: moreCounted(n), short: number(n) + " more", style: p.pal.warn, rank: 9})
	case m.cov.Missing() > 0:
		all = append(all, fact{text: "! " + number(m.cov.Missing()) + " not seen", style: style, rank: 10})
	default:
		all = append(all, fact{text: words + m.checkedAt() + since, short: words + since, style: style, rank: 10})
	}
	if alarm := m.alarm(); alarm != "" {
		all = append([]fact{{text: alarm, short: m.shortAlarm(), style: p.pal.bad, rank: 11}}, all...)
	}
	p.facts(all, m.lay.w-2, 3, p.g.dot)
}
