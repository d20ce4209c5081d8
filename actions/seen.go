package actions

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// Seen is what a look found of one topic, and up to when that holds. The zero value is that nobody looked.
type Seen struct {
	Found Found
	At    time.Time // UTC
	Now   *Copy     // what the topic holds, without its bytes; nil where it was not seen, or comes out of a list
	Why   string    // why nothing can be told, safe for a terminal; empty where something can
}

// LookAt looks what the topics hold now, with new observers, and sends and writes nothing. It returns one answer for each
// topic, in their order; told is called with how many were answered, after each look, and may be nil. A login that is
// shown nothing at all proves nothing by it, and is told of.
func (c *Clearer) LookAt(ctx context.Context, topics [][]byte, told func(answered int)) []Seen {
	all := make([]Seen, 0, len(topics))
	for part := range slices.Chunk(topics, 1+MaxControls) {
		var q Question
		for _, t := range part {
			if f := filterFor(t); !slices.ContainsFunc(q.Filters, func(g []byte) bool { return bytes.Equal(f, g) }) {
				q.Filters = append(q.Filters, f)
			}
		}
		look, err := c.look(ctx, q)
		for _, t := range part {
			all = append(all, c.seen(t, look, err))
		}
		if told != nil {
			told(len(all))
		}
	}
	silent := slices.IndexFunc(all, func(s Seen) bool { return s.Found == NotObserved })
	if silent < 0 || slices.ContainsFunc(all, func(s Seen) bool { return s.Found == Present }) || c.sighted(ctx, topics[silent], true, new([]Look)) {
		return all
	}
	for i := range all {
		if all[i].Found == NotObserved {
			all[i].Found, all[i].Why = FoundNothingOut, shownNothing
		}
	}
	return all
}

// shownNothing is why a look that saw nothing tells nothing.
const shownNothing = "nothing at all was observed: this login may not be allowed to read"

// seen returns what a look tells of one topic.
func (c *Clearer) seen(topic []byte, look Observation, err error) Seen {
	s := Seen{Found: NotObserved, At: look.To.UTC()}
	if s.Why = look.blind(topic, c.Bounds.orDefaults().Quiet, err); s.Why != "" {
		s.Found = FoundNothingOut
		return s
	}
	switch p, there := look.replay(topic); {
	case there && len(p.Payload) == 0:
		s.Found = EmptyCopy
	case there:
		now := copyOf(p, c.Stamps, -1)
		s.Found, s.Now = Present, &now
	}
	return s
}

// lastSeen returns what the last look that told anything found, as far as the record goes.
func (op Operation) lastSeen() (s Seen) {
	take := func(f Found, until time.Time) {
		if f != FoundNothingOut {
			s = Seen{Found: f, At: until}
		}
	}
	if o := op.Outcome; o != nil {
		take(o.Found, o.Until)
	}
	for _, l := range op.Later {
		take(l.Found, l.Until)
	}
	return s
}

// LeftEmpty reports whether s is the last clear of its topic that the record holds, was accepted by the broker, was not
// found to have changed nothing, and nothing was put back since: what the topic holds now is there again.
func (p Past) LeftEmpty(s Summary) bool {
	if !s.Cleared() || s.Verdict == StillPresent {
		return false
	}
	last, ok := p.Last(s.Topic)
	return ok && last.ID == s.ID
}
