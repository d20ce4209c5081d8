package tui

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Here stands the one road by which a byte from the wire reaches a terminal: cluster by cluster, everything that is not
// plainly visible turned into an escape made of ASCII.

// textKind says what kind of text the bytes are, and so which plain characters need a mark of their own.
type textKind uint8

const (
	// asName is for topics and everything else where two byte strings must never look the same: a backslash is
	// doubled, spaces at the ends of a topic level are shown as \x20.
	asName textKind = iota
	// asText is for payloads and sentences: a backslash stands for itself, spaces at the end of a line are shown.
	asText
)

// measure is how the terminal counts cells and what it can draw. The zero value counts every code point by itself, as
// terminals do that do not offer mode 2027, and may use all of Unicode.
type measure struct {
	method ansi.Method // must be the one the renderer uses, or columns slip
	ascii  bool        // everything beyond ASCII is escaped
}

// maxMarks bounds the combining marks shown on one character; what is beyond is escaped. Honest scripts need three.
const maxMarks = 6

// maxTrailing is how far from the end of a level or line a space is still looked at as one that stands at the end. A
// payload may be megabytes of spaces.
const maxTrailing = 64

// Printable returns b as text that is safe to write to a terminal and that tells apart what differs: valid UTF-8
// without control characters, where control characters, invisible and direction-changing code points, unusual spaces,
// bytes that are not UTF-8, and spaces at the ends of a topic level stand as \t, \n, \r, \xNN, \uNNNN or \UNNNNNNNN and
// a backslash as \\. Two different byte strings never come out the same. It may be called from any goroutine.
func Printable(b []byte) string {
	if plain(b) {
		return string(b)
	}
	s := scanner{b: b, as: asName, lead: true}
	dst := make([]byte, 0, len(b)+16)
	for s.more() {
		dst, _ = s.next(dst)
	}
	return string(dst)
}

// PrintableText is Printable for payloads, property values and sentences: a backslash stands for itself, so the result
// is easier to read, and an escape in it may be one that was in b already.
func PrintableText(b []byte) string {
	s := scanner{b: b, as: asText}
	dst := make([]byte, 0, len(b)+16)
	for s.more() {
		dst, _ = s.next(dst)
	}
	return string(dst)
}

// plain reports whether b needs no escape at all, the case of nearly every topic.
func plain(b []byte) bool {
	for i, c := range b {
		switch {
		case c < 0x20 || c >= 0x7f || c == '\\':
			return false
		case c == ' ':
			if i == 0 || i == len(b)-1 || b[i-1] == '/' || b[i+1] == '/' || b[i-1] == ' ' {
				return false
			}
		}
	}
	return true
}

// scanner walks over b and yields one printable cluster at a time.
type scanner struct {
	m    measure
	b    []byte
	i    int
	as   textKind
	lead bool // only spaces were seen since the level began
}

func (s *scanner) more() bool { return s.i < len(s.b) }

// next appends the printable form of the cluster at s.i to dst, moves on, and returns dst and the cells it takes. An
// escape is one cluster: it is never cut in the middle.
func (s *scanner) next(dst []byte) ([]byte, int) {
	c := s.b[s.i]
	if c >= utf8.RuneSelf {
		s.lead = false
		return s.wide(dst)
	}
	switch {
	case c == ' ':
		s.i++
		if s.visibleSpace() {
			return append(dst, `\x20`...), 4
		}
		return append(dst, ' '), 1
	case c == '/':
		s.i++
		s.lead = true
		return append(dst, '/'), 1
	case c == '\\' && s.as == asName:
		s.i++
		s.lead = false
		return append(dst, `\\`...), 2
	case c < 0x20 || c == 0x7f:
		s.i++
		s.lead = false
		return control(dst, c)
	}
	s.lead = false
	if s.i+1 == len(s.b) || s.b[s.i+1] < utf8.RuneSelf || c == '\\' {
		s.i++
		return append(dst, c), 1
	}
	return s.wide(dst)
}

// visibleSpace decides for the space just before s.i.
func (s *scanner) visibleSpace() bool {
	if s.as == asName && s.lead {
		return true
	}
	for end := s.i; end <= s.i+maxTrailing; end++ {
		switch {
		case end == len(s.b):
			return true
		case s.b[end] == ' ':
		case s.as == asName:
			return s.b[end] == '/'
		default:
			return s.b[end] == '\n' || s.b[end] == '\r'
		}
	}
	return false
}

func control(dst []byte, c byte) ([]byte, int) {
	switch c {
	case '\t':
		return append(dst, `\t`...), 2
	case '\n':
		return append(dst, `\n`...), 2
	case '\r':
		return append(dst, `\r`...), 2
	}
	return hexByte(dst, c), 4
}

// wide handles a cluster that is not one ASCII byte. What is shown is the longest beginning of the cluster without
// anything that needs an escape; the rest is looked at again as if it began there.
func (s *scanner) wide(dst []byte) ([]byte, int) {
	r, size := utf8.DecodeRune(s.b[s.i:])
	if r == utf8.RuneError && size == 1 {
		c := s.b[s.i]
		s.i++
		return hexByte(dst, c), 4
	}
	if s.m.ascii && r >= utf8.RuneSelf || !visible(r) || leans(r) {
		s.i += size
		return escapeRune(dst, r)
	}
	// maxMarks bounds what is used of a cluster, so a piece is enough; a cluster may be as long as the name.
	cluster, _ := ansi.FirstGraphemeCluster(s.b[s.i:min(s.i+16*utf8.UTFMax, len(s.b))], s.m.method)
	end, marks, capped := size, 0, false
	for end < len(cluster) {
		next, n := utf8.DecodeRune(cluster[end:])
		if next == utf8.RuneError && n == 1 || s.m.ascii {
			break
		}
		if capped = marks == maxMarks; capped {
			break
		}
		if !visible(next) && (!isEmojiSelector(next) || !takesSelector(r)) {
			break
		}
		end += n
		marks++
	}
	shown := cluster[:end]
	_, width := ansi.FirstGraphemeCluster(shown, s.m.method)
	if width <= 0 || r >= utf8.RuneSelf && joins(r) {
		s.i += size
		return escapeRune(dst, r)
	}
	s.i += end
	dst = append(dst, shown...)
	if capped {
		// Without the escape between them the rest would join what was shown.
		next, n := utf8.DecodeRune(s.b[s.i:])
		s.i += n
		var w int
		dst, w = escapeRune(dst, next)
		width += w
	}
	return dst, width
}

func hexByte(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'x', digits[c>>4], digits[c&15])
}

func escapeRune(dst []byte, r rune) ([]byte, int) {
	const digits = "0123456789abcdef"
	if r <= 0xffff {
		return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]), 6
	}
	dst = append(dst, '\\', 'U')
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[r>>shift&15])
	}
	return dst, 10
}

// visible reports whether r leaves a mark on the screen and changes nothing else there. Format characters, bidirectional
// controls, separators, private and unassigned code points do not pass (unicode.IsPrint), nor do letters and marks that
// are drawn as nothing.
func visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.Is(ignorable, r) && !unicode.Is(unicode.Variation_Selector, r)
}

// ignorable holds the printable code points that are drawn as nothing: joiners, fillers and inherent vowels.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the empty Braille pattern looks like a space
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// leans reports whether r joins the character before it. One that begins a cluster has nothing of its own to lean on, only
// a space, a level separator, an escape or our own frame, and there it would hide or narrow what stands before it.
func leans(r rune) bool {
	switch {
	case unicode.Is(unicode.M, r):
		return true
	case r == 0x0e33, r == 0x0eb3: // Thai and Lao sara am
		return true
	case r == 0xff9e, r == 0xff9f: // halfwidth voicing marks
		return true
	}
	return r >= 0x1f3fb && r <= 0x1f3ff // skin tones
}

// joins reports whether r would swallow the character that follows it into its own cluster, so that our own text would
// not begin where it was put: the prepended letters.
func joins(r rune) bool {
	if r < 0x0600 {
		return false
	}
	var b [utf8.UTFMax + 1]byte
	n := utf8.EncodeRune(b[:], r)
	b[n] = ' '
	cluster, _ := ansi.FirstGraphemeCluster(b[:n+1], ansi.GraphemeWidth)
	return len(cluster) > n
}

func isEmojiSelector(r rune) bool { return r == 0xfe0e || r == 0xfe0f }

// takesSelector reports whether a selector after r asks for its text or emoji form and so belongs to it. Digits and
// the number sign also take one, but terminals disagree about their width, so there it is shown.
func takesSelector(r rune) bool {
	switch {
	case r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x2122, r == 0x2139, r == 0x24c2:
		return true
	case r >= 0x2194 && r <= 0x21aa, r >= 0x231a && r <= 0x23ff, r >= 0x25aa && r <= 0x25fe:
		return true
	case r >= 0x2600 && r <= 0x27bf, r == 0x2934, r == 0x2935, r >= 0x2b05 && r <= 0x2b55:
		return true
	case r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299, r >= 0x1f000 && r <= 0x1faff:
		return true
	}
	return false
}
