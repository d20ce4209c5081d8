package actions

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
			p.wrong(n.line, "key %s is not known %s%s", n.key, where, meant(slices.Collect(maps.Keys(readers)), n.key))
			continue
		}
		read(n)
	}
}

func (p *parser) want(n node, kind valueKind) bool {
	if n.val.kind != kind {
		example := ""
		if kind == timeValue {
			example = "; write it without quotes, as 2026-11-30T14:00:00Z"
		}
		p.wrong(n.line, "key %s wants %s, not %s%s", n.key, valueNames[kind], valueNames[n.val.kind], example)
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
			p.wrong(n.line, "key %s is %s; it is one of: %s%s", n.key, Quote([]byte(n.val.text)), strings.Join(names, ", "), meant(slices.Clone(names), n.val.text))
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
		p.wrong(s.line, "table %s is not known: a manifest holds [broker], [[topic]] and [[topic.writer]]%s", kind, meant([]string{"broker", "topic", "topic.writer"}, kind))
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
