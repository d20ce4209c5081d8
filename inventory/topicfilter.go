package inventory

import (
	"bytes"
	"errors"
	"regexp/syntax"
)

// topicFilter is a topic filter of MQTT in levels.
//
// Source: MQTT 5, 4.7.
type topicFilter struct {
	levels [][]byte // a single + or # is a wildcard
}

var errTopicFilter = errors.New("in an MQTT topic filter + stands alone in its level and # alone in the last; put other uses in quotes")

func parseTopicFilter(text []byte) (topicFilter, error) {
	f := topicFilter{levels: bytes.Split(text, []byte{'/'})}
	for i, l := range f.levels {
		if bytes.ContainsAny(l, "+#") && len(l) > 1 {
			return f, errTopicFilter
		}
		if len(l) == 1 && l[0] == '#' && i != len(f.levels)-1 { // [MQTT-4.7.1-1]
			return f, errTopicFilter
		}
	}
	return f, nil
}

func wildcard(level []byte, c byte) bool { return len(level) == 1 && level[0] == c }

// match reports whether the filter matches topic.
func (f topicFilter) match(topic []byte) bool {
	first := f.levels[0]
	if len(topic) > 0 && topic[0] == '$' && (wildcard(first, '#') || wildcard(first, '+')) { // [MQTT-4.7.2-1]
		return false
	}
	rest, more := topic, true
	for _, l := range f.levels {
		if wildcard(l, '#') {
			// Also the parent level itself: sport/# matches sport (4.7.1.2), where more is already false.
			return true
		}
		if !more {
			return false
		}
		name := rest
		if i := bytes.IndexByte(rest, '/'); i >= 0 {
			name, rest = rest[:i], rest[i+1:]
		} else {
			more = false
		}
		if !wildcard(l, '+') && !bytes.Equal(l, name) {
			return false
		}
	}
	return !more
}

// literal returns the longest text that every topic contains that the filter matches.
func (f topicFilter) literal() []byte {
	var best []byte
	text := bytes.Join(f.levels, []byte{'/'})
	if n := len(text); n > 0 && text[n-1] == '#' {
		// The level above matches as well, without a slash behind it (4.7.1.2).
		text = bytes.TrimSuffix(text[:n-1], []byte{'/'})
	}
	for _, piece := range bytes.Split(text, []byte{'+'}) {
		if len(piece) > len(best) {
			best = piece
		}
	}
	return best
}

// globPieces returns the parts of a glob between its asterisks, folded. Two asterisks in a row are one.
func globPieces(glob []byte) [][]byte {
	pieces := bytes.Split(foldCopy(glob), []byte{'*'})
	kept := pieces[:1]
	for i := 1; i < len(pieces); i++ {
		if len(pieces[i]) > 0 || i == len(pieces)-1 {
			kept = append(kept, pieces[i])
		}
	}
	return kept
}

// matchGlob reports whether topic is the first piece, then the others in order with anything between them, the last
// one at the end.
func matchGlob(pieces [][]byte, topic []byte) bool {
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(topic) < len(first)+len(last) || !foldHasPrefix(topic, first) || !foldHasPrefix(topic[len(topic)-len(last):], last) {
		return false
	}
	rest := topic[len(first) : len(topic)-len(last)]
	for _, p := range pieces[1 : len(pieces)-1] {
		i := foldIndex(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return true
}

func longest(pieces [][]byte) []byte {
	var best []byte
	for _, p := range pieces {
		if len(p) > len(best) {
			best = p
		}
	}
	return best
}

// requiredLiteral returns the longest ASCII text that every match of the expression contains, perhaps in other cases,
// or nothing.
func requiredLiteral(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return ""
	}
	return literalIn(re.Simplify())
}

func literalIn(re *syntax.Regexp) string {
	best := ""
	switch re.Op {
	case syntax.OpLiteral:
		// Under (?i) a few letters fold to runes outside ASCII (k and the Kelvin sign): such a literal is no help.
		for _, r := range re.Rune {
			if r >= 0x80 || re.Flags&syntax.FoldCase != 0 && (r|0x20 == 'k' || r|0x20 == 's') {
				return ""
			}
		}
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literalIn(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalIn(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if l := literalIn(s); len(l) > len(best) {
				best = l
			}
		}
	}
	return best
}
