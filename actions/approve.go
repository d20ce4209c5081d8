package actions

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Bind writes which broker the manifest is for. A manifest that has entries for one broker is never bound to another:
// the error says what differs. The identity may change, since a broker that was upgraded tells another version.
func (m *Manifest) Bind(b BrokerID) error {
	if b.URL == "" {
		return errors.New("bind manifest: the broker has no address")
	}
	if len(m.entries) > 0 {
		if err := m.broker.Same(b); err != nil {
			return fmt.Errorf("bind manifest: %w", err)
		}
	}
	return m.change(func(d *document) {
		i := slices.IndexFunc(d.sections, func(s *section) bool { return s.path == "broker" })
		if i < 0 {
			i = 1
			d.insertAfter(0, &section{path: "broker", header: "[broker]" + d.eol})
		}
		d.sections[i].set([]field{{"url", textOf(b.URL)}, {"user", textOf(b.User)}, {"identity", textOf(b.Identity)}}, d.eol)
	})
}

// Put writes e: over the entry of the same topic, or as a new one at the end. Comments, order and what did not change
// stay as they are; times are kept in whole seconds. It fails, and changes nothing, when the topic cannot be an entry,
// when a text is not UTF-8, or when a value is none of its kind.
func (m *Manifest) Put(e Entry) error {
	if err := RefuseTopic(e.Topic); err != nil {
		return fmt.Errorf("write entry: %w", err)
	}
	if e.Fingerprint != "" && !isFingerprint(e.Fingerprint) {
		return errors.New("write entry: the fingerprint is not 64 hexadecimal digits")
	}
	texts := []string{e.Owner, e.Purpose, e.Reason, e.ApprovedBy}
	for _, w := range e.Writers {
		if w.Name == "" {
			return errors.New("write entry: a writer has no name")
		}
		texts = append(texts, w.Name, w.Evidence)
	}
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return fmt.Errorf("write entry: %s is not UTF-8", Quote([]byte(t)))
		}
	}
	return m.change(func(d *document) { d.put(m.entries, e) })
}

// Approve writes e as approved by who at now: disposition clear. It fails when something an approval needs is missing
// (owner, purpose, the fingerprint of the value as seen), or when a pattern of the manifest or of p protects the topic.
func (m *Manifest) Approve(e Entry, p Protection, who Person, now time.Time) error {
	e.Disposition, e.ApprovedBy, e.ApprovedAt = Clear, who.Name(), now
	e.Refusal = RefuseTopic(e.Topic)
	if err := e.CheckApproval(); err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	all, err := Protect(p.filters, m.protect)
	if err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	if f, yes := all.Match(e.Topic); yes {
		return fmt.Errorf("approve: topic %s is protected by %s", Quote(e.Topic), Quote([]byte(f)))
	}
	return m.Put(e)
}

// Withdraw puts the topic back on hold and takes approver, time and fingerprint away. It reports whether there was an
// entry.
func (m *Manifest) Withdraw(topic []byte) (bool, error) {
	e, ok := m.Find(topic)
	if !ok {
		return false, nil
	}
	e.Disposition, e.ApprovedBy, e.ApprovedAt, e.Fingerprint = Hold, "", time.Time{}, ""
	return true, m.Put(e)
}

// change edits a copy of the text and takes it over only when it reads back.
func (m *Manifest) change(edit func(*document)) error {
	d, err := parseDocument(m.doc.text())
	if err != nil {
		return fmt.Errorf("edit manifest: %w", err)
	}
	edit(d)
	next, err := ParseManifest([]byte(d.text()))
	if err != nil {
		return fmt.Errorf("edit manifest: what was written does not read back: %w", err)
	}
	next.source = m.source
	*m = *next
	return nil
}

// put writes e into the document that old was read from.
func (d *document) put(old []Entry, e Entry) {
	d.end()
	at := -1
	for _, o := range old {
		if string(o.Topic) == string(e.Topic) {
			at = slices.IndexFunc(d.sections, func(s *section) bool { return s.line == o.Line && s.path == "topic" })
		}
	}
	if at < 0 {
		s := &section{path: "topic", list: true, header: "[[topic]]" + d.eol}
		name := field{"topic", textOf(string(e.Topic))}
		if !plainText(e.Topic) {
			name = field{"topic_hex", textOf(hex.EncodeToString(e.Topic))}
		}
		s.set([]field{name}, d.eol)
		if name.key == "topic_hex" {
			n := &s.nodes[0]
			n.raw = n.raw[:n.to] + " # " + Quote(e.Topic) + d.eol
		}
		at = len(d.sections)
		d.insertAfter(at-1, s)
	}
	d.sections[at].set([]field{
		{"owner", textOf(e.Owner)},
		{"purpose", textOf(e.Purpose)},
		{"disposition", textOf(e.Disposition.String())},
		{"reason", textOf(e.Reason)},
		{"approved_by", textOf(e.ApprovedBy)},
		{"approved_at", timeOf(e.ApprovedAt)},
		{"fingerprint", textOf(e.Fingerprint)},
	}, d.eol)
	d.putWriters(at, e.Writers)
}

// putWriters makes the writer tables below the entry at index at say what writers says: tables are found by name, new
// ones are added behind the last, and those that are not named any more go.
func (d *document) putWriters(at int, writers []Writer) {
	last := at
	for last+1 < len(d.sections) && d.sections[last+1].path == "topic.writer" {
		last++
	}
	left := slices.Clone(writers)
	for i := last; i > at; i-- {
		name := ""
		for _, n := range d.sections[i].nodes {
			if n.kind == pairNode && n.key == "name" {
				name = n.val.text
			}
		}
		// From behind, so that of two writers of one name the later table takes the later one.
		j := lastIndex(left, func(w Writer) bool { return w.Name == name })
		if j < 0 {
			d.drop(i)
			last--
			continue
		}
		d.sections[i].set(writerFields(left[j]), d.eol)
		left = slices.Delete(left, j, j+1)
	}
	for _, w := range left {
		s := &section{path: "topic.writer", list: true, header: "[[topic.writer]]" + d.eol}
		s.set(writerFields(w), d.eol)
		d.insertAfter(last, s)
		last++
	}
}

func lastIndex(ws []Writer, f func(Writer) bool) int {
	for i := len(ws) - 1; i >= 0; i-- {
		if f(ws[i]) {
			return i
		}
	}
	return -1
}

func writerFields(w Writer) []field {
	delay := value{}
	if w.WillDelay > 0 {
		delay = numberOf(int64(w.WillDelay))
	}
	return []field{
		{"name", textOf(w.Name)},
		{"kind", textOf(w.Kind.String())},
		{"state", textOf(w.State.String())},
		{"evidence", textOf(w.Evidence)},
		{"evidence_at", timeOf(w.EvidenceAt)},
		{"will", textOf(w.Will.String())},
		{"will_delay", delay},
	}
}
