package tui

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/expiry"
	"retainscope/inventory"
)

// The detail pane: everything that is held of the topic under the cursor, or what is below a branch.

// detail is the pane. Its lines are three parts: facts, the payload of which only the lines in sight are made, and what
// follows the payload.
type detail struct {
	topic  []byte           // what is shown
	d      inventory.Detail // of a held topic
	have   bool             // d is of topic
	asked  inventory.Ref    // being read on another goroutine
	laying bool             // the payload is being laid out on another goroutine
	view   view             // how the payload is to be shown

	head, tail []pageLine
	body       payload
	scroll     int
}

type detailMsg struct {
	topic  []byte
	detail inventory.Detail
	found  bool
}

// mostInline is the size of a payload from which it is read and laid out off the goroutine that hears keys.
const mostInline = 64 << 10

// forget drops what was laid out, because cells are counted in another way now.
func (d *detail) forget() { d.body = payload{} }

// gatherDetail reads what the pane shows, where it is shown and not read already.
func (m *model) gatherDetail() tea.Cmd {
	d := &m.detail
	if !m.lay.wide && !m.focus {
		return nil
	}
	r, ok := m.row()
	if !ok {
		d.topic, d.have = nil, false
		return nil
	}
	if !bytes.Equal(d.topic, r.Prefix) {
		d.topic = append([]byte(nil), r.Prefix...)
		d.have, d.scroll = false, 0
		d.asked = inventory.Ref{}
		d.d = inventory.Detail{}
		d.view = viewBest
	}
	if !r.Held {
		d.have = false
		return nil
	}
	if d.have && sameContent(&d.d.Slot, &r.Slot) {
		d.d.Slot = r.Slot
		return m.layOut()
	}
	if r.Slot.Size <= mostInline {
		found, ok := m.inv.Detail(r.Slot.Ref)
		d.d, d.have = found, ok
		return m.layOut()
	}
	if d.asked == r.Slot.Ref {
		return nil
	}
	d.asked = r.Slot.Ref
	ref, inv, topic := r.Slot.Ref, m.inv, d.topic
	return m.task(func() tea.Msg {
		found, ok := inv.Detail(ref)
		return detailMsg{topic, found, ok}
	})
}

// layOut lays the payload out for the pane where that was not done yet: a small one at once, a large one on another
// goroutine.
func (m *model) layOut() tea.Cmd {
	d := &m.detail
	width := m.lay.pane - 2
	if !d.have || d.body.fits(&d.d, d.view, width) {
		return nil
	}
	if d.d.Kept <= mostInline {
		d.body = layOut(m.pen.m, &d.d, d.view, width)
		return nil
	}
	if d.laying {
		return nil
	}
	d.laying = true
	measure, of, view := m.pen.m, d.d, d.view
	return m.task(func() tea.Msg { return laidMsg{layOut(measure, &of, view, width)} })
}

type laidMsg struct{ body payload }

// sameContent reports whether nothing but time has moved between two copies of a slot.
func sameContent(a, b *inventory.Slot) bool {
	return a.Ref == b.Ref && a.ReceivedAt == b.ReceivedAt && a.Size == b.Size && a.Interval == b.Interval &&
		bytes.Equal(a.Head, b.Head)
}

// take puts a detail read elsewhere into the pane, if it is still of the topic shown.
func (d *detail) take(msg detailMsg) {
	if !bytes.Equal(msg.topic, d.topic) {
		return
	}
	d.asked = inventory.Ref{}
	d.d, d.have = msg.detail, msg.found
}

// build makes the lines for a pane of width cells.
func (d *detail) build(m *model, width int) {
	w := newWriter(&m.pen, width)
	d.tail = nil
	switch r, ok := m.row(); {
	case !ok:
		w.text(w.p.pal.dim, "Nothing is under the cursor.")
		d.body = payload{}
	case !r.Held:
		m.writeBranch(w, r)
		d.body = payload{}
	case !d.have:
		m.writeTopic(w, r.Prefix)
		w.text(w.p.pal.dim, "Reading "+size(int64(r.Slot.Size))+".")
		d.body = payload{}
	default:
		m.writeFacts(w)
		if !d.body.fits(&d.d, d.view, width-2) {
			d.body = payload{}
			w.blank()
			w.text(w.p.pal.dim, "Laying out a payload of "+size(int64(d.d.Kept))+".")
			break
		}
		m.writeValueTitle(w)
		d.head = w.lines
		t := newWriter(&m.pen, width)
		m.writeProperties(t)
		m.writeChanges(t)
		d.tail = t.lines
		return
	}
	d.head = w.lines
}

// lines is how many lines there are.
func (d *detail) lines() int { return len(d.head) + d.body.lines() + len(d.tail) }

// drawLine writes the y-th line in sight.
func (d *detail) drawLine(p *pen, y int) {
	start := p.x
	i := d.scroll + y
	switch n := d.body.lines(); {
	case i < len(d.head):
		p.ready(d.head[i])
	case i < len(d.head)+n:
		p.to(start + 1)
		d.body.draw(p, i-len(d.head))
	case i < len(d.head)+n+len(d.tail):
		p.ready(d.tail[i-len(d.head)-n])
	}
}

func (d *detail) draw(p *pen, body, width int) {
	p.right = width
	d.clamp(body)
	for y := range body {
		if y == body-1 && d.scroll+body < d.lines() {
			p.to(1)
			p.sayIn(p.pal.dim, p.m.more()+" "+number(int64(d.lines()-d.scroll-body+1))+" more lines")
		} else {
			d.drawLine(p, y)
		}
		p.nl()
	}
}

func (d *detail) clamp(body int) { d.scroll = max(0, min(d.scroll, d.lines()-body)) }

// writeTopic writes the exact topic, escaped, and its bytes where the text does not tell them.
func (m *model) writeTopic(w *writer, topic []byte) {
	if len(topic) == 0 {
		w.text(w.p.pal.strong, "(empty level)")
		return
	}
	at := w.p.m.wrap(topic, w.p.right-w.left-1, 1<<16, asName)
	for i, off := range at {
		end := len(topic)
		if i+1 < len(at) {
			end = at[i+1]
		}
		p := w.begin()
		p.in(p.pal.strong)
		var cells int
		p.buf, cells = p.m.line(p.buf, topic, off, end, asName)
		p.x += cells
		w.end()
	}
	const mostBytes = 200
	for _, c := range topic {
		if c >= 0x80 && len(topic) <= mostBytes {
			w.item("bytes ", factWidth, w.p.pal.dim, spaced(hex.EncodeToString(topic)))
			break
		}
	}
}

// spaced puts a space after every byte of a hexadecimal text.
func spaced(s string) string {
	out := make([]byte, 0, len(s)*3/2)
	for i := 0; i < len(s); i += 2 {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, s[i], s[i+1])
	}
	return string(out)
}

// factWidth is the width of the labels.
const factWidth = 13

func (m *model) writeBranch(w *writer, r *inventory.Row) {
	m.writeTopic(w, r.Prefix)
	w.text(w.p.pal.dim, "No retained topic itself; below it:")
	w.blank()
	s := &r.Sub
	for _, f := range []struct {
		label string
		n     int64
		style string
	}{
		{"topics", s.Topics, ""}, {"never expire", s.Never, w.p.pal.never}, {"expire", s.Expiring, w.p.pal.counting},
		{"unknown", s.Unknown, ""}, {"due", s.Due, w.p.pal.warn}, {"worth a look", s.Findings, w.p.pal.warn},
	} {
		if f.n > 0 || f.label == "topics" {
			w.item(f.label, factWidth, f.style, number(f.n))
		}
	}
	if m.filter.filter != nil {
		w.item("listed", factWidth, "", number(int64(r.Matched)))
	}
}

func (m *model) writeFacts(w *writer) {
	s := &m.detail.d.Slot
	now := m.now.UnixMilli()
	m.writeTopic(w, s.Topic)
	_, t := phrase(s, now)
	w.text(w.p.pal.of(t), reason(s, m.now))
	w.blank()
	m.writeExpiry(w, s, now)
	live, _ := m.seenLive(s)
	if s.LastLive != 0 {
		live += " (" + millis(s.LastLive, m.now) + "), " + counted(int64(s.LiveCount), "time")
	}
	w.item("seen live", factWidth, "", live)
	held := "since " + millis(s.FirstSeen, m.now)
	if s.ReceivedAt != s.FirstSeen {
		held += ", this copy since " + millis(s.ReceivedAt, m.now)
	}
	w.item("held", factWidth, "", held)
	qos := "not known at QoS 0; o asks the broker"
	if s.QoS >= 0 {
		qos = strconv.Itoa(int(s.QoS))
	}
	w.item("stored QoS", factWidth, "", qos)
	m.writeFlags(w, s)
}

// writeExpiry says what is known about the end of the copy.
func (m *model) writeExpiry(w *writer, s *inventory.Slot, now int64) {
	seconds, finite := s.Interval.Seconds()
	if !finite {
		w.item("expiry", factWidth, "", map[bool]string{true: "never: no interval on the wire", false: "unknown"}[s.Interval.Kind() == expiry.Absent])
		return
	}
	left, _ := s.Remaining(now)
	deadline, _ := s.Interval.Deadline(s.ReceivedAt)
	end := millis(deadline, m.now)
	text, hold := countdown(left)
	switch {
	case s.StoppedAt != 0 || m.link.State == inventory.Lost:
		w.item("expires in", factWidth, w.p.pal.dim, "stopped at "+text+" when the connection was lost")
	case left <= 0:
		w.item("expires in", factWidth, w.p.pal.warn, "due since "+end)
	default:
		m.until(hold)
		p := w.begin()
		p.sayIn(p.pal.dim, "expires in")
		p.to(w.left + factWidth)
		p.in(p.pal.counting)
		p.say(text)
		if s.History.Window > 0 && p.left() > 16 {
			p.say(" ")
			p.bar(left.Seconds()/float64(s.History.Window), 10)
		}
		w.end()
		w.item("until about", factWidth, "", end)
	}
	wire := number(int64(seconds)) + " s at " + millis(s.ReceivedAt, m.now)
	if s.History.Window > 0 {
		wire += "; largest seen " + number(int64(s.History.Window)) + " s"
	}
	w.item("on the wire", factWidth, "", wire)
	refreshes := number(int64(s.History.Refreshes)) + " seen live"
	if c, ok := s.History.Cadence(); ok {
		refreshes += ", every " + about(time.Duration(c)*time.Second)
	}
	w.item("refreshes", factWidth, "", refreshes)
}

// flagWords say what a flag means where the reading does not say it already.
var flagWords = []struct {
	flag inventory.Flags
	text string
}{
	{inventory.FlagLiveDiffers, "The last live publication without RETAIN had another payload than the retained one."},
	{inventory.FlagOddName, "The name is easily misread: invisible or unusual characters, an empty level, or a space at the end of a level."},
	{inventory.FlagNotSeen, "The last scan did not show it, nor was it published since."},
	{inventory.FlagCut, "Not all bytes of the payload are kept; length and digest are of all of them."},
}

func (m *model) writeFlags(w *writer, s *inventory.Slot) {
	for _, f := range flagWords {
		if s.Flags.Has(f.flag) {
			w.item("note", factWidth, w.p.pal.warn, f.text)
		}
	}
}

// writeValueTitle says what is shown of the payload.
func (m *model) writeValueTitle(w *writer) {
	d := &m.detail.d
	w.blank()
	p := w.begin()
	p.sayIn(p.pal.strong, "Payload")
	text := "  " + size(int64(d.Size))
	if d.Size >= 1000 {
		text += " (" + number(int64(d.Size)) + " bytes)"
	}
	if d.Kept < d.Size {
		text += ", first " + number(int64(d.Kept)) + " kept"
	}
	p.say(text)
	p.sayIn(p.pal.dim, "  "+m.detail.body.view.String()+", v changes")
	w.end()
}

func (m *model) writeProperties(w *writer) {
	d := &m.detail.d
	w.blank()
	w.item("SHA-256", factWidth, "", hex.EncodeToString(d.SHA256[:]))
	w.item("fingerprint", factWidth, w.p.pal.dim, d.Fingerprint)
	props := d.Properties
	w.blank()
	p := w.begin()
	p.sayIn(p.pal.strong, "Properties")
	if len(props) == 0 {
		p.sayIn(p.pal.dim, "  none but the expiry")
	}
	w.end()
	const label = 18
	if v, ok := props.PayloadFormat(); ok {
		what := "not text (0)"
		if v == 1 {
			what = "UTF-8 text (1)"
		}
		w.item("payload format", label, "", what)
	}
	if v, ok := props.ContentType(); ok {
		w.item("content type", label, "", string(v))
	}
	if v, ok := props.ResponseTopic(); ok {
		w.item("response topic", label, "", Printable(v))
	}
	if v, ok := props.CorrelationData(); ok {
		w.item("correlation data", label, "", spaced(hex.EncodeToString(v)))
	}
	for _, u := range props.User() {
		w.item("user", label, "", string(u.Key)+" = "+string(u.Value))
	}
}

func (m *model) writeChanges(w *writer) {
	d := &m.detail.d
	w.title("Changes while we watched")
	if len(d.Changes) == 0 {
		w.text(w.p.pal.dim, "None.")
		return
	}
	newer, newerSize, newerInterval := d.Payload, d.Size, d.Interval
	for i := range d.Changes {
		c := &d.Changes[i]
		p := w.begin()
		p.say(millis(c.At, m.now))
		what := "  " + c.Kind.String()
		if c.Size != newerSize {
			what += ", " + size(int64(c.Size)) + " " + arrow(p.m) + " " + size(int64(newerSize))
		}
		if c.Interval.Kind() != newerInterval.Kind() {
			what += ", expiry " + intervalWords(c.Interval) + " " + arrow(p.m) + " " + intervalWords(newerInterval)
		}
		p.sayIn(p.pal.dim, what)
		w.end()
		before, after := difference(c.Payload, newer, w.p.right-w.left-6)
		if before == nil && after == nil && c.Size == newerSize {
			w.item("", 2, w.p.pal.dim, "same payload")
		} else {
			w.item("-", 2, w.p.pal.bad, string(before))
			w.item("+", 2, w.p.pal.good, string(after))
		}
		newer, newerSize, newerInterval = c.Payload, c.Size, c.Interval
	}
}

func arrow(m measure) string {
	if m.ascii {
		return "to"
	}
	return "→"
}

func intervalWords(i expiry.Interval) string {
	if s, ok := i.Seconds(); ok {
		return exact(time.Duration(s) * time.Second)
	}
	return i.String()
}
