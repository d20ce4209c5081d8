package tui

import (
	"bytes"
	"context"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/inventory"
)

// The list and the tree: a window of rows of a Listing, and a cursor in it. Only the rows of the window are ever read.

// list is the window. The cursor stays on its topic and on its line of the screen while the store moves around it.
type list struct {
	spec inventory.Spec
	l    *inventory.Listing
	tree *inventory.Listing // the last tree without a filter: it knows which branches are open

	generation int
	pending    bool // a listing is being made
	cancel     context.CancelFunc
	started    time.Time
	took       time.Duration // by the last listing made
	ended      time.Time

	working  bool                   // Work runs on l
	stale    bool                   // the store moved past the listing, and it is too early to make it again
	partial  bool                   // rows are missing that are still being put in order
	stopWork context.CancelFunc     // ends it
	rested   time.Time              // when Work had nothing to do
	waiting  *inventory.Listing     // replaces l when Work has ended
	rows     []inventory.Row        // the window
	shown    shown                  // the window with rows that stay
	apart    map[*inventory.Row]int // from which byte on names of the frame are drawn that would look the same
	cur      inventory.Pos          // place of the cursor
	line     int                    // its line in the window
	folded   bool                   // a branch was closed by hand
	first    bool                   // the next listing begins at its first row
	top      bool                   // the cursor stays on the first row, whichever that is
	seek     bool                   // the next listing is of another filter: it begins at its first hit, or at home
	home     []byte                 // the topic or level under the cursor when the filter line was opened
	goal     []byte                 // the topic that the next listing begins at; nil = where the cursor is
	at       []byte                 // the topic or level of the cursor: what happens to its row, it stays there
	settle   bool                   // at may have no row in the next listing: then the nearest is taken
	of       string                 // the filter and the shape that l was made for
}

type listedMsg struct {
	generation int
	listing    *inventory.Listing
	took       time.Duration
}

type workedMsg struct {
	listing *inventory.Listing
	more    bool
}

// row returns the row of the cursor.
func (m *model) row() (*inventory.Row, bool) {
	if s := &m.list.shown; s.line < len(s.rows) {
		return &s.rows[s.line], true
	}
	return nil, false
}

// relist has a listing made by the present spec and filter; one under way is given up.
func (m *model) relist() tea.Cmd {
	l := &m.list
	if l.cancel != nil {
		l.cancel()
	}
	l.generation++
	l.pending = true
	l.started = m.o.Now()
	ctx, cancel := context.WithCancel(m.ctx)
	l.cancel = cancel
	spec, generation, inv := l.spec, l.generation, m.inv
	spec.Filter, spec.Now, spec.Within = m.filter.filter, l.started.UnixMilli(), l.l
	now := m.o.Now
	return m.task(func() tea.Msg {
		defer cancel()
		start := now()
		made, err := inv.List(ctx, spec)
		if err != nil {
			return nil
		}
		return listedMsg{generation, made, now().Sub(start)}
	})
}

// listed takes a new listing into use.
func (m *model) listed(msg listedMsg) tea.Cmd {
	l := &m.list
	if msg.generation != l.generation {
		return nil
	}
	l.pending, l.took, l.ended = false, msg.took, m.o.Now()
	if l.working {
		// What was open is carried over, and that must wait for whoever works on the old listing.
		l.waiting = msg.listing
		l.stopWork()
		return nil
	}
	return m.use(msg.listing)
}

func (m *model) use(made *inventory.Listing) tea.Cmd {
	l := &m.list
	was := l.of
	l.of = shape(l.spec.Tree, m.filter.filter)
	if l.spec.Tree {
		if m.filter.filter != nil && l.l != nil && was == l.of {
			made.Carry(l.l) // what was closed by hand stays closed
		} else if m.filter.filter != nil {
			made.OpenAll(true)
		} else {
			if l.tree != nil {
				made.Carry(l.tree)
			}
			l.tree = made
		}
	}
	l.l = made
	if l.goal != nil {
		l.at, l.goal, l.seek = append(l.at[:0], l.goal...), nil, false
		l.first, l.top, l.line = false, false, max(m.lay.lines/2-1, 0)
		l.shown.on = nil
	}
	if l.seek {
		l.seek = false
		m.goHome(made)
	} else if l.at != nil && !l.first {
		if l.spec.Tree {
			reveal(made, l.at)
		}
		l.cur = made.Find(l.at)
		if l.settle && l.shown.on == nil {
			m.land(l.cur)
		}
	} else {
		l.line, l.first = 0, false
		m.land(made.First())
	}
	l.settle = false
	return m.work()
}

// reveal opens the branches above topic.
func reveal(l *inventory.Listing, topic []byte) {
	for i, c := range topic {
		if c != '/' {
			continue
		}
		p := l.Find(topic[:i])
		rows := l.Rows(p, 1, nil)
		if len(rows) == 0 || !bytes.Equal(rows[0].Prefix, topic[:i]) {
			continue
		}
		if rows[0].Branch && !rows[0].Open {
			l.SetOpen(p, true)
		}
	}
}

// shape names what a listing was made for: its topics, and whether it is a tree.
func shape(tree bool, f *inventory.Filter) string {
	if f == nil {
		return strconv.FormatBool(tree)
	}
	return strconv.FormatBool(tree) + " " + f.String()
}

// work lets the listing do what its rows still need, off the goroutine that hears keys.
func (m *model) work() tea.Cmd {
	l := &m.list
	if l.working || l.l == nil {
		return nil
	}
	l.working = true
	ctx, stop := context.WithCancel(m.ctx)
	l.stopWork = stop
	made := l.l
	return m.task(func() tea.Msg {
		defer stop()
		return workedMsg{made, made.Work(ctx)}
	})
}

func (m *model) worked(msg workedMsg) tea.Cmd {
	l := &m.list
	l.working = false
	if next := l.waiting; next != nil {
		l.waiting = nil
		return m.use(next)
	}
	if msg.listing != l.l || msg.more {
		return m.work()
	}
	l.rested = m.o.Now()
	return nil
}

// gather reads the rows of the window and what the detail pane shows.
func (m *model) gather() tea.Cmd {
	l := &m.list
	if l.l == nil {
		return nil
	}
	if !m.paused.IsZero() {
		m.windowStill()
		return m.gatherDetail()
	}
	var cmds []tea.Cmd
	// Making a listing again may take long: never more than a quarter of the time, and never while one is made.
	l.stale = !l.pending && l.waiting == nil && !l.l.Fresh()
	if rest := max(m.o.refresh(), 3*l.took); l.stale && !m.o.Now().Before(l.ended.Add(rest)) {
		l.stale = false
		cmds = append(cmds, m.relist())
	}
	m.window()
	l.partial = m.filter.filter == nil && int64(l.l.Len()) < m.sum.Topics
	for i := range l.rows {
		l.partial = l.partial || ordering(&l.rows[i])
	}
	// Where Work found nothing to do a moment ago it is not asked at once again.
	if l.partial && !m.o.Now().Before(l.rested.Add(m.o.refresh())) {
		cmds = append(cmds, m.work())
	}
	cmds = append(cmds, m.gatherDetail())
	return tea.Batch(cmds...)
}

// window reads the rows around the cursor.
func (m *model) window() {
	l := &m.list
	n := max(m.lay.lines, 1)
	if l.top {
		// Rows that come in above would push the first row out of the window.
		l.shown.on, l.line = nil, 0
		m.land(l.l.First())
	}
	m.backAgain()
	m.holdOn()
	was := bytes.Clone(l.at)
	l.line = min(max(l.line, 0), n-1)
	top, up := l.l.Move(l.cur, -l.line)
	l.line = -up
	l.rows = l.l.Rows(top, n, l.rows[:0])
	if short := n - len(l.rows); short > 0 && len(l.rows) > 0 {
		var more int
		if top, more = l.l.Move(top, -short); more < 0 {
			l.line -= more
			l.rows = l.l.Rows(top, n, l.rows[:0])
		}
	}
	if len(l.rows) == 1 && !l.folded && l.spec.Tree && l.rows[0].Branch && !l.rows[0].Open {
		// A lone branch says nothing: what is in it does.
		l.l.SetOpen(l.rows[0].Pos, true)
		l.rows = l.l.Rows(top, n, l.rows[:0])
	}
	l.line = max(0, min(l.line, len(l.rows)-1))
	m.linger(was, n)
	if len(l.rows) > 0 {
		l.cur = l.rows[l.line].Pos
	}
	if r, ok := m.row(); ok {
		l.at = append(l.at[:0], r.Prefix...)
		if !staying(r) {
			l.cur = r.Pos
		}
	}
}

func (m *model) fold() tea.Cmd {
	r, ok := m.row()
	if !ok {
		return nil
	}
	if r.Branch && r.Open {
		m.list.l.SetOpen(r.Pos, false)
		m.list.folded = true
		return nil
	}
	return m.up()
}

// up moves the cursor to the branch above.
func (m *model) up() tea.Cmd {
	l := &m.list
	parent := l.l.Parent(l.cur)
	if on := l.shown.on; on != nil {
		// Of a row that stays the one above is that of its own topic, not of the row beside it.
		if up, ok := m.levelAbove(on); ok {
			parent = up.Pos
		}
		m.leaveStaying()
	}
	line := 0
	for i := min(l.line, len(l.rows)-1); i >= 0; i-- {
		if l.rows[i].Pos == parent {
			line = i
			break
		}
	}
	l.line = line
	m.land(parent)
	return nil
}

func (m *model) unfold() tea.Cmd {
	r, ok := m.row()
	if !ok || !r.Branch {
		return nil
	}
	if r.Open {
		return m.moveCursor(1)
	}
	m.list.l.SetOpen(r.Pos, true)
	return m.work()
}

func (m *model) openAll(open bool) tea.Cmd {
	if m.list.l == nil {
		return nil
	}
	m.list.l.OpenAll(open)
	m.list.folded = !open
	return m.work()
}

func (m *model) toggleTree() tea.Cmd {
	m.list.spec.Tree = !m.list.spec.Tree
	m.list.settle = true // a level has no row in the flat list
	return m.relist()
}

func (m *model) cycleSort() tea.Cmd {
	m.list.spec.Sort = (m.list.spec.Sort + 1) % (inventory.ByReading + 1)
	m.list.first, m.list.top = true, true
	return m.relist()
}

func (m *model) reverseSort() tea.Cmd {
	m.list.spec.Desc = !m.list.spec.Desc
	m.list.first, m.list.top = true, true
	return m.relist()
}
