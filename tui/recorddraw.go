package tui

import (
	"strings"

	"retainscope/actions"
	"retainscope/inventory"
)

// How the record is drawn.

func (m *model) drawRecord() {
	m.clampRecord()
	r := &m.record
	t := table{title: m.recordTitle(), words: m.recordWords(), top: r.top, n: len(r.ops), row: func(i int) { m.drawRecordRow(&r.ops[i], i == r.cur) }}
	if len(r.ops) > 0 {
		t.headings = m.drawRecordHeadings
	}
	m.drawTable(t)
}

func (m *model) recordTitle() []fact {
	p := &m.pen
	r := &m.record
	all := []fact{{text: counted(int64(len(r.ops)), "operation") + ", newest first", short: counted(int64(len(r.ops)), "operation"), style: p.pal.strong, rank: 6}}
	switch {
	case !m.paused.IsZero():
	case r.loading:
		all = append(all, fact{text: "reading, " + counted(r.lined.Load(), "line") + " so far", style: p.pal.warn, rank: 9})
	case r.err != "":
		all = append(all, fact{text: r.err, style: p.pal.bad, rank: 9, wire: true})
	}
	if r.wrong != "" {
		all = append(all, fact{text: "NOT AS IT WAS WRITTEN: v checks", short: "NOT AS WRITTEN", style: p.pal.bad, rank: 10})
	}
	if r.open > 0 {
		all = append(all, fact{text: number(int64(r.open)) + " without an outcome: r reads back", style: p.pal.bad, rank: 8})
	}
	if r.skipped > 0 {
		all = append(all, fact{text: counted(r.skipped, "line") + " not readable", style: p.pal.warn, rank: 7})
	}
	all = append(all, fact{text: counted(r.lines, "line"), style: p.pal.dim, rank: 2})
	if r.head != "" {
		all = append(all, fact{text: "ends in " + r.head[:min(16, len(r.head))], style: p.pal.dim, rank: 3})
	}
	return all
}

// recordWords says why there is no row.
func (m *model) recordWords() []pageLine {
	r := &m.record
	if len(r.ops) > 0 {
		return nil
	}
	text := []string{"Nothing was cleared yet. What is cleared stands here, with its evidence, before and after."}
	switch {
	case m.o.Retiring == nil:
		text = []string{"There is no record: " + m.noManifest() + "."}
	case !r.have && !m.paused.IsZero():
		text = []string{"The record was not read yet when the picture was held still; p moves on."}
	case r.loading:
		text = []string{"Reading the record: " + counted(r.lined.Load(), "line") + " so far. esc stops."}
	case r.err != "":
		text = []string{"The record could not be read. " + r.err}
	}
	return prose(&m.pen, text, m.lay.w-2)
}

// recordColumns are the widths of the columns: when, verdict, topic, owner.
func (m *model) recordColumns() (when, verdict, topic, owner int) {
	when, verdict = 16, 23
	switch {
	case m.lay.w < 60:
		when, verdict = 9, 13
	case m.lay.w >= 100:
		owner = 22
	}
	return when, verdict, max(m.lay.w-2-when-verdict-owner-1, 8), owner
}

func (m *model) drawRecordHeadings() {
	p := &m.pen
	when, verdict, topic, owner := m.recordColumns()
	p.in(p.pal.dim)
	p.to(2)
	p.say("BEGUN")
	p.to(2 + when)
	p.say("VERDICT")
	p.to(2 + when + verdict)
	p.say("TOPIC")
	if owner > 0 {
		p.to(2 + when + verdict + topic)
		p.say("OWNER")
	}
	p.in("")
}

// summaryWords says in a few words how an operation stands.
func summaryWords(s *actions.Summary) (string, tone) {
	switch {
	case s.Running != "":
		return "runs: " + s.Running, notable
	case s.Open && s.SentNothing:
		return "unknown, sent nothing", notable
	case s.Open:
		return "UNKNOWN, no outcome", alarming
	case s.Restored:
		return "put back since", notable
	case s.PutBack:
		return s.After, notable
	}
	text, t := verdictWords(s.Verdict)
	if s.Provisional && s.Verdict == actions.ClearedVerified {
		return "cleared, provisional", notable
	}
	return text, t
}

// thereAgainNow reports whether the topic of a clear that was accepted holds something now, though nothing was put back
// from here and it was not cleared again since.
func (m *model) thereAgainNow(s *actions.Summary) bool {
	if m.link.State != inventory.Watching || !m.record.past.LeftEmpty(*s) {
		return false
	}
	_, held := m.inv.Find(s.Topic)
	return held
}

func (m *model) drawRecordRow(s *actions.Summary, selected bool) {
	p := &m.pen
	if selected {
		p.say(p.g.cursor)
		p.hold(p.pal.selected)
	} else {
		p.say(" ")
	}
	when, verdict, topic, owner := m.recordColumns()
	p.to(2)
	at := instant(s.Begun, m.now)
	if len(at) >= when {
		at = s.Begun.In(m.now.Location()).Format("2 Jan")
	}
	p.sayIn(p.pal.dim, at)
	p.to(2 + when)
	text, t := summaryWords(s)
	if m.thereAgain(s) {
		text, t = "cleared, there again", alarming
	}
	p.in(p.pal.of(t))
	p.wire([]byte(inCells(text, verdict-1)), verdict-1, asText)
	p.in("")
	p.to(2 + when + verdict)
	var cells int
	p.buf, cells, _ = p.m.cutMiddle(p.buf, s.Topic, topic-1, asName)
	p.x += cells
	if owner > 0 {
		p.to(2 + when + verdict + topic)
		p.in(p.pal.dim)
		p.wire([]byte(s.Owner), owner, asText)
		p.in("")
	}
	if selected {
		p.to(p.right)
	}
}

// writeOperation writes one operation in full, as it is read by a person.
func (m *model) writeOperation(w *writer, op *actions.Operation) {
	const labels, indent = 17, 2 // of the report
	label := labels
	if m.lay.w < 60 {
		label = 0
	}
	for i, line := range strings.Split(strings.TrimRight(op.Report(PrintableText), "\n"), "\n") {
		if i == 0 {
			w.text(w.p.pal.strong, asSentence(line))
			if s, ok := m.record.past.Last(op.Topic); ok && s.ID == op.ID && m.thereAgain(&s) {
				w.text(w.p.pal.bad, "The topic is there again, as this screen sees it now: somebody still writes it, or put it back.")
			}
			if m.newerThanShown(op) {
				w.text(w.p.pal.warn, "Part of this was written since the picture is held still.")
			}
			continue
		}
		rest, ok := strings.CutPrefix(line, "  ")
		if !ok || len(rest) < labels {
			w.text("", strings.TrimSpace(line))
			continue
		}
		name, text := strings.TrimSpace(rest[:labels-1]), rest[labels:]
		style := ""
		if strings.HasPrefix(text, "open: ") {
			style = w.p.pal.warn
		}
		if label == 0 {
			if name != "" {
				p := w.begin()
				p.sayIn(p.pal.dim, name)
				w.end()
			}
			w.left += indent
			w.text(style, text)
			w.left -= indent
			continue
		}
		w.item(name, label, style, text)
	}
}
