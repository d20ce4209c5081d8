package actions

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// fact is one labelled part of a report.
type fact struct {
	label string
	lines []string
}

// Report returns the operation as a person reads it: plain text, every line ended. text makes bytes from the wire safe
// for where the report goes; with nil they are quoted in ASCII.
func (op Operation) Report(text func([]byte) string) string {
	if text == nil {
		text = Quote
	}
	var b strings.Builder
	fmt.Fprintf(&b, "operation %s: %s\n", orNone(op.ID), op.headline())
	for _, f := range op.facts(text, true) {
		for i, l := range f.lines {
			label := ""
			if i == 0 {
				label = f.label
			}
			fmt.Fprintf(&b, "  %-16s %s\n", label, l)
		}
	}
	return b.String()
}

func (op Operation) owner() string {
	if op.Intent == nil {
		return ""
	}
	return op.Intent.Entry.Owner
}

// headline is the verdict with what qualifies it.
func (op Operation) headline() string {
	s := op.Verdict().String()
	switch {
	case op.Running != "":
		s = "running, by " + op.Running
	case op.Open():
		s = "unknown: begun, and no outcome was written"
	}
	if len(op.Provisional()) > 0 && (op.Open() || op.Verdict().Sent()) {
		s += ", provisional"
	}
	return s + prefixedText(", ", op.after())
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// facts returns the parts of a report, payloads only where they are wanted.
func (op Operation) facts(text func([]byte) string, payloads bool) []fact {
	var fs []fact
	add := func(label string, lines ...string) {
		if len(lines) > 0 {
			fs = append(fs, fact{label, lines})
		}
	}
	add("topic", text(op.Topic), "hex "+hex.EncodeToString(op.Topic))
	if op.Intent == nil {
		if op.Outcome != nil {
			add("what happened", op.Outcome.Sentence)
		}
		return fs
	}
	i := op.Intent
	add("broker", fmt.Sprintf("%s as %s%s", text([]byte(i.Broker.URL)), userName(i.Broker.User), prefixed(", says ", i.Broker.Identity)))
	add("begun", at(op.Begun)+prefixed(" with ", i.Tool))
	for _, c := range op.Closings() {
		state := "open"
		if c.Closed {
			state = "closed"
		}
		lines := []string{state + ": " + c.Why}
		switch c.Question {
		case "ownership":
			lines = append(lines, "purpose "+text([]byte(i.Entry.Purpose)), "approved fingerprint "+i.Entry.Fingerprint)
			if i.Entry.Reason != "" {
				lines = append(lines, "reason "+text([]byte(i.Entry.Reason)))
			}
		case "writers":
			lines = append(lines, writerLines(i.Entry.Writers, text)...)
			if open := op.Provisional(); len(open) > 1 {
				lines = append(lines, open[1:]...)
			}
		case "acknowledgement":
			lines = append(lines, wireLines(op.Outcome)...)
		case "read-back":
			if op.Outcome != nil {
				lines = append(lines, controlLines(op.Outcome.Controls, text)...)
				lines = append(lines, lookLines(op.Outcome.Looks)...)
			}
		}
		add(c.Question, lines...)
	}
	if b := op.Baseline; b != nil {
		add("before", append(copyLines(b.Topic, text, payloads), append(lookLines(b.Looks), b.Limits...)...)...)
	}
	if i.Expect != "" {
		add("expected", i.Expect)
	}
	add("what happened", strings.Split(op.Sentence(), "\n")...)
	if o := op.Outcome; o != nil {
		add("ended", at(op.Ended))
		add("notes", o.Notes...)
		add("limits", o.Limits...)
	}
	for _, l := range op.Later {
		add(string(l.Kind), append([]string{at(l.At) + ": " + l.Found.String()}, append(controlLines(l.Controls, text), lookLines(l.Looks)...)...)...)
	}
	for _, u := range op.Undos {
		what := fmt.Sprintf("%s of %s by %s: ", u.ID, text(u.Intent.Topic), Quote([]byte(u.Intent.By)))
		if u.Intent.Of != op.ID {
			what = fmt.Sprintf("%s of %s, out of operation %s, by %s: ", u.ID, text(u.Intent.Topic), u.Intent.Of, Quote([]byte(u.Intent.By)))
		}
		lines := []string{what + UndoUnknown.String()}
		if u.Running != "" {
			lines[0] = what + "running, by " + u.Running
		}
		if o := u.Outcome; o != nil {
			lines[0] = what + o.Result.String()
			if done := o.Result.words(); done != "" {
				lines[0] = what + done
			}
			lines = append(lines, o.Notes...)
			lines = append(lines, lookLines(o.Looks)...)
		}
		add("undo", lines...)
	}
	return fs
}

func prefixedText(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + Quote([]byte(s))
}

func writerLines(ws []Writer, text func([]byte) string) []string {
	var lines []string
	for _, w := range ws {
		s := fmt.Sprintf("writer %s (%s): %s", text([]byte(w.Name)), w.Kind, w.State)
		if w.Evidence != "" {
			s += ", " + text([]byte(w.Evidence))
		}
		if !w.EvidenceAt.IsZero() {
			s += " at " + at(w.EvidenceAt)
		}
		s += "; will " + w.Will.String()
		if w.WillDelay > 0 {
			s += fmt.Sprintf(" with a delay of %d s", w.WillDelay)
		}
		lines = append(lines, s)
	}
	return lines
}

// wireLines says what was on the wire.
func wireLines(o *Outcome) []string {
	if o == nil || o.Receipt == nil {
		return nil
	}
	r := o.Receipt
	lines := []string{fmt.Sprintf("sent at %s by client %s (%s), %d PUBLISH at the socket", at(r.SentAt), Quote([]byte(r.ClientID)), userName(r.User), r.Publishes)}
	if p := o.Packet; p != nil {
		lines = append(lines, fmt.Sprintf("packet of %s: RETAIN %d, DUP %d, QoS %d, Packet Identifier %d, topic %s, properties %s, payload %s",
			Counted(p.Length, "byte"), bit(p.Retain), bit(p.Dup), p.QoS, p.ID, Counted(p.TopicLength, "byte"), Counted(p.PropertyBytes, "byte"), Counted(p.PayloadLength, "byte")))
	}
	if r.Answered {
		lines = append(lines, fmt.Sprintf("PUBACK %s for packet %d at %s%s", r.CodeName, r.AnswerID, at(r.AnsweredAt), prefixed(", reason ", r.Reason)))
	}
	if r.Disconnect != nil {
		lines = append(lines, "DISCONNECT "+ReasonName(*r.Disconnect))
	}
	if r.Error != "" {
		lines = append(lines, r.Error)
	}
	return lines
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// controlLines names every control that is not intact.
func controlLines(rs []ControlResult, text func([]byte) string) []string {
	var lines []string
	for _, r := range rs {
		if r.State != Intact {
			lines = append(lines, fmt.Sprintf("control %s: %s", text(r.Topic), r.State))
		}
	}
	return lines
}

func lookLines(ls []Look) []string {
	var lines []string
	for _, l := range ls {
		refused := 0
		for _, f := range l.Filters {
			if f.Code >= 0x80 {
				refused++
			}
		}
		s := fmt.Sprintf("%s: observer %s (%s), %s at QoS %d, %d refused, %s", l.Role, Quote([]byte(l.ClientID)), userName(l.User), Counted(len(l.Filters), "filter"), l.QoS, refused, Counted(l.Received, "message"))
		if !l.To.IsZero() {
			s += fmt.Sprintf(", %s to %s, quiet for %v", at(l.From), at(l.To), time.Duration(l.QuietMS)*time.Millisecond)
		}
		if l.Error != "" {
			s += ", " + l.Error
		}
		lines = append(lines, s)
	}
	return lines
}

func copyLines(c Copy, text func([]byte) string, payload bool) []string {
	expires := "never expires"
	switch c.Expiry {
	case "finite":
		expires = fmt.Sprintf("%d s left", c.Seconds)
	case "unknown":
		expires = "expiry not known"
	}
	qos := "QoS not known"
	if c.QoS != nil {
		qos = fmt.Sprintf("QoS %d", *c.QoS)
	}
	saved := "saved for undo"
	if !c.Saved {
		saved = "not saved: no undo"
	}
	lines := []string{fmt.Sprintf("%s at %s, %s, %s, %s", Counted(c.Size, "byte"), at(c.ReceivedAt), qos, expires, saved), "sha256 " + c.SHA256, "fingerprint " + c.Fingerprint}
	if payload && c.Saved {
		const shown = 200
		s := text(c.Payload[:min(len(c.Payload), shown)])
		if len(c.Payload) > shown {
			s += fmt.Sprintf(" (first %d of %d bytes)", shown, len(c.Payload))
		}
		lines = append(lines, "value "+s)
	}
	return lines
}
