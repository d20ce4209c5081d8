package tui

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// What a terminal sends, measured and judged for the sieve: keys, letters, answers.

const (
	bell         = 0x07
	longestCSI   = 128
	mostNumbers  = 16
	longestReply = 400 // of an answer that is a string (OSC, DCS)
)

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
