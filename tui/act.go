package tui

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// A clear or a restore under way, and what came of those of this run. One runs at a time.

// act is one of them. The model owns it; what its command writes while it runs is guarded.
type act struct {
	topic   []byte
	restore bool // it puts back; else it clears
	before  inventory.Slot
	beside  []byte // in a list that is not ordered by topic: the row that took its place
	begun   time.Time
	cancel  context.CancelFunc
	started atomic.Bool
	ended   chan struct{}            // closed when the command has ended
	result  atomic.Pointer[actedMsg] // how it ended, set before ended is closed

	mu    sync.Mutex
	steps []walked
	sends bool // it may have been sent by now

	// What follows is known when it has ended.
	over     bool
	late     bool // the screen was being left: nobody read how it ended
	overAt   time.Time
	op       actions.Operation
	undo     actions.UndoOutcome
	err      string // why the outcome is not in the record
	watch    time.Duration
	watching time.Time // until when a return is watched for; zero = it is not
	unwatch  func()    // ends the watch and waits for its line in the record; nil = there was none
	expect   string    // when a return must be expected
	expectBy time.Time // zero = nothing is known
	head     string    // digest of the end of the record
}

// walked is one boundary that was passed.
type walked struct {
	at   time.Time
	step actions.Step
	text string
}

type actedMsg struct {
	a    *act
	op   actions.Operation
	undo actions.UndoOutcome
	head string
	err  error
}

const (
	// mostActs bounds how many acts of a run are remembered; the record has all of them.
	mostActs = 20
	// actStays is how long the row of an act stays in the list after its last news.
	actStays = 10 * time.Minute
	// walkRefresh is how often the screen looks how an act goes.
	walkRefresh = 100 * time.Millisecond
	// actGrace is how long an act that may have been sent is waited for when the program is to end.
	actGrace = 15 * time.Second
)

// told takes one boundary in, on the goroutine of the act.
func (a *act) told(now func() time.Time) func(actions.Progress) {
	return func(p actions.Progress) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.steps = append(a.steps, walked{now(), p.Step, p.Text})
		// From the last boundary before the wire on nobody can tell from here that nothing is sent: for a restore that is
		// the look at the topic.
		a.sends = a.sends || p.Step >= actions.StepCompared || a.restore && p.Step >= actions.StepRead
	}
}

// walk returns the boundaries passed so far.
func (a *act) walk() []walked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]walked(nil), a.steps...)
}

// sending reports whether something may have been sent.
func (a *act) sending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sends
}

// verb says what it does.
func (a *act) verb() string {
	if a.restore {
		return "restore"
	}
	return "clear"
}

// begin runs an act as the only one. Its context is its own: it ends neither with the screen nor with a signal before
// what may have been sent is written down.
func (m *model) begin(a *act, do func(ctx context.Context, told func(actions.Progress)) actedMsg) tea.Cmd {
	ctx, cancel := context.WithCancel(context.WithoutCancel(m.ctx))
	a.cancel, a.ended, a.begun = cancel, make(chan struct{}), m.o.Now()
	if ref, ok := m.inv.Find(a.topic); ok {
		a.before, _ = m.inv.Slot(ref)
	} else if earlier, ok := m.actOn(a.topic); ok {
		a.before = earlier.before
	}
	m.running = a
	// What is done now is no return: whoever watches for one is to have ended before.
	var unwatch []func()
	for _, earlier := range m.acts {
		if !earlier.watching.IsZero() && string(earlier.topic) == string(a.topic) {
			unwatch = append(unwatch, earlier.unwatch)
		}
	}
	m.acts = append([]*act{a}, m.acts...)
	if len(m.acts) > mostActs {
		m.acts = m.acts[:mostActs]
	}
	r, told := m.o.Retiring, a.told(m.o.Now)
	return m.task(func() tea.Msg {
		a.started.Store(true)
		defer close(a.ended)
		defer cancel()
		for _, end := range unwatch {
			end()
		}
		msg := do(ctx, told)
		msg.a = a
		if h, ok, err := r.Head(context.WithoutCancel(ctx)); err == nil && ok {
			msg.head = h.SHA256
		}
		a.result.Store(&msg)
		return msg
	})
}

// take keeps how it ended.
func (a *act) take(msg actedMsg, now time.Time) {
	a.over, a.overAt, a.op, a.undo, a.head = true, now, msg.op, msg.undo, msg.head
	if msg.err != nil {
		a.err = msg.err.Error()
	}
}

// acted takes in how an act ended, and has what comes after it begun.
func (m *model) acted(msg actedMsg) tea.Cmd {
	a := msg.a
	a.take(msg, m.o.Now())
	if m.running == a {
		m.running = nil
	}
	if !m.leaving.IsZero() {
		a.late = true
		return tea.Quit
	}
	text, t := a.news()
	m.announce(t, text)
	cmds := []tea.Cmd{m.readRecord()}
	if a.returnPossible() {
		cmds = append(cmds, m.watchReturn(a, m.o.Now().Add(a.watch)))
	}
	return tea.Batch(cmds...)
}

// actHere returns the last act on the topic under the cursor, on whatever screen that is.
func (m *model) actHere() (*act, bool) {
	switch m.scope() {
	case inList, inDetail:
		if r, ok := m.row(); ok {
			return m.actOn(r.Prefix)
		}
	case inApproved, inLeft:
		if topic, ok := m.clearable(); ok {
			return m.actOn(topic)
		}
	}
	return nil, false
}

// actOn returns the last act on a topic.
func (m *model) actOn(topic []byte) (*act, bool) {
	for _, a := range m.acts {
		if string(a.topic) == string(topic) {
			return a, true
		}
	}
	return nil, false
}

// stays reports whether the row of the act is still to be seen.
func (a *act) stays(now time.Time) bool {
	return !a.over || !a.watching.IsZero() || now.Before(a.overAt.Add(actStays))
}

// busy reports whether something moves by itself that has to be drawn.
func (m *model) busy() bool {
	return m.running != nil || m.record.loading
}

// progress says how the act under way goes.
func (a *act) progress() string {
	text := "begun"
	if w := a.walk(); len(w) > 0 {
		text = w[len(w)-1].text
	}
	verb := "Clearing "
	if a.restore {
		verb = "Putting back "
	}
	return verb + Printable(a.topic) + ": " + text
}

// short returns the beginning of an answer up to its explanation.
func short(text string) string {
	if i := strings.IndexAny(text, ":;"); i > 0 {
		return text[:i]
	}
	return text
}
