package tui

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/actions"
	"retainscope/inventory"
)

// What the manifest says, as it was read last, and how that stands to what is held now.

// sheet is the manifest.
type sheet struct {
	read    bool // at least once
	reading bool
	at      time.Time // when it came
	text    string    // of the file, to tell whether it changed
	entries []actions.Entry
	index   map[string]int // into entries, by topic
	guard   actions.Protection
	wrong   string   // why the file cannot be used; "" = it can
	faults  []string // all that is wrong with it
	away    string   // why it is not for the broker of this connection; "" = it is
	prints  map[string]imprint
}

type manifestMsg struct {
	text    string
	entries []actions.Entry
	guard   actions.Protection
	wrong   string
	faults  []string
	away    string
}

// rereadAfter is how old the manifest may be that is shown: a person may edit the file meanwhile.
const (
	rereadAfter  = 10 * time.Second
	rereadAtHand = 2 * time.Second // while it is looked at
)

// rereadManifest has the manifest read again where it grew old.
func (m *model) rereadManifest() tea.Cmd {
	old := rereadAfter
	if m.screen == approvedPage {
		old = rereadAtHand
	}
	if m.o.Retiring == nil || m.sheet.reading || m.sheet.read && m.o.Now().Before(m.sheet.at.Add(old)) || !m.paused.IsZero() {
		return nil
	}
	return m.readManifest()
}

// readManifest reads the manifest.
func (m *model) readManifest() tea.Cmd {
	if m.o.Retiring == nil {
		return nil
	}
	m.sheet.reading = true
	r, ctx := m.o.Retiring, m.ctx
	return m.task(func() tea.Msg {
		msg := readSheet(ctx, r)
		if ctx.Err() != nil {
			return nil
		}
		return msg
	})
}

func readSheet(ctx context.Context, r Retiring) manifestMsg {
	terms := r.Terms()
	msg := manifestMsg{guard: terms.Protection}
	f, err := r.Manifest(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return msg
	case err != nil:
		msg.wrong = err.Error()
		if bad, ok := errors.AsType[*actions.ManifestError](err); ok {
			for _, p := range bad.Problems {
				msg.faults = append(msg.faults, p.String())
			}
		}
		return msg
	}
	msg.text, msg.entries = string(f.Text()), f.Entries()
	if len(msg.entries) > 0 {
		if err := f.Broker().Same(terms.Broker); err != nil {
			msg.away = err.Error()
		}
	}
	guard, err := actions.Protect(terms.Protection.Filters(), f.Protect())
	if err != nil {
		msg.wrong = err.Error()
		return msg
	}
	msg.guard = guard
	return msg
}

func (m *model) tookManifest(msg manifestMsg) {
	s := &m.sheet
	s.reading, s.at, m.holding.known = false, m.o.Now(), false
	if !m.paused.IsZero() {
		m.heldSheet(msg)
		return
	}
	s.guard = msg.guard
	if s.read && msg.text == s.text && msg.wrong == s.wrong && msg.away == s.away {
		return
	}
	s.read, s.text, s.wrong, s.faults, s.away = true, msg.text, msg.wrong, msg.faults, msg.away
	s.show(msg.entries)
	if m.screen == approvedPage {
		m.clampApproved()
	}
	m.changes = m.now // what is drawn is out of date
	if f, ok := m.form.(*approveForm); ok {
		f.learn(m)
	}
}

// show makes these the entries.
func (s *sheet) show(entries []actions.Entry) {
	s.entries, s.index = entries, make(map[string]int, len(entries))
	for i := range entries {
		s.index[string(entries[i].Topic)] = i
	}
}

// entry returns what the manifest says of exactly this topic.
func (s *sheet) entry(topic []byte) (*actions.Entry, bool) {
	if i, ok := s.index[string(topic)]; ok {
		return &s.entries[i], true
	}
	return nil, false
}

// standing is how an entry stands to what is held.
type standing uint8

const (
	standHold standing = iota
	standPreserve
	standRefused    // the name, or a pattern that protects it
	standIncomplete // something an approval needs is missing
	standAway       // approved on another broker
	standSpent      // a message was sent for the approval
	standDone       // and cleared it
	standUnseen
	standChanged
	standApproved
	standProvisional
)

// stand returns how an entry stands, a phrase, and the sentence behind it.
func (m *model) stand(e *actions.Entry) (st standing, phrase, why string) {
	at, by, err := m.grounds().Stand(*e, func() actions.Sight { return m.sight(e) })
	used := "operation " + by.ID + " of " + instant(by.Begun, m.now) + " used the approval"
	switch at {
	case actions.OnHold:
		return standHold, "on hold", "nothing is decided"
	case actions.ToPreserve:
		return standPreserve, "to be preserved", "nothing would be sent"
	case actions.Barred:
		if f, yes := m.sheet.guard.Match(e.Topic); yes && e.Refusal == nil {
			return standRefused, "protected", "the pattern " + actions.Quote([]byte(f)) + " protects it: nothing would be sent"
		}
		return standRefused, "no exact topic", err.Error()
	case actions.Lacking:
		return standIncomplete, "not complete", err.Error()
	case actions.Elsewhere:
		return standAway, "another broker", err.Error()
	case actions.ThereAgain:
		return standSpent, "used up, there again", used + ", and the topic is there again: nothing would be sent. a shows it and approves anew"
	case actions.Done:
		return standDone, "cleared", used + " and cleared it; no retained message of it is shown to this login now"
	case actions.UsedUp:
		return standSpent, "approval used up", used + ": nothing would be sent. a approves anew"
	case actions.NotThere:
		if m.link.State != inventory.Watching {
			return standUnseen, "not observed", "there is no connection"
		}
		return standUnseen, "not observed", "no retained message of this topic was shown to this login; nothing would be sent"
	case actions.ChangedSince:
		return standChanged, "changed since approval", "what is held now is not what was approved: nothing would be sent. a shows it and approves anew"
	}
	if why := e.Provisional(); len(why) > 0 {
		return standProvisional, "provisional approval", why[0]
	}
	return standApproved, "approved", "the value is the one that was approved"
}

func (s standing) tone() tone {
	switch s {
	case standApproved:
		return fine
	case standProvisional, standUnseen, standDone, standIncomplete:
		return notable
	case standRefused, standAway, standChanged, standSpent:
		return alarming
	}
	return calm
}

// approvalReading returns what READING says of a topic because of the manifest, and false where that says nothing.
func (m *model) approvalReading(topic []byte) (string, tone, bool) {
	e, ok := m.sheet.entry(topic)
	if !ok {
		return "", calm, false
	}
	st, phrase, _ := m.standShown(e)
	switch st {
	case standHold, standUnseen, standDone:
		return "", calm, false
	case standIncomplete:
		phrase = "approval not complete"
	case standAway:
		phrase = "approved elsewhere"
	case standRefused:
		phrase = "approved, protected"
	}
	return phrase, st.tone(), true
}

// grounds are what the entries are held against.
func (m *model) grounds() actions.Grounds {
	g := actions.Grounds{Guard: m.sheet.guard, Past: m.record.past}
	if m.sheet.away != "" {
		g.Elsewhere = errors.New(m.sheet.away)
	}
	return g
}

// holds reports whether an approval stands that a clear would act on.
func (s standing) holds() bool { return s == standApproved || s == standProvisional }

// noRetiring is why nothing can be approved or cleared; "" = it can.
func (m *model) noRetiring() string {
	switch {
	case m.o.Retiring == nil:
		return m.noManifest()
	case m.o.Retiring.Terms().Off != "":
		return m.o.Retiring.Terms().Off
	case m.sheet.wrong != "":
		return "the manifest cannot be used: " + m.sheet.wrong
	case m.sheet.away != "":
		return m.sheet.away
	}
	return ""
}

// noManifest is why there is nobody to approve, clear and record.
func (m *model) noManifest() string {
	return cmp.Or(m.o.NoRetiring, "this screen was started without a manifest")
}
