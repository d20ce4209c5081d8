package actions

import "time"

// Past is what a record says of single topics. The zero value says nothing. It is a copy and never changes.
type Past struct {
	byTopic map[string][]Summary // oldest first
}

// PastOf returns what was listed, by topic.
func PastOf(l Listed) Past {
	p := Past{byTopic: make(map[string][]Summary, len(l.Operations))}
	for _, s := range l.Operations {
		p.byTopic[string(s.Topic)] = append(p.byTopic[string(s.Topic)], s)
	}
	return p
}

// Spent returns the last operation for which exactly this approval was used: the same value, approved by the same
// person at the same time, and an empty message that was sent or may have been. An approval is for one message: what
// came back, was put back or was refused is approved anew before it is cleared again.
func (p Past) Spent(e Entry) (Summary, bool) {
	all := p.byTopic[string(e.Topic)]
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if s.Acted() && s.By == e.ApprovedBy && s.ApprovedAt.Equal(e.ApprovedAt) && s.Fingerprint == e.Fingerprint {
			return s, true
		}
	}
	return Summary{}, false
}

// Last returns the last operation on topic that sent an empty message or may have.
func (p Past) Last(topic []byte) (Summary, bool) {
	all := p.byTopic[string(topic)]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Acted() {
			return all[i], true
		}
	}
	return Summary{}, false
}

// clearedHere reports whether the record holds a clear of topic that was not begun before the given time, may have taken
// effect, and was not put back since.
func (p Past) clearedHere(topic []byte, from time.Time) bool {
	s, ok := p.Last(topic)
	return ok && !s.Begun.Before(from) && s.Verdict != Refused && !s.PutBack
}

// Acted reports whether the operation sent an empty message, as far as the record tells, or may have.
func (s Summary) Acted() bool {
	if s.Open {
		return !s.SentNothing
	}
	return s.Verdict.Sent()
}

// Cleared reports whether the broker accepted the empty message and nothing was put back since.
func (s Summary) Cleared() bool { return !s.Open && s.Verdict.Accepted() && !s.PutBack }

// standing is the verdict with what was put back since.
func (s Summary) standing() string {
	text := s.Verdict.String()
	switch {
	case s.Running != "":
		text = "running, by " + s.Running
	case s.Open:
		text = "no outcome was written"
	}
	return text + prefixedText(", ", s.After)
}
