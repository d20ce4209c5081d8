package tui

import "unicode/utf8"

// Cutting and wrapping by cells: only between clusters, never inside an escape, and never further into a long name than
// the screen needs.

// Cut returns b as Printable does, in at most width cells, and whether all of b is in it. Where it is not, the result
// ends with the mark of a cut, "…" ("~" where only ASCII may be drawn). A width below 1 returns nothing.
func Cut(b []byte, width int) (string, bool) {
	out, _, whole := measure{}.cut(nil, b, width, asName)
	return string(out), whole
}

// more is the mark that something was cut away; one cell.
func (m measure) more() string {
	if m.ascii {
		return "~"
	}
	return "…"
}

// cut appends b to dst in at most width cells and returns dst, the cells used, and whether all of b is in it.
func (m measure) cut(dst, b []byte, width int, as textKind) ([]byte, int, bool) {
	if width < 1 {
		return dst, 0, len(b) == 0
	}
	if n := simple(b, width+1); n == len(b) && n <= width {
		return append(dst, b...), n, true
	} else if n > width {
		dst = append(dst, b[:width-1]...)
		return append(dst, m.more()...), width, false
	}
	s := scanner{m: m, b: b, as: as, lead: as == asName}
	used := 0
	// The place where the mark goes if the rest does not fit.
	fitLen, fitUsed := len(dst), 0
	for s.more() {
		var w int
		dst, w = s.next(dst)
		if used+w > width {
			dst = append(dst[:fitLen], m.more()...)
			return dst, fitUsed + 1, false
		}
		used += w
		if used < width {
			fitLen, fitUsed = len(dst), used
		}
	}
	return dst, used, true
}

// simple returns how many of the first limit bytes of b stand for themselves wherever they are, one cell each: the
// case of nearly every topic, and much faster than looking for clusters.
func simple(b []byte, limit int) int {
	n := min(len(b), limit)
	for i := range n {
		if c := b[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			// What follows may belong to the byte before.
			return max(0, i-1)
		}
	}
	return n
}

// cutMiddle is cut with the mark in the middle: names that begin alike are told apart by their ends.
func (m measure) cutMiddle(dst, b []byte, width int, as textKind) ([]byte, int, bool) {
	start := len(dst)
	dst, used, whole := m.cut(dst, b, width, as)
	if whole || width < 12 {
		return dst, used, whole
	}
	tail, tailUsed := m.tail(b, width*3/5, as)
	dst, used, _ = m.cut(dst[:start], b, width-tailUsed, as)
	return append(dst, tail...), used + tailUsed, false
}

// tail returns the end of b in at most width cells. It looks at a bounded piece of b; the piece may begin inside a
// cluster, so its first one is left out.
func (m measure) tail(b []byte, width int, as textKind) ([]byte, int) {
	if end := b[max(0, len(b)-width):]; simple(end, width) == len(end) {
		return end, len(end)
	}
	piece := b
	if limit := 16*width + 64; len(b) > limit {
		piece = b[len(b)-limit:]
	}
	for len(piece) > 0 && !utf8.RuneStart(piece[0]) {
		piece = piece[1:]
	}
	type cell struct{ at, width int }
	var cells []cell
	var text []byte
	s := scanner{m: m, b: piece, as: as}
	for s.more() {
		at := len(text)
		var w int
		text, w = s.next(text)
		cells = append(cells, cell{at, w})
	}
	used, from := 0, len(text)
	for i := len(cells) - 1; i > 0; i-- {
		if used+cells[i].width > width {
			break
		}
		used += cells[i].width
		from = cells[i].at
	}
	return text[from:], used
}

// width returns the cells that all of s takes.
func (m measure) width(s string) int {
	simple := true
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f {
			simple = false
			break
		}
	}
	if simple {
		return len(s)
	}
	_, w, _ := m.cut(nil, []byte(s), 1<<20, asText)
	return w
}

// tailText returns all of b where it fits into width cells, else the mark of a cut and the end of b.
func (m measure) tailText(b []byte, width int) ([]byte, int) {
	if out, w, whole := m.cut(nil, b, width, asText); whole || width < 1 {
		return out, w
	}
	out, w := m.tail(b, width-1, asText)
	return append([]byte(m.more()), out...), w + 1
}

// from returns a scanner of b that begins at off, a place where wrap broke.
func (m measure) from(b []byte, off int, as textKind) scanner {
	s := scanner{m: m, b: b, i: off, as: as, lead: as == asName}
	for i := off - 1; i >= 0 && b[i] != '/'; i-- {
		if b[i] != ' ' {
			s.lead = false
			break
		}
	}
	return s
}

// line appends the cells of b from off to end, a line as wrap made it, and returns dst and the cells used.
func (m measure) line(dst, b []byte, off, end int, as textKind) ([]byte, int) {
	s := m.from(b, off, as)
	used := 0
	for s.i < end && s.more() {
		if as == asText && b[s.i] == '\n' {
			break
		}
		var w int
		dst, w = s.next(dst)
		used += w
	}
	return dst, used
}

// wrap returns the offsets in b at which the lines of a column of width cells begin; a newline ends a line and belongs
// to it. An empty b has one line. The offsets stop when there are more than limit lines.
func (m measure) wrap(b []byte, width, limit int, as textKind) []int {
	lines := []int{0}
	if width < 1 {
		return lines
	}
	s := scanner{m: m, b: b, as: as, lead: as == asName}
	var scratch []byte
	used := 0
	for s.more() && len(lines) <= limit {
		if as == asText && b[s.i] == '\n' {
			s.i++
			if s.more() {
				lines = append(lines, s.i)
			}
			used = 0
			continue
		}
		at := s.i
		var w int
		scratch, w = s.next(scratch[:0])
		if used+w > width && used > 0 {
			lines = append(lines, at)
			used = 0
		}
		used += w
	}
	return lines
}
