package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// What the manifest holds, entry by entry, and how each stands to what is held now.

// approvedList is the state of that screen.
type approvedList struct {
	cur, top int
	at       string // topic of the row of the cursor, to find it again
	full     bool   // the entry of the cursor is shown in full
	astray   bool   // that topic is in the manifest no more
}

func (m *model) approvedRow() (*actions.Entry, bool) {
	if i := m.approved.cur; i >= 0 && i < len(m.sheet.entries) && !m.approved.astray {
		return &m.sheet.entries[i], true
	}
	return nil, false
}

func (m *model) noApprovedRow() string {
	if _, ok := m.approvedRow(); !ok {
		return "no entry is under the cursor"
	}
	if m.approved.full {
		return "it is shown in full"
	}
	return ""
}

func (m *model) clampApproved() {
	a := &m.approved
	i, listed := m.sheet.index[a.at]
	if listed {
		a.cur = i
	}
	was := a.astray
	// What went out of the manifest took its row with it: the cursor is on none until it is moved, so that no key is taken
	// for the entry that came to stand there.
	a.astray = a.at != "" && !listed && len(m.sheet.entries) > 0
	if a.astray && !was {
		m.tell(notable, "The entry under the cursor is not in the manifest any more: "+Printable([]byte(a.at)))
	}
	lines := m.tableLines()
	a.cur = max(0, min(a.cur, len(m.sheet.entries)-1))
	a.top = max(min(a.top, a.cur), a.cur-lines+1)
	a.top = max(0, min(a.top, len(m.sheet.entries)-lines))
	if a.astray {
		return
	}
	a.at = ""
	if e, ok := m.approvedRow(); ok {
		a.at = string(e.Topic)
	}
}

func (m *model) moveApproved(rows int) {
	a := &m.approved
	if a.astray && rows > 0 {
		rows-- // another entry stands in its place already
	}
	a.cur, a.at = max(0, min(a.cur+rows, len(m.sheet.entries)-1)), ""
	m.clampApproved()
}

// askWithdraw asks whether an approval is to be taken back.
func (m *model) askWithdraw() tea.Cmd {
	e, ok := m.approvedRow()
	if !ok {
		return nil
	}
	topic := append([]byte(nil), e.Topic...)
	m.dialog = &dialog{
		title:   "Put this topic back on hold?",
		text:    []string{Printable(topic), "Who approved it, when, and the fingerprint go out of the manifest. Owner, purpose and writers stay. Nothing is sent."},
		choices: []choice{{label: "no"}, {label: "yes, on hold"}},
		then: func(m *model, chosen int) tea.Cmd {
			if chosen != 1 {
				return nil
			}
			return m.withdraw(topic)
		},
	}
	return nil
}

type withdrawnMsg struct {
	topic []byte
	err   error
}

func (m *model) withdraw(topic []byte) tea.Cmd {
	r := m.o.Retiring
	ctx, cancel := context.WithTimeout(m.ctx, decideLimit)
	return m.task(func() tea.Msg {
		defer cancel()
		return withdrawnMsg{topic, r.Withdraw(ctx, topic)}
	})
}

func (m *model) withdrawn(msg withdrawnMsg) tea.Cmd {
	if msg.err != nil {
		m.tell(alarming, "Not saved: "+asSentence(PrintableText([]byte(msg.err.Error()))))
	} else {
		m.still.decide(msg.topic)
		m.tell(fine, "On hold again: "+Printable(msg.topic))
	}
	return m.readManifest()
}

// enterApproved shows the entry in full, or goes back to the list.
func (m *model) enterApproved() tea.Cmd {
	m.approved.full = true
	m.page.scroll = 0
	return nil
}

// drawApproved draws the list of entries.
func (m *model) drawApproved() {
	m.clampApproved()
	a, all := &m.approved, m.sheet.entries
	t := table{title: m.approvedTitle(), words: m.approvedWords(), top: a.top, n: len(all), row: func(i int) { m.drawApprovedRow(&all[i], i == a.cur && !a.astray) }}
	if len(all) > 0 {
		t.headings = m.drawApprovedHeadings
	}
	m.drawTable(t)
}

func (m *model) approvedTitle() []fact {
	p := &m.pen
	var holds, spent, changed int64
	for i := range m.sheet.entries {
		switch st, _, _ := m.standShown(&m.sheet.entries[i]); {
		case st.holds():
			holds++
		case st == standSpent || st == standDone:
			spent++
		case st == standChanged:
			changed++
		}
	}
	text, short := counted(int64(len(m.sheet.entries)), "topic")+" listed, "+number(holds)+" approved to be cleared", number(holds)+" approved"
	for _, other := range []struct {
		n    int64
		what string
	}{{spent, " used up"}, {changed, " changed since approval"}} {
		if other.n > 0 {
			text += ", " + number(other.n) + other.what
			short += ", " + number(other.n) + other.what
		}
	}
	all := []fact{{text: text, short: short, style: p.pal.strong, rank: 6}}
	if m.o.Retiring != nil {
		all = append(all, fact{text: "in " + m.o.Retiring.Terms().Manifest, style: p.pal.dim, rank: 5, wire: true})
	}
	return append(all, fact{text: "what is not listed is on hold", style: p.pal.dim, rank: 2})
}

// approvedWords says why there is no row, or what is wrong with the manifest.
func (m *model) approvedWords() []pageLine {
	s := &m.sheet
	var text []string
	switch {
	case m.o.Retiring == nil:
		text = []string{"Nothing can be approved: " + m.noManifest() + "."}
	case !s.read && !m.paused.IsZero():
		text = []string{"The manifest was not read yet when the picture was held still; p moves on."}
	case !s.read:
		text = []string{"Reading the manifest."}
	case s.wrong != "":
		text = []string{"The manifest cannot be used, so that nothing is approved. It is in " + m.o.Retiring.Terms().Manifest + " and is left as it is:"}
		if len(s.faults) == 0 {
			text = append(text, "- "+PrintableText([]byte(s.wrong)))
		}
		for _, fault := range s.faults {
			text = append(text, "- "+fault)
		}
	case len(s.entries) == 0 && !m.lay.tall:
		text = []string{"Nothing is approved. a on a topic does that, saved to " + m.o.Retiring.Terms().Manifest}
	case len(s.entries) == 0:
		text = []string{"Nothing is approved. What the manifest does not list is on hold.",
			"a on a topic says whose it is, who could write it, and what shall become of it; that is saved to " + m.o.Retiring.Terms().Manifest + ". x clears one that was approved."}
	default:
		return nil
	}
	return prose(&m.pen, text, m.lay.w-2)
}

// approvedColumns are the widths of the columns: state, topic, by whom.
func (m *model) approvedColumns() (state, topic, by int) {
	state = 23
	if m.lay.w < 60 {
		state = 16
	}
	if m.lay.w >= 80 {
		by = 20
	}
	return state, max(m.lay.w-2-state-by-2, 8), by
}

func (m *model) drawApprovedHeadings() {
	p := &m.pen
	state, topic, by := m.approvedColumns()
	p.in(p.pal.dim)
	p.to(2)
	p.say("STATE")
	p.to(2 + state)
	p.say("TOPIC")
	if by > 0 {
		p.to(2 + state + topic + 1)
		p.say("APPROVED")
	}
	p.in("")
}

func (m *model) drawApprovedRow(e *actions.Entry, selected bool) {
	p := &m.pen
	if selected {
		p.say(p.g.cursor)
		p.hold(p.pal.selected)
	} else {
		p.say(" ")
	}
	state, topic, by := m.approvedColumns()
	st, phrase, _ := m.standShown(e)
	t := st.tone()
	// A clear that went well says nothing of a topic that is there again.
	if words, tone, ok := m.actReading(e.Topic); ok && (st != standSpent || tone == alarming) {
		phrase, t = words, tone
	}
	p.to(2)
	p.in(p.pal.of(t))
	p.wire([]byte(inCells(phrase, state-1)), state-1, asText)
	p.in("")
	p.to(2 + state)
	var cells int
	p.buf, cells, _ = p.m.cutMiddle(p.buf, e.Topic, topic, asName)
	p.x += cells
	if by > 0 && e.ApprovedBy != "" {
		p.to(2 + state + topic + 1)
		p.in(p.pal.dim)
		p.wire([]byte(instant(e.ApprovedAt, m.now)+" "+e.ApprovedBy), by, asText)
		p.in("")
	}
	if selected {
		p.to(p.right)
	}
}

// leaveApproved goes back from the entry to the list, and from there to the topics.
func (m *model) leaveApproved() tea.Cmd {
	if m.approved.full {
		m.approved.full = false
		return nil
	}
	return m.show(topics)
}

// noApprove is why no approval can be opened here; "" = one can.
func (m *model) noApprove() string {
	if why := m.noRetiring(); why != "" {
		return why
	}
	if _, _, ok := m.subject(); !ok {
		return "no retained topic is under the cursor"
	}
	return ""
}

// noWithdraw is why there is nothing to take back; "" = there is.
func (m *model) noWithdraw() string {
	e, ok := m.approvedRow()
	switch {
	case !ok:
		return "no entry is under the cursor"
	case e.Disposition == actions.Hold:
		return "it is on hold"
	}
	return m.noRetiring()
}
