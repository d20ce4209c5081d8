package inventory

import (
	"encoding/binary"
	"math/bits"
)

// finder looks for a text in bytes with ASCII letters counted the same in both cases. It looks for the rarest pair of
// neighbours in the text, at eight places at a time and in both cases at once, and compares the rest only there.
type finder struct {
	text []byte // folded
	at   int    // index in text of the pair
	// a and b are the two bytes of the pair, each eight times, with the bit set that tells small letters from large ones;
	// both takes b in where the text is long enough for a pair.
	a, b, both uint64
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
	if len(f.text) == 0 {
		return f
	}
	// The pair with the rarest byte, and of the two that have it the one with the rarer other byte.
	often := func(i int) int {
		x, y := int(scarcity[f.text[i]]), int(scarcity[f.text[i+1]])
		return min(x, y)<<8 | max(x, y)
	}
	for i := range len(f.text) - 1 {
		if often(i) < often(f.at) {
			f.at = i
		}
	}
	f.a = uint64(f.text[f.at]|small) * each
	if len(f.text) > 1 {
		f.b, f.both = uint64(f.text[f.at+1]|small)*each, ^uint64(0)
	}
	return f
}

const (
	each  = 0x0101010101010101
	high  = 0x80 * each
	small = 0x20 // is set in small letters; other bytes may look alike without it, and are told apart afterwards
)

// in reports whether the text stands in b. An empty text stands in everything.
func (f *finder) in(b []byte) bool { return f.index(b) >= 0 }

// index returns where the text first stands in b, or -1.
func (f *finder) index(b []byte) int { return f.from(b, 0) }

// from returns the first place of the text in b at or after start, or -1.
func (f *finder) from(b []byte, start int) int {
	n := len(f.text)
	if n == 0 {
		return start
	}
	i := start + f.at           // where the pair would be
	last := len(b) - (n - f.at) // the last place where it can be
	for ; i <= last && i+33 <= len(b); i += 32 {
		w := b[i : i+33 : i+33]
		h0, h1, h2, h3 := f.hits(w[0:9]), f.hits(w[8:17]), f.hits(w[16:25]), f.hits(w[24:33])
		if h0|h1|h2|h3 == 0 {
			continue
		}
		for k, h := range [4]uint64{h0, h1, h2, h3} {
			for ; h != 0; h &= h - 1 {
				p := i + k*8 + bits.TrailingZeros64(h)/8
				if p <= last && foldHasPrefix(b[p-f.at:], f.text) {
					return p - f.at
				}
			}
		}
	}
	for ; i <= last; i++ {
		if foldHasPrefix(b[i-f.at:], f.text) {
			return i - f.at
		}
	}
	return -1
}

// hits returns a word whose highest bit of a byte is set where the pair stands at that place of the first eight of b, and
// perhaps at other places. b has nine bytes.
func (f *finder) hits(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) | small*each
	y := binary.LittleEndian.Uint64(b[1:9]) | small*each
	differ := x ^ f.a | (y^f.b)&f.both // a byte of it is 0 where the pair stands
	return (differ - each) &^ differ & high
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
