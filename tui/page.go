package tui

import (
	"strings"
	"unicode/utf8"
)

// Pages are ready-made lines that can be scrolled: coverage, events, help.

// pageLine is one drawn line and the cells it takes.
type pageLine struct {
	text  string
	cells int
}

// ready writes a line made before, which must fit.
func (p *pen) ready(l pageLine) {
	if l.cells > p.left() {
		return
	}
	p.in("")
	p.buf = append(p.buf, l.text...)
	p.x += l.cells
}

// writer makes page lines with the looks of a pen.
type writer struct {
	p     pen
	lines []pageLine
	left  int // indent
}

func newWriter(p *pen, width int) *writer {
	return &writer{p: pen{m: p.m, pal: p.pal, g: p.g, right: width}, left: 1}
}

// begin starts a line; end finishes it.
func (w *writer) begin() *pen {
	w.p.buf, w.p.x = w.p.buf[:0], 0
	w.p.to(w.left)
	return &w.p
}

func (w *writer) end() {
	w.p.in("")
	w.lines = append(w.lines, pageLine{string(w.p.buf), w.p.x})
}

func (w *writer) blank() { w.lines = append(w.lines, pageLine{}) }

// title writes a heading, with an empty line in front unless it is the first.
func (w *writer) title(s string) {
	if len(w.lines) > 0 {
		w.blank()
	}
	p := w.begin()
	p.sayIn(p.pal.strong, s)
	w.end()
}

// text writes sentences over as many lines as they need, in a style.
func (w *writer) text(style, s string) {
	for _, line := range wrapProse(w.p.m, s, w.p.right-w.left-1) {
		p := w.begin()
		p.in(style)
		p.sentence(line)
		w.end()
	}
}

// wrapped writes at most so many lines of bytes from the wire; at is where each begins, as wrap says.
func (w *writer) wrapped(style string, b []byte, at []int, most int, as textKind) {
	for i, off := range at[:min(len(at), most)] {
		end := len(b)
		if i+1 < len(at) {
			end = at[i+1]
		}
		p := w.begin()
		p.in(style)
		var cells int
		p.buf, cells = p.m.line(p.buf, b, off, end, as)
		p.x += cells
		w.end()
	}
}

// item writes a label and a text beside it that wraps under itself. Where both have no room side by side the text
// begins on the next line.
func (w *writer) item(label string, labelWidth int, style, s string) {
	room := w.p.right - w.left - 1
	first := room - labelWidth
	if first < 16 || utf8.RuneCountInString(label) >= labelWidth && label != "" {
		p := w.begin()
		p.sayIn(p.pal.dim, label)
		w.end()
		w.left += 2
		w.text(style, s)
		w.left -= 2
		return
	}
	lines := wrapProse(w.p.m, s, first)
	for i, line := range lines {
		p := w.begin()
		if i == 0 {
			p.sayIn(p.pal.dim, label)
		}
		p.to(w.left + labelWidth)
		p.in(style)
		p.sentence(line)
		w.end()
	}
}

// prose is text as page lines, with an empty line between paragraphs; what begins with a dash is an item of a
// list.
func prose(p *pen, sentences []string, width int) []pageLine {
	w := newWriter(p, width)
	for i, s := range sentences {
		if rest, ok := strings.CutPrefix(s, "- "); ok {
			w.item("-", 2, "", rest)
			continue
		}
		if i > 0 {
			w.blank()
		}
		w.text("", s)
	}
	return w.lines
}

// wrapProse breaks s between words into lines of at most width cells; a longer word is broken inside.
func wrapProse(m measure, s string, width int) []string {
	width = max(width, 1)
	var lines []string
	line, used := "", 0
	flush := func() {
		lines = append(lines, line)
		line, used = "", 0
	}
	for len(s) > 0 {
		word := s
		if i := strings.IndexByte(s, ' '); i >= 0 {
			word, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		w := m.width(word)
		if used > 0 && used+1+w > width {
			flush()
		}
		if w > width {
			at := m.wrap([]byte(word), width, 1<<20, asText)
			for i, off := range at {
				end := len(word)
				if i+1 < len(at) {
					end = at[i+1]
					lines = append(lines, word[off:end])
					continue
				}
				line = word[off:end]
				used = m.width(line)
			}
			continue
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += w
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}

// page is what fills the body instead of the topics.
type page struct {
	lines  []pageLine
	scroll int
}

// build makes the lines of the screen that is shown.
func (g *page) build(m *model) {
	w := newWriter(&m.pen, m.lay.w)
	switch m.screen {
	case approvedPage:
		if e, ok := m.approvedRow(); ok {
			m.writeEntry(w, e)
		} else {
			w.text("", "This entry is not in the manifest any more. esc goes back to the others.")
		}
	case recordPage:
		m.writeOperation(w, m.record.full)
	case coveragePage:
		m.writeCoverage(w)
	case eventsPage:
		m.writeEvents(w)
	case helpPage:
		m.writeHelp(w)
	}
	g.lines = w.lines
	g.clamp(m.lay.body)
}

func (g *page) clamp(body int) { g.scroll = max(0, min(g.scroll, len(g.lines)-body)) }

func (g *page) draw(p *pen, body int) {
	for y := range body {
		switch i := g.scroll + y; {
		case y == body-1 && g.scroll+body < len(g.lines):
			p.to(1)
			p.sayIn(p.pal.dim, p.m.more()+" "+number(int64(len(g.lines)-g.scroll-body+1))+" more lines")
		case i < len(g.lines):
			p.ready(g.lines[i])
		}
		p.nl()
	}
}
