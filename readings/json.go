package readings

// Whether a payload is JSON that Home Assistant reads: no recursion, no allocation, time in proportion to the bytes.
// What it says is read in members.go.

import "unicode/utf8"

// maxNesting is how deep JSON may nest. Home Assistant's own parser gives up at 1024.
const maxNesting = 1024

// validJSON reports whether b is one JSON value and nothing else, at most maxNesting deep, in valid UTF-8.
//
// Source: RFC 8259.
func validJSON(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	var open [maxNesting/8 + 1]byte // one bit a level: 1 = object
	depth, i := 0, 0
	inObject := func() bool { return open[depth/8]&(1<<(depth%8)) != 0 }
	for {
		i = space(b, i)
		if i >= len(b) {
			return false
		}
		// One value, or an opening bracket.
		switch c := b[i]; c {
		case '{', '[':
			if depth++; depth > maxNesting {
				return false
			}
			open[depth/8] &^= 1 << (depth % 8)
			if c == '{' {
				open[depth/8] |= 1 << (depth % 8)
			}
			i = space(b, i+1)
			if i < len(b) && (c == '{' && b[i] == '}' || c == '[' && b[i] == ']') {
				break // closed below
			}
			if c == '[' {
				continue
			}
			if i = memberName(b, i); i < 0 {
				return false
			}
			continue
		case '"':
			if i = validString(b, i); i < 0 {
				return false
			}
		default:
			if i = validScalar(b, i); i < 0 {
				return false
			}
		}
		// After a value: closings, then a comma or the end.
		for {
			i = space(b, i)
			if depth == 0 {
				return i == len(b)
			}
			if i >= len(b) {
				return false
			}
			if c := b[i]; c == '}' || c == ']' {
				if (c == '}') != inObject() {
					return false
				}
				depth--
				i++
				continue
			}
			if b[i] != ',' {
				return false
			}
			i++
			if inObject() {
				if i = memberName(b, space(b, i)); i < 0 {
					return false
				}
			}
			break
		}
	}
}

// memberName steps over a string and its colon and returns where the value may begin, or -1.
func memberName(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = validString(b, i); i < 0 {
		return -1
	}
	i = space(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// validString returns where the string that begins at i ends, or -1.
func validString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i+4 >= len(b) {
					return -1
				}
				for k := 1; k <= 4; k++ {
					if hexDigit(b[i+k]) < 0 {
						return -1
					}
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return -1
	}
}

// validScalar returns where the number or word that begins at i ends, or -1.
func validScalar(b []byte, i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}
