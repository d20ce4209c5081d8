package tui

import (
	"encoding/hex"
	"strconv"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// What the detail pane says of a topic or a branch, part by part.

// writeTopic writes the exact topic, escaped, and its bytes where the text does not tell them.
func (m *model) writeTopic(w *writer, topic []byte) {
	if len(topic) == 0 {
		w.text(w.p.pal.strong, "(empty level)")
		return
	}
	at := w.p.m.wrap(topic, w.p.right-w.left-1, 1<<16, asName)
	w.wrapped(w.p.pal.strong, topic, at, len(at), asName)
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
		{"unknown", s.Unknown, ""}, {"due", s.Due, w.p.pal.warn}, {"left behind", s.Left, w.p.pal.warn},
		{"hazards", s.Hazards, w.p.pal.bad}, {"worth a look", s.Findings, w.p.pal.warn},
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
	slot := m.settled(m.detail.d.Slot)
	s := &slot
	now := m.now.UnixMilli()
	m.writeTopic(w, s.Topic)
	_, t := phrase(s, now)
	w.text(w.p.pal.of(t), reason(s, m.now))
	m.writeAct(w, s.Topic)
	m.writeDecision(w, s.Topic)
	w.blank()
	m.writeExpiry(w, s, now)
	live, _ := m.seenLive(s)
	if s.LastLive != 0 {
		live += " (" + millis(s.LastLive, m.now) + "), " + counted(int64(s.LiveCount), "time")
	}
	w.item("seen live", factWidth, "", live)
	label := "held"
	if m.o.Silence != nil {
		text := m.o.Silence(s.Topic, s.FirstSeen, s.LastLive, now)
		if text.Pending {
			text.Text = "what the journal remembers was not brought in yet"
		}
		w.item("watched", factWidth, "", text.Text)
		label = "known"
	}
	held := "since " + millis(s.FirstSeen, m.now)
	if s.ReceivedAt != s.FirstSeen {
		held += ", this copy since " + millis(s.ReceivedAt, m.now)
	}
	w.item(label, factWidth, "", held)
	qos := "not known at QoS 0; o asks the broker"
	if s.QoS >= 0 {
		qos = strconv.Itoa(int(s.QoS))
	}
	w.item("stored QoS", factWidth, "", qos)
	m.writeFlags(w, s)
	m.writeEvidence(w, s.Topic)
}

// writeExpiry says what is known about the end of the copy.
func (m *model) writeExpiry(w *writer, s *inventory.Slot, now int64) {
	seconds, finite := s.Interval.Seconds()
	if !finite {
		text := unknownOver(&m.link)
		if s.Interval.Kind() == expiry.Absent {
			text = wordNever + ": no interval on the wire"
		}
		w.item("expiry", factWidth, "", text)
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
		if s.History.Window > 0 && p.left() > 12 {
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
	{inventory.FlagCut, "Not all bytes of the payload are kept; length and digest are of all of them."},
}

func (m *model) writeFlags(w *writer, s *inventory.Slot) {
	for _, f := range flagWords {
		if s.Flags.Has(f.flag) && (f.flag != inventory.FlagLiveDiffers || !olderThanLive(s, m.now.UnixMilli())) {
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
