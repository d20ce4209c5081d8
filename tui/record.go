package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
)

// The record: every operation with its verdict, newest first. It may be large, so it is read off the goroutine that
// hears keys, with its progress shown, and can be left.

// recordList is the state of that screen.
type recordList struct {
	ops     []actions.Summary // newest first
	lines   int64
	skipped int64
	head    string // digest of its end
	past    actions.Past
	have    bool
	err     string
	readAt  time.Time // when it was read last
	loading bool
	again   bool // to be read again when it has been read
	lined   *atomic.Int64
	stop    context.CancelFunc
	told    bool   // of operations without an outcome
	wrong   string // what is not as it was written; "" = nothing, so far as was read
	open    int    // how many of them there are
	last    string // the last verified clear that was not put back; "" = there is none

	cur, top int
	at       string // operation of the row of the cursor
	opening  string // the operation that is being read
	full     *actions.Operation
}

type recordMsg struct {
	listed actions.Listed
	head   string // digest of the end
	past   actions.Past
	err    error
}

type operationMsg struct {
	id   string
	op   actions.Operation
	err  error
	undo bool // it is read to be undone
}

// readRecord has the record read again.
func (m *model) readRecord() tea.Cmd {
	r := &m.record
	if m.o.Retiring == nil {
		return nil
	}
	if r.loading {
		r.again = true
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	r.loading, r.lined, r.stop = true, &atomic.Int64{}, cancel
	from, lines := m.o.Retiring, r.lined
	return m.task(func() tea.Msg {
		defer cancel()
		listed, err := from.Record(ctx, lines.Store)
		past := actions.PastOf(listed)
		slices.Reverse(listed.Operations)
		msg := recordMsg{listed: listed, past: past, err: err}
		if h, ok, err := from.Head(ctx); err == nil && ok {
			msg.head = h.SHA256
		}
		return msg
	})
}

// rereadRecord has the record read again while it shows something that another process is doing: that process tells
// nobody here when it ends.
func (m *model) rereadRecord() tea.Cmd {
	const old = 2 * time.Second
	r := &m.record
	if m.screen != recordPage || r.loading || !m.paused.IsZero() || m.o.Now().Before(r.readAt.Add(old)) ||
		!slices.ContainsFunc(r.ops, func(s actions.Summary) bool { return s.Running != "" }) {
		return nil
	}
	again := m.readRecord()
	if r.full != nil && r.full.Running != "" {
		again = tea.Batch(again, m.readOperation(r.full.ID, false))
	}
	return again
}

func (m *model) tookRecord(msg recordMsg) tea.Cmd {
	r := &m.record
	r.loading, r.readAt, m.holding.known = false, m.o.Now(), false
	m.changes = m.now // what is drawn is out of date
	switch {
	case !m.paused.IsZero():
		m.heldRecord(msg)
	case errors.Is(msg.err, context.Canceled):
		r.err = "Reading was stopped; 4 reads it again."
	case msg.err != nil:
		r.err = asSentence(PrintableText([]byte(msg.err.Error())))
	default:
		r.ops, r.lines, r.skipped, r.head, r.have, r.err = msg.listed.Operations, msg.listed.Lines, msg.listed.Skipped, msg.head, true, ""
		r.open, r.last, r.past = 0, "", msg.past
		for i := range r.ops {
			if s := &r.ops[i]; r.last == "" && !s.Restored && !s.PutBack && (s.Verdict == actions.ClearedVerified || s.Verdict == actions.Collateral) {
				r.last = s.ID
			}
			if r.ops[i].Open && r.ops[i].Running == "" && (m.running == nil || string(m.running.topic) != string(r.ops[i].Topic)) {
				r.open++
			}
		}
		m.tellRecord(msg.listed.Check.Wrong())
	}
	if r.again {
		r.again = false
		return m.readRecord()
	}
	return nil
}

// tellRecord says once what is wrong with the record, and which operations have no outcome.
func (m *model) tellRecord(wrong string) {
	r := &m.record
	said := ""
	if wrong != "" && wrong != r.wrong {
		said = "The record is not as it was written: " + wrong + ". v in 4 checks every line."
	}
	if r.open > 0 && !r.told {
		said = strings.TrimSpace(said + " " + unknownWords(r.open))
	}
	if said != "" {
		m.announce(alarming, said)
	}
	r.told, r.wrong = true, wrong
}

// unknownWords says that some operations have no outcome, and what can be done.
func unknownWords(n int) string {
	what := "1 clear was begun and has no outcome"
	if n > 1 {
		what = number(int64(n)) + " clears were begun and have no outcome"
	}
	return "Unknown: " + what + " in the record (the program was stopped in between). Nothing is sent again by itself; 4 shows it, and r there reads back what is there now."
}

func (m *model) recordRow() (*actions.Summary, bool) {
	if i := m.record.cur; i >= 0 && i < len(m.record.ops) {
		return &m.record.ops[i], true
	}
	return nil, false
}

func (m *model) noRecordRow() string {
	if _, ok := m.recordRow(); !ok {
		return "no operation is under the cursor"
	}
	return ""
}

func (m *model) noFullRecord() string {
	if m.record.full != nil {
		return "it is shown in full"
	}
	return m.noRecordRow()
}

func (m *model) clampRecord() {
	r := &m.record
	if e, ok := m.recordRow(); r.at != "" && (!ok || e.ID != r.at) {
		if i := slices.IndexFunc(r.ops, func(s actions.Summary) bool { return s.ID == r.at }); i >= 0 {
			r.cur = i
		}
	}
	lines := m.tableLines()
	r.cur = max(0, min(r.cur, len(r.ops)-1))
	r.top = max(min(r.top, r.cur), r.cur-lines+1)
	r.top = max(0, min(r.top, len(r.ops)-lines))
	r.at = ""
	if e, ok := m.recordRow(); ok {
		r.at = e.ID
	}
}

func (m *model) moveRecord(rows int) {
	r := &m.record
	r.cur, r.at = max(0, min(r.cur+rows, len(r.ops)-1)), ""
	m.clampRecord()
}

// leaveRecord goes back from an operation to the list, stops reading, or goes back to the topics.
func (m *model) leaveRecord() tea.Cmd {
	r := &m.record
	switch {
	case r.full != nil:
		r.full = nil
		return nil
	case m.job != nil:
		m.job.cancel()
		return nil
	case r.loading:
		r.again = false
		r.stop()
		return nil
	}
	return m.show(topics)
}

// openOperation has the operation under the cursor read in full.
func (m *model) openOperation() tea.Cmd {
	s, ok := m.recordRow()
	if !ok {
		return nil
	}
	m.page.scroll = 0
	return m.readOperation(s.ID, false)
}

func (m *model) readOperation(id string, undo bool) tea.Cmd {
	m.record.opening = id
	r, ctx := m.o.Retiring, m.ctx
	return m.task(func() tea.Msg {
		op, err := r.Operation(ctx, id)
		return operationMsg{id, op, err, undo}
	})
}

func (m *model) tookOperation(msg operationMsg) tea.Cmd {
	r := &m.record
	if msg.id != r.opening {
		return nil
	}
	r.opening = ""
	switch {
	case msg.err != nil:
		m.tell(alarming, "Not read: "+asSentence(PrintableText([]byte(msg.err.Error()))))
	case msg.undo:
		if m.form == nil && m.dialog == nil {
			return m.openUndo(&msg.op)
		}
	case m.screen == recordPage:
		r.full = &msg.op
	}
	return nil
}
