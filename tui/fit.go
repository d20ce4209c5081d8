package tui

import "unicode/utf8"

// A line of facts on which not everything has room: what matters least is said shorter first, then left out.

// fact is one thing to say on a line.
type fact struct {
	text  string
	short string // said instead where room is scarce; "" = there is no shorter way
	style string
	rank  int  // a higher one stays longer
	right bool // belongs to the end of the line
	wire  bool // text is from outside and may be cut at the end
	most  int  // cells it may take; 0 = all
}

// keepCut is the rank from which a text from outside is rather cut than left out.
const keepCut = 9

func (f fact) cells(m measure) int {
	if !f.wire {
		return utf8.RuneCountInString(f.text)
	}
	if f.most == 0 {
		return m.width(f.text)
	}
	_, w, _ := m.cut(nil, []byte(f.text), f.most, asText)
	return w
}

// fit returns the facts, in order, that go into width cells with gap cells between them. The last one left is cut
// where even it has no room.
func (m measure) fit(facts []fact, width, gap int) []fact {
	kept := append([]fact(nil), facts...)
	total := func() int {
		n := -gap
		for _, f := range kept {
			n += f.cells(m) + gap
		}
		return n
	}
	for total() > width && len(kept) > 0 {
		least := -1
		for i, f := range kept {
			if f.short != "" && (least < 0 || f.rank < kept[least].rank) {
				least = i
			}
		}
		if least >= 0 {
			kept[least].text, kept[least].short = kept[least].short, ""
			continue
		}
		if len(kept) == 1 {
			break
		}
		least = 0
		for i, f := range kept {
			if f.rank < kept[least].rank {
				least = i
			}
		}
		if f := &kept[least]; f.wire && f.rank >= keepCut {
			if room := f.cells(m) - (total() - width); room >= 8 {
				f.most = room
				break
			}
		}
		kept = append(kept[:least], kept[least+1:]...)
	}
	return kept
}

// facts writes what fits of a line, with gap cells between, the middle of which is dot where it is set.
func (p *pen) facts(all []fact, width, gap int, dot string) {
	end := min(p.x+width, p.right)
	right := p.right
	p.right = end
	for i, f := range p.m.fit(all, end-p.x, gap) {
		if i > 0 {
			at := p.x
			if dot != "" {
				p.to(at + gap/2)
				p.sayIn(p.pal.dim, dot)
			}
			p.to(at + gap)
		}
		p.in(f.style)
		if f.wire {
			p.wire([]byte(f.text), min(f.cells(p.m), p.left()), asText)
		} else {
			p.say(f.text)
		}
		p.in("")
	}
	p.right = right
}
