package inventory

import (
	"regexp"

	"retainscope/expiry"
)

// Filter is a compiled filter text. It is never changed after it was made and may be used by many goroutines.
type Filter struct {
	text  string
	terms []term
}

// String returns the text that the filter was compiled from.
func (f *Filter) String() string {
	if f == nil {
		return ""
	}
	return f.text
}

type termKind uint8

const (
	termWord    termKind = iota // substring of the topic, ASCII letters folded
	termGlob                    // whole topic, * stands for any bytes, ASCII letters folded
	termMQTT                    // topic filter of MQTT
	termRegexp                  // regular expression on the topic
	termFlags                   // any of flags
	termSize                    // comparison with the true payload length
	termExpiry                  // comparison with the remaining seconds
	termPayload                 // substring of the kept payload, ASCII letters folded
	termOwner                   // what a Judge says of the owner
	termFinding                 // what a Judge found
)

// term is one word of a filter. All terms must hold.
type term struct {
	kind   termKind
	not    bool
	find   finder // termWord, termPayload; for termGlob and termRegexp what must occur, perhaps empty
	pieces [][]byte
	levels topicFilter
	re     *regexp.Regexp
	flags  Flags
	op     comparison
	number int64 // bytes, or milliseconds
	name   string
}

// topicOnly reports whether the topic alone decides the term.
func (t *term) topicOnly() bool { return t.kind <= termRegexp }

// judged reports whether a Judge decides the term.
func (t *term) judged() bool { return t.kind >= termOwner }

// matchTopic decides a term that looks at the topic only.
func (t *term) matchTopic(topic []byte) bool {
	ok := false
	switch t.kind {
	case termWord:
		ok = t.find.in(topic)
	case termGlob:
		ok = matchGlob(t.pieces, topic)
	case termMQTT:
		ok = t.levels.match(topic)
	case termRegexp:
		ok = t.re.Match(topic)
	}
	return ok != t.not
}

// subject is what the terms that look at more than the topic need to know of a slot.
type subject struct {
	flags    Flags
	size     int64
	interval expiry.Interval
	received int64
	payload  []byte
}

// matchSlot decides a term that looks at more than the topic.
func (t *term) matchSlot(s *subject, now int64) bool {
	ok := false
	switch t.kind {
	case termFlags:
		ok = s.flags&t.flags != 0
	case termSize:
		ok = t.op.holds(s.size, t.number)
	case termExpiry:
		left, finite := s.interval.Remaining(s.received, now)
		// What does not count down has no remaining time to compare, so only the negated term can hold.
		ok = finite && t.op.holds(left.Milliseconds(), t.number)
	case termPayload:
		ok = t.find.in(s.payload)
	}
	return ok != t.not
}

// matchTopicTerms reports whether every term holds that looks at the topic only.
func (f *Filter) matchTopicTerms(topic []byte) bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.topicOnly() && !t.matchTopic(topic) {
			return false
		}
	}
	return true
}

// matchSlotTerms reports whether every term holds that looks at more than the topic.
func (f *Filter) matchSlotTerms(s *subject, now int64) bool {
	for i := range f.terms {
		if t := &f.terms[i]; !t.topicOnly() && !t.judged() && !t.matchSlot(s, now) {
			return false
		}
	}
	return true
}

// topicOnly reports whether the topics alone decide the filter.
func (f *Filter) topicOnly() bool {
	for i := range f.terms {
		if !f.terms[i].topicOnly() {
			return false
		}
	}
	return true
}

// empty reports whether f lets everything through.
func (f *Filter) empty() bool { return f == nil || len(f.terms) == 0 }

// Match reports whether the slot passes the filter at now, in Unix ms. A payload term looks at payload, which the
// caller has because a Slot carries only the head of it. What a Judge decides is not asked for: an owner: or finding: is
// taken to hold.
func (f *Filter) Match(s Slot, payload []byte, now int64) bool {
	if f.empty() {
		return true
	}
	sub := subject{flags: s.Flags, size: int64(s.Size), interval: s.Interval, received: s.ReceivedAt, payload: payload}
	return f.matchTopicTerms(s.Topic) && f.matchSlotTerms(&sub, s.at(now))
}

type comparison uint8

const (
	less comparison = iota
	lessEqual
	equal
	greaterEqual
	greater
)

func (c comparison) holds(a, b int64) bool {
	switch c {
	case less:
		return a < b
	case lessEqual:
		return a <= b
	case greaterEqual:
		return a >= b
	case greater:
		return a > b
	default:
		return a == b
	}
}
