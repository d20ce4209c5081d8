package cli

// The readings as the screen wants them: its own types, and an answer at once also while the groups are gathered.

import (
	"sync"

	"retainscope/readings"
	"retainscope/tui"
)

// evidence serves the screen. While a long question holds the reader, short ones are answered with what was said last,
// so that no key waits.
type evidence struct {
	reader *readings.Reader
	memory *memory // nil = only what was seen since the start is known

	mu      sync.Mutex
	busy    bool
	phrases map[string]tui.Phrase // said lately
	last    tui.Evidence          // said last, of topic
	topic   string
}

// phrasesKept is how many phrases are remembered: far more than rows in sight.
const phrasesKept = 4096

func newEvidence(r *readings.Reader, m *memory) *evidence {
	return &evidence{reader: r, memory: m, phrases: map[string]tui.Phrase{}}
}

// Phrase returns the short reading of a topic.
func (e *evidence) Phrase(topic []byte, now int64) (tui.Phrase, bool) {
	e.mu.Lock()
	busy, p := e.busy, tui.Phrase{}
	said, ok := e.phrases[string(topic)]
	e.mu.Unlock()
	if busy {
		return said, ok
	}
	b, ok := e.reader.Brief(topic, now)
	if !ok {
		return p, false
	}
	p = tui.Phrase{Text: b.Phrase, Left: b.Left, Hazard: b.Hazard}
	if said == p {
		return p, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.phrases) >= phrasesKept {
		clear(e.phrases)
	}
	e.phrases[string(topic)] = p
	return p, true
}

// Evidence returns all that is known of a topic.
func (e *evidence) Evidence(topic []byte, now int64) (tui.Evidence, bool) {
	e.mu.Lock()
	if e.busy {
		defer e.mu.Unlock()
		return e.last, e.topic == string(topic)
	}
	e.mu.Unlock()
	g, ok := e.reader.Reading(topic, now)
	if !ok {
		return tui.Evidence{}, false
	}
	out := tui.Evidence{
		Phrase: tui.Phrase{Text: g.Phrase, Left: g.Left, Hazard: g.Hazard},
		Owner:  g.Owner.Name, Rule: g.Owner.Rule, Convention: g.Owner.Convention, Device: g.Device, Role: g.Role.String(),
		State: g.Liveness.State.String(), Source: g.Liveness.Source, Value: g.Liveness.Value, Note: g.Liveness.Note, Spared: g.Spared,
		Refs: references(g.Refs), RefBy: references(g.RefBy), RefsTotal: g.RefsTotal, RefByTotal: g.RefByTotal,
	}
	for _, f := range g.Findings {
		out.Findings = append(out.Findings, tui.Finding{Kind: f.Kind.String(), Strength: f.Strength.String(), Reason: f.Reason})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last, e.topic = out, string(topic)
	return out, true
}

func references(in []readings.Reference) []tui.Reference {
	out := make([]tui.Reference, len(in))
	for i, r := range in {
		out[i] = tui.Reference{Topic: r.Topic, How: r.Kind.String(), Retained: r.Retained}
	}
	return out
}

// LeftBehind gathers the groups and the table of first levels. It may take long and is called off the keys.
func (e *evidence) LeftBehind(now int64) tui.LeftBehind {
	e.hold(true)
	groups, prefixes := e.reader.Groups(now), e.reader.Prefixes()
	e.hold(false)
	var out tui.LeftBehind
	for _, g := range groups {
		x := tui.Group{
			Key: g.Key, Owner: g.Owner.Name, Rule: g.Owner.Rule, Convention: g.Owner.Convention, Device: g.Device, State: g.State.String(),
			Strength: g.Strength.String(), Hazard: g.Hazard, Go: g.Go, Silent: g.Silent,
		}
		if d, ok := e.memory.group(g.Members, now); ok {
			x.Silent = d
		}
		for i, k := range g.Kinds {
			x.Reasons = append(x.Reasons, tui.Finding{Kind: k.String(), Strength: g.Strengths[i].String(), Reason: g.Reasons[i]})
		}
		for _, m := range g.Members {
			x.Members = append(x.Members, tui.Member{Topic: m.Topic, Role: m.Role.String(), Phrase: m.Phrase, Left: m.Left, Hazard: m.Hazard})
		}
		out.Groups = append(out.Groups, x)
	}
	for _, p := range prefixes {
		out.Prefixes = append(out.Prefixes, tui.Prefix{Name: p.Prefix, Topics: p.Topics, Expiry: p.Expiry, Never: p.Never, Fell: p.Fell, Began: p.Started})
	}
	return out
}

func (e *evidence) hold(busy bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = busy
}

// Finding reports whether there is a kind of finding of that name.
func (e *evidence) Finding(name string) bool {
	_, ok := readings.ParseKind(name)
	return ok
}
