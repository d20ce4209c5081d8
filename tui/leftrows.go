package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// The rows of the screen of what looks left behind: made once and kept, for a group may have thousands of topics.

// leftRow is one row: a group, a reason in one line or more, a member, or a prefix.
type leftRow struct {
	key    string
	at     int // its first line
	group  *Group
	reason []string // its lines; what was cut away is in none of them
	label  string   // in front of the first one
	cut    bool     // there is more than fits, or it was opened to show it
	member *Member
	prefix *Prefix
}

func (r *leftRow) height() int { return max(1, len(r.reason)) }

// leftBuilt tells whether rows have to be made again: a group may have thousands.
type leftBuilt struct {
	news, width, order, byPrefix int
	prefixes, tall               bool
}

var (
	groupOrders  = [...]string{"evidence", "owner", "silence", "topics"}
	prefixOrders = [...]string{"topics", "share", "began", "fell back", "name"}
)

func (g *Group) key() string {
	if g.Key != "" {
		return g.Key
	}
	return g.Convention + "\x00" + g.Owner + "\x00" + g.Device
}

// buildLeft makes the rows, and brings the cursor back to what it was on.
func (m *model) buildLeft() {
	l := &m.left
	now := leftBuilt{l.news, m.lay.w, l.order, l.byPrefix, l.prefixes, m.lay.tall}
	if now != l.built {
		l.built = now
		m.makeLeft()
	}
	if r, ok := l.row(); !ok || r.key != l.at {
		if i := l.find(l.at); i >= 0 {
			l.cur = i
		}
	}
	l.clamp(m.leftLines())
	l.own, _ = l.row()
}

func (l *leftPage) find(key string) int {
	return slices.IndexFunc(l.rows, func(r leftRow) bool { return r.key == key })
}

// holdOn keeps the row of the cursor where it was when what it is about is not among those that came: the next key is
// meant for it. It is let go of when the rows are made again without the cursor on it.
func (l *leftPage) holdOn() {
	own := l.own
	if l.at == "" || own.key != l.at || len(l.rows) == 0 || l.find(l.at) >= 0 {
		return
	}
	if own.member != nil {
		// The same topic may stand in another group now.
		if i := slices.IndexFunc(l.rows, func(r leftRow) bool { return r.member != nil && r.member.Topic == own.member.Topic }); i >= 0 {
			l.at, l.cur = l.rows[i].key, i
			return
		}
		was := *own.member
		was.Phrase, was.Left = wordNotListed, false
		own.member = &was
	} else if own.group != nil {
		if i := l.find("g" + own.group.key()); i >= 0 {
			l.at, l.cur = l.rows[i].key, i // of a reason the group is left
			return
		}
		was := *own.group
		was.Strength, was.Go = wordNotListed, 0
		own.group = &was
	}
	l.cur = min(l.cur, len(l.rows))
	if own.group != nil {
		l.cur = l.within(own.group.key(), l.cur)
	}
	l.rows = slices.Insert(l.rows, l.cur, own)
}

// within returns the place nearest to i where a row of a group can stand: below its head, or between two groups where it
// has none.
func (l *leftPage) within(key string, i int) int {
	in := func(i int) bool { return l.rows[i].group != nil && l.rows[i].group.key() == key }
	if head := l.find("g" + key); head >= 0 {
		i = max(i, head+1)
		for i > head+1 && !in(i-1) {
			i--
		}
		return i
	}
	for i < len(l.rows) && l.rows[i].key[0] != 'g' {
		i++
	}
	return i
}

// wordNotListed is what a row says that only the cursor keeps.
const wordNotListed = "not listed now"

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
	l.holdOn()
	l.total = 0
	for i := range l.rows {
		l.rows[i].at = l.total
		l.total += l.rows[i].height()
	}
}

func (l *leftPage) addGroup(m *model, g *Group) {
	key := g.key()
	l.rows = append(l.rows, leftRow{key: "g" + key, group: g})
	if !l.open(key) {
		return
	}
	for i, f := range g.Reasons {
		r := leftRow{key: "r" + key + "\x00" + strconv.Itoa(i), group: g, label: f.Strength}
		r.reason, r.cut = l.reasonLines(m, f.Reason, l.whole[r.key])
		l.rows = append(l.rows, r)
	}
	for i := range g.Members {
		l.rows = append(l.rows, leftRow{key: "m" + key + "\x00" + g.Members[i].Topic, group: g, member: &g.Members[i]})
	}
}

// reasonLines breaks a reason into lines, and says whether it has more than are shown at first: enter shows all.
func (l *leftPage) reasonLines(m *model, text string, whole bool) ([]string, bool) {
	most := 3
	if !m.lay.tall {
		most = 1
	}
	width := max(m.lay.w-labelWidth(m)-7, 12)
	lines := wrapProse(m.pen.m, text, width)
	if len(lines) <= most || whole {
		return lines, len(lines) > most
	}
	rest := strings.Join(lines[most-1:], " ")
	last, _, _ := m.pen.m.cut(nil, []byte(rest), width, asText)
	return append(lines[:most-1:most-1], string(last)), true
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
