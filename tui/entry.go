package tui

import (
	"retainscope/actions"
)

// One entry of the manifest: in full, and in the detail pane of its topic.

// writeEntry writes one entry in full.
func (m *model) writeEntry(w *writer, e *actions.Entry) {
	m.writeTopic(w, e.Topic)
	m.writeAct(w, e.Topic)
	st, phrase, why := m.standShown(e)
	w.text(w.p.pal.of(st.tone()), asSentence(phrase)+" "+asSentence(why))
	w.blank()
	w.item("shall be", factWidth, "", map[actions.Disposition]string{actions.Hold: "on hold", actions.Clear: "cleared", actions.Preserve: "preserved"}[e.Disposition])
	w.item("owner", factWidth, "", said(e.Owner))
	w.item("purpose", factWidth, "", said(e.Purpose))
	if e.Reason != "" {
		w.item("why", factWidth, "", e.Reason)
	}
	if e.ApprovedBy != "" {
		w.item("approved", factWidth, "", "by "+e.ApprovedBy+", "+instant(e.ApprovedAt, m.now))
	}
	if e.Fingerprint != "" {
		w.item("fingerprint", factWidth, w.p.pal.dim, e.Fingerprint)
	}
	if e.Line > 0 {
		w.item("written at", factWidth, w.p.pal.dim, "line "+number(int64(e.Line))+" of "+m.o.Retiring.Terms().Manifest)
	}
	w.title("Writers")
	for i := range e.Writers {
		x := &e.Writers[i]
		text := writerWords(x)
		if !x.EvidenceAt.IsZero() {
			text += ", " + instant(x.EvidenceAt, m.now)
		}
		w.text("", text)
	}
	if len(e.Writers) == 0 {
		w.text(w.p.pal.dim, "None named.")
	}
	if open := e.Provisional(); e.Disposition == actions.Clear && len(open) > 0 {
		w.text(w.p.pal.warn, "The approval is provisional, and so is what comes of it:")
		for _, why := range open {
			w.item("-", 2, w.p.pal.warn, why)
		}
	}
}

// writeDecision says in the detail pane what the manifest says of a topic.
func (m *model) writeDecision(w *writer, topic []byte) {
	e, ok := m.sheet.entry(topic)
	if !ok || !m.paused.IsZero() {
		return
	}
	st, phrase, why := m.stand(e)
	w.blank()
	p := w.begin()
	p.sayIn(p.pal.strong, "Manifest")
	p.say("  ")
	p.in(p.pal.of(st.tone()))
	p.sentence(phrase)
	w.end()
	w.text(w.p.pal.dim, asSentence(why))
	if e.ApprovedBy != "" {
		w.item("approved", factWidth, "", "by "+e.ApprovedBy+", "+instant(e.ApprovedAt, m.now))
	}
	w.item("owner", factWidth, "", said(e.Owner))
	for i, why := range e.Provisional() {
		if e.Disposition == actions.Clear {
			label := ""
			if i == 0 {
				label = "provisional"
			}
			w.item(label, factWidth, w.p.pal.warn, why)
		}
	}
}

func said(s string) string {
	if s == "" {
		return "not said"
	}
	return s
}
