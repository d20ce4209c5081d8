package tui

import (
	"strconv"
	"unicode/utf8"
)

// The pen writes a frame into one buffer that is used again for the next, and never past the right edge it was given.

// pen draws one frame, line by line. Its zero value draws without styles and up to no column at all.
type pen struct {
	buf   []byte
	m     measure
	pal   palette
	g     glyphs
	x     int    // cells written on this line
	right int    // first column that must not be written
	style string // SGR in force
	held  bool   // the style stays what it is: the row of the cursor
}

// start begins a new frame.
func (p *pen) start() {
	p.buf = p.buf[:0]
	p.x, p.style, p.held = 0, "", false
}

// nl ends the line.
func (p *pen) nl() {
	p.held = false
	p.in("")
	p.buf = append(p.buf, '\n')
	p.x = 0
}

// in sets the style of what follows; "" is none.
func (p *pen) in(sgr string) {
	if p.held || sgr == p.style {
		return
	}
	if p.style != "" {
		p.buf = append(p.buf, sgrReset...)
	}
	p.buf = append(p.buf, sgr...)
	p.style = sgr
}

// hold sets a style that stays until the end of the line, whatever is asked for in between.
func (p *pen) hold(sgr string) {
	p.in(sgr)
	p.held = true
}

// left is how many cells may still be written on this line.
func (p *pen) left() int { return max(0, p.right-p.x) }

// to writes spaces up to column x, which is cut at the right edge.
func (p *pen) to(x int) {
	for x = min(x, p.right); p.x < x; p.x++ {
		p.buf = append(p.buf, ' ')
	}
}

// say writes our own text, every code point of which is one cell, and marks where it had to be cut.
func (p *pen) say(s string) {
	n := utf8.RuneCountInString(s)
	room := p.left()
	if n <= room {
		p.buf = append(p.buf, s...)
		p.x += n
		return
	}
	if room == 0 {
		return
	}
	for _, r := range s {
		if room == 1 {
			break
		}
		p.buf = utf8.AppendRune(p.buf, r)
		room--
	}
	p.buf = append(p.buf, p.m.more()...)
	p.x = p.right
}

// sayIn is say in a style of its own.
func (p *pen) sayIn(sgr, s string) {
	before := p.style
	p.in(sgr)
	p.say(s)
	p.in(before)
}

// wire writes bytes from the wire, made printable, in at most width cells, and returns whether all of them are there.
func (p *pen) wire(b []byte, width int, as textKind) bool {
	var w int
	var whole bool
	p.buf, w, whole = p.m.cut(p.buf, b, min(width, p.left()), as)
	p.x += w
	return whole
}

// sentence writes text that others made, a reason or a note, in what is left of the line.
func (p *pen) sentence(s string) { p.wire([]byte(s), p.left(), asText) }

// number writes n with a space between thousands.
func (p *pen) number(n int64) {
	var b [27]byte
	p.say(string(appendNumber(b[:0], n)))
}

// fill writes s, one cell wide, up to the right edge.
func (p *pen) fill(s string) {
	for p.x < p.right {
		p.buf = append(p.buf, s...)
		p.x++
	}
}

// rightward writes s so that it ends at the column before x; where it does not fit it begins at the present column.
func (p *pen) rightward(x int, s string) {
	p.to(x - utf8.RuneCountInString(s))
	p.say(s)
}

func appendNumber(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	var digits [20]byte
	s := strconv.AppendInt(digits[:0], n, 10)
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, c)
	}
	return dst
}

// number returns n with a space between thousands.
func number(n int64) string { return string(appendNumber(nil, n)) }

// counted returns n and the noun, with an s unless n is one.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}
