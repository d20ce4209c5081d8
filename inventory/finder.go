package inventory

import "bytes"

// finder looks for a text in bytes with ASCII letters counted the same in both cases. It looks for the rarest byte of
// the text with the machine's own search, and compares the rest only there.
type finder struct {
	text   []byte // folded
	rare   int    // index in text of the byte to look for
	lo, hi byte   // that byte in both cases; equal when it is no letter
}

// scarcity is how often a byte stands in topic names, roughly, for choosing what to look for: higher is more frequent.
var scarcity = func() (s [256]uint8) {
	for i, c := range []byte("zqjxkwvyfgbpmh9876543duclr210n-.:sotia_e/") {
		s[c] = uint8(i + 2)
	}
	return s
}()

func newFinder(text []byte) finder {
	f := finder{text: foldCopy(text)}
	f.choose(func(c byte) int { return int(scarcity[c]) })
	return f
}

// choose takes the byte of the text that often says stands in topics least often as the one to look for.
func (f *finder) choose(often func(c byte) int) {
	for i, c := range f.text {
		if often(c) < often(f.text[f.rare]) {
			f.rare = i
		}
	}
	if len(f.text) > 0 {
		f.lo = f.text[f.rare]
		f.hi = f.lo
		if f.lo >= 'a' && f.lo <= 'z' {
			f.hi = f.lo - 0x20
		}
	}
}

// tuned returns f with the byte to look for chosen by how often each stands in sample, which is a part of what is to be
// searched: stores differ, and each place of that byte has to be looked at.
func (f *finder) tuned(sample [][]byte) *finder {
	var seen [256]int
	for _, b := range sample {
		for _, c := range b {
			seen[foldTable[c]]++
		}
	}
	t := *f
	t.choose(func(c byte) int { return seen[c] })
	return &t
}

// in reports whether the text stands in b. An empty text stands in everything.
func (f *finder) in(b []byte) bool { return f.index(b) >= 0 }

// index returns where the text first stands in b, or -1.
func (f *finder) index(b []byte) int {
	n := len(f.text)
	if n == 0 {
		return 0
	}
	s := searcher{f: f, b: b, lo: -1, hi: -1}
	return s.from(0)
}

// searcher walks the places of a text in one slice. The next place of the rare byte in either case is remembered, so
// that a case that hardly occurs is looked for once and not after every hit.
type searcher struct {
	f      *finder
	b      []byte
	lo, hi int // next places of the rare byte in each case, -1 before the first search, len(b) when there is none
}

// from returns the first place of the text at or after start, or -1.
func (s *searcher) from(start int) int {
	f := s.f
	at := start + f.rare // where the rare byte would be
	end := len(s.b) - (len(f.text) - f.rare - 1)
	for at < end {
		if s.lo < at {
			s.lo = s.seek(f.lo, at, end)
		}
		next := s.lo
		if f.hi != f.lo {
			if s.hi < at {
				s.hi = s.seek(f.hi, at, end)
			}
			next = min(next, s.hi)
		}
		if next >= end {
			return -1
		}
		if p := next - f.rare; foldHasPrefix(s.b[p:], f.text) {
			return p
		}
		at = next + 1
	}
	return -1
}

func (s *searcher) seek(c byte, at, end int) int {
	if i := bytes.IndexByte(s.b[at:end], c); i >= 0 {
		return at + i
	}
	return len(s.b)
}

// foldTable maps A to Z to their small letters and every other byte to itself.
var foldTable = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] = byte(c) + 0x20
	}
	return t
}()

func foldCopy(b []byte) []byte {
	c := make([]byte, len(b))
	for i, x := range b {
		c[i] = foldTable[x]
	}
	return c
}

// foldHasPrefix reports whether b begins with prefix, which is folded.
func foldHasPrefix(b, prefix []byte) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i, c := range prefix {
		if foldTable[b[i]] != c {
			return false
		}
	}
	return true
}

// foldIndex returns where text, which is folded, first stands in b, or -1.
func foldIndex(b, text []byte) int {
	for i := 0; i+len(text) <= len(b); i++ {
		if foldHasPrefix(b[i:], text) {
			return i
		}
	}
	return -1
}
