package tui

import (
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"retainscope/actions"
	"retainscope/inventory"
)

// The one model. Update takes messages in, looks at the store where that is due, and draws; View hands out what was
// drawn. What waits for anything outside runs as a command on a goroutine of its own.

// screen is what fills the body.
type screen uint8

const (
	topics screen = iota
	leftBehind
	approvedPage
	recordPage
	coveragePage
	eventsPage
	helpPage
)

type model struct {
	o        Options
	ctx      context.Context
	tasks    *tasks
	inv      *inventory.Inventory
	commands []command
	env      environ

	now   time.Time // of the frame, in whole seconds
	w, h  int       // as the terminal says
	lay   layout
	link  inventory.Link
	cov   inventory.Coverage
	check checked
	sum   inventory.Counts
	news  happenings

	screen   screen
	helpFrom screen // where help was opened
	focus    bool   // the detail pane has the keys
	noPane   bool   // the detail pane was closed by hand: it stands beside no list
	list     list
	filter   filterLine
	detail   detail
	left     leftPage
	page     page // coverage, events, help
	dialog   *dialog
	form     form   // what is to be decided; it hears keys after the dialog
	under    []form // the forms under it
	sheet    sheet  // the manifest
	holding  holding
	approved approvedList
	record   recordList
	running  *act      // the clear or restore under way; nil = none
	acts     []*act    // those of this run, newest first
	leaving  time.Time // since when the end waits for the act; zero = it does not
	// lastEntry is what was decided last, to take over what it says of the same owner.
	lastEntry *actions.Entry
	drafts    map[string]*draft // approvals that were closed without saving, by topic
	job       *job              // an export or a question to the broker under way
	toast     toast
	spread    []string // the toast over several lines, where it needs them
	ghosts    ghosts
	paused    time.Time // since when the picture is held still; zero = it is not
	still     stillness // what is shown meanwhile

	statusStale bool      // Source said that something changed
	armed       bool      // a command waits for Source.Changed
	looked      time.Time // when the store was looked at last
	changes     time.Time // when the drawn text changes by itself
	wake        wake
	timer       func(d time.Duration, generation int) tea.Cmd

	pen   pen
	frame string
}

// wake is the one timer on its way.
type wake struct {
	at         time.Time // zero = none
	generation int
}

// The messages that our own commands bring.
type (
	tickMsg    struct{ generation int }
	changedMsg struct{}
)

func newModel(ctx context.Context, o Options) *model {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	m := &model{o: o, ctx: ctx, tasks: &tasks{}, inv: o.Inventory, commands: commands(), env: o.Environ, statusStale: true}
	m.timer = m.realTimer
	m.pen.g, m.pen.pal = drawn, sixteen
	if o.ASCII || m.env.asciiOnly() {
		m.pen.g, m.pen.m.ascii = typed, true
	}
	if m.env.noColour() {
		m.pen.pal = mono
	}
	m.list.spec.Tree, m.list.top = true, true
	if o.Readings != nil {
		m.filter.finding = o.Readings.Finding
	}
	m.filter.init(o.Filter)
	m.now = o.Now()
	return m
}

// Init asks for what the first frame needs.
func (m *model) Init() tea.Cmd {
	var ask tea.Cmd
	if m.env.get("SSH_TTY") != "" || m.env.get("SSH_CONNECTION") != "" {
		// Without being asked the renderer does not find out over SSH whether frames can be shown at once.
		ask = tea.Raw(ansi.RequestModeSynchronizedOutput + ansi.RequestModeUnicodeCore)
	}
	return tea.Batch(ask, m.relist(), m.readManifest(), m.readRecord(), m.settle(true))
}

// Update takes one message in.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	look := true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ModeReportMsg:
		// The renderer counts cells by clusters from here on, under the same condition; so must we.
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet) {
			m.pen.m.method = ansi.GraphemeWidth
			m.detail.forget()
		}
	case tea.KeyPressMsg:
		cmd = m.keyed(func() tea.Cmd { return m.key(msg) })
	case tea.PasteMsg:
		cmd = m.keyed(func() tea.Cmd { return m.paste(msg.Content) })
	case tickMsg:
		if msg.generation != m.wake.generation {
			return m, nil
		}
		m.wake.at = time.Time{}
		look = false
	case changedMsg:
		// Not looked at at once: a scan changes the status far more often than anybody can read.
		m.statusStale, m.armed = true, false
		look = false
		if next := m.looked.Add(m.o.refresh()); next.After(m.o.Now()) {
			return m, m.schedule(next)
		}
	case listedMsg:
		cmd = m.listed(msg)
	case workedMsg:
		cmd = m.worked(msg)
	case detailMsg:
		m.detail.take(msg)
	case ghostsMsg:
		m.ghosts.counting, m.ghosts.n = false, msg.n
		look = false
		m.changes = m.now // what is drawn is out of date
	case laidMsg:
		m.detail.laying = false
		m.detail.body = msg.body
	case leftMsg:
		m.tookLeft(msg)
	case manifestMsg:
		m.tookManifest(msg)
		look = false
	case heldMarkMsg:
		m.holding.marking = false
		look = false
	case nearMsg:
		m.tookNear(msg)
	case decidedMsg:
		cmd = m.decided(msg)
	case withdrawnMsg:
		cmd = m.withdrawn(msg)
	case actedMsg:
		cmd = m.acted(msg)
	case watchedMsg:
		cmd = m.watched(msg)
	case recordMsg:
		cmd = m.tookRecord(msg)
	case operationMsg:
		cmd = m.tookOperation(msg)
	case recheckedMsg:
		cmd = m.rechecked(msg)
	case verifiedMsg:
		m.verified(msg)
	case askedMsg:
		m.asked(msg)
	case exportedMsg:
		m.exported(msg)
	case tea.ResumeMsg:
	default:
		return m, nil
	}
	return m, tea.Batch(cmd, m.settle(look))
}

// View hands out the frame that Update drew.
func (m *model) View() tea.View {
	v := tea.NewView(m.frame)
	v.AltScreen = true
	if x, y, ok := m.cursor(); ok {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

// settle looks at the store where that is due, draws, and returns what has to run next. A key always looks.
func (m *model) settle(look bool) tea.Cmd {
	now := m.o.Now()
	if end := m.mustLeave(now); end != nil {
		return end
	}
	sum := m.inv.Counts()
	held := !m.paused.IsZero()
	moved := sum.Version != m.sum.Version && !held
	if !look && (!m.statusStale || held) && !moved && m.job == nil && !m.busy() && !m.list.partial && !m.list.pending && !m.list.stale && (held || !m.left.stale(m, now)) && m.changes.After(now) {
		return tea.Batch(m.rereadManifest(), m.rereadRecord(), m.listen(), m.schedule(m.next(now, false)))
	}
	m.looked = now
	if m.statusStale && !held {
		m.statusStale = false
		m.link, m.cov = m.o.Source.Status()
		m.noteCheck(sum.Topics)
	}
	m.lay = layoutFor(m.w, m.h, len(m.cov.Notes) > 0)
	if m.noPane {
		m.lay = m.lay.closed()
	}
	m.spreadSaid(now)
	var cmd tea.Cmd
	if !held {
		// Whole seconds: then everything that counts changes in the same frame.
		m.now, m.sum = now.Truncate(time.Second), sum
		m.news.hear(m.inv, sum.Topics)
		cmd = m.markHolding()
	}
	if !held || look {
		cmd = tea.Batch(cmd, m.gather(), m.gatherLeft(), m.rereadManifest(), m.rereadRecord())
	}
	if m.form != nil {
		m.form.refresh(m)
	}
	m.draw(now)
	return tea.Batch(cmd, m.countGhosts(now), m.listen(), m.schedule(m.next(now, moved)))
}

// next returns the instant at which the store is to be looked at again. While nothing moves that is once a second, and
// such a look draws and sends nothing.
func (m *model) next(now time.Time, moved bool) time.Time {
	refresh := m.o.refresh()
	if m.running != nil {
		return now.Add(min(refresh, walkRefresh)) // its boundaries follow each other quickly
	}
	if moved || m.link.Scanning || m.job != nil || m.busy() || m.list.pending || m.list.partial || m.list.stale {
		return now.Add(refresh)
	}
	next := now.Add(max(refresh, time.Second))
	if m.changes.Before(next) && refresh <= time.Second {
		next = m.changes
	}
	return next
}

// schedule sets the timer to at, unless one is on its way that fires before.
func (m *model) schedule(at time.Time) tea.Cmd {
	if !m.wake.at.IsZero() && !m.wake.at.After(at) {
		return nil
	}
	m.wake.generation++
	m.wake.at = at
	return m.timer(max(at.Sub(m.o.Now()), time.Millisecond), m.wake.generation)
}

func (m *model) realTimer(d time.Duration, generation int) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return tickMsg{generation}
		case <-ctx.Done():
			return nil
		}
	}
}

// listen waits for the source to say that something changed, once at a time.
func (m *model) listen() tea.Cmd {
	if m.armed {
		return nil
	}
	m.armed = true
	ctx, changed := m.ctx, m.o.Source.Changed()
	return func() tea.Msg {
		select {
		case _, ok := <-changed:
			if ok {
				return changedMsg{}
			}
		case <-ctx.Done():
		}
		return nil
	}
}

// until notes that a text just drawn holds for d from the instant of the frame on.
func (m *model) until(d time.Duration) {
	if d == forever || !m.paused.IsZero() {
		return
	}
	if t := m.now.Add(d); t.Before(m.changes) {
		m.changes = t
	}
}
