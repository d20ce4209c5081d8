package tui

import (
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What runs on goroutines of its own, so that leaving can wait for it: Bubble Tea does not.

// tasks counts commands that are under way. Its zero value is ready.
type tasks struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when the last one has ended; nil while nobody waits
}

func (t *tasks) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.n++
	return true
}

func (t *tasks) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// shut lets no new task begin.
func (t *tasks) shut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// wait lets no new task begin and returns when all have ended, or after the limit.
func (t *tasks) wait(limit time.Duration) {
	t.mu.Lock()
	t.closed = true
	if t.n == 0 {
		t.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	t.idle = idle
	t.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

// task makes a command of f that is counted while it runs. f must end soon after the model's context.
func (m *model) task(f func() tea.Msg) tea.Cmd {
	t := m.tasks
	return func() tea.Msg {
		if !t.begin() {
			return nil
		}
		defer t.end()
		return f()
	}
}
