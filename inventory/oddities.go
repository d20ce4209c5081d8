package inventory

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// looksEmpty reports whether payload is a value that a person may take for nothing. Zero bytes are not: as a
// publication they are a removal, as a replayed copy a fault of the broker.
func looksEmpty(payload []byte) bool {
	if len(payload) == 0 || len(payload) > 64 {
		return false
	}
	if len(payload) == 1 && payload[0] == 0 {
		return true
	}
	trimmed := bytes.TrimSpace(payload)
	switch string(trimmed) {
	case "", "null", "{}", "[]", `""`:
		return true
	}
	return false
}

// oddName reports whether a topic is easily misread: see FlagOddName.
func oddName(topic []byte) bool { return !plainName(topic) && oddRunes(topic) }

func oddRunes(topic []byte) bool {
	start := true // at the first rune of a level
	space := false
	for i := 0; i < len(topic); {
		c := topic[i]
		if c < utf8.RuneSelf {
			switch {
			case c < 0x20 || c == 0x7F:
				return true
			case c == '/':
				if start || space {
					return true
				}
				start = true
				i++
				continue
			case c == ' ' && start:
				return true
			}
			space, start = c == ' ', false
			i++
			continue
		}
		r, n := utf8.DecodeRune(topic[i:])
		if r == utf8.RuneError && n == 1 {
			return true
		}
		if invisible(r) {
			return true
		}
		sp := unicode.IsSpace(r)
		if sp && start {
			return true
		}
		space, start = sp, false
		i += n
	}
	return start || space
}

// plainName reports whether a topic is of visible ASCII without spaces, with no level that is empty: nearly all are, and
// eight bytes at a time tell.
func plainName(topic []byte) bool {
	n := len(topic)
	if n == 0 || topic[0] == '/' || topic[n-1] == '/' {
		return false
	}
	slash := false // the byte before is one
	i := 0
	for ; i+8 <= n; i += 8 {
		x := binary.LittleEndian.Uint64(topic[i:])
		if x&high != 0 {
			return false
		}
		// No byte has its highest bit, so that none of these sums reaches into the next byte.
		visible := (x + each*(0x80-0x21)) & (x ^ each*0x7F + each*0x7F)
		slashes := ^(x ^ each*'/' + each*0x7F) & high
		before := slashes << 8
		if slash {
			before |= 0x80
		}
		if visible&high != high || slashes&before != 0 {
			return false
		}
		slash = slashes>>63 != 0
	}
	for ; i < n; i++ {
		c := topic[i]
		if c <= ' ' || c >= 0x7F || c == '/' && slash {
			return false
		}
		slash = c == '/'
	}
	return true
}

// invisible reports whether r changes how text is shown without being seen: C1 controls, format runes (bidirectional
// and zero-width among them), line and paragraph separators, private use, surrogates, non-characters.
func invisible(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	case r >= 0xFDD0 && r <= 0xFDEF, r&0xFFFE == 0xFFFE:
		return true
	}
	return false
}
