package inventory

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseFilter compiles a filter text. Its words are separated by white space and must all hold:
//
//	kitchen              the topic contains it; ASCII letters count the same in both cases
//	*welding*temp*       the whole topic, * stands for any bytes
//	zigbee2mqtt/+/state  a word with + or # is an MQTT topic filter
//	is:never             also expiring, unknown, due, live, changed, fell, odd, cut, empty, served, differs, notseen,
//	                     left, hazard, approved; marked is every topic that Counts.Findings counts
//	size>1k              also < <= >= =; k, m, g are powers of 1000, Ki, Mi, Gi of 1024
//	expiry<10m           the remaining time; s, m, h, d, w; what does not count down never matches
//	payload:text         the kept payload contains it
//	owner:NAME           the owner's name contains it; ASCII letters count the same in both cases. See SetJudge
//	finding:NAME         a finding of that name was made. See SetJudge
//	re:EXPR              a regular expression (Go's syntax) on the topic
//	-WORD                the word must not hold
//	"two words"          quotes keep spaces, and take + # * as they are
//
// An empty text gives a filter that lets everything through. An error names the word that is wrong; its text may hold
// what was typed and is quoted for a terminal.
func ParseFilter(text string) (*Filter, error) {
	f := &Filter{text: text}
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		t, err := parseTerm(w)
		if err != nil {
			return nil, fmt.Errorf("filter word %q: %w", w.whole(), err)
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// word is one word of a filter text: its quoted parts are marked, since they are taken literally.
type word struct {
	not    bool
	text   string
	quoted bool   // some part was in quotes
	plain  string // the part in front of the first quote
}

func (w word) whole() string {
	if w.not {
		return "-" + w.text
	}
	return w.text
}

func splitWords(text string) ([]word, error) {
	var words []word
	for i := 0; i < len(text); {
		if c := text[i]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			i++
			continue
		}
		start := i
		var w word
		if text[i] == '-' {
			w.not = true
			i++
		}
		var b strings.Builder
		open := false
		for ; i < len(text); i++ {
			c := text[i]
			if c == '"' {
				if !w.quoted {
					w.quoted, w.plain = true, b.String()
				}
				open = !open
				continue
			}
			if !open && (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
				break
			}
			b.WriteByte(c)
		}
		w.text = b.String()
		if !w.quoted {
			w.plain = w.text
		}
		if open {
			return nil, fmt.Errorf("filter word %q: the quote is not closed", text[start:])
		}
		if w.text == "" {
			if w.not || w.quoted {
				return nil, fmt.Errorf("filter word %q: nothing to look for", text[start:i])
			}
			continue
		}
		words = append(words, w)
	}
	return words, nil
}

var flagWords = map[string]Flags{
	"never": FlagNever, "expiring": FlagExpiring, "unknown": FlagUnknown, "due": FlagDue, "live": FlagLive,
	"changed": FlagChanged, "fell": FlagFell, "odd": FlagOddName, "cut": FlagCut,
	"empty": FlagLooksEmpty | FlagEmptyReplay, "served": FlagStillServed, "differs": FlagLiveDiffers,
	"notseen": FlagNotSeen, "left": FlagLeft, "hazard": FlagHazard, "approved": FlagApproved,
	"marked": findings,
}

func parseTerm(w word) (term, error) {
	t := term{not: w.not}
	// A key counts only where no quote stands in front of it: "is:never" in quotes is a text to look for.
	if rest, ok := strings.CutPrefix(w.text, "is:"); ok && strings.HasPrefix(w.plain, "is:") {
		f, known := flagWords[rest]
		if !known {
			return t, fmt.Errorf("is: takes never, expiring, unknown, due, live, changed, fell, odd, cut, empty, served, differs, notseen, left, hazard, approved or marked")
		}
		t.kind, t.flags = termFlags, f
		return t, nil
	}
	if rest, ok := strings.CutPrefix(w.text, "payload:"); ok && strings.HasPrefix(w.plain, "payload:") {
		if rest == "" {
			return t, fmt.Errorf("there is nothing to look for behind the colon")
		}
		t.kind, t.find = termPayload, newFinder([]byte(rest))
		return t, nil
	}
	for key, kind := range map[string]termKind{"owner:": termOwner, "finding:": termFinding} {
		rest, ok := strings.CutPrefix(w.text, key)
		if !ok || !strings.HasPrefix(w.plain, key) {
			continue
		}
		if rest == "" {
			return t, fmt.Errorf("there is nothing to look for behind the colon")
		}
		t.kind, t.name = kind, rest
		return t, nil
	}
	if rest, ok := strings.CutPrefix(w.text, "re:"); ok && strings.HasPrefix(w.plain, "re:") {
		re, err := regexp.Compile(rest)
		if err != nil {
			return t, err
		}
		t.kind, t.re = termRegexp, re
		t.find = newFinder([]byte(requiredLiteral(rest)))
		return t, nil
	}
	for _, key := range []string{"size", "expiry"} {
		rest, ok := strings.CutPrefix(w.plain, key)
		if !ok || w.quoted || rest == "" || !strings.ContainsRune("<>=", rune(rest[0])) {
			continue
		}
		op, number := splitComparison(rest)
		t.op = op
		var err error
		if key == "size" {
			t.kind = termSize
			t.number, err = parseSize(number)
		} else {
			t.kind = termExpiry
			t.number, err = parseDuration(number)
		}
		return t, err
	}
	if !w.quoted && strings.ContainsAny(w.text, "+#") {
		tf, err := parseTopicFilter([]byte(w.text))
		if err != nil {
			return t, err
		}
		t.kind, t.levels = termMQTT, tf
		t.find = newFinder(tf.literal())
		return t, nil
	}
	if !w.quoted && strings.Contains(w.text, "*") {
		t.kind, t.pieces = termGlob, globPieces([]byte(w.text))
		t.find = newFinder(longest(t.pieces))
		return t, nil
	}
	if why := joiningWords[w.text]; why != "" && !w.quoted {
		return t, fmt.Errorf("%s; in quotes it is a word to look for", why)
	}
	t.kind, t.find = termWord, newFinder([]byte(w.text))
	return t, nil
}

// joiningWords are what a person may take for a part of the grammar. As words to look for they would find nothing, and
// nobody would know why.
var joiningWords = map[string]string{
	"OR":  "all words must hold; for one or the other write re:ONE|OTHER",
	"AND": "all words must hold anyway: leave it out",
	"NOT": "write - in front of the word that must not hold",
}

func splitComparison(s string) (comparison, string) {
	switch {
	case strings.HasPrefix(s, "<="):
		return lessEqual, s[2:]
	case strings.HasPrefix(s, ">="):
		return greaterEqual, s[2:]
	case s[0] == '<':
		return less, s[1:]
	case s[0] == '>':
		return greater, s[1:]
	default:
		return equal, s[1:]
	}
}

// parseSize returns a number of bytes.
func parseSize(s string) (int64, error) {
	number, binary := strings.ToLower(s), false
	number = strings.TrimSuffix(number, "b")
	if n := len(number); n > 1 && number[n-1] == 'i' && strings.IndexByte("kmg", number[n-2]) >= 0 {
		number, binary = number[:n-1], true
	}
	factors := map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9}
	if binary {
		factors = map[byte]float64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}
	}
	n, err := scaled(number, "kmg", factors, 1)
	if err != nil {
		return 0, fmt.Errorf("a size is a number with k, m or g (thousands) or Ki, Mi or Gi (1024) behind it, for instance size>1k")
	}
	return n, nil
}

// parseDuration returns a number of milliseconds.
func parseDuration(s string) (int64, error) {
	n, err := scaled(s, "smhdw", map[byte]float64{'s': 1e3, 'm': 60e3, 'h': 3600e3, 'd': 86400e3, 'w': 7 * 86400e3}, 1e3)
	if err != nil {
		return 0, fmt.Errorf("a time is a number with s, m, h, d or w behind it, for instance expiry<10m")
	}
	return n, nil
}

func scaled(s, units string, factors map[byte]float64, factor float64) (int64, error) {
	s = strings.ToLower(s)
	if n := len(s); n > 0 && strings.IndexByte(units, s[n-1]) >= 0 {
		factor = factors[s[n-1]]
		s = s[:n-1]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v*factor >= math.MaxInt64 || v != v {
		return 0, fmt.Errorf("not a number")
	}
	return int64(v * factor), nil
}

// SortKey says what a flat listing is ordered by. The zero value is the topic.
type SortKey uint8

const (
	// ByTopic orders level by level, each level by its bytes: as a tree with everything open would show them.
	ByTopic SortKey = iota
	// ByExpiry orders by the instant of the end, soonest first; what does not count down comes last.
	ByExpiry
	// BySize orders by the true payload length, smallest first.
	BySize
	// ByLive orders by the last live publication, oldest first; what was not seen live comes first.
	ByLive
	// ByReceived orders by the instant at which the held copy came, oldest first.
	ByReceived
	// ByReading orders by what is to be said of a topic, the gravest first: hazards, left behind, still served after its
	// end, fell to never, and so on to what is kept alive.
	ByReading
)

var sortNames = [...]string{"topic", "expiry", "size", "live", "received", "reading"}

// String returns the name that ParseSort takes.
func (k SortKey) String() string {
	if int(k) < len(sortNames) {
		return sortNames[k]
	}
	return sortNames[0]
}

// ParseSort returns the key and whether it is descending. It takes topic, expiry, size, live, received and reading,
// with a minus sign in front for descending; an empty text is the topic. Anything else is an error that names the keys.
func ParseSort(s string) (SortKey, bool, error) {
	name, desc := strings.CutPrefix(s, "-")
	if s == "" {
		return ByTopic, false, nil
	}
	for i, n := range sortNames {
		if n == name {
			return SortKey(i), desc, nil
		}
	}
	if !utf8.ValidString(s) {
		s = strconv.QuoteToASCII(s)
	}
	return ByTopic, false, fmt.Errorf("sort key %q: takes topic, expiry, size, live, received or reading, with - in front for descending", s)
}
