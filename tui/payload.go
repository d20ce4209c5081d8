package tui

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"retainscope/inventory"
)

// The payload as lines: text, JSON with indents, or hex. Only the lines in sight are ever drawn.

// view is how a payload is shown.
type view uint8

const (
	viewBest view = iota // JSON where it is, else text where it is, else hex
	viewText
	viewJSON
	viewHex
)

func (v view) String() string { return [...]string{"as it is", "text", "JSON", "hex"}[v] }

// payload is laid out for one width.
type payload struct {
	of    inventory.Ref
	print string // fingerprint of the copy
	want  view
	width int

	view view
	b    []byte // what is shown: the payload itself, or its indented form
	wrap []int  // where lines begin; nil in hex
	open []bool // of JSON: the line begins inside a string
	row  int    // bytes in a line of hex
	json bool   // the payload is a JSON object or array
}

// mostLines bounds the lines of one payload.
const mostLines = 200_000

// fits reports whether y is the payload of d laid out for this view and width.
func (y *payload) fits(d *inventory.Detail, want view, width int) bool {
	return y.view != viewBest && y.of == d.Ref && y.print == d.Fingerprint && y.want == want && y.width == width
}

// layOut makes the lines. It may take long for a large payload.
func layOut(m measure, d *inventory.Detail, want view, width int) payload {
	y := payload{of: d.Ref, print: d.Fingerprint, want: want, width: width, view: want, b: d.Payload, json: isStructured(d.Payload)}
	if want == viewBest {
		switch {
		case y.json:
			y.view = viewJSON
		case readable(d.Payload):
			y.view = viewText
		default:
			y.view = viewHex
		}
	}
	switch y.view {
	case viewHex:
		// "00000000  " and three cells a byte, a gap, and the text
		y.row = 16
		for y.row > 4 && 10+y.row*4+2 > width {
			y.row -= 4
		}
		return y
	case viewJSON:
		if y.json {
			y.b = indent(d.Payload)
		} else {
			y.view = viewText
		}
	}
	y.wrap = m.wrap(y.b, width, mostLines, asText)
	if y.view == viewJSON {
		y.open = inStrings(y.b, y.wrap)
	}
	return y
}

func (y *payload) lines() int {
	switch {
	case y.view == viewBest || len(y.b) == 0:
		return 0
	case y.view == viewHex:
		return (len(y.b) + y.row - 1) / y.row
	}
	return len(y.wrap)
}

// draw writes the i-th line.
func (y *payload) draw(p *pen, i int) {
	if y.view == viewHex {
		y.drawHex(p, i*y.row)
		return
	}
	from, end := y.wrap[i], len(y.b)
	if i+1 < len(y.wrap) {
		end = y.wrap[i+1]
	}
	if y.view == viewJSON {
		y.drawJSON(p, from, end, y.open[i])
		return
	}
	y.piece(p, from, end, "")
}

func (y *payload) piece(p *pen, from, end int, style string) {
	p.in(style)
	var w int
	p.buf, w = p.m.line(p.buf, y.b, from, end, asText)
	p.x += w
	p.in("")
}

// drawJSON colours one line: names, texts, numbers, words.
func (y *payload) drawJSON(p *pen, from, end int, inString bool) {
	b := y.b
	for i := from; i < end; {
		j := i + 1
		style := ""
		switch c := b[i]; {
		case inString || c == '"':
			if inString {
				j = i
			}
			closed := stringEnd(b, j, end)
			style = p.pal.jsonText
			if closed < len(b) && b[closed] == ':' {
				style = p.pal.jsonKey
			}
			j = max(min(closed, end), i+1)
			inString = false
		case c == '-' || c >= '0' && c <= '9':
			for j < end && bytes.IndexByte([]byte("0123456789+-.eE"), b[j]) >= 0 {
				j++
			}
			style = p.pal.jsonNumber
		case c >= 'a' && c <= 'z':
			for j < end && b[j] >= 'a' && b[j] <= 'z' {
				j++
			}
			style = p.pal.jsonWord
		default:
			for j < end && bytes.IndexByte([]byte(" {}[],:\n"), b[j]) >= 0 {
				j++
			}
		}
		y.piece(p, i, j, style)
		i = j
	}
}

// stringEnd returns the place behind the quote that ends the string whose text i stands in. It looks to the end of the
// line and a few thousand bytes on: what is further away colours nothing.
func stringEnd(b []byte, i, end int) int {
	limit := min(len(b), max(i+4096, end))
	for ; i < limit; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return limit
}

// inStrings says of every line whether it begins inside a string.
func inStrings(b []byte, lines []int) []bool {
	open := make([]bool, len(lines))
	in := false
	next := 0
	for i := 0; i < len(b) && next < len(lines); i++ {
		for next < len(lines) && lines[next] == i {
			open[next] = in
			next++
		}
		switch b[i] {
		case '\\':
			if in {
				i++
				for next < len(lines) && lines[next] == i {
					open[next] = in
					next++
				}
			}
		case '"':
			in = !in
		}
	}
	return open
}

func (y *payload) drawHex(p *pen, at int) {
	const digits = "0123456789abcdef"
	end := min(len(y.b), at+y.row)
	p.in(p.pal.dim)
	for shift := 28; shift >= 0; shift -= 4 {
		p.buf = append(p.buf, digits[at>>shift&15])
	}
	p.x += 8
	p.in("")
	p.say("  ")
	start := p.x
	for i := at; i < end; i++ {
		p.buf = append(p.buf, digits[y.b[i]>>4], digits[y.b[i]&15], ' ')
		p.x += 3
	}
	p.to(start + 3*y.row + 1)
	for _, c := range y.b[at:end] {
		if c < 0x20 || c >= 0x7f {
			p.sayIn(p.pal.dim, ".")
		} else {
			p.buf = append(p.buf, c)
			p.x++
		}
	}
}

// isStructured reports whether b is a JSON object or array; a bare number or word reads better as text.
func isStructured(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) > 0 && (t[0] == '{' || t[0] == '[') && json.Valid(b)
}

// readable reports whether b is text to a person: UTF-8 with few control characters.
func readable(b []byte) bool {
	odd, runes := 0, 0
	for i := 0; i < len(b) && i < 4096; {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 && len(b)-i >= utf8.UTFMax {
			return false
		}
		if r < 0x20 && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			odd++
		}
		runes++
		i += n
	}
	return odd*10 <= runes
}

// mostIndent bounds the depth that is shown as an indent.
const mostIndent = 16

// indent returns valid JSON with one member a line. Numbers, texts and the order of members stay byte for byte.
func indent(b []byte) []byte {
	out := make([]byte, 0, len(b)*3/2)
	depth := 0
	newline := func() {
		out = append(out, '\n')
		for range min(depth, mostIndent) {
			out = append(out, ' ', ' ')
		}
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case ' ', '\t', '\n', '\r':
		case '"':
			end := i + 1
			for end < len(b) && b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(b))
			out = append(out, b[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			if j := skipSpace(b, i+1); j < len(b) && (b[j] == '}' || b[j] == ']') {
				out = append(out, b[j])
				i = j
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			out = append(out, c)
		case ',':
			out = append(out, c)
			newline()
		case ':':
			out = append(out, ':', ' ')
		default:
			out = append(out, c)
		}
	}
	return out
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
