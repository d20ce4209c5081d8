package tui

import (
	"slices"
	"strings"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// How the approval is drawn.

// writeExactTopic writes the topic of a form in full where its title cannot say it all.
func (m *model) writeExactTopic(w *writer, f form) {
	what, topic := f.title()
	if plain(topic) && len(topic)+len(what)+3 <= m.lay.w {
		return
	}
	m.writeTopic(w, topic)
}

// mostPayload is how many lines of the value a form shows.
const mostPayload = 3

func (f *approveForm) title() (string, []byte) {
	if g := f.group; g != nil && len(g.topics) > 1 {
		if i := slices.Index(g.topics, string(f.topic)); i >= 0 {
			return "Approve " + number(int64(i+1)) + " of " + number(int64(len(g.topics))) + ":", f.topic
		}
	}
	return "Approve", f.topic
}

func (f *approveForm) write(m *model, w *writer) {
	m.writeExactTopic(w, m.form)
	if f.was != nil {
		_, phrase, why := m.stand(f.was)
		w.item("manifest", f.labels, "", phrase+f.byWhom(m))
		w.text(w.p.pal.dim, asSentence(why))
	}
	f.writeDraft(m, w)
	f.writeValue(m, w)
	f.places.write(w, f.disposition)
	f.places.write(w, f.owner)
	if f.guess.Rule != "" {
		what := "a guess: "
		switch owner := Printable([]byte(f.guess.Owner)); {
		case owner == "":
			what = "no guess: "
		case owner != f.owner.String():
			what = "a guess is " + owner + ": "
		}
		w.item("", f.labels, w.p.pal.dim, what+f.guess.Rule)
	}
	f.places.write(w, f.purpose)
	f.places.write(w, f.reason)
	f.writeWriters(w)
	w.blank()
	if f.err != "" {
		w.text(w.p.pal.bad, f.err)
	}
	if by := f.approver(m); by != "" {
		w.item("approved by", f.labels, "", by)
	}
	w.text(w.p.pal.dim, "Saving sends nothing to the broker.")
	f.places.write(w, f.no)
	f.places.write(w, f.save)
	f.places.write(w, f.forget)
	f.writeNear(w)
}

// approver says in whose name the manifest will have it; "" = it is no approval, or nobody can approve.
func (f *approveForm) approver(m *model) string {
	if m.o.Retiring == nil || dispositions[f.disposition.chosen] != actions.Clear {
		return ""
	}
	by := PrintableText([]byte(m.o.Retiring.Terms().By))
	if by == "" {
		return ""
	}
	return by + " (the user of this system)"
}

func (f *approveForm) byWhom(m *model) string {
	if f.was.ApprovedBy == "" {
		return ""
	}
	return ", by " + f.was.ApprovedBy + " " + instant(f.was.ApprovedAt, m.now)
}

// writeValue says what is held.
func (f *approveForm) writeValue(m *model, w *writer) {
	if !f.held {
		w.item("value", f.labels, w.p.pal.warn, "none is held: the topic was not shown to this login")
		w.blank()
		return
	}
	d := &f.value
	w.item("value", f.labels, "", valueWords(m, d))
	writePayload(w, d, f.labels)
	hex := d.Fingerprint
	if m.lay.w < 90 {
		hex = hex[:16] + m.pen.m.more()
	}
	w.item("fingerprint", f.labels, w.p.pal.dim, hex)
	if f.guess.Text != "" {
		style := ""
		if f.guess.Left || f.guess.Hazard {
			style = w.p.pal.warn
		}
		w.item("reading", f.labels, style, f.guess.Text)
	}
	w.blank()
}

// valueWords says of a copy how large it is, whether it expires, and since when it is held.
func valueWords(m *model, d *inventory.Detail) string {
	text := size(int64(d.Size)) + ", "
	if left, counts := d.Remaining(m.now.UnixMilli()); counts {
		words, hold := countdown(left)
		m.until(hold)
		text += "expires in " + words
	} else if d.Interval.Kind() == expiry.Absent {
		text += "never expires"
	} else {
		text += "expiry unknown"
	}
	return text + ", held since " + millis(d.FirstSeen, m.now)
}

// writePayload writes the first lines of a value.
func writePayload(w *writer, d *inventory.Detail, label int) {
	room := w.p.right - w.left - label - 1
	left := w.left
	if room < 16 {
		w.left, room = w.left+2, w.p.right-w.left-3
	} else {
		w.left += label
	}
	defer func() { w.left = left }()
	text := d.Payload[:min(len(d.Payload), 4*room*mostPayload)]
	at := w.p.m.wrap(text, room, mostPayload+1, asText)
	w.wrapped(w.p.pal.dim, text, at, mostPayload, asText)
	if len(at) > mostPayload || len(text) < d.Size {
		w.text(w.p.pal.dim, w.p.m.more()+" all of it: enter in the list")
	}
}

func (f *approveForm) writeWriters(w *writer) {
	for i, x := range f.writerAt {
		f.places.write(w, x)
		w.left += 2
		for _, why := range (actions.Entry{Writers: f.writers[i : i+1]}).Provisional() {
			w.text(w.p.pal.warn, why)
		}
		w.left -= 2
	}
	if len(f.writers) == 0 {
		w.item("writers", f.labels, w.p.pal.warn, "none named: who could write it again is not established. The approval is provisional")
	} else if f.taken != "" {
		w.item("", f.labels, w.p.pal.dim, "writers "+f.taken)
	}
	f.places.write(w, f.add)
}

// writeNear names the neighbours that would be read before and after.
func (f *approveForm) writeNear(w *writer) {
	w.blank()
	switch n := len(f.near.controls); {
	case !f.near.known:
		w.item("near it", f.labels, w.p.pal.dim, "looking")
	case n == 0:
		w.item("near it", f.labels, w.p.pal.warn, "no topic that could serve as a control: a clear could not be verified")
	default:
		w.item("near it", f.labels, "", counted(int64(n), "topic")+" would be read before and after, as controls:")
		writeNames(w, f.near.controls, f.labels, 6)
	}
}

// writeNames writes topics, one a line, and how many more there are.
func writeNames(w *writer, topics [][]byte, label, most int) {
	left := w.left
	if w.p.right >= 60 {
		w.left += label
	} else {
		w.left += 2
	}
	defer func() { w.left = left }()
	for _, t := range topics[:min(len(topics), most)] {
		p := w.begin()
		var cells int
		p.buf, cells, _ = p.m.cutMiddle(p.buf, t, p.left()-1, asName)
		p.x += cells
		w.end()
	}
	if more := len(topics) - most; more > 0 {
		w.text(w.p.pal.dim, "and "+number(int64(more))+" more")
	}
}

// writerWords says in one line what is known of a writer.
func writerWords(x *actions.Writer) string {
	parts := []string{x.State.String()}
	if x.Kind != actions.KindNotStated {
		parts = append([]string{x.Kind.String()}, parts...)
	}
	if x.Evidence != "" {
		parts = append(parts, "\""+x.Evidence+"\"")
	}
	parts = append(parts, "will "+x.Will.String())
	return "writer " + x.Name + ": " + strings.Join(parts, ", ")
}
