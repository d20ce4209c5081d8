package tui

import (
	"strings"
	"time"

	"retainscope/inventory"
)

// How the claim is said in few words: what it says of whom, when it was made, and how far the store has moved since.

// checked is the state of the store when the claim was made, to tell how far it has moved since.
type checked struct {
	at     time.Time
	seen   int64
	topics int64
}

// ClaimWords returns the claim of c in plain lower-case words, such as "verified", or "verified for this login; 1 200
// more are counted by the broker" where the broker counts topics that it did not send. It never fails and may be called
// by anybody.
//
// Source: MQTT 5, 3.8.4: a broker need not say that it withholds what a login may not read.
func ClaimWords(c inventory.Coverage) string {
	if n := notShown(c); n > 0 {
		return "verified for this login; " + moreCounted(n)
	}
	return c.Claim.String()
}

// notShown returns how many topics the broker counts beyond a verified list, which is then verified for this login only.
func notShown(c inventory.Coverage) int64 {
	if c.Claim != inventory.Verified {
		return 0
	}
	return c.Missing()
}

func moreCounted(n int64) string {
	if n == 1 {
		return "1 more is counted by the broker"
	}
	return number(n) + " more are counted by the broker"
}

// countedAt is the instant that the claim and its counts are of; zero = there is none yet.
func countedAt(c *inventory.Coverage) time.Time {
	if c.CountedAt.IsZero() {
		return c.EndedAt
	}
	return c.CountedAt
}

// noteCheck remembers the store as the claim was made, the first time that the screen hears of it.
func (m *model) noteCheck(topics int64) {
	if c := (checked{countedAt(&m.cov), m.cov.Seen, topics}); !c.at.Equal(m.check.at) || c.seen != m.check.seen {
		m.check = c
	}
}

// since says by how many topics the store has grown or shrunk since the claim was made; "" = by none.
func (m *model) since() string {
	if m.cov.EndedAt.IsZero() || m.cov.Claim == inventory.Scanning {
		return ""
	}
	before := m.cov.Seen
	for _, g := range m.cov.Grants {
		if strings.HasPrefix(g.Filter, "$") {
			before = m.check.topics // what came by such a filter is held, but not counted as seen
		}
	}
	switch n := m.sum.Topics - before; {
	case n > 0:
		return "+" + number(n) + " since"
	case n < 0:
		return number(n) + " since"
	}
	return ""
}

// checkedAt says when the claim was made; "" = that is not known.
func (m *model) checkedAt() string {
	at := countedAt(&m.cov)
	if at.IsZero() {
		return ""
	}
	return " " + instant(at, m.now)
}

// plainFirst turns a rule round: what anybody understands comes first, how the end of the burst was found after it.
func plainFirst(rule string) string {
	cut, gap := -1, 0
	for _, sep := range []string{"; ", ", but "} {
		if i := strings.Index(rule, sep); i >= 0 && (cut < 0 || i < cut) {
			cut, gap = i, len(sep)
		}
	}
	if cut < 0 || !strings.Contains(rule[:cut], "PINGRESP") {
		return rule
	}
	return strings.TrimSuffix(rule[cut+gap:], ".") + ". " + rule[:cut] + "."
}
