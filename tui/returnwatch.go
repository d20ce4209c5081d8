package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// The watch for a return of what was cleared, beside everything else.

type watchedMsg struct {
	a     *act
	later actions.Later
	err   error
}

// watchReturn watches for a return beside everything else.
func (m *model) watchReturn(a *act, until time.Time) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	ended := make(chan struct{})
	a.watching = until
	a.unwatch = func() {
		cancel()
		timer := time.NewTimer(actGrace)
		defer timer.Stop()
		select {
		case <-ended:
		case <-timer.C:
		}
	}
	r, op := m.o.Retiring, a.op
	return m.task(func() tea.Msg {
		defer close(ended)
		defer cancel()
		later, err := r.Watch(ctx, op, until)
		return watchedMsg{a, later, err}
	})
}

// watched takes in what the watch for a return saw.
func (m *model) watched(msg watchedMsg) tea.Cmd {
	a := msg.a
	a.watching, a.overAt = time.Time{}, m.o.Now()
	was := a.op.Verdict()
	a.op.Later = append(a.op.Later[:len(a.op.Later):len(a.op.Later)], actions.LaterLine{Kind: actions.LineWatch, At: a.overAt, Later: msg.later})
	if msg.err != nil {
		a.err = msg.err.Error()
	}
	if last, _ := m.actOn(a.topic); last != a {
		return m.readRecord() // something was done on the topic since, and has ended the watch
	}
	if a.op.Verdict() != was || msg.later.Return != nil || msg.err != nil {
		text, t := a.news()
		m.announce(t, text)
	} else if !a.expectBy.IsZero() && a.expectBy.After(a.overAt) {
		m.announce(notable, Printable(a.topic)+" did not return while it was watched. It must be expected until "+instant(a.expectBy, m.now)+"; w on its row keeps watching.")
	}
	return m.readRecord()
}

// keepWatching watches on for the time in which a return must be expected, or for the usual time.
func (m *model) keepWatching() tea.Cmd {
	a, _ := m.actHere()
	until := m.o.Now().Add(m.watchTime())
	if a.expectBy.After(until) {
		until = a.expectBy
	}
	m.tell(fine, "Watching for a return of "+Printable(a.topic)+" until "+instant(until, m.now)+".")
	return m.watchReturn(a, until)
}

// watchTime is how long a return is watched for by default.
func (m *model) watchTime() time.Duration {
	if w := m.o.Retiring.Terms().Window; w > 0 {
		return w
	}
	return time.Minute
}

func (m *model) noWatch() string {
	a, ok := m.actHere()
	switch {
	case !ok || a.restore || !a.over || a.op.ID == "" || !a.op.Outcome.Verdict.Sent():
		return "no clear of this topic was sent in this run; 4 has the record of all"
	case !a.watching.IsZero():
		return "it is watched until " + instant(a.watching, m.now)
	}
	return m.noConnection()
}
