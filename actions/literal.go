package actions

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readText reads a basic or literal string, of one line or of several.
func (r *reader) readText() (string, error) {
	quote := r.text[r.at]
	long := strings.Repeat(string(quote), 3)
	if strings.HasPrefix(r.text[r.at:], long) {
		r.at += 3
		return r.readLong(quote, long)
	}
	r.at++
	var b strings.Builder
	for !r.done() {
		c := r.text[r.at]
		switch {
		case c == quote:
			r.at++
			return b.String(), nil
		case c == '\\' && quote == '"':
			if err := r.readEscape(&b); err != nil {
				return "", err
			}
		case c < 0x20 && c != '\t' || c == 0x7F:
			return "", r.fail("the text is not closed on its line, or holds a control character: escape it")
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	return "", r.fail("the text is not closed")
}

func (r *reader) readLong(quote byte, long string) (string, error) {
	if strings.HasPrefix(r.text[r.at:], "\r\n") {
		r.at++
	}
	if !r.done() && r.peek() == '\n' {
		r.at++
		r.line++
	}
	var b strings.Builder
	for !r.done() {
		rest := r.text[r.at:]
		c := rest[0]
		switch {
		case strings.HasPrefix(rest, long):
			n := 3
			for n < len(rest) && n < 5 && rest[n] == quote { // up to two quotes may stand right before the end
				n++
			}
			b.WriteString(rest[:n-3])
			r.at += n
			return b.String(), nil
		case c == '\\' && quote == '"':
			if r.skipContinuation() {
				continue
			}
			if err := r.readEscape(&b); err != nil {
				return "", err
			}
		case c == '\n' || strings.HasPrefix(rest, "\r\n"):
			if c == '\r' {
				r.at++
			}
			b.WriteByte('\n')
			r.at++
			r.line++
		case c < 0x20 && c != '\t' || c == 0x7F:
			return "", r.fail("the text holds a control character: escape it")
		default:
			b.WriteByte(c)
			r.at++
		}
	}
	return "", r.fail("the text is not closed")
}

// skipContinuation passes over a backslash at the end of a line and the white space after it.
func (r *reader) skipContinuation() bool {
	i := r.at + 1
	for i < len(r.text) && (r.text[i] == ' ' || r.text[i] == '\t') {
		i++
	}
	if !strings.HasPrefix(r.text[i:], "\n") && !strings.HasPrefix(r.text[i:], "\r\n") {
		return false
	}
	for i < len(r.text) {
		switch {
		case r.text[i] == ' ' || r.text[i] == '\t':
			i++
		case r.text[i] == '\n':
			i++
			r.line++
		case strings.HasPrefix(r.text[i:], "\r\n"):
			i += 2
			r.line++
		default:
			r.at = i
			return true
		}
	}
	r.at = i
	return true
}

func (r *reader) readEscape(b *strings.Builder) error {
	if r.at+1 >= len(r.text) {
		return r.fail("the text is not closed")
	}
	c := r.text[r.at+1]
	if i := strings.IndexByte(`btnfr"\`, c); i >= 0 {
		b.WriteByte("\b\t\n\f\r\"\\"[i])
		r.at += 2
		return nil
	}
	n := map[byte]int{'u': 4, 'U': 8}[c]
	if n == 0 || r.at+2+n > len(r.text) {
		return r.fail("the escape \\%c is not one of \\b \\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX", c)
	}
	digits := r.text[r.at+2 : r.at+2+n]
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || code > unicode.MaxRune || !utf8.ValidRune(rune(code)) || strings.ContainsAny(digits, "+-_") {
		return r.fail("\\%c%s is not the number of a character", c, strings.ToValidUTF8(digits, "?"))
	}
	b.WriteRune(rune(code))
	r.at += 2 + n
	return nil
}
