package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// What looks left behind, by owner and device, and how much of each first level carries an expiry. Nothing is chosen
// here: each topic is looked at by itself.

// leftPage is the state of that screen.
type leftPage struct {
	data    LeftBehind
	have    bool
	pending bool          // being gathered on another goroutine
	version uint64        // of the store when it was asked for
	ended   time.Time     // when it came
	took    time.Duration // to gather

	prefixes bool   // the table instead of the groups
	beside   string // what the cursor was on in the one that is not shown
	order    int    // of the groups
	byPrefix int    // order of the table
	allShut  bool   // groups are closed unless named in except
	except   map[string]bool
	whole    map[string]bool // reasons that are shown in full
	rows     []leftRow
	total    int       // lines of all rows
	built    leftBuilt // what rows were made of
	news     int       // moves when groups came, or were opened or closed
	cur, top int       // a row, and the first line in sight
	at       string    // what the cursor is on, to find it again
	own      leftRow   // the row of it
}

type leftMsg struct {
	data LeftBehind
	took time.Duration
}

// stale reports whether what is shown is to be gathered again: never more than a quarter of the time.
func (l *leftPage) stale(m *model, now time.Time) bool {
	if m.screen != leftBehind || m.o.Readings == nil || l.pending || !m.paused.IsZero() {
		return false
	}
	rest := max(time.Second, 3*l.took)
	unread := len(l.data.Prefixes) == 0 && m.sum.Topics > 0
	// Silence grows while nothing changes, so what is shown is not let grow old.
	old := !now.Before(l.ended.Add(max(10*time.Second, rest)))
	return !l.have || old || (unread || m.sum.Version != l.version) && !now.Before(l.ended.Add(rest))
}

// gatherLeft has the groups gathered where that is due, off the goroutine that hears keys.
func (m *model) gatherLeft() tea.Cmd {
	l := &m.left
	if !m.paused.IsZero() || !l.stale(m, m.o.Now()) {
		return nil
	}
	l.pending, l.version = true, m.sum.Version
	now, from := m.o.Now, m.o.Readings
	return m.task(func() tea.Msg {
		start := now()
		data := from.LeftBehind(start.UnixMilli())
		return leftMsg{data, now().Sub(start)}
	})
}

func (m *model) tookLeft(msg leftMsg) {
	l := &m.left
	l.data, l.took, l.have, l.pending, l.ended = msg.data, msg.took, true, false, m.o.Now()
	l.news++
}

func (l *leftPage) open(key string) bool { return l.allShut == l.except[key] }

func (l *leftPage) setOpen(key string, open bool) {
	if l.open(key) == open {
		return
	}
	if l.except == nil {
		l.except = map[string]bool{}
	}
	l.except[key] = !l.except[key]
	l.news++
}
