package tui

import (
	"runtime"
	"strings"

	"github.com/charmbracelet/colorprofile"
)

// How things look: ready-made SGR sequences and narrow glyphs. No meaning is carried by either alone.

// palette holds one SGR sequence per role. The zero value draws without any.
type palette struct {
	dim      string // labels, hints, what is not the point
	strong   string // names, headings
	selected string // the row of the cursor, over its whole width
	good     string
	warn     string
	bad      string
	never    string
	counting string // a countdown
	cut      string // the mark of something cut, escapes

	jsonKey, jsonText, jsonNumber, jsonWord string
}

const sgrReset = "\x1b[m"

// mono is for terminals without colour, and for people who do not want it: weight only.
var mono = palette{dim: "\x1b[2m", strong: "\x1b[1m", selected: "\x1b[7m", warn: "\x1b[1m", bad: "\x1b[1m", cut: "\x1b[2m"}

// sixteen uses the sixteen colours every terminal lets its user choose.
var sixteen = palette{
	dim: "\x1b[2m", strong: "\x1b[1m", selected: "\x1b[7m",
	good: "\x1b[32m", warn: "\x1b[33m", bad: "\x1b[1;31m", never: "\x1b[33m", counting: "\x1b[32m", cut: "\x1b[2m",
	jsonKey: "\x1b[36m", jsonText: "\x1b[32m", jsonNumber: "\x1b[35m", jsonWord: "\x1b[33m",
}

// glyphs are the drawn signs, each one cell wide.
type glyphs struct {
	ascii              bool
	open, closed, leaf string
	cursor             string
	live, lost         string
	rule, wall         string
	dot                string // between things of one line
	updown, leftright  string
	bar                []string // growing parts of one cell, the last is full
	track              string   // the empty part of a bar
	removed, added     string
	rising, falling    string // which way a list is ordered
}

var drawn = glyphs{
	open: "▾", closed: "▸", leaf: " ", cursor: "›", live: "●", lost: "○", rule: "─", wall: "│", dot: "·",
	updown: "↑↓", leftright: "←→", bar: []string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}, track: " ", removed: "-", added: "+", rising: "↑", falling: "↓",
}

var typed = glyphs{
	ascii: true,
	open:  "-", closed: "+", leaf: " ", cursor: ">", live: "*", lost: "o", rule: "-", wall: "|", dot: "|",
	updown: "up/dn", leftright: "lt/rt", bar: []string{"#"}, track: ".", removed: "-", added: "+", rising: " ^", falling: " v",
}

// environ is an environment as os.Environ gives it; the last of equal names counts.
type environ []string

func (e environ) get(name string) string {
	v := ""
	for _, kv := range e {
		if k, val, ok := strings.Cut(kv, "="); ok && k == name {
			v = val
		}
	}
	return v
}

// noColour reports whether NO_COLOR asks for none: any value but the empty one does.
func (e environ) noColour() bool { return e.get("NO_COLOR") != "" }

// dumb reports whether the terminal cannot place its cursor.
func (e environ) dumb() bool {
	t := e.get("TERM")
	return t == "dumb" || t == "" && runtime.GOOS != "windows"
}

// asciiOnly reports whether the terminal cannot be trusted with more than ASCII: the Linux console has few glyphs, and
// a locale that does not name UTF-8 does not promise it.
func (e environ) asciiOnly() bool {
	if e.get("TERM") == "linux" {
		return true
	}
	if runtime.GOOS == "windows" {
		return false
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.get(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}

// profile returns the colours to use, and true where the environment decides it; otherwise the terminal is looked at.
func (e environ) profile() (colorprofile.Profile, bool) {
	if e.noColour() {
		return colorprofile.ASCII, true
	}
	return colorprofile.Unknown, false
}
