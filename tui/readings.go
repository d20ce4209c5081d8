package tui

import (
	"strings"
	"time"

	"retainscope/inventory"
)

// What the screen asks about owners and what was left behind, and how it is said in a column and in the detail pane.
// Everything in here may quote bytes from the wire and is made printable where it is drawn.

// Readings says what is known of topics beyond their expiry. Its methods may be called from any goroutine. Instants are
// Unix milliseconds.
type Readings interface {
	// Phrase returns the short reading of a retained topic, and false when there is none. It returns at once.
	Phrase(topic []byte, now int64) (Phrase, bool)
	// Evidence returns all that is known of a retained topic, and false when nothing is. It returns at once.
	Evidence(topic []byte, now int64) (Evidence, bool)
	// LeftBehind returns what looks left behind and the table of prefixes. It may take long.
	LeftBehind(now int64) LeftBehind
	// Finding reports whether there is a kind of finding of that name, for the filter.
	Finding(name string) bool
}

// Phrase is the reading of one topic in a few words.
type Phrase struct {
	Text         string
	Left, Hazard bool
}

// Evidence is what a reading rests on.
type Evidence struct {
	Phrase
	Owner, Rule, Convention, Device, Role string
	State, Source, Value, Note            string // the owner's liveness: where it stands, what it holds, what that proves
	Spared                                string // why it is not called left behind although a finding speaks against it
	Refs, RefBy                           []Reference
	RefsTotal, RefByTotal                 int // of which Refs and RefBy are the first
	Findings                              []Finding
}

// Reference is one topic that names, or is named by, another.
type Reference struct {
	Topic, How string
	Retained   bool
}

// Finding is one thing that was noticed.
type Finding struct{ Kind, Strength, Reason string }

// LeftBehind is the content of the screen of that name.
type LeftBehind struct {
	Groups   []Group // in the order of the evidence: hazards first, then the strongest
	Prefixes []Prefix
}

// Group is what one owner or one device left behind, or the hazards under its name.
type Group struct {
	Key                                              string // tells it from every other, whatever their names
	Owner, Rule, Convention, Device, State, Strength string
	Hazard                                           bool
	Reasons                                          []Finding
	Members                                          []Member
	Go                                               int           // topics that would go
	Silent                                           time.Duration // while somebody watched; 0 = not known
}

// Member is one topic of a group.
type Member struct {
	Topic, Role, Phrase string
	Left, Hazard        bool
}

// Prefix says how much of one first level carries an expiry.
type Prefix struct {
	Name                               string
	Topics, Expiry, Never, Fell, Began int
}

// shorter are the ways to say a phrase where the column is narrow, tried in this order.
var shorter = [...][2]string{
	{"never expires, owner not known to be online", "owner not known"},
	{"never expires, owner", "owner"},
	{"expires by itself, owner", "owner"},
	{"hazard: retained Sparkplug message", "hazard: Sparkplug"},
	{"hazard: retained command", "hazard: command"},
	{"left behind:", "left:"},
	{"left: owner ", "left: "},
	{"provisional approval", "prov. approval"},
	{"changed since approval", "not as approved"},
	{"cleared, provisional", "cleared, prov."},
	{"cleared and verified", "cleared, verified"},
	{"cleared, verified", "verified"},
	{"cleared, prov.", "prov."},
	{"watched to ", "watch "},
	{"came back in ", "back in "},
	{"acknowledged ", "ack "},
	{"approval not complete", "not complete"},
	{"approved elsewhere", "elsewhere"},
	{"migration marker", "marker"},
	{"not named by its owner", "not named"},
	{"name unknown to zigbee2mqtt", "name unknown"},
	{"lacks what its owner publishes", "incomplete"},
	{"written before its owner used expiry", "no expiry"},
	{"Home Assistant ignores the topic", "ignored"},
	{"nothing behind it", "dangling"},
}

// inCells returns the phrase in at most width cells where there is a way to say it so.
func inCells(text string, width int) string {
	for _, s := range shorter {
		if len(text) <= width {
			break
		}
		text = strings.Replace(text, s[0], s[1], 1)
	}
	return text
}

// reading returns the phrase of a row and its tone: what was found of its owner, or what expiry tells where that says
// more.
func (m *model) reading(s *inventory.Slot, now int64) (string, tone) {
	text, t := phrase(s, now)
	if then, ok := m.still.said[string(s.Topic)]; ok {
		return then.text, then.tone
	}
	if said, tone, ok := m.actReading(s.Topic); ok {
		return said, tone
	}
	if said, tone, ok := m.approvalReading(s.Topic); ok {
		return said, tone
	}
	if m.o.Readings == nil {
		return text, t
	}
	p, ok := m.o.Readings.Phrase(s.Topic, now)
	switch {
	case !ok:
		return text, t
	case p.Hazard:
		return p.Text, alarming
	case p.Left:
		return p.Text, notable
	case t != calm:
		return text, t
	}
	return p.Text, calm
}

// evidence returns what the reading of a topic rests on, as it was when the picture was held still.
func (m *model) evidence(topic []byte) (Evidence, bool) {
	if !m.paused.IsZero() {
		e, ok := m.still.rests[string(topic)]
		return e, ok
	}
	return m.o.Readings.Evidence(topic, m.now.UnixMilli())
}

// writeEvidence says what the reading of a topic rests on.
func (m *model) writeEvidence(w *writer, topic []byte) {
	if m.o.Readings == nil {
		return
	}
	e, ok := m.evidence(topic)
	if !ok {
		if !m.paused.IsZero() {
			w.item("reading", factWidth, w.p.pal.dim, "what it rests on was not in sight when the picture was held still; p moves on")
		}
		return
	}
	p := &w.p
	w.blank()
	line := w.begin()
	line.sayIn(p.pal.strong, "Reading")
	style := ""
	if e.Left || e.Hazard {
		style = p.pal.warn
	}
	line.say("  ")
	line.in(style)
	line.sentence(e.Text)
	w.end()
	for _, f := range e.Findings {
		style := ""
		if f.Strength == "strong" || f.Strength == "hazard" {
			style = p.pal.warn
		}
		w.item(f.Strength, factWidth, style, f.Kind+": "+f.Reason)
	}
	if e.Spared != "" {
		w.item("but", factWidth, "", e.Spared)
	}
	owner := "nobody is known"
	if e.Owner != "" {
		owner = e.Owner
		if e.Convention != "" && e.Convention != e.Owner {
			owner += ", as " + e.Convention + " publishes"
		}
	}
	w.item("owner", factWidth, "", owner)
	if e.Rule != "" {
		w.item("guessed by", factWidth, p.pal.dim, e.Rule)
	}
	if e.Device != "" {
		w.item("device", factWidth, "", e.Device)
	}
	if e.Role != "" && e.Role != "other" {
		w.item("role", factWidth, "", e.Role)
	}
	life := e.State
	if e.Source != "" {
		life += ": " + e.Source + " holds " + e.Value
	}
	w.item("owner is", factWidth, "", life)
	if e.Note != "" {
		w.item("", factWidth, p.pal.dim, asSentence(e.Note))
	}
	writeReferences(w, "names", e.Refs, e.RefsTotal)
	writeReferences(w, "named by", e.RefBy, e.RefByTotal)
}

// mostReferences is how many references the pane shows in each direction.
const mostReferences = 12

func writeReferences(w *writer, label string, all []Reference, total int) {
	for i, r := range all[:min(len(all), mostReferences)] {
		text := r.Topic + " (" + r.How
		if !r.Retained {
			text += ", nothing retained there"
		}
		if i > 0 {
			label = ""
		}
		w.item(label, factWidth, "", text+")")
	}
	if more := total - min(len(all), mostReferences); more > 0 {
		w.item("", factWidth, w.p.pal.dim, "and "+number(int64(more))+" more")
	}
}
