package actions

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// nodeKind tells what one statement of a document is.
type nodeKind uint8

const (
	blankNode nodeKind = iota
	commentNode
	pairNode
)

// node is one statement with its exact text, line end included. Putting all of them together gives the file back.
type node struct {
	kind     nodeKind
	raw      string
	line     int
	key      string
	val      value
	from, to int // where the value stands in raw
}

// section is one table of a document: the comments right above its header, the header, and what is below it. The
// first section has no header.
type section struct {
	lead   []node
	header string // exact text
	path   string // "", "broker", "topic", "topic.writer"
	list   bool   // written [[path]]
	line   int
	nodes  []node
}

// document is a file of the TOML subset, kept line by line so that comments and order survive an edit.
type document struct {
	sections []*section
	eol      string
}

// reader walks over the text of a document.
type reader struct {
	text string
	at   int
	line int
}

// Problem is one thing that is wrong with a manifest.
type Problem struct {
	Line int    // 0 when no line can be named
	Text string // one plain sentence, safe for a terminal
}

// String returns "line 12: ..." or the text alone.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

func (p Problem) Error() string { return p.String() }

func (r *reader) fail(format string, args ...any) error {
	return Problem{Line: r.line, Text: fmt.Sprintf(format, args...)}
}

func (r *reader) done() bool { return r.at >= len(r.text) }

// peek returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.done() {
		return 0
	}
	return r.text[r.at]
}

func (r *reader) skipBlanks() {
	for r.peek() == ' ' || r.peek() == '\t' {
		r.at++
	}
}

// readEnd reads one line end; the end of the text counts as one.
func (r *reader) readEnd() error {
	switch {
	case r.done():
		return nil
	case r.peek() == '\n':
		r.at++
	case strings.HasPrefix(r.text[r.at:], "\r\n"):
		r.at += 2
	default:
		return r.fail("%s does not belong here", Quote([]byte(r.text[r.at:min(r.at+1, len(r.text))])))
	}
	r.line++
	return nil
}

// readComment reads from # to the line end, which it leaves.
func (r *reader) readComment() error {
	for !r.done() && r.peek() != '\n' && !strings.HasPrefix(r.text[r.at:], "\r\n") {
		if c := r.peek(); c < 0x20 && c != '\t' || c == 0x7F {
			return r.fail("the comment holds a control character")
		}
		r.at++
	}
	return nil
}

// readTail reads what may follow a statement: white space, a comment, the line end.
func (r *reader) readTail() error {
	r.skipBlanks()
	if r.peek() == '#' {
		if err := r.readComment(); err != nil {
			return err
		}
	}
	return r.readEnd()
}

func isKeyByte(c byte) bool {
	return c == '_' || c == '-' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (r *reader) readKey() (string, error) {
	start := r.at
	for isKeyByte(r.peek()) {
		r.at++
	}
	if r.at == start {
		return "", r.fail("a key of letters, digits, _ and - is missing")
	}
	return r.text[start:r.at], nil
}

// parseDocument reads text. The error is a Problem.
func parseDocument(text string) (*document, error) {
	r := &reader{text: text, line: 1}
	if !utf8.ValidString(text) {
		for i, c := range text {
			if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
				return nil, Problem{Line: 1 + strings.Count(text[:i], "\n"), Text: "the line is not UTF-8: write such a topic as topic_hex"}
			}
		}
	}
	d := &document{eol: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.eol = "\r\n"
	}
	sec := &section{line: 1}
	d.sections = []*section{sec}
	if strings.HasPrefix(text, "\uFEFF") {
		r.at = len("\uFEFF")
		sec.nodes = append(sec.nodes, node{raw: "\uFEFF", line: 1})
	}
	for !r.done() {
		start, line := r.at, r.line
		r.skipBlanks()
		switch c := r.peek(); {
		case r.done() || c == '\n' || c == '\r':
			if err := r.readEnd(); err != nil {
				return nil, err
			}
			sec.nodes = append(sec.nodes, node{kind: blankNode, raw: text[start:r.at], line: line})
		case c == '#':
			if err := r.readTail(); err != nil {
				return nil, err
			}
			sec.nodes = append(sec.nodes, node{kind: commentNode, raw: text[start:r.at], line: line})
		case c == '[':
			next, err := r.readHeader(start)
			if err != nil {
				return nil, err
			}
			next.lead = sec.takeLead()
			sec = next
			d.sections = append(d.sections, sec)
		default:
			n, err := r.readPair(start)
			if err != nil {
				return nil, err
			}
			sec.nodes = append(sec.nodes, n)
		}
	}
	return d, nil
}

func (r *reader) readHeader(start int) (*section, error) {
	s := &section{line: r.line}
	r.at++
	if s.list = r.peek() == '['; s.list {
		r.at++
	}
	for {
		r.skipBlanks()
		key, err := r.readKey()
		if err != nil {
			return nil, err
		}
		s.path += key
		r.skipBlanks()
		if r.peek() != '.' {
			break
		}
		s.path += "."
		r.at++
	}
	closing := "]"
	if s.list {
		closing = "]]"
	}
	if !strings.HasPrefix(r.text[r.at:], closing) {
		return nil, r.fail("the table name is not closed with %s", closing)
	}
	r.at += len(closing)
	if err := r.readTail(); err != nil {
		return nil, err
	}
	s.header = r.text[start:r.at]
	return s, nil
}

func (r *reader) readPair(start int) (node, error) {
	n := node{kind: pairNode, line: r.line}
	var err error
	if n.key, err = r.readKey(); err != nil {
		return n, err
	}
	r.skipBlanks()
	if r.peek() == '.' {
		return n, r.fail("a key with a dot is not read here: write it under a [table]")
	}
	if r.peek() != '=' {
		return n, r.fail("= is missing after the key %s", n.key)
	}
	r.at++
	r.skipBlanks()
	n.from = r.at - start
	if n.val, err = r.readValue(0); err != nil {
		return n, err
	}
	n.to = r.at - start
	if err := r.readTail(); err != nil {
		return n, err
	}
	n.raw = r.text[start:r.at]
	return n, nil
}

// takeLead removes the comments that stand right above the next header and returns them: they belong to it.
func (s *section) takeLead() []node {
	i := len(s.nodes)
	for i > 0 && s.nodes[i-1].kind == commentNode {
		i--
	}
	// Right below a pair or a header they are that one's: only a blank line or the top of the file sets them apart.
	if i > 0 && s.nodes[i-1].kind == pairNode || i == 0 && s.header != "" {
		return nil
	}
	lead := s.nodes[i:]
	s.nodes = s.nodes[:i:i]
	return lead
}

// text returns the file.
func (d *document) text() string {
	var b strings.Builder
	for _, s := range d.sections {
		for _, n := range s.lead {
			b.WriteString(n.raw)
		}
		b.WriteString(s.header)
		for _, n := range s.nodes {
			b.WriteString(n.raw)
		}
	}
	return b.String()
}
