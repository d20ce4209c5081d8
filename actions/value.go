package actions

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// valueKind tells which of the values of the subset this is.
type valueKind uint8

const (
	textValue valueKind = iota + 1
	numberValue
	truthValue
	timeValue
	listValue
)

var valueNames = [...]string{"nothing", "a text", "a number", "true or false", "a time", "a list"}

// value is one value of the TOML subset that a manifest is written in.
type value struct {
	kind   valueKind
	text   string
	number int64
	truth  bool
	time   time.Time
	list   []value
}

func textOf(s string) value { return value{kind: textValue, text: s} }

func timeOf(t time.Time) value { return value{kind: timeValue, time: t.UTC().Truncate(time.Second)} }

func numberOf(n int64) value { return value{kind: numberValue, number: n} }

// empty reports whether the value says nothing, so that its key need not be written.
func (v value) empty() bool {
	switch v.kind {
	case textValue:
		return v.text == ""
	case timeValue:
		return v.time.IsZero()
	case numberValue:
		return v.number == 0
	}
	return v.kind == 0
}

func (v value) equal(w value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case textValue:
		return v.text == w.text
	case timeValue:
		return v.time.Equal(w.time)
	case numberValue:
		return v.number == w.number
	}
	return false
}

// written returns v as TOML. Only texts, times and numbers are ever written.
func (v value) written() string {
	switch v.kind {
	case timeValue:
		return v.time.UTC().Format(time.RFC3339)
	case numberValue:
		return strconv.FormatInt(v.number, 10)
	default:
		return QuoteTOML(v.text)
	}
}

// QuoteTOML returns s as a basic string of TOML, its quotes included. What a person could not see is escaped, so that it
// is safe for a terminal; bytes that are not UTF-8 are replaced.
//
// Source: TOML 1.0.0, "String".
func QuoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			writeVisible(&b, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// writeVisible writes r, or an escape where a terminal might act on it or a person could not see it.
func writeVisible(b *strings.Builder, r rune) {
	switch {
	case unicode.IsPrint(r):
		b.WriteRune(r)
	case r > 0xFFFF:
		fmt.Fprintf(b, `\U%08X`, r)
	default:
		fmt.Fprintf(b, `\u%04X`, r)
	}
}

// readValue reads one value at the reader's place.
func (r *reader) readValue(depth int) (value, error) {
	switch c := r.peek(); {
	case c == '"' || c == '\'':
		s, err := r.readText()
		return textOf(s), err
	case c == '[':
		return r.readList(depth)
	case c == '{':
		return value{}, r.fail("an inline table is not read here: write the keys under a [table] of their own")
	case r.done() || c == '\n' || c == '\r' || c == '#':
		return value{}, r.fail("a value is missing")
	}
	start := r.at
	for !r.done() && !strings.ContainsRune(" \t\r\n,]#", rune(r.peek())) {
		r.at++
	}
	word := r.text[start:r.at]
	// A date and a time of day may have a space between them.
	if len(word) == 10 && word[4] == '-' && strings.HasPrefix(r.text[r.at:], " ") && r.at+1 < len(r.text) && isDigit(r.text[r.at+1]) {
		r.at++
		for !r.done() && !strings.ContainsRune(" \t\r\n,]#", rune(r.peek())) {
			r.at++
		}
		word = word + "T" + r.text[start+11:r.at]
	}
	switch {
	case word == "true" || word == "false":
		return value{kind: truthValue, truth: word == "true"}, nil
	case len(word) > 10 && word[4] == '-':
		var t time.Time
		if err := t.UnmarshalText([]byte(strings.ToUpper(word))); err != nil {
			return value{}, r.fail("%s is not a time with a zone, such as 2026-01-31T18:00:00Z", Quote([]byte(word)))
		}
		return value{kind: timeValue, time: t}, nil
	}
	n, ok := readNumber(word)
	if !ok {
		return value{}, r.fail("%s is neither a quoted text, a whole number, true or false, a time with a zone, nor a list", Quote([]byte(word)))
	}
	return numberOf(n), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// readNumber reads a decimal integer with an optional sign; underscores stand between digits.
func readNumber(s string) (int64, bool) {
	digits := strings.TrimLeft(s, "+-")
	if digits == "" || len(s)-len(digits) > 1 || (digits[0] == '0' && len(digits) > 1) {
		return 0, false
	}
	for i, c := range []byte(digits) {
		if c == '_' && i > 0 && i < len(digits)-1 && digits[i-1] != '_' {
			continue
		}
		if !isDigit(c) {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	return n, err == nil
}

func (r *reader) readList(depth int) (value, error) {
	if depth > 8 {
		return value{}, r.fail("lists are nested too deeply")
	}
	v := value{kind: listValue}
	r.at++ // [
	for {
		if err := r.skipBetween(); err != nil {
			return v, err
		}
		if r.done() {
			return v, r.fail("the list is not closed with ]")
		}
		if r.peek() == ']' {
			r.at++
			return v, nil
		}
		item, err := r.readValue(depth + 1)
		if err != nil {
			return v, err
		}
		v.list = append(v.list, item)
		if err := r.skipBetween(); err != nil {
			return v, err
		}
		switch {
		case !r.done() && r.peek() == ',':
			r.at++
		case !r.done() && r.peek() == ']':
		default:
			return v, r.fail("a comma or ] is missing in the list")
		}
	}
}

// skipBetween passes over white space, line ends and comments inside a list.
func (r *reader) skipBetween() error {
	for !r.done() {
		switch c := r.peek(); c {
		case ' ', '\t':
			r.at++
		case '\n', '\r':
			if err := r.readEnd(); err != nil {
				return err
			}
		case '#':
			if err := r.readComment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}
