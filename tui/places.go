package tui

import (
	"unicode/utf8"
)

// The places of a form, and how they are drawn.

// placeKind says what a place is.
type placeKind uint8

const (
	typedPlace  placeKind = iota // a line of text
	chosenPlace                  // one of a few
	buttonPlace                  // enter does it
)

// place is one of the things on a form that the cursor can stand on.
type place struct {
	kind  placeKind
	label string
	typedLine
	hint    string   // stands where nothing is typed
	options []string // of a choice
	chosen  int
	off     string // why a button cannot be pressed, or a choice changed; "" = it can
	hidden  bool
	paste   bool // pasted text is taken
	dirty   bool // changed by the person
}

func typedAt(label, hint string) *place { return &place{label: label, hint: hint, paste: true} }

func chosenAt(label string, options ...string) *place {
	return &place{kind: chosenPlace, label: label, options: options}
}

func buttonAt(label string) *place { return &place{kind: buttonPlace, label: label} }

// places are those of one form, in the order of the keys.
type places struct {
	all    []*place
	at     int
	top    int  // first line in sight
	free   bool // scrolled by hand: the place of the cursor may be out of sight
	row    int  // line of the place of the cursor, in the last lines made
	caret  int  // its column; -1 = none is typed at
	lines  int
	cut    int // 1 where the last line of the body says that there is more
	labels int // width of the labels
}

func (f *places) now() *place { return f.all[f.at] }

// seen reports whether the place of the cursor was in sight in the last frame.
func (f *places) seen(body int) bool { return f.row >= f.top && f.row < f.top+body-f.cut }

// focus puts the cursor on x.
func (f *places) focus(x *place) {
	for i, p := range f.all {
		if p == x {
			f.at, f.free = i, false
		}
	}
}

// step goes to the next place that is not hidden.
func (f *places) step(by int) {
	f.free = false
	for i := f.at + by; i >= 0 && i < len(f.all); i += by {
		if !f.all[i].hidden {
			f.at = i
			return
		}
	}
	if by < 0 {
		f.top, f.free = 0, true // above the first place stands what the form is about
	}
}

// dirty reports whether the person changed anything.
func (f *places) dirty() bool {
	for _, x := range f.all {
		if x.dirty {
			return true
		}
	}
	return false
}

// write writes one place, and notes where the cursor stands.
func (f *places) write(w *writer, x *place) {
	if x.hidden {
		return
	}
	here := x == f.now()
	left := w.left
	w.left = 1
	defer func() { w.left = left }()
	p := w.begin()
	if here {
		f.row = len(w.lines)
		p.say(p.g.cursor + " ")
	} else {
		p.say("  ")
	}
	style := ""
	if here {
		style = p.pal.selected
	}
	switch x.kind {
	case buttonPlace:
		if x.off != "" && !here {
			style = p.pal.dim
		}
		p.in(style)
		p.sentence("[ " + x.label + " ]")
		p.in("")
		if x.off != "" {
			p.sentence(" off: " + x.off)
		}
	case chosenPlace:
		f.label(p, x, style)
		f.options(p, x)
	default:
		f.label(p, x, style)
		if len(x.text) == 0 && !here {
			p.in(p.pal.dim)
			p.sentence(x.hint)
			p.in("")
			break
		}
		caret := x.draw(p, max(p.left()-1, 1))
		if here {
			f.caret = caret
		}
	}
	w.end()
	if here && x.kind == buttonPlace && x.off != "" {
		// A reason that is cut is said in full below.
		if room := p.right - w.left; utf8.RuneCountInString("[ "+x.label+" ] off: "+x.off)+2 > room {
			w.left = left
			w.text(w.p.pal.dim, x.off)
		}
	}
}

func (f *places) label(p *pen, x *place, style string) {
	if style == "" {
		style = p.pal.dim
	}
	start := p.x
	p.sayIn(style, x.label)
	p.to(max(start+f.labels, p.x+1))
}

// options writes all that can be chosen, or the one chosen where they have no room.
func (f *places) options(p *pen, x *place) {
	cells := 0
	for _, o := range x.options {
		cells += utf8.RuneCountInString(o) + 3
	}
	if cells > p.left() {
		p.say("< ")
		p.sayIn(p.pal.strong, x.options[x.chosen])
		p.say(" >")
		if p.left() > 8 {
			p.sayIn(p.pal.dim, "  "+number(int64(x.chosen+1))+" of "+number(int64(len(x.options))))
		}
		return
	}
	for i, o := range x.options {
		if i == x.chosen {
			p.sayIn(p.pal.strong, "["+o+"] ")
		} else {
			p.sayIn(p.pal.dim, " "+o+"  ")
		}
	}
}

// footer lists the keys that work where the cursor of a form stands.
func (f *places) footer(p *pen) []fact {
	all := []fact{{text: p.g.updown + " move", rank: 6}}
	switch f.now().kind {
	case buttonPlace:
		all = append(all, fact{text: "enter does it", rank: 7})
	case chosenPlace:
		all = append(all, fact{text: p.g.leftright + " choose", rank: 8})
	default:
		all = append(all, fact{text: "type", rank: 5})
	}
	return append(all, fact{text: "pgup/pgdn scroll", rank: 3}, fact{text: "esc back", rank: 9})
}
