// Package actions is what a person may do to a retained topic: the manifest of what may go and who could write it, the
// clear step by step, how it ended, the record of it, and the way back.
//
// Pure: the standard library, inventory and expiry. It publishes nothing by itself: Sender and Observer do, and they
// are handed in. No clock but one Now field, no goroutine of its own.
package actions

import (
	"fmt"
	"slices"
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
