package tui

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// The sieve stands between the terminal and the library that makes keys of its bytes. Whatever the bytes are, no key that
// comes later may be swallowed: only whole sequences of the kinds that are keys or answers to our own questions get past.

const (
	keyEnd       = 0x03 // ctrl+c
	keyEscape    = 0x1b
	bell         = 0x07
	longestCSI   = 128
	mostNumbers  = 16
	longestReply = 400 // of an answer that is a string (OSC, DCS)

	// patience is how long a lone escape may still be the beginning of a sequence.
	patience = 50 * time.Millisecond
	// staleTail is how long the beginning of a sequence is kept for the rest of it.
	staleTail = 500 * time.Millisecond
	// stalePaste is the silence after which a paste without an end is taken for ended.
	stalePaste = 2 * time.Second
)

var (
	pasteBegins  = []byte("\x1b[200~")
	pasteEnds    = []byte("\x1b[201~")
	escapeAsCSIu = []byte("\x1b[27u") // a lone escape, in the form that waits for nothing
)

// sieve holds what was taken in and is not decided yet.
type sieve struct {
	held  []byte
	since time.Time // when a byte was taken in last
	paste bool      // between the marks of a bracketed paste
	asks  bool      // silence decides what is held: a lone escape, or a ctrl+c at the end of an unfinished paste
}

// pass takes b in at the instant now and appends to out what may go on.
func (s *sieve) pass(out, b []byte, now time.Time) []byte {
	switch quiet := now.Sub(s.since); {
	case s.paste && quiet >= stalePaste:
		out = append(out, pasteEnds...)
		s.paste, s.held = false, s.held[:0]
	case !s.paste && quiet >= staleTail:
		s.held = s.held[:0]
	}
	s.since, s.asks = now, false
	s.held = append(s.held, b...)
	return s.decide(out)
}

// decide takes what it can of what is held.
func (s *sieve) decide(out []byte) []byte {
	rest := s.held
	for len(rest) > 0 {
		var n int
		if s.paste {
			out, n = s.pasted(out, rest)
		} else {
			out, n = s.typed(out, rest)
		}
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	s.held = append(s.held[:0], rest...)
	return out
}

// silence decides what is held after nothing came for a while, where asks is set.
func (s *sieve) silence(out []byte) []byte {
	switch {
	case !s.asks:
		return out
	case s.paste:
		s.paste, s.asks = false, false
		return s.decide(append(out, pasteEnds...))
	}
	s.asks, s.held = false, s.held[:0]
	return append(out, escapeAsCSIu...)
}

// typed decides the first thing of p outside a paste. It returns how many bytes it is long, 0 when more must come.
func (s *sieve) typed(out, p []byte) ([]byte, int) {
	if p[0] >= utf8.RuneSelf {
		n, whole := letter(p)
		return keep(out, p[:n], whole), n
	}
	if p[0] != keyEscape {
		return append(out, p[0]), 1
	}
	if len(p) == 1 {
		s.asks = true
		return out, 0
	}
	switch c := p[1]; {
	case c == keyEscape:
		return append(out, escapeAsCSIu...), 1
	case c == keyEnd:
		return out, 1
	case c == '[':
		return s.sequence(out, p)
	case c == 'O':
		return function(out, p)
	case c == 'P' || c == ']':
		return reply(out, p)
	case c == 'X' || c == '^' || c == '_':
		return out, 2 // strings that nobody was asked for
	case c >= utf8.RuneSelf:
		n, whole := letter(p[1:])
		if n == 0 {
			return out, 0
		}
		return keep(out, p[:1+n], whole), 1 + n
	}
	return append(out, p[:2]...), 2
}

// pasted is typed inside a paste: text passes, and tabs and ends of lines.
func (s *sieve) pasted(out, p []byte) ([]byte, int) {
	switch c := p[0]; {
	case c == keyEnd:
		return s.pastedEnd(out, p, 1)
	case c == keyEscape:
		return s.pastedEscape(out, p)
	case c == '\t' || c == '\n' || c == '\r' || c >= ' ' && c < 0x7f:
		return append(out, c), 1
	case c >= utf8.RuneSelf:
		n, whole := letter(p)
		return keep(out, p[:n], whole), n
	}
	return out, 1
}

// pastedEscape finds the end of the paste, and a ctrl+c of the kitty protocol with nothing after it.
func (s *sieve) pastedEscape(out, p []byte) ([]byte, int) {
	if len(p) == 1 {
		return out, 0
	}
	if p[1] != '[' {
		return out, 1
	}
	n, whole := csi(p)
	switch {
	case n == 0:
		return out, 0
	case whole && marks(p[:n], 201):
		s.paste = false
		return append(out, pasteEnds...), n
	case whole && isKittyEnd(p[:n]):
		return s.pastedEnd(out, p, n)
	}
	return out, 1
}

// pastedEnd decides the ctrl+c, n bytes long, that p begins with. A person's is the last thing that comes, but for what
// the terminal itself may send at any time: its answers to the questions of a screen that has just begun, for one.
func (s *sieve) pastedEnd(out, p []byte, n int) ([]byte, int) {
	for rest := p[n:]; len(rest) > 0; {
		n, whole := 1, rest[0] == keyEnd
		if rest[0] == keyEscape {
			n, whole = answer(rest)
		}
		if n == 0 {
			break // the beginning of one
		}
		if !whole {
			return out, 1
		}
		rest = rest[n:]
	}
	s.asks = true
	return out, 0
}

// answer measures what p begins with: 0 when more must come. It is whole when a terminal may have sent it by itself.
func answer(p []byte) (n int, whole bool) {
	if len(p) == 1 {
		return 0, false
	}
	switch p[1] {
	case '[':
		n, whole = csi(p)
		return n, whole && !marks(p[:n], 200) && !marks(p[:n], 201)
	case 'P', ']':
		var kept []byte
		kept, n = reply(nil, p)
		return n, len(kept) > 0
	}
	return 1, false
}

// sequence decides a CSI.
func (s *sieve) sequence(out, p []byte) ([]byte, int) {
	n, whole := csi(p)
	if !whole {
		return out, n
	}
	q := p[:n]
	switch last := q[n-1]; {
	case marks(q, 200):
		s.paste = true
		return append(out, pasteBegins...), n
	case marks(q, 201), last == '_', last == 'M': // an end without a beginning; input modes that were never asked for
		return out, n
	}
	return keep(out, q, ordinary(q)), n
}

// csi measures the CSI that p begins with: 0 when more must come. It is whole when it came to its last byte.
func csi(p []byte) (n int, whole bool) {
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1, true
		case c < ' ' || c > 0x7e, i > longestCSI:
			return i, false
		}
	}
	return 0, false
}

// marks reports whether the CSI q would be taken for the mark of a paste with that number.
func marks(q []byte, number int) bool {
	if q[len(q)-1] != '~' {
		return false
	}
	n, err := strconv.Atoi(string(digits(q[2:])))
	return err == nil && n == number
}

// ordinary reports whether no number of the CSI or DCS q is so long, and no sign so odd, that it could be read as another
// one, and whether it has no more numbers than the library has room for: one too many ends the whole program.
func ordinary(q []byte) bool {
	if bytes.Count(q, []byte(";"))+bytes.Count(q, []byte(":")) >= mostNumbers {
		return false
	}
	for i := 2; i < len(q)-1; i++ {
		if d := len(digits(q[i:])); d > 7 || q[i] >= '<' && q[i] <= '?' && i > 2 {
			return false
		}
	}
	return true
}

// isKittyEnd reports whether the CSI q is ctrl+c in the kitty protocol, whatever locks are on.
func isKittyEnd(q []byte) bool {
	rest, ok := bytes.CutPrefix(q, []byte("\x1b[99"))
	if !ok || rest[len(rest)-1] != 'u' {
		return false
	}
	_, mods, ok := bytes.Cut(rest, []byte(";"))
	n, err := strconv.Atoi(string(digits(mods)))
	const ctrl, locks = 4, 64 | 128
	return ok && err == nil && (n-1)&^locks == ctrl
}

func digits(b []byte) []byte {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return b[:n]
}

// function decides an SS3, as keypads and old function keys send it.
func function(out, p []byte) ([]byte, int) {
	i := 2 + len(digits(p[2:min(len(p), 5)]))
	switch {
	case i == len(p):
		return out, 0
	case p[i] < 0x40 || p[i] > 0x7e:
		return out, i
	}
	return append(out, p[:i+1]...), i + 1
}

// reply decides an OSC or a DCS: colours, names and abilities of the terminal, when they are whole. Anything else that
// begins so is no key of ours and is dropped as soon as that is certain.
func reply(out, p []byte) ([]byte, int) {
	if len(p) == 2 {
		return out, 0
	}
	if d := p[2] >= '0' && p[2] <= '9'; !d && (p[1] == ']' || p[2] != '>' && p[2] != '!') {
		return out, 2
	}
	for i := 2; i < len(p); i++ {
		switch c := p[i]; {
		case c == bell && p[1] == ']':
			return keep(out, p[:i+1], expected(p[:i])), i + 1
		case c == keyEscape && i+1 == len(p):
			return out, 0
		case c == keyEscape && p[i+1] == '\\':
			return keep(out, p[:i+2], expected(p[:i])), i + 2
		case c < ' ' || c > 0x7e, i > longestReply:
			return out, i
		}
	}
	return out, 0
}

// expected reports whether the string q, without its end, answers a question that a screen asks.
func expected(q []byte) bool {
	if q[1] == ']' {
		command, _, ok := bytes.Cut(q[2:], []byte(";"))
		return ok && (string(command) == "10" || string(command) == "11" || string(command) == "12")
	}
	kind := bytes.TrimLeft(q[2:], "0123456789:;<=>?")
	if !ordinary(q[:len(q)-len(kind)]) {
		return false
	}
	kind = bytes.TrimLeft(kind, " !\"#$%&'()*+,-./")
	return len(kind) > 0 && (kind[0] == 'r' || kind[0] == '|')
}

// letter measures the character that p begins with, 0 when more must come. It is whole when it is valid UTF-8 and not
// one of the control characters 0x80 to 0x9f, whose bytes begin sequences too.
func letter(p []byte) (n int, whole bool) {
	if !utf8.FullRune(p) {
		return 0, false
	}
	r, n := utf8.DecodeRune(p)
	return n, r != utf8.RuneError && r >= 0xa0
}

func keep(out, p []byte, yes bool) []byte {
	if yes {
		return append(out, p...)
	}
	return out
}
