package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// Rows that the last scan did not bring: held from before, never shown to be gone, and not to be taken for the store.

const (
	wordGhost = "not in last scan" // "not shown by the last scan" is wider than the column
	// mostGhosts bounds how many are counted.
	mostGhosts = 100_000
	// countAgain is the shortest time between two counts of them.
	countAgain = 2 * time.Second
)

// ghosts is how many there were at the last count.
type ghosts struct {
	n        int64
	at       time.Time // of the count
	ended    time.Time // end of the scan it was for
	version  uint64    // of the store
	counting bool
}

type ghostsMsg struct{ n int64 }

// scanning reports whether a scan is under way: what it has not brought yet is no sign of anything.
func (m *model) scanning() bool { return m.link.Scanning || m.cov.Claim == inventory.Scanning }

// settled returns s as it is to be shown: without the sign of not being seen while the scan still runs.
func (m *model) settled(s inventory.Slot) inventory.Slot {
	if m.scanning() {
		s.Flags &^= inventory.FlagNotSeen
	}
	return s
}

// countGhosts counts, off the key path, what the last scan did not show: after every scan, and while there are any as the
// store moves. It returns nil when the count at hand still holds.
func (m *model) countGhosts(now time.Time) tea.Cmd {
	g := &m.ghosts
	fresh := g.ended.Equal(m.cov.EndedAt)
	if g.counting || m.scanning() || m.cov.EndedAt.IsZero() || !m.paused.IsZero() ||
		fresh && (g.n == 0 || g.version == m.sum.Version || now.Sub(g.at) < countAgain) {
		return nil
	}
	g.counting, g.at, g.ended, g.version = true, now, m.cov.EndedAt, m.sum.Version
	inv, ctx := m.inv, m.ctx
	return m.task(func() tea.Msg { return ghostsMsg{int64(len(inv.NotSeen(ctx, mostGhosts)))} })
}

// ghostFacts says how many there are.
func (m *model) ghostFacts() []fact {
	n := m.ghosts.n
	if n == 0 || m.scanning() {
		return nil
	}
	text := number(n)
	if n >= mostGhosts {
		text += "+"
	}
	return []fact{{text: text + " not shown by the last scan (!)", short: text + " not in scan", style: m.pen.pal.warn, rank: 9}}
}
