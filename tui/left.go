package tui

import (
	"cmp"
	"slices"
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

	prefixes bool // the table instead of the groups
	order    int  // of the groups
	byPrefix int  // order of the table
	allShut  bool // groups are closed unless named in except
	except   map[string]bool
	rows     []leftRow
	built    leftBuilt // what rows were made of
	news     int       // moves when groups came, or were opened or closed
	cur, top int
	at       string // what the cursor is on, to find it again
}

// leftRow is one line: a group, one line of a reason, a member, or a prefix.
type leftRow struct {
	key    string
	group  *Group
	reason string // with label in front, wrapped
	label  string
	member *Member
	prefix *Prefix
}

// leftBuilt tells whether rows have to be made again: a group may have thousands.
type leftBuilt struct {
	news, width, order, byPrefix int
	prefixes                     bool
}

type leftMsg struct {
	data LeftBehind
	took time.Duration
}

var (
	groupOrders  = [...]string{"evidence", "owner", "silence", "topics"}
	prefixOrders = [...]string{"topics", "share", "began", "fell back", "name"}
)

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

func (g *Group) key() string {
	if g.Key != "" {
		return g.Key
	}
	return g.Convention + "\x00" + g.Owner + "\x00" + g.Device
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

// buildLeft makes the rows, and brings the cursor back to what it was on.
func (m *model) buildLeft() {
	l := &m.left
	now := leftBuilt{l.news, m.lay.w, l.order, l.byPrefix, l.prefixes}
	if now != l.built {
		l.built = now
		m.makeLeft()
	}
	if r, ok := l.row(); !ok || r.key != l.at {
		if i := slices.IndexFunc(l.rows, func(r leftRow) bool { return r.key == l.at }); i >= 0 {
			l.cur = i
		}
	}
	l.clamp(m.leftLines())
}

func (m *model) makeLeft() {
	l := &m.left
	l.rows = l.rows[:0]
	if l.prefixes {
		for _, p := range l.sortedPrefixes() {
			l.rows = append(l.rows, leftRow{key: "p" + p.Name, prefix: p})
		}
	} else {
		for _, g := range l.sortedGroups() {
			l.addGroup(m, g)
		}
	}
}

func (l *leftPage) addGroup(m *model, g *Group) {
	key := g.key()
	l.rows = append(l.rows, leftRow{key: "g" + key, group: g})
	if !l.open(key) {
		return
	}
	for i, f := range g.Reasons {
		for j, line := range wrapProse(m.pen.m, f.Reason, max(m.lay.w-labelWidth(m)-7, 12)) {
			label := ""
			if j == 0 {
				label = f.Strength
			}
			l.rows = append(l.rows, leftRow{key: "r" + key + string(rune('0'+i)) + string(rune('0'+j)), group: g, label: label, reason: line})
		}
	}
	for i := range g.Members {
		l.rows = append(l.rows, leftRow{key: "m" + key + "\x00" + g.Members[i].Topic, group: g, member: &g.Members[i]})
	}
}

// labelWidth is the width of what stands in front of reasons and topics.
func labelWidth(m *model) int {
	if m.lay.w < 60 {
		return 8
	}
	return 14
}

func (l *leftPage) sortedGroups() []*Group {
	all := make([]*Group, len(l.data.Groups))
	for i := range l.data.Groups {
		all[i] = &l.data.Groups[i]
	}
	slices.SortStableFunc(all, func(a, b *Group) int {
		if a.Hazard != b.Hazard { // hazards stand first in every order
			if a.Hazard {
				return -1
			}
			return 1
		}
		switch groupOrders[l.order] {
		case "owner":
			return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Device, b.Device))
		case "silence":
			return cmp.Compare(b.Silent, a.Silent)
		case "topics":
			return cmp.Compare(b.Go, a.Go)
		}
		return 0
	})
	return all
}

// share returns the part of the topics with expiry in per mille, -1 when it is known of none.
func (p *Prefix) share() int {
	if p.Expiry+p.Never == 0 {
		return -1
	}
	return 1000 * p.Expiry / (p.Expiry + p.Never)
}

func (l *leftPage) sortedPrefixes() []*Prefix {
	all := make([]*Prefix, len(l.data.Prefixes))
	for i := range l.data.Prefixes {
		all[i] = &l.data.Prefixes[i]
	}
	slices.SortStableFunc(all, func(a, b *Prefix) int {
		switch prefixOrders[l.byPrefix] {
		case "share":
			return cmp.Compare(a.share(), b.share())
		case "began":
			return cmp.Compare(b.Began, a.Began)
		case "fell back":
			return cmp.Compare(b.Fell, a.Fell)
		case "name":
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Compare(b.Topics, a.Topics)
	})
	return all
}

// leftLines is how many rows are in sight.
func (m *model) leftLines() int {
	if m.lay.tall {
		return max(m.lay.body-2, 1) // the title and an empty line
	}
	return max(m.lay.body, 1)
}

func (l *leftPage) clamp(lines int) {
	l.cur = max(0, min(l.cur, len(l.rows)-1))
	l.top = max(min(l.top, l.cur), l.cur-lines+1)
	l.top = max(0, min(l.top, len(l.rows)-lines))
	l.at = ""
	if l.cur < len(l.rows) {
		l.at = l.rows[l.cur].key
	}
}

func (m *model) moveLeft(rows int) {
	m.left.cur += rows
	m.left.clamp(m.leftLines())
}

func (l *leftPage) row() (leftRow, bool) {
	if l.cur < len(l.rows) {
		return l.rows[l.cur], true
	}
	return leftRow{}, false
}

// foldLeft opens or closes the group under the cursor, which moves to its head.
func (m *model) foldLeft(open bool) tea.Cmd {
	l := &m.left
	if r, ok := l.row(); ok && r.group != nil {
		l.setOpen(r.group.key(), open)
		l.at = "g" + r.group.key()
	}
	return nil
}

func (m *model) foldAllLeft(open bool) tea.Cmd {
	l := &m.left
	if r, ok := l.row(); ok && r.group != nil {
		l.at = "g" + r.group.key()
	}
	l.allShut, l.except = !open, nil
	l.news++
	return nil
}

// enterLeft goes to the topic under the cursor, or opens and closes a group.
func (m *model) enterLeft() tea.Cmd {
	switch r, ok := m.left.row(); {
	case !ok:
	case r.member != nil:
		return m.goTo([]byte(r.member.Topic))
	case r.prefix != nil:
		return m.goTo([]byte(r.prefix.Name))
	default:
		return m.foldLeft(!m.left.open(r.group.key()))
	}
	return nil
}

// goTo shows a topic, or a level, in the list of topics. A filter is let go of, since it may hide it.
func (m *model) goTo(topic []byte) tea.Cmd {
	l := &m.list
	cmd := m.show(topics)
	if m.filter.set() || l.l == nil {
		l.goal = topic
		m.filter.text, m.filter.at = m.filter.text[:0], 0
		m.filter.parse()
		return tea.Batch(cmd, m.relist())
	}
	if l.spec.Tree {
		reveal(l.l, topic)
	}
	l.cur, l.line = l.l.Find(topic), max(m.lay.lines/2-1, 0)
	return tea.Batch(cmd, m.work())
}

func (m *model) togglePrefixes() tea.Cmd {
	l := &m.left
	l.prefixes = !l.prefixes
	l.cur, l.top, l.at = 0, 0, ""
	return nil
}

func (m *model) sortLeft() tea.Cmd {
	l := &m.left
	if l.prefixes {
		l.byPrefix = (l.byPrefix + 1) % len(prefixOrders)
	} else {
		l.order = (l.order + 1) % len(groupOrders)
	}
	l.cur, l.top, l.at = 0, 0, ""
	return nil
}
