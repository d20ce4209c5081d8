package tui

import (
	"bytes"
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// The approval of one exact topic: what it is, whose it is, who could write it, what shall become of it. Nothing is sent
// by it, and nothing is chosen beforehand.

// approveForm is that form. What it shows of the value is what stood there when it was opened.
type approveForm struct {
	places
	topic []byte
	value inventory.Detail
	held  bool // there was a value
	guess Evidence
	was   *actions.Entry // as the manifest had it; nil = not listed
	read  bool           // was is what the manifest says
	near  nearby
	group *groupWalk // where it was opened from a group of what looks left behind

	owner, purpose, reason, disposition *place
	add, no, save, forget               *place
	writerAt                            []*place
	writers                             []actions.Writer
	taken                               string // from where the writers were taken over
	halves                              map[string]halfDone
	draft                               *draft // that was brought back; nil = there was none
	otherValue, otherEntry              bool   // than when it was typed
	saving                              bool
	err                                 string
}

// nearby are the neighbours that would be read before and after a clear.
type nearby struct {
	known    bool
	controls [][]byte
}

type nearMsg struct {
	topic []byte
	near  nearby
}

type decidedMsg struct {
	entry actions.Entry
	err   error
}

var dispositions = []actions.Disposition{actions.Hold, actions.Clear, actions.Preserve}

// decideLimit bounds the writing of the manifest: another process may hold its lock for the time of a clear.
const decideLimit = 30 * time.Second

// askApprove opens the approval of the topic under the cursor.
func (m *model) askApprove() tea.Cmd {
	topic, group, ok := m.subject()
	if !ok {
		return nil
	}
	return m.approve(topic, group)
}

// approve opens the approval of one topic.
func (m *model) approve(topic []byte, group *groupWalk) tea.Cmd {
	f := &approveForm{topic: bytes.Clone(topic), group: group}
	f.owner = typedAt("owner", "who the topic belongs to")
	f.purpose = typedAt("purpose", "what the value is for")
	f.reason = typedAt("why", "why it may go, or must stay")
	f.disposition = chosenAt("shall be", "on hold", "cleared", "preserved")
	f.add = buttonAt("add a writer")
	f.no = buttonAt("not now: nothing is saved")
	f.save = buttonAt("save")
	f.forget = buttonAt("empty the draft: begin anew")
	f.forget.hidden = true
	if ref, ok := m.inv.Find(topic); ok {
		f.value, f.held = m.inv.Detail(ref)
	}
	if m.o.Readings != nil {
		f.guess, _ = m.o.Readings.Evidence(topic, m.now.UnixMilli())
	}
	f.learn(m)
	if d := m.drafts[string(topic)]; d != nil {
		f.bring(d)
	}
	f.lay()
	m.openForm(f)
	return tea.Batch(m.readManifest(), m.findNear(f.topic))
}

// findNear looks for neighbours, off the goroutine that hears keys.
func (m *model) findNear(topic []byte) tea.Cmd {
	inv, ctx, now := m.inv, m.ctx, m.o.Now
	return m.task(func() tea.Msg {
		near, err := actions.Neighbours(ctx, inv, topic)
		if err != nil {
			return nil
		}
		return nearMsg{topic, nearby{true, actions.SelectControls(topic, near, now().UnixMilli(), 0)}}
	})
}

// learn takes in what the manifest says, unless the person has begun to write.
func (f *approveForm) learn(m *model) {
	if !m.sheet.read || f.saving || f.read && f.dirty() {
		return
	}
	f.read = true
	e, listed := m.sheet.entry(f.topic)
	f.was = nil
	if listed {
		was := *e
		f.was = &was
	}
	if f.dirty() {
		return
	}
	if !listed {
		f.fromGuess(m)
		f.lay()
		return
	}
	f.writers, f.taken = append([]actions.Writer(nil), e.Writers...), ""
	if e.Disposition == actions.Hold {
		f.fromGuess(m) // a draft may have nothing but the topic
	}
	for x, text := range map[*place]string{f.owner: e.Owner, f.purpose: e.Purpose, f.reason: e.Reason} {
		if text != "" || e.Disposition != actions.Hold {
			x.fill(text)
		}
	}
	f.disposition.chosen = 0
	for i, d := range dispositions {
		// A value that is not the one approved has to be approved anew.
		if d == e.Disposition && (d != actions.Clear || f.held && e.Fingerprint == f.value.Fingerprint) {
			f.disposition.chosen = i
		}
	}
	f.lay()
}

// fromGuess fills in what the readings guess and what was said of the same owner before.
func (f *approveForm) fromGuess(m *model) {
	f.owner.fill(Printable([]byte(f.guess.Owner)))
	if r := f.guess.Role; r != "" && r != "other" {
		f.purpose.fill(r)
	}
	if f.guess.Left || f.guess.Hazard {
		f.reason.fill(PrintableText([]byte(f.guess.Text)))
	}
	if before := m.lastEntry; len(f.writers) == 0 && before != nil && before.Owner == f.owner.String() && before.Owner != "" {
		f.writers = append([]actions.Writer(nil), before.Writers...)
		f.taken = "as said of " + Printable(before.Topic)
	}
}

// lay puts the places in order: one for each writer.
func (f *approveForm) lay() {
	f.writerAt = f.writerAt[:0]
	for i := range f.writers {
		f.writerAt = append(f.writerAt, buttonAt(writerWords(&f.writers[i])))
	}
	here := f.disposition
	if len(f.all) > 0 {
		here = f.now()
	}
	f.all = append([]*place{f.disposition, f.owner, f.purpose, f.reason}, f.writerAt...)
	f.all = append(f.all, f.add, f.no, f.save, f.forget)
	f.at = min(f.at, len(f.all)-1)
	f.focus(here)
}

func (f *approveForm) base() *places { return &f.places }

// entry returns what the form says.
func (f *approveForm) entry() actions.Entry {
	e := actions.Entry{Topic: f.topic, Owner: f.owner.String(), Purpose: f.purpose.String(), Reason: f.reason.String(),
		Disposition: dispositions[f.disposition.chosen], Writers: append([]actions.Writer(nil), f.writers...)}
	if f.held {
		e.Fingerprint = f.value.Fingerprint
	}
	return e
}

// refresh says what may be saved.
func (f *approveForm) refresh(m *model) {
	d := dispositions[f.disposition.chosen]
	f.save.label = map[actions.Disposition]string{actions.Hold: "save: it stays on hold", actions.Clear: "approve: this value may be cleared", actions.Preserve: "save: it is to be preserved"}[d]
	if d == actions.Clear && len(f.entry().Provisional()) > 0 {
		f.save.label = "approve: this value may be cleared, PROVISIONAL"
	}
	f.save.off = f.cannot(m, d)
}

// cannot is why it cannot be saved; "" = it can.
func (f *approveForm) cannot(m *model, d actions.Disposition) string {
	if why := m.noRetiring(); why != "" {
		return why
	}
	switch {
	case f.saving:
		return "it is being saved"
	case !f.read:
		return "the manifest is being read"
	case d != actions.Clear:
		return ""
	}
	if err := actions.RefuseTopic(f.topic); err != nil {
		return err.Error()
	}
	if by, yes := m.sheet.guard.Match(f.topic); yes {
		return "the pattern " + actions.Quote([]byte(by)) + " protects it"
	}
	if !f.held {
		return "no value is held that could be approved"
	}
	if now, held := m.heldPrint(f.topic); !held || now != f.value.Fingerprint {
		return "the value is not the one shown any more; esc, then a shows the new one"
	}
	switch owner, purpose := f.owner.String() == "", f.purpose.String() == ""; {
	case owner && purpose:
		return "whose it is and what the value is for were not said"
	case owner:
		return "whose it is was not said"
	case purpose:
		return "what the value is for was not said"
	}
	return ""
}

func (f *approveForm) entered(m *model, x *place) tea.Cmd {
	switch x {
	case f.no:
		f.keep(m)
		m.closeForm()
	case f.forget:
		m.closeForm()
		return m.beginAnew(f.topic, f.group)
	case f.save:
		return f.decide(m)
	case f.add:
		m.openForm(newWriterForm(m, f, -1))
	default:
		for i, w := range f.writerAt {
			if w == x {
				m.openForm(newWriterForm(m, f, i))
				return nil
			}
		}
		f.step(1)
	}
	return nil
}

// decide saves what the form says.
func (f *approveForm) decide(m *model) tea.Cmd {
	f.saving, f.err = true, ""
	r, was, e := m.o.Retiring, f.was, f.entry()
	ctx, cancel := context.WithTimeout(m.ctx, decideLimit)
	return m.task(func() tea.Msg {
		defer cancel()
		return decidedMsg{e, r.Decide(ctx, was, e)}
	})
}

// decided says how saving ended.
func (m *model) decided(msg decidedMsg) tea.Cmd {
	f, open := m.form.(*approveForm)
	open = open && f.saving && bytes.Equal(f.topic, msg.entry.Topic)
	name := Printable(msg.entry.Topic)
	if msg.err != nil {
		text := "Not saved: " + asSentence(PrintableText([]byte(msg.err.Error())))
		if errors.Is(msg.err, actions.ErrChangedOnDisk) {
			text = "Not saved: the manifest says something else about this topic than was shown here. esc, then a shows it."
		}
		m.tell(alarming, text)
		if open {
			f.saving, f.err = false, text
		}
		return m.readManifest()
	}
	m.still.decide(msg.entry.Topic)
	m.lastEntry = &msg.entry
	delete(m.drafts, string(msg.entry.Topic))
	switch {
	case msg.entry.Disposition == actions.Clear && len(msg.entry.Provisional()) > 0:
		m.tell(notable, "Approved, provisional: "+msg.entry.Provisional()[0]+". Nothing was sent; x clears it. "+name)
	case msg.entry.Disposition == actions.Clear:
		m.tell(fine, "Approved; nothing was sent. x clears it. "+name)
	default:
		m.tell(fine, "Saved, "+msg.entry.Disposition.String()+": "+name)
	}
	cmd := m.readManifest()
	if open {
		m.closeForm()
		m.offerNext(f.group)
	}
	return cmd
}

// tookNear gives neighbours to the form that asked for them.
func (m *model) tookNear(msg nearMsg) {
	switch f := m.form.(type) {
	case *approveForm:
		if bytes.Equal(f.topic, msg.topic) {
			f.near = msg.near
		}
	case *clearForm:
		if bytes.Equal(f.entry.Topic, msg.topic) {
			f.near = msg.near
		}
	}
}

// subject returns the topic that a key about one topic means here, and false where there is none.
func (m *model) subject() ([]byte, *groupWalk, bool) {
	switch m.scope() {
	case inLeft:
		return m.leftSubject()
	case inApproved:
		if e, ok := m.approvedRow(); ok {
			return e.Topic, nil, true
		}
		return nil, nil, false
	}
	r, ok := m.row()
	if !ok || !r.Held {
		return nil, nil, false
	}
	return r.Prefix, nil, true
}
