package cli

// What a list says of itself at its end: the coverage, as a JSON line and as sentences.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"retainscope/inventory"
)

// Summary is the last line of a list or an export.
type Summary struct {
	Listed   int64 // details written before it
	Link     inventory.Link
	Coverage inventory.Coverage
	Now      time.Time
	Where    string // the filter expression, empty for everything
	Topic    []byte // when not nil, only this topic was written, or with Below this and every topic under it
	Below    bool
	Since    time.Time // since when this program watches the broker; Coverage.Away has what it missed
}

// Summary writes the last line: "summary": true, the claim and everything the coverage tells. The error is w's.
func (e *Encoder) Summary(s Summary) error {
	c := s.Coverage
	b := append(e.line[:0], '{')
	text := func(name, v string) {
		b = appendKey(b, name)
		b = appendText(b, []byte(v))
	}
	number := func(name string, n int64, known bool) {
		b = appendKey(b, name)
		if known {
			b = strconv.AppendInt(b, n, 10)
		} else {
			b = append(b, "null"...)
		}
	}
	instant := func(name string, t time.Time) {
		b = appendKey(b, name)
		if t.IsZero() {
			b = append(b, "null"...)
		} else {
			b = appendTime(b, t)
		}
	}
	list := func(name string, texts []string) {
		b = appendKey(b, name)
		b = append(b, '[')
		for i, t := range texts {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, []byte(t))
		}
		b = append(b, ']')
	}
	b = appendKey(b, "summary")
	b = append(b, "true"...)
	text("claim", c.Claim.String())
	text("rule", c.Rule)
	number("listed", s.Listed, true)
	number("seen", c.Seen, true)
	number("known", c.Known, c.Known >= 0)
	text("known_from", c.KnownFrom)
	number("missing", c.Missing(), c.Known >= 0)
	number("dropped", c.Dropped, c.Dropped >= 0)
	number("discarded", c.Discarded, true)
	number("wire_bytes", c.WireBytes, true)
	number("slices", int64(c.Slices), true)
	b = appendKey(b, "filters")
	b = append(b, '[')
	for i, g := range c.Grants {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = appendKey(b, "filter")
		b = appendText(b, []byte(g.Filter))
		b = appendKey(b, "code")
		b = strconv.AppendUint(b, uint64(g.Code), 10)
		b = appendKey(b, "granted")
		b = strconv.AppendBool(b, !g.Refused())
		b = append(b, '}')
	}
	b = append(b, ']')
	b = appendKey(b, "gaps")
	b = append(b, '[')
	for i, g := range c.Gaps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		number("count", g.Count, g.Count >= 0)
		text("text", g.Text)
		b = append(b, '}')
	}
	b = append(b, ']')
	b = appendKey(b, "away")
	b = append(b, '[')
	for i, a := range c.Away {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		instant("from", a.From)
		instant("to", a.To)
		b = append(b, '}')
	}
	b = append(b, ']')
	list("remedies", c.Remedies)
	list("notes", c.Notes)
	instant("started_at", c.StartedAt)
	instant("ended_at", c.EndedAt)
	instant("counted_at", c.CountedAt)
	age := int64(s.Now.Sub(c.EndedAt) / time.Second)
	number("age_seconds", max(0, age), !c.EndedAt.IsZero())
	b = appendKey(b, "where")
	if s.Where == "" {
		b = append(b, "null"...)
	} else {
		b = appendText(b, []byte(s.Where))
	}
	// Which of the two names stands is what was chosen: one topic, or a branch with all that lies under it.
	for _, one := range [...]struct {
		name string
		set  bool
	}{{"only_topic", s.Topic != nil && !s.Below}, {"only_branch", s.Topic != nil && s.Below}} {
		b = appendKey(b, one.name)
		if !one.set {
			b = append(b, "null"...)
			continue
		}
		b = appendText(b, s.Topic)
		if !utf8.Valid(s.Topic) {
			b = appendHex(appendKey(b, one.name+"_hex"), s.Topic)
		}
	}
	instant("watched_since", s.Since)
	text("broker", s.Link.URL)
	text("broker_says", s.Link.Broker)
	text("user", s.Link.User)
	text("protocol", s.Link.Protocol)
	b = appendKey(b, "limited")
	if s.Link.Limited() {
		b = appendText(b, []byte(inventory.LimitedView))
	} else {
		b = append(b, "null"...)
	}
	b = appendKey(b, "insecure")
	b = strconv.AppendBool(b, s.Link.Insecure)
	instant("written_at", s.Now)
	return e.end(b)
}

// verdict returns the exit code of a claim and, for a code other than 0, the reason in one line.
func verdict(c inventory.Coverage) error {
	switch c.Claim {
	case inventory.Verified, inventory.NoSignOfLoss:
		return nil
	case inventory.Unverified:
		return &exit{ExitUnverified, errors.New(reason(c))}
	default:
		return &exit{ExitIncomplete, errors.New(reason(c))}
	}
}

// forThisLogin says in one line what a verified list does not hold, and is empty where that is nothing.
func forThisLogin(c inventory.Coverage) string {
	n := c.Missing()
	if c.Claim != inventory.Verified || n == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("verified for this login; %s more are counted by the broker.", thousands(n))}
	for _, g := range c.Gaps {
		parts = append(parts, sentence(g.Text))
	}
	return strings.Join(parts, " ")
}

// reason tells why a list is not known to be whole, and what can be done, as sentences on one line.
func reason(c inventory.Coverage) string {
	parts := []string{c.Claim.String() + ":"}
	for _, g := range c.Grants {
		if g.Refused() {
			parts = append(parts, fmt.Sprintf("the broker refused %s with 0x%02x.", quote(g.Filter), g.Code))
		}
	}
	if n := c.Missing(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d were not seen.", n, c.Known))
	}
	if c.Rule != "" && (len(parts)+len(c.Gaps) == 1 || c.Claim == inventory.Unverified) {
		parts = append(parts, sentence(c.Rule)) // what is missing says it for an incomplete list
	}
	for _, g := range c.Gaps {
		parts = append(parts, sentence(g.Text))
	}
	for _, r := range c.Remedies {
		parts = append(parts, sentence(r))
	}
	return strings.Join(parts, " ")
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
