package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// One writer of a topic, and how it is known to write no more. It goes into the approval it was opened from.

type writerForm struct {
	places
	of *approveForm
	i  int // which of its writers; -1 = a new one
	// was is the name it had, "" = a new one; again says that what was typed before is back.
	was   string
	again bool

	name, kind, state, evidence, seen, will, delay *place
	done, remove, back                             *place
}

const evidenceTime = "2006-01-02 15:04"

func newWriterForm(m *model, of *approveForm, i int) *writerForm {
	f := &writerForm{of: of, i: i}
	f.name = typedAt("name", "the program or device that can publish it")
	f.kind = chosenAt("kind", named(actions.KindNotStated, actions.Device, actions.Gateway, actions.Bridge, actions.Service)...)
	f.state = chosenAt("state", named(actions.StateUnknown, actions.Stopped, actions.Fenced)...)
	f.evidence = typedAt("evidence", "how that is known, in your words")
	f.seen = typedAt("seen at", evidenceTime)
	f.will = chosenAt("its will", named(actions.WillUnknown, actions.WillNone, actions.WillDiscarded, actions.WillFired, actions.WillPending)...)
	f.delay = typedAt("will delay", "seconds")
	f.back, f.done, f.remove = buttonAt("back, without this"), buttonAt("take it over"), buttonAt("remove this writer")
	f.remove.hidden = i < 0
	x := actions.Writer{Name: of.owner.String()}
	if i >= 0 {
		x = of.writers[i]
		f.was = x.Name
	}
	f.name.fill(x.Name)
	f.kind.chosen, f.state.chosen, f.will.chosen = int(x.Kind), int(x.State), int(x.Will)
	f.evidence.fill(x.Evidence)
	when := x.EvidenceAt
	if when.IsZero() {
		when = m.now
	}
	f.seen.fill(when.In(m.now.Location()).Format(evidenceTime))
	if x.WillDelay > 0 {
		f.delay.fill(strconv.FormatUint(uint64(x.WillDelay), 10))
	}
	f.all = []*place{f.state, f.name, f.kind, f.evidence, f.seen, f.will, f.delay, f.back, f.done, f.remove}
	if half, ok := of.halves[f.was]; ok {
		f.bring(half)
	}
	return f
}

func named[T interface{ String() string }](all ...T) []string {
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = x.String()
	}
	return names
}

func (f *writerForm) base() *places { return &f.places }

func (f *writerForm) refresh(*model) {
	f.delay.hidden = actions.Will(f.will.chosen) != actions.WillPending
	f.done.off = ""
	if f.name.String() == "" {
		f.done.off = "the writer has no name"
	}
}

// writer returns what the form says, and what is wrong with it.
func (f *writerForm) writer(loc *time.Location) (x actions.Writer, wrong string) {
	x = actions.Writer{Name: f.name.String(), Kind: actions.WriterKind(f.kind.chosen), State: actions.WriterState(f.state.chosen),
		Evidence: f.evidence.String(), Will: actions.Will(f.will.chosen)}
	if x.Evidence != "" {
		at, err := time.ParseInLocation(evidenceTime, f.seen.String(), loc)
		if err != nil {
			return x, "the time is to be written as " + evidenceTime
		}
		x.EvidenceAt = at.UTC()
	}
	if x.Will == actions.WillPending && f.delay.String() != "" {
		s, err := strconv.ParseUint(f.delay.String(), 10, 32)
		if err != nil {
			return x, "the delay of the will is a number of seconds"
		}
		x.WillDelay = uint32(s)
	}
	return x, ""
}

func (f *writerForm) title() (string, []byte) { return "A writer of", f.of.topic }

func (f *writerForm) write(m *model, w *writer) {
	w.text(w.p.pal.dim, "Who could publish this topic again: a device, a gateway that relays it, a bridge, a program that restores it. Its will too: what the broker publishes for it when it goes.")
	if f.again {
		w.text(w.p.pal.warn, "A draft is back: what was typed here before and not taken over.")
	}
	w.blank()
	for _, x := range []*place{f.state, f.name, f.kind, f.evidence, f.seen, f.will, f.delay} {
		f.places.write(w, x)
	}
	w.blank()
	x, wrong := f.writer(m.now.Location())
	if wrong != "" {
		w.text(w.p.pal.bad, asSentence(wrong))
	}
	for _, why := range (actions.Entry{Writers: []actions.Writer{x}}).Provisional() {
		w.text(w.p.pal.warn, "provisional: "+why)
	}
	for _, x := range []*place{f.back, f.done, f.remove} {
		f.places.write(w, x)
	}
}

func (f *writerForm) entered(m *model, x *place) tea.Cmd {
	of := f.of
	switch x {
	case f.back:
	case f.remove:
		of.writers = append(of.writers[:f.i:f.i], of.writers[f.i+1:]...)
		of.add.dirty = true
	case f.done:
		made, wrong := f.writer(m.now.Location())
		if wrong != "" {
			m.tell(notable, asSentence(wrong))
			return nil
		}
		if f.i < 0 {
			of.writers = append(of.writers, made)
		} else {
			of.writers[f.i] = made
		}
		of.add.dirty = true
	default:
		f.step(1)
		return nil
	}
	m.closeForm()
	delete(of.halves, f.was)
	if x != f.back {
		of.taken = ""
		of.lay()
		of.focus(of.add)
	}
	return nil
}
