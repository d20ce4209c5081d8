package cli

// What the filter words owner: and finding: mean, said by the readings.

import (
	"fmt"
	"strings"

	"retainscope/inventory"
	"retainscope/readings"
)

// judge decides for the inventory what only readings can.
type judge struct{ reader *readings.Reader }

// OwnedBy reports whether the owner's name contains name, ASCII letters folded.
func (j judge) OwnedBy(topic []byte, name string, now int64) bool {
	b, ok := j.reader.Brief(topic, now)
	return ok && b.Owner != "" && strings.Contains(foldASCII(b.Owner), foldASCII(name))
}

// Found reports whether a finding of that name was made.
func (j judge) Found(topic []byte, name string, now int64) bool {
	kind, known := readings.ParseKind(name)
	if !known {
		return false
	}
	b, ok := j.reader.Brief(topic, now)
	return ok && b.Kinds.Has(kind)
}

// foldASCII lowers ASCII letters and leaves every other byte alone, as the filter does with topics.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// parseFilter is inventory.ParseFilter with the names of findings checked.
func parseFilter(text string) (*inventory.Filter, error) {
	f, err := inventory.ParseFilter(text)
	if err != nil {
		return nil, err
	}
	for _, name := range f.Findings() {
		if _, ok := readings.ParseKind(name); !ok {
			return nil, fmt.Errorf("filter word %s: finding: takes %s", quote("finding:"+name), strings.Join(readings.KindNames(), ", "))
		}
	}
	return f, nil
}
