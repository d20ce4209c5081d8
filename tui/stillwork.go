package tui

import (
	"reflect"
	"slices"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// The manifest and the record while the picture is held still: entries, operations and how they stand are as they were.
// What the person does meanwhile is seen at once, and nothing else; the rest waits until the picture moves on.

// stillWork is what is kept of those two, and what came since.
type stillWork struct {
	stands map[string]stood // how each entry stood, by topic
	again  map[string]bool  // the operations whose topic was there again

	decided map[string]bool // topics the person decided about since
	looked  map[string]bool // operations the person looked at again since
	sheet   *manifestMsg    // as it was read last; nil = it was not
	record  *recordMsg
}

// stood is what stand returned.
type stood struct {
	st          standing
	phrase, why string
}

// keepWork copies how every entry and every operation stands.
func (m *model) keepWork() stillWork {
	k := stillWork{stands: make(map[string]stood, len(m.sheet.entries)), again: map[string]bool{}, decided: map[string]bool{}, looked: map[string]bool{}}
	for i := range m.sheet.entries {
		k.keepEntry(m, &m.sheet.entries[i])
	}
	for i := range m.record.ops {
		k.keepOperation(m, &m.record.ops[i])
	}
	return k
}

func (k *stillWork) keepEntry(m *model, e *actions.Entry) {
	st, phrase, why := m.stand(e)
	k.stands[string(e.Topic)] = stood{st, phrase, why}
}

func (k *stillWork) keepOperation(m *model, s *actions.Summary) {
	if m.thereAgainNow(s) {
		k.again[s.ID] = true
	} else {
		delete(k.again, s.ID)
	}
}

// standShown is stand, as it was when the picture was held still.
func (m *model) standShown(e *actions.Entry) (st standing, phrase, why string) {
	if was, ok := m.still.work.stands[string(e.Topic)]; ok {
		return was.st, was.phrase, was.why
	}
	return m.stand(e)
}

// thereAgain is thereAgainNow, as it was when the picture was held still.
func (m *model) thereAgain(s *actions.Summary) bool {
	if !m.paused.IsZero() {
		return m.still.work.again[s.ID]
	}
	return m.thereAgainNow(s)
}

// decide notes that the person decided about a topic, look that an operation was looked at again.
func (s *stillness) decide(topic []byte) {
	if s.work.decided != nil {
		s.work.decided[string(topic)] = true
	}
}

func (s *stillness) look(id string) {
	if s.work.looked != nil {
		s.work.looked[id] = true
	}
}

// heldSheet takes a manifest that came while the picture stands: of it only what the person decided is shown.
func (m *model) heldSheet(msg manifestMsg) {
	k, s := &m.still.work, &m.sheet
	k.sheet = &msg
	if !s.read || msg.wrong != "" {
		return
	}
	shown := slices.Clone(s.entries)
	for topic := range k.decided {
		is := func(e actions.Entry) bool { return string(e.Topic) == topic }
		at, now := slices.IndexFunc(shown, is), slices.IndexFunc(msg.entries, is)
		switch {
		case now < 0 && at >= 0:
			shown = slices.Delete(shown, at, at+1)
		case now >= 0 && at < 0:
			shown = append(shown, msg.entries[now])
		case now >= 0:
			shown[at] = msg.entries[now]
		}
	}
	s.show(shown)
	if m.screen == approvedPage {
		m.clampApproved()
	}
	m.changes = m.now // what is drawn is out of date
	for topic := range k.decided {
		if e, ok := s.entry([]byte(topic)); ok {
			k.keepEntry(m, e)
		}
	}
}

// heldRecord takes a record that was read while the picture stands: of it only the operations of the person are shown.
func (m *model) heldRecord(msg recordMsg) {
	k, r := &m.still.work, &m.record
	k.record = &msg
	if !r.have || msg.err != nil {
		return
	}
	r.past = msg.past
	shown := slices.Clone(r.ops)
	for i := range slices.Backward(msg.listed.Operations) { // from the oldest on, so that the newest ends as the first
		s := &msg.listed.Operations[i]
		if !m.ownOperation(s.ID) {
			continue
		}
		at := slices.IndexFunc(shown, func(x actions.Summary) bool { return x.ID == s.ID })
		if at < 0 {
			shown, at = slices.Insert(shown, 0, actions.Summary{}), 0
		}
		if !reflect.DeepEqual(shown[at], *s) {
			shown[at] = *s
			r.lines, r.skipped, r.head = msg.listed.Lines, msg.listed.Skipped, msg.head
		}
		k.keepOperation(m, s)
		if e, ok := m.sheet.entry(s.Topic); ok {
			k.keepEntry(m, e)
		}
	}
	r.ops = shown
}

// ownOperation reports whether the person did something about an operation on this screen.
func (m *model) ownOperation(id string) bool {
	return id != "" && (m.still.work.looked[id] || slices.ContainsFunc(m.acts, func(a *act) bool { return a.op.ID == id || a.undo.Of == id }))
}

// newerThanShown reports whether part of an operation that somebody else wrote is newer than the picture that stands.
func (m *model) newerThanShown(op *actions.Operation) bool {
	if m.paused.IsZero() || m.ownOperation(op.ID) {
		return false
	}
	return op.Ended.After(m.paused) ||
		slices.ContainsFunc(op.Later, func(l actions.LaterLine) bool { return l.At.After(m.paused) }) ||
		slices.ContainsFunc(op.Undos, func(u actions.Undo) bool { return u.Begun.After(m.paused) || u.Ended.After(m.paused) })
}

// catchUp takes in what came while the picture stood.
func (m *model) catchUp(k stillWork) tea.Cmd {
	var cmds []tea.Cmd
	if k.sheet != nil {
		m.tookManifest(*k.sheet)
	}
	m.sheet.at = m.sheet.at.Add(-rereadAfter) // it is read again soon
	if k.record != nil {
		cmds = append(cmds, m.tookRecord(*k.record))
	}
	if m.screen == recordPage {
		cmds = append(cmds, m.readRecord())
	}
	return tea.Batch(cmds...)
}
