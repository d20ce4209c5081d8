package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// The end of the screen, and of an act that is under way then: it is waited for, bounded, and so is its line in the record.

// stopAct is what esc does while an act runs: it stops only what was not sent.
func (m *model) stopAct() {
	a := m.running
	if a.sending() {
		m.tell(notable, "It may have been sent by now, and cannot be called back; its answer is waited for.")
		return
	}
	a.cancel()
	m.tell(notable, "Stopping; nothing is sent.")
}

// leave ends the screen; what runs is stopped by the context that ends with it. An act under way is waited for, bounded,
// and so is its line in the record.
func (m *model) leave() tea.Cmd {
	if m.job != nil {
		m.job.cancel()
	}
	switch {
	case m.running == nil:
		return tea.Quit
	case m.leaving.IsZero():
		m.leaving = m.o.Now()
		if !m.running.sending() {
			m.running.cancel() // nothing was sent, and nothing will be
		}
	default:
		m.running.cancel()
	}
	return nil
}

// mustLeave gives up what is waited for too long.
func (m *model) mustLeave(now time.Time) tea.Cmd {
	if m.leaving.IsZero() || m.running == nil {
		return nil
	}
	switch waited := now.Sub(m.leaving); {
	case waited >= 2*actGrace:
		return tea.Quit
	case waited >= actGrace:
		m.running.cancel()
	}
	return nil
}

// finish waits for an act after the screen has ended, as long as leave would.
func (m *model) finish() {
	a := m.running
	if a == nil || !a.started.Load() {
		return
	}
	if !a.sending() || !m.leaving.IsZero() {
		a.cancel() // nothing was sent, or it was waited for already
	}
	timer := time.NewTimer(actGrace)
	defer timer.Stop()
	select {
	case <-a.ended:
	case <-timer.C:
		a.cancel()
	}
}
