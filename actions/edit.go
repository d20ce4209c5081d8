package actions

import (
	"slices"
	"strings"
)

// field is a key with the value it shall have; an empty value takes the key away.
type field struct {
	key string
	val value
}

// set makes the section say what the fields say. Keys that are not among them are left alone, and so is the text of a
// value that is the same already.
func (s *section) set(fields []field, eol string) {
	for _, f := range fields {
		i := slices.IndexFunc(s.nodes, func(n node) bool { return n.kind == pairNode && n.key == f.key })
		switch {
		case i < 0 && f.val.empty():
		case i < 0:
			s.insert(pair(f, eol))
		case f.val.empty():
			s.remove(i)
		case !s.nodes[i].val.equal(f.val):
			n := &s.nodes[i]
			w := f.val.written()
			n.raw = n.raw[:n.from] + w + n.raw[n.to:]
			n.val, n.to = f.val, n.from+len(w)
		}
	}
}

func pair(f field, eol string) node {
	head, w := f.key+" = ", f.val.written()
	return node{kind: pairNode, raw: head + w + eol, key: f.key, val: f.val, from: len(head), to: len(head) + len(w)}
}

// insert puts n after the last pair of the section, or right below its header.
func (s *section) insert(n node) {
	i := len(s.nodes)
	for i > 0 && s.nodes[i-1].kind != pairNode {
		i--
	}
	if i == 0 && s.header == "" {
		i = len(s.nodes) // the file's own first comments stay at its top
	}
	s.nodes = slices.Insert(s.nodes, i, n)
}

// remove takes the i-th statement away; a comment on its line stays as a line of its own.
func (s *section) remove(i int) {
	rest := strings.TrimLeft(s.nodes[i].raw[s.nodes[i].to:], " \t")
	if strings.HasPrefix(rest, "#") {
		s.nodes[i] = node{kind: commentNode, raw: rest}
		return
	}
	s.nodes = slices.Delete(s.nodes, i, i+1)
}

// end makes sure that the last line of the document has an end, so that something can follow it.
func (d *document) end() {
	for i := len(d.sections) - 1; i >= 0; i-- {
		s := d.sections[i]
		if n := len(s.nodes); n > 0 {
			if !strings.HasSuffix(s.nodes[n-1].raw, "\n") && s.nodes[n-1].raw != "\uFEFF" {
				s.nodes[n-1].raw += d.eol
			}
			return
		}
		if s.header != "" {
			if !strings.HasSuffix(s.header, "\n") {
				s.header += d.eol
			}
			return
		}
	}
}

// insertAfter puts a new section behind the one at index i: one blank line above it, and the blank lines that stood
// there below it, so that what follows keeps its distance.
func (d *document) insertAfter(i int, s *section) {
	d.end()
	prev := d.sections[i]
	k := len(prev.nodes)
	for k > 0 && prev.nodes[k-1].kind == blankNode && prev.nodes[k-1].raw != "\uFEFF" {
		k--
	}
	s.nodes = append(s.nodes, prev.nodes[k:]...)
	if i+1 < len(d.sections) && k == len(prev.nodes) {
		s.nodes = append(s.nodes, node{kind: blankNode, raw: d.eol})
	}
	prev.nodes = prev.nodes[:k:k]
	if k > 0 || prev.header != "" {
		prev.nodes = append(prev.nodes, node{kind: blankNode, raw: d.eol})
	}
	d.sections = slices.Insert(d.sections, i+1, s)
}

// drop takes the section at index i away. Its comments stay, at the end of the section before it.
func (d *document) drop(i int) {
	s, prev := d.sections[i], d.sections[i-1]
	keep := slices.Clone(s.lead)
	if j := strings.IndexByte(s.header, '#'); j >= 0 {
		keep = append(keep, node{kind: commentNode, raw: s.header[j:]})
	}
	for j := len(s.nodes) - 1; j >= 0; j-- {
		if s.nodes[j].kind == pairNode {
			s.remove(j)
		}
	}
	prev.nodes = append(prev.nodes, append(keep, s.nodes...)...)
	d.sections = slices.Delete(d.sections, i, i+1)
}
