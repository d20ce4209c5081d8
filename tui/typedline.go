package tui

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// One line of text that a person types, wherever that is.

// mostTyped bounds a typed line, also a pasted one.
const mostTyped = 1000

// typedLine is the text and the place of the caret in it, counted in runes.
type typedLine struct {
	text []rune
	at   int
}

// fill makes s the text, with the caret at its end.
func (t *typedLine) fill(s string) {
	t.text = []rune(s)
	t.at = len(t.text)
}

// String returns the text.
func (t *typedLine) String() string { return string(t.text) }

// key takes a key that edits, and reports whether the text is another one after it.
func (t *typedLine) key(msg tea.KeyPressMsg) (changed bool) {
	switch msg.String() {
	case "left", "ctrl+b":
		t.at = max(0, t.at-1)
	case "right", "ctrl+f":
		t.at = min(len(t.text), t.at+1)
	case "home", "ctrl+a":
		t.at = 0
	case "end", "ctrl+e":
		t.at = len(t.text)
	case "backspace", "ctrl+h":
		return t.erase(max(0, t.at-1), t.at)
	case "delete", "ctrl+d":
		return t.erase(t.at, min(len(t.text), t.at+1))
	case "ctrl+u":
		return t.erase(0, t.at)
	case "ctrl+k":
		return t.erase(t.at, len(t.text))
	case "ctrl+w":
		from := t.at
		for from > 0 && t.text[from-1] == ' ' {
			from--
		}
		for from > 0 && t.text[from-1] != ' ' {
			from--
		}
		return t.erase(from, t.at)
	default:
		if msg.Text != "" {
			return t.insert(msg.Text)
		}
	}
	return false
}

// insert puts s where the caret is. Line ends and other control characters become spaces.
func (t *typedLine) insert(s string) (changed bool) {
	var add []rune
	for _, r := range s {
		if unicode.IsControl(r) {
			r = ' '
		}
		if r != utf8.RuneError && len(t.text)+len(add) < mostTyped {
			add = append(add, r)
		}
	}
	t.text = append(t.text[:t.at], append(add, t.text[t.at:]...)...)
	t.at += len(add)
	return len(add) > 0
}

func (t *typedLine) erase(from, to int) (changed bool) {
	t.text = append(t.text[:from], t.text[to:]...)
	t.at = from
	return to > from
}

// draw writes the text in at most room cells, so that the end that is typed at stays in sight, and returns the column
// of the caret.
func (t *typedLine) draw(p *pen, room int) (caret int) {
	start := p.x
	shown, w := p.m.tailText([]byte(string(t.text[:t.at])), room-1)
	p.buf = append(p.buf, shown...)
	p.x += w
	caret = p.x
	p.wire([]byte(string(t.text[t.at:])), max(start+room-p.x, 0), asText)
	return caret
}
