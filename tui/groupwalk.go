package tui

import (
	tea "charm.land/bubbletea/v2"
)

// From a group of what looks left behind, topic by topic: each is looked at by itself, and the next is offered.

// groupWalk is one group that is gone through.
type groupWalk struct {
	name   string
	topics []string
}

// leftSubject returns the topic under the cursor, or for the head of a group its first topic that is not in the manifest.
func (m *model) leftSubject() ([]byte, *groupWalk, bool) {
	r, ok := m.left.row()
	if !ok || r.group == nil {
		return nil, nil, false
	}
	walk := &groupWalk{name: r.group.Owner}
	if r.group.Device != "" && r.group.Device != r.group.Owner {
		walk.name += " / " + r.group.Device
	}
	for i := range r.group.Members {
		walk.topics = append(walk.topics, r.group.Members[i].Topic)
	}
	if r.member != nil {
		return []byte(r.member.Topic), walk, true
	}
	next, ok := m.nextOf(walk)
	return []byte(next), walk, ok
}

// nextOf returns the first topic of the group that is held and that the manifest says nothing of.
func (m *model) nextOf(walk *groupWalk) (string, bool) {
	for _, t := range walk.topics {
		if _, listed := m.sheet.entry([]byte(t)); listed || m.lastEntry != nil && string(m.lastEntry.Topic) == t {
			continue
		}
		if _, held := m.inv.Find([]byte(t)); held {
			return t, true
		}
	}
	return "", false
}

// offerNext asks whether to go on with the next topic of the group. Nothing is chosen beforehand.
func (m *model) offerNext(walk *groupWalk) {
	if walk == nil {
		return
	}
	next, ok := m.nextOf(walk)
	if !ok {
		m.tell(fine, "Every topic of "+PrintableText([]byte(walk.name))+" is in the manifest; 3 shows them.")
		return
	}
	m.dialog = &dialog{
		title: "The next topic of this group?",
		text:  []string{"Saved. Of " + walk.name + " this one is not in the manifest yet; it is looked at by itself:", next},
		choices: []choice{
			{label: "not now"},
			{label: "open its approval"},
		},
		then: func(m *model, chosen int) tea.Cmd {
			if chosen == 1 {
				return m.approve([]byte(next), walk)
			}
			return nil
		},
	}
}
