package tui

import (
	"time"
	"unicode/utf8"
)

// The sieve stands between the terminal and the library that makes keys of its bytes. Whatever the bytes are, no key that
// comes later may be swallowed: only whole sequences of the kinds that are keys or answers to our own questions get past.

const (
	keyEnd    = 0x03 // ctrl+c
	keyEscape = 0x1b

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
