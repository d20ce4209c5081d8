package tui

import (
	"bytes"
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Which approvals hold is marked in the store, so that the filter and an export go by what the screen shows.

// holding is what was marked last.
type holding struct {
	topics  [][]byte
	store   uint64 // version of the store it was worked out from
	known   bool   // by the manifest and the record as they were read last
	marking bool
}

type heldMarkMsg struct{}

// markHolding marks in the store whose approval holds, where that may have changed.
func (m *model) markHolding() tea.Cmd {
	h := &m.holding
	if h.marking || !m.sheet.read || !m.record.have || h.known && h.store == m.sum.Version {
		return nil
	}
	h.store, h.known = m.sum.Version, true
	var topics [][]byte
	for i := range m.sheet.entries {
		if st, _, _ := m.stand(&m.sheet.entries[i]); m.sheet.wrong == "" && st.holds() {
			topics = append(topics, m.sheet.entries[i].Topic)
		}
	}
	if slices.EqualFunc(topics, h.topics, bytes.Equal) {
		return nil
	}
	h.topics, h.marking = topics, true
	inv := m.inv
	return m.task(func() tea.Msg {
		inv.SetApproved(topics)
		return heldMarkMsg{}
	})
}
