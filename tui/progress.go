package tui

// How far a scan is.

// drawProgress says how far the scan is: of the total where it is known, otherwise a count; never a share of an unknown
// total.
func (m *model) drawProgress() {
	p := &m.pen
	p.sayIn(p.pal.warn, "Scanning ")
	full := m.link.ScanOf > 0 && m.link.ScanDone >= m.link.ScanOf
	if m.link.ScanOf > 0 {
		if m.lay.w >= 60 && !full {
			p.say("[")
			p.bar(float64(m.link.ScanDone)/float64(m.link.ScanOf), 10)
			p.say("] ")
		}
		p.number(m.link.ScanDone)
		if m.link.ScanDone <= m.link.ScanOf {
			p.say(" of ")
			p.number(m.link.ScanOf)
		}
	} else {
		p.number(m.link.ScanDone)
		p.say(" so far")
	}
	rest := m.link.Progress
	if rest == "" || rest == "scanning" {
		rest = m.cov.Rule // what it waits for
	}
	if full {
		// A full bar would stand for an end that nobody has seen yet.
		rest = "checking that nothing more comes"
		if p := m.link.Progress; p != "" && p != "scanning" {
			rest = p
		}
	}
	if rest != "" {
		p.say(": ")
		p.sentence(plainFirst(rest))
	}
}

// bar draws share, 0 to 1, in w cells.
func (p *pen) bar(share float64, w int) {
	share = min(max(share, 0), 1)
	steps := len(p.g.bar)
	n := int(share*float64(w*steps) + 0.5)
	for i := range w {
		switch part := n - i*steps; {
		case part >= steps:
			p.say(p.g.bar[steps-1])
		case part > 0:
			p.say(p.g.bar[part-1])
		default:
			p.say(p.g.track)
		}
	}
}
