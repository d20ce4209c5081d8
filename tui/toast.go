package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// What is said for a while in the last lines: how a job goes, a toast, why a filter cannot be read.

// said is what the last line but one has to say for a while: how a job goes, or a toast.
func (m *model) said(now time.Time) (string, string) {
	if m.running != nil {
		text := m.running.progress()
		if !m.leaving.IsZero() {
			text += ". Leaving when it has ended; q again gives up waiting"
		}
		return text, m.pen.pal.warn
	}
	if m.job != nil {
		return m.job.progress(), m.pen.pal.warn
	}
	if m.toast.text == "" || !now.Before(m.toast.until) {
		m.toast.text = ""
		if m.lay.tall && m.filter.err != "" && m.screen == topics {
			// Beside the text of the filter it is cut before it says what works.
			return asSentence(m.filter.err) + " " + m.filter.still(), m.pen.pal.warn
		}
		return "", ""
	}
	if m.toast.until.Before(m.changes) {
		m.changes = m.toast.until
	}
	return m.toast.text, m.pen.pal.of(m.toast.tone)
}

// mostSaid is how many lines a toast may take, and on a screen with more room for it up to longSaid: what a clear came to
// is several sentences, and half of one can say the opposite.
const (
	mostSaid = 4
	longSaid = 9
)

// spreadSaid breaks what is said over as many lines as it needs, and takes them from the body. Of what is longer still
// the end is kept: it holds the name of a file, or the reason of a failure.
func (m *model) spreadSaid(now time.Time) {
	m.spread = nil
	said, _ := m.said(now)
	width := m.lay.w - 2
	if m.lay.tall {
		width = m.lay.w - 5
	}
	if said == "" || m.lay.tiny || m.pen.m.width(said) <= width || m.filter.active && !m.lay.tall {
		return
	}
	lines := wrapProse(m.pen.m, said, width)
	if most := min(max(mostSaid, min(longSaid, m.lay.lines/2)), m.lay.lines-1); len(lines) > most {
		end := lines[len(lines)-1]
		lines = lines[:max(most, 1)]
		lines[len(lines)-1] = m.pen.m.more() + end
	}
	m.spread = lines
	m.lay.body -= len(lines) - 1
	m.lay.lines -= len(lines) - 1
}

// toast is one sentence that goes by itself.
type toast struct {
	text  string
	tone  tone
	until time.Time
	seen  time.Time // from then on a key takes it away
}

const toastFor = 6 * time.Second

// readAlready is how long a sentence that no key was the reason for stands before a key takes it away.
const readAlready = time.Second

// tell shows a sentence for a while. The text must be printable.
func (m *model) tell(t tone, text string) {
	now := m.o.Now()
	m.toast = toast{text: text, tone: t, until: now.Add(toastFor), seen: now.Add(readAlready)}
}

// keyed hears one key: what was said before and could be read goes, and what is said of this key goes with the next one.
func (m *model) keyed(hear func() tea.Cmd) tea.Cmd {
	if !m.o.Now().Before(m.toast.seen) {
		m.toast = toast{}
	}
	before := m.toast
	cmd := hear()
	if m.toast != before {
		m.toast.seen = m.o.Now()
	}
	return cmd
}
