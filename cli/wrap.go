package cli

// Lines that fit a terminal: help, and sentences of one line, are broken between words.

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
)

// leastWrap is the width below which nothing is wrapped: it would be torn to pieces.
const leastWrap = 20

// columnsOf returns how wide lines on out may be, 0 where that is not known: COLUMNS, or the width of the terminal that out is.
func (p *program) columnsOf(out *os.File) int {
	if n, err := strconv.Atoi(p.env["COLUMNS"]); err == nil && n >= leastWrap {
		return n
	}
	if out == nil || !term.IsTerminal(out.Fd()) {
		return 0
	}
	if n, _, err := term.GetSize(out.Fd()); err == nil && n >= leastWrap {
		return n
	}
	return 0
}

// say writes one sentence to stderr, in lines that fit where that is a terminal. It ends the line.
func (p *program) say(format string, args ...any) {
	file, _ := p.stderr.(*os.File)
	fmt.Fprintln(p.stderr, wrapped("retainscope: "+fmt.Sprintf(format, args...), p.columnsOf(file), 2))
}

// wrapped returns a sentence of one line in lines of at most width cells, those after the first indented. Words are not
// cut. With a width of 0 it returns text.
func wrapped(text string, width, indent int) string {
	if width <= 0 || textWidth(text) <= width {
		return text
	}
	return fold(text, width, strings.Repeat(" ", indent))
}

// fold breaks text at spaces. What stands in front of its first word stays there.
func fold(text string, width int, indent string) string {
	var b strings.Builder
	first := len(text) - len(strings.TrimLeft(text, " "))
	b.WriteString(text[:first])
	used, begun := first, false
	for _, word := range wholeWords(text[first:]) {
		bare := strings.TrimRight(word, " ")
		if begun && used+textWidth(bare) > width {
			line := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(line + "\n" + indent)
			used = len(indent)
		}
		b.WriteString(word)
		used += textWidth(word)
		begun = true
	}
	return strings.TrimRight(b.String(), " ")
}

// wholeWords divides text behind its spaces. A command line between backticks is one word: it is to be copied.
func wholeWords(text string) []string {
	var words []string
	begin, quoted := 0, false
	for i := range len(text) {
		switch text[i] {
		case '`':
			quoted = !quoted && strings.Contains(text[i+1:], "`")
		case ' ':
			if !quoted {
				words = append(words, text[begin:i+1])
				begin = i + 1
			}
		}
	}
	return append(words, text[begin:])
}

// wrapHelp folds the text of a command's help. Paragraphs are put together first, lines of a list keep the column of
// what explains them, and examples stay as they are: they are to be copied.
func wrapHelp(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out []string
	var line string // that may go on
	hang := -1
	flush := func() {
		if hang >= 0 {
			out = append(out, wrapAt(line, width, hang))
		}
		hang = -1
	}
	examples := false
	for next := range strings.SplitSeq(text, "\n") {
		indent := len(next) - len(strings.TrimLeft(next, " "))
		examples = next == "Examples:" || examples && (next == "" || indent > 0)
		at, item := column(next)
		switch {
		case next == "" || examples:
			flush()
			out = append(out, next)
		case hang >= 0 && indent == hang && !item && (indent == 0 && !strings.HasSuffix(line, ":") || indent > 4):
			line += " " + strings.TrimLeft(next, " ")
		default:
			flush()
			line, hang = next, at
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// column returns where the explanation of a line of a list begins, and whether the line is one: a name, two spaces or
// more, the explanation. It returns the indent of any other line.
func column(line string) (at int, item bool) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	const furthest = 48
	if indent == 0 {
		return 0, false
	}
	gap := strings.Index(line[indent:], "  ")
	if gap < 0 {
		return indent, false
	}
	at = indent + gap
	at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	if at > furthest || at == len(line) {
		return indent, false
	}
	return at, true
}

// wrapAt folds one line with what follows under a column, or not far from its beginning where that leaves no room.
func wrapAt(line string, width, at int) string {
	if textWidth(line) <= width {
		return line
	}
	if at > width/2 {
		at = min(8, width/4)
	}
	return fold(line, width, strings.Repeat(" ", at))
}
