package journal

// When somebody was watching, and what follows for a topic that was not heard of.
// Pure: spans and instants in, an answer out.

import (
	"fmt"
	"strings"
	"time"
)

// Span is a time during which somebody was watching without a break, in Unix milliseconds.
type Span struct {
	Start, Stop int64
	Filters     []string // what was observed; a topic that none of them matches was not
}

// Covers tells whether topic was observed during the span.
//
// Source: MQTT 5, 4.7.
func (s Span) Covers(topic []byte) bool {
	for _, f := range s.Filters {
		if matches(f, string(topic)) {
			return true
		}
	}
	return false
}

func matches(filter, topic string) bool {
	if topic != "" && topic[0] == '$' && (filter == "" || filter[0] != '$') { // [MQTT-4.7.2-1]
		return false
	}
	for {
		f, frest, fmore := strings.Cut(filter, "/")
		if f == "#" {
			return true
		}
		t, trest, tmore := strings.Cut(topic, "/")
		if f != "+" && f != t {
			return false
		}
		if !tmore {
			return !fmore || frest == "#" // sport/# matches sport, 4.7.1.2
		}
		if !fmore {
			return false
		}
		filter, topic = frest, trest
	}
}

// Silence says how much watching a "not seen live" stands on.
type Silence struct {
	Since   int64         // Unix milliseconds: the last live publication, or when the topic was first seen
	Live    bool          // it was seen live at Since
	Watched time.Duration // time of watching between Since and the instant of the question
	Gaps    int           // how often nobody was watching in between, the present included
}

// Silence returns what can be said at now, in Unix milliseconds, about the time in which the topic was not seen live.
// spans are those of the journal, in order.
func (r Record) Silence(spans []Span, now int64) Silence {
	s := Silence{Since: r.FirstSeen}
	if r.LastLive != 0 {
		s.Since, s.Live = r.LastLive, true
	}
	end := s.Since // of the watching that is counted
	for _, span := range spans {
		if span.Stop < s.Since || span.Start > now || !span.Covers(r.Topic) {
			continue
		}
		start, stop := max(span.Start, end), min(span.Stop, now)
		if span.Start > end {
			s.Gaps++
		}
		if stop > start {
			s.Watched += time.Duration(stop-start) * time.Millisecond
			end = stop
		}
	}
	if now-end > patience.Milliseconds() {
		s.Gaps++
	}
	return s
}

// patience is how old the end of the last span may be while its writer still watches: an idle writer says so once in
// idleFlush.
const patience = idleFlush + 30*time.Second

// String returns for instance "not seen live in 13 days of watching, with 2 gaps", or "not seen live since, in 5 h of
// watching, without a gap" for a topic that was seen live at Since.
func (s Silence) String() string {
	if s.Watched <= 0 {
		if s.Gaps == 0 {
			return "watching has only begun"
		}
		return "nobody was watching"
	}
	what := "not seen live in "
	if s.Live {
		what = "not seen live since, in "
	}
	gaps := "without a gap"
	switch {
	case s.Gaps == 1:
		gaps = "with 1 gap"
	case s.Gaps > 1:
		gaps = fmt.Sprintf("with %d gaps", s.Gaps)
	}
	return what + lasting(s.Watched) + " of watching, " + gaps
}

// lasting returns d in the largest unit of which there are at least two.
func lasting(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= 2*u.of {
			return fmt.Sprintf("%d %s", d/u.of, u.name)
		}
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
