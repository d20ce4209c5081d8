package readings

// Reading JSON without building anything: the members of an object, the elements of an array, the text of a string.
// It trusts the brackets; whether a payload is JSON at all is json.go.

import (
	"unicode/utf16"
	"unicode/utf8"
)

// skipValue returns where the value that begins at i ends; len(b) when it does not end. It trusts the brackets.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // the bracket of the container
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		if b[i] == '\\' {
			i++
		} else if b[i] == '"' {
			return i + 1
		}
	}
	return len(b)
}

// members calls f for each member of the object in b until it returns false. The key is unescaped; the value is its
// raw bytes. It reports whether b was an object that it could read to the end.
func members(b []byte, f func(key, value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] != '}'; {
		if b[i] != '"' {
			return false
		}
		end := skipString(b, i)
		key := unquoteBytes(b[i:end])
		i = space(b, end)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = space(b, i+1)
		end = skipValue(b, i)
		if end == i {
			return false
		}
		if !f(key, b[i:end]) {
			return true
		}
		i = space(b, end)
		if i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		} else if i < len(b) && b[i] != '}' {
			return false
		}
	}
	return i < len(b)
}

// elements calls f for each element of the array in b until it returns false, and reports as members does.
func elements(b []byte, f func(value []byte) bool) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '[' {
		return false
	}
	for i = space(b, i+1); i < len(b) && b[i] != ']'; {
		end := skipValue(b, i)
		if end == i {
			return false
		}
		if !f(b[i:end]) {
			return true
		}
		i = space(b, end)
		if i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		} else if i < len(b) && b[i] != ']' {
			return false
		}
	}
	return i < len(b)
}

// member returns the raw bytes of one member of an object; the last one counts.
func member(b []byte, name string) (value []byte, ok bool) {
	members(b, func(k, v []byte) bool {
		if string(k) == name {
			value, ok = v, true
		}
		return true
	})
	return value, ok
}

// memberText returns a string member of an object.
func memberText(b []byte, name string) (string, bool) {
	v, ok := member(b, name)
	if !ok {
		return "", false
	}
	return text(v)
}

// text returns the string that the raw value v is.
func text(v []byte) (string, bool) {
	s, ok := textBytes(v)
	return string(s), ok
}

// textBytes is text without a copy where nothing is escaped: the result may lie in v.
func textBytes(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return nil, false
	}
	return unquoteBytes(v), true
}

// unquoteBytes returns what a quoted string says. Escapes that make no sense stay as they are.
func unquoteBytes(q []byte) []byte {
	if len(q) < 2 {
		return nil
	}
	s := q[1:]
	if s[len(s)-1] == '"' {
		s = s[:len(s)-1]
	}
	plain := true
	for _, c := range s {
		if c == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(s, i+1)
			if !ok {
				out = append(out, '\\', c)
				continue
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+2 < len(s) && s[i+1] == '\\' && s[i+2] == 'u' {
					low, ok = hex4(s, i+3)
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}

func hex4(s []byte, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	r := rune(0)
	for _, c := range s[i : i+4] {
		d := hexDigit(c)
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}
