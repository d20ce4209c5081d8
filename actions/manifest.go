// Package actions is what a person may do to a retained topic: the manifest of what may go and who could write it, the
// clear step by step, how it ended, the record of it, and the way back.
//
// Pure: the standard library, inventory and expiry. It publishes nothing by itself: Sender and Observer do, and they
// are handed in. No clock but one Now field, no goroutine of its own.
package actions

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Manifest is the file that says what may be cleared on one broker, topic by topic. It keeps the text it was read
// from: what a person wrote between the lines, and in which order, is there again when it is saved. It is not safe for
// concurrent use.
type Manifest struct {
	doc     *document
	broker  BrokerID
	protect []string
	entries []Entry
	source  string // digest of the file it was read from; see Desk.Save
}

// ManifestError tells everything that is wrong with a manifest file. Nothing of such a file is used.
type ManifestError struct {
	Problems []Problem // by line, at least one
}

// Error returns the first problem and how many more there are.
func (e *ManifestError) Error() string {
	s := "read manifest: " + e.Problems[0].String()
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(" (and %d more)", n)
	}
	return s
}

// NewManifest returns an empty manifest for one broker.
func NewManifest(b BrokerID) *Manifest {
	m, err := ParseManifest([]byte("# What may be cleared on one broker, topic by topic. Edit it by hand as you like: comments and order stay.\n" +
		"# disposition is clear, preserve or hold. A topic that is not listed is on hold.\n" +
		"version = 1\n# Topic filters that are never published to; $SYS/# always is one.\nprotect = []\n"))
	if err == nil {
		err = m.Bind(b)
	}
	if err != nil {
		panic("actions: the empty manifest does not read back: " + err.Error())
	}
	return m
}

// ParseManifest reads a manifest. The error is a *ManifestError: broken syntax, unknown keys, values that are none,
// two entries for one topic. A topic that cannot be one (a wildcard, an empty name, NUL, a shared subscription) is no
// such error: its entry carries the reason in Refusal and is never cleared.
func ParseManifest(text []byte) (*Manifest, error) {
	doc, err := parseDocument(string(text))
	if err != nil {
		return nil, &ManifestError{Problems: []Problem{err.(Problem)}} //nolint:errorlint // parseDocument returns nothing else
	}
	m := &Manifest{doc: doc}
	p := &parser{m: m, first: map[string]int{}}
	for _, s := range doc.sections {
		p.section(s)
	}
	p.finish()
	if len(p.problems) > 0 {
		slices.SortStableFunc(p.problems, func(a, b Problem) int { return a.Line - b.Line })
		return nil, &ManifestError{Problems: p.problems}
	}
	return m, nil
}

// Text returns the file.
func (m *Manifest) Text() []byte { return []byte(m.doc.text()) }

// Broker returns the broker that the manifest was approved on; the zero value when it names none.
func (m *Manifest) Broker() BrokerID { return m.broker }

// Protect returns the topic filters that the manifest protects.
func (m *Manifest) Protect() []string { return slices.Clone(m.protect) }

// Entries returns a copy of every entry, in the order of the file.
func (m *Manifest) Entries() []Entry {
	all := make([]Entry, len(m.entries))
	for i, e := range m.entries {
		all[i] = e.clone()
	}
	return all
}

// Find returns a copy of the entry for exactly these bytes, and whether there is one.
func (m *Manifest) Find(topic []byte) (Entry, bool) {
	for _, e := range m.entries {
		if string(e.Topic) == string(topic) {
			return e.clone(), true
		}
	}
	return Entry{}, false
}

// parser turns sections into a manifest and collects what is wrong.
type parser struct {
	m        *Manifest
	problems []Problem
	first    map[string]int // where a table or topic was first seen
}

func (p *parser) wrong(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{Line: line, Text: fmt.Sprintf(format, args...)})
}

// keys reads the pairs of a section into the readers given by key.
func (p *parser) keys(s *section, readers map[string]func(node)) {
	seen := map[string]int{}
	for _, n := range s.nodes {
		if n.kind != pairNode {
			continue
		}
		if line, twice := seen[n.key]; twice {
			p.wrong(n.line, "key %s is here again, first on line %d", n.key, line)
			continue
		}
		seen[n.key] = n.line
		read, known := readers[n.key]
		if !known {
			where := "at the top of the file"
			if s.path != "" {
				where = "in [" + s.path + "]"
			}
			p.wrong(n.line, "key %s is not known %s", n.key, where)
			continue
		}
		read(n)
	}
}

func (p *parser) want(n node, kind valueKind) bool {
	if n.val.kind != kind {
		p.wrong(n.line, "key %s wants %s, not %s", n.key, valueNames[kind], valueNames[n.val.kind])
		return false
	}
	return true
}

func (p *parser) text(to *string) func(node) {
	return func(n node) {
		if p.want(n, textValue) {
			*to = n.val.text
		}
	}
}

func (p *parser) choice(names []string, to func(uint8)) func(node) {
	return func(n node) {
		if !p.want(n, textValue) {
			return
		}
		i, ok := indexOf(names, n.val.text)
		if !ok {
			p.wrong(n.line, "key %s is %s; it is one of: %s", n.key, Quote([]byte(n.val.text)), strings.Join(names, ", "))
			return
		}
		to(i)
	}
}

func (p *parser) section(s *section) {
	kind := s.path
	if list, known := map[string]bool{"broker": false, "topic": true, "topic.writer": true}[kind]; known && list != s.list {
		p.wrong(s.line, "a manifest holds [broker], [[topic]] and [[topic.writer]], written with these brackets")
		return
	}
	switch kind {
	case "":
		p.root(s)
	case "broker":
		if line, twice := p.first["[broker]"]; twice {
			p.wrong(s.line, "[broker] is here again, first on line %d", line)
		}
		p.first["[broker]"] = s.line
		b := &p.m.broker
		p.keys(s, map[string]func(node){"url": p.text(&b.URL), "user": p.text(&b.User), "identity": p.text(&b.Identity)})
	case "topic":
		p.topic(s)
	case "topic.writer":
		p.writer(s)
	default:
		p.wrong(s.line, "table %s is not known: a manifest holds [broker], [[topic]] and [[topic.writer]]", kind)
	}
}

func (p *parser) root(s *section) {
	p.keys(s, map[string]func(node){
		"version": func(n node) {
			if p.want(n, numberValue) && n.val.number != 1 {
				p.wrong(n.line, "version is %d; this program reads version 1", n.val.number)
			}
		},
		"protect": func(n node) {
			if !p.want(n, listValue) {
				return
			}
			for _, v := range n.val.list {
				if v.kind != textValue {
					p.wrong(n.line, "protect is a list of texts")
					return
				}
				if err := refuseFilter(v.text); err != nil {
					p.wrong(n.line, "protect pattern %s is no topic filter: %s", Quote([]byte(v.text)), err)
				}
				p.m.protect = append(p.m.protect, v.text)
			}
		},
	})
}

func (p *parser) topic(s *section) {
	e := Entry{Line: s.line}
	var named []int
	p.keys(s, map[string]func(node){
		"topic": func(n node) {
			named = append(named, n.line)
			if p.want(n, textValue) {
				e.Topic = []byte(n.val.text)
			}
		},
		"topic_hex": func(n node) {
			named = append(named, n.line)
			if !p.want(n, textValue) {
				return
			}
			raw, err := hex.DecodeString(n.val.text)
			if err != nil {
				p.wrong(n.line, "topic_hex is not an even number of hexadecimal digits")
			}
			e.Topic = raw
		},
		"owner":   p.text(&e.Owner),
		"purpose": p.text(&e.Purpose),
		"reason":  p.text(&e.Reason),
		"disposition": p.choice(dispositionNames, func(i uint8) {
			e.Disposition = Disposition(i)
		}),
		"approved_by": p.text(&e.ApprovedBy),
		"approved_at": func(n node) {
			if p.want(n, timeValue) {
				e.ApprovedAt = n.val.time
			}
		},
		"fingerprint": func(n node) {
			if p.want(n, textValue) {
				if e.Fingerprint = n.val.text; e.Fingerprint != "" && !isFingerprint(e.Fingerprint) {
					p.wrong(n.line, "fingerprint is not 64 hexadecimal digits in lower case")
				}
			}
		},
	})
	switch {
	case len(named) == 0:
		p.wrong(s.line, "the entry names no topic: topic or topic_hex is missing")
	case len(named) == 2:
		p.wrong(named[1], "the entry names its topic twice, first on line %d", named[0])
	default:
		key := "topic " + string(e.Topic)
		if line, twice := p.first[key]; twice {
			p.wrong(s.line, "topic %s has two entries, on lines %d and %d", Quote(e.Topic), line, s.line)
		} else {
			p.first[key] = s.line
		}
		e.Refusal = RefuseTopic(e.Topic)
	}
	p.m.entries = append(p.m.entries, e)
}

func (p *parser) writer(s *section) {
	if len(p.m.entries) == 0 {
		p.wrong(s.line, "a writer stands below the [[topic]] it can write, and none is above")
		return
	}
	var w Writer
	p.keys(s, map[string]func(node){
		"name":     p.text(&w.Name),
		"kind":     p.choice(kindNames, func(i uint8) { w.Kind = WriterKind(i) }),
		"state":    p.choice(stateNames, func(i uint8) { w.State = WriterState(i) }),
		"evidence": p.text(&w.Evidence),
		"evidence_at": func(n node) {
			if p.want(n, timeValue) {
				w.EvidenceAt = n.val.time
			}
		},
		"will": p.choice(willNames, func(i uint8) { w.Will = Will(i) }),
		"will_delay": func(n node) {
			if !p.want(n, numberValue) {
				return
			}
			if n.val.number < 0 || n.val.number > 1<<32-1 {
				p.wrong(n.line, "will_delay is %d; it is a number of seconds from 0 to 4294967295", n.val.number)
				return
			}
			w.WillDelay = uint32(n.val.number)
		},
	})
	if w.Name == "" {
		p.wrong(s.line, "the writer has no name")
	}
	e := &p.m.entries[len(p.m.entries)-1]
	e.Writers = append(e.Writers, w)
}

func (p *parser) finish() {
	if p.m.broker.URL == "" && len(p.m.entries) > 0 {
		p.wrong(0, "the manifest names no broker: [broker] with its url is missing")
	}
}
