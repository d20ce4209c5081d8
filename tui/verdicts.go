package tui

import (
	"fmt"
	"time"

	"retainscope/actions"
)

// How an act and its verdict are said: in a row, in a sentence, in the detail pane.

// verdictWords says a verdict in a row, and how much it asks to be looked at.
func verdictWords(v actions.Verdict) (string, tone) {
	switch v {
	case actions.ClearedVerified:
		return "cleared and verified", fine
	case actions.StillPresent:
		return "still present", alarming
	case actions.CameBack:
		return "came back", alarming
	case actions.Refused:
		return "refused", alarming
	case actions.CouldNotVerify:
		return "not verified", notable
	case actions.NoAnswer:
		return "no answer", alarming
	case actions.NotSent:
		return "nothing sent", notable
	case actions.Changed:
		return "changed, not sent", notable
	case actions.Vanished:
		return "not seen, not sent", notable
	case actions.Collateral:
		return "ALARM: MORE WENT", alarming
	case actions.EmptyReplay:
		return "empty replay", alarming
	}
	return "in doubt", alarming
}

// undoWords says how a restore ended.
func undoWords(u actions.UndoResult) (string, tone) {
	switch u {
	case actions.Restored:
		return "put back, the same", fine
	case actions.RestoredOtherwise:
		return "put back, differs", alarming
	case actions.RestoreUnverified:
		return "back, not verified", notable
	case actions.RestoreRefused:
		return "restore refused", alarming
	case actions.RestoreNoAnswer:
		return "restore: no answer", alarming
	case actions.RestoreNotSent:
		return "nothing put back", notable
	}
	return "restore in doubt", alarming
}

// actReading returns what READING says of a topic because of an act on it, and false where there was none lately.
func (m *model) actReading(topic []byte) (string, tone, bool) {
	if len(m.acts) == 0 {
		return "", calm, false
	}
	a, ok := m.actOn(topic)
	if !ok || !a.stays(m.now) {
		return "", calm, false
	}
	if a.over {
		m.until(a.overAt.Add(actStays).Sub(m.now))
	}
	text, t := a.reading(m.now)
	return text, t, true
}

// reading says where an act stands, in a few words.
func (a *act) reading(now time.Time) (string, tone) {
	switch {
	case !a.over:
		text := "begun"
		if w := a.walk(); len(w) > 0 {
			last := w[len(w)-1]
			text = last.step.String()
			if last.step == actions.StepSent {
				text = short(last.text)
			}
		}
		return text, notable
	case a.restore:
		return undoWords(a.undo.Result)
	case !a.watching.IsZero() && a.op.Verdict() == actions.ClearedVerified:
		return "watched to " + a.watching.In(now.Location()).Format("15:04"), fine
	}
	v := a.op.Verdict()
	text, t := verdictWords(v)
	o := a.op.Outcome
	switch {
	case v == actions.Refused && o.Receipt != nil:
		text = fmt.Sprintf("refused 0x%02X", o.Receipt.Code)
	case v == actions.CameBack:
		if r := a.returned(); r != nil {
			text = "came back in " + exact(max(time.Second, time.Duration(r.AfterMS)*time.Millisecond))
		}
	case v == actions.NotSent:
		text = "not sent: " + o.Obstacle.String()
	case v == actions.ClearedVerified && len(a.op.Provisional()) > 0:
		text, t = "cleared, provisional", notable
	}
	return text, t
}

// returned is the return that was seen, nil when none was.
func (a *act) returned() *actions.Return {
	if a.op.Outcome != nil && a.op.Outcome.Return != nil {
		return a.op.Outcome.Return
	}
	for _, l := range a.op.Later {
		if l.Return != nil {
			return l.Return
		}
	}
	return nil
}

// news says how an act stands, in a sentence for the last lines.
func (a *act) news() (string, tone) {
	if a.restore {
		_, t := undoWords(a.undo.Result)
		return withError(asSentence(a.undo.Sentence), a.err, t)
	}
	v := a.op.Verdict()
	text, t := verdictWords(v)
	sentence := ""
	if o := a.op.Outcome; o != nil {
		sentence = o.Sentence
	}
	if n := len(a.op.Later); n > 0 {
		sentence = a.op.Later[n-1].Sentence
	}
	if len(a.op.Provisional()) > 0 && v.Sent() {
		text += ", PROVISIONAL"
		t = max(t, notable)
	}
	if v == actions.Collateral {
		sentence += "; u offers to put it back"
	}
	return withError(asSentence(text)+" "+asSentence(sentence), a.err, t)
}

func withError(text, err string, t tone) (string, tone) {
	if err == "" {
		return text, t
	}
	return text + " " + asSentence(PrintableText([]byte(err))), alarming
}

// announce says how something ended, until the first key after it could be read.
func (m *model) announce(t tone, text string) {
	m.tell(t, text)
	m.toast.seen, m.toast.until = m.o.Now().Add(2*time.Second), m.o.Now().Add(actStays)
}

// writeAct says in the detail pane how the last act on a topic went, boundary by boundary.
func (m *model) writeAct(w *writer, topic []byte) {
	a, ok := m.actOn(topic)
	if !ok || !m.paused.IsZero() && m.screen == topics {
		return
	}
	w.blank()
	text, t := a.reading(m.now)
	if a.over && !a.restore && !a.watching.IsZero() {
		verdict, _ := verdictWords(a.op.Verdict())
		text = verdict + ", watched for a return"
	}
	what := "Clear"
	if a.restore {
		what = "Restore"
	}
	p := w.begin()
	p.sayIn(p.pal.strong, what+"  ")
	p.in(p.pal.of(t))
	p.sentence(text)
	w.end()
	for _, s := range a.walk() {
		w.item(instant(s.at, m.now), factWidth, "", s.text)
	}
	switch {
	case !a.over:
		w.text(w.p.pal.dim, "Under way since "+instant(a.begun, m.now)+".")
		return
	case a.restore:
		w.text("", asSentence(a.undo.Sentence))
	default:
		m.writeVerdict(w, a)
	}
	if a.err != "" {
		w.text(w.p.pal.bad, asSentence(a.err))
	}
	if a.head != "" {
		w.item("record ends", factWidth, w.p.pal.dim, "in "+a.head[:min(16, len(a.head))])
	}
}

// writeVerdict says what came of a clear.
func (m *model) writeVerdict(w *writer, a *act) {
	o := a.op.Outcome
	w.text("", asSentence(o.Sentence))
	for _, l := range a.op.Later {
		w.text("", asSentence(l.Sentence))
	}
	if !o.Verdict.Sent() {
		return
	}
	for _, why := range a.op.Provisional() {
		w.item("provisional", factWidth, w.p.pal.warn, why)
	}
	switch {
	case !a.watching.IsZero():
		left, hold := countdown(a.watching.Sub(m.now))
		m.until(hold)
		w.item("watching", factWidth, w.p.pal.good, "for a return until "+instant(a.watching, m.now)+", "+left)
	case a.expectBy.After(m.now):
		w.item("expected", factWidth, w.p.pal.warn, "until "+instant(a.expectBy, m.now)+": "+a.expect+"; w keeps watching")
	}
	for _, n := range o.Notes {
		w.item("note", factWidth, w.p.pal.dim, n)
	}
	if a.op.ID != "" {
		w.item("operation", factWidth, w.p.pal.dim, a.op.ID)
	}
}
