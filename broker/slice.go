package broker

// A slice is a part of the retained store that one topic filter names; slices are asked for one at a time, each fenced.
// Pure: filters and topics only. What is asked when stands in slice_run.go.

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// slice is a topic filter as its levels: "+" stands for any level, hash for any further ones.
type slice struct {
	levels []string
	hash   bool
}

const anyLevel = "+"

// parseSlice returns the slice that a topic filter names.
func parseSlice(filter string) slice {
	if filter == "#" {
		return slice{hash: true}
	}
	var s slice
	if rest, ok := strings.CutSuffix(filter, "/#"); ok {
		s.hash = true
		filter = rest
	}
	s.levels = strings.Split(filter, "/")
	return s
}

// filter returns the topic filter.
//
// Source: MQTT 5, 4.7.1.
func (s slice) filter() string {
	if len(s.levels) == 0 {
		return "#"
	}
	f := strings.Join(s.levels, "/")
	if s.hash {
		f += "/#"
	}
	return f
}

// match reports whether the topic's levels are in s. Names that begin with $ are not matched by a leading wildcard.
//
// Source: MQTT 5, 4.7.2.
func (s slice) match(topic [][]byte) bool {
	if len(topic) < len(s.levels) || (len(topic) > len(s.levels) && !s.hash) {
		return false
	}
	if len(topic[0]) > 0 && topic[0][0] == '$' && (len(s.levels) == 0 || s.levels[0] == anyLevel) {
		return false
	}
	for i, l := range s.levels {
		if l != anyLevel && l != string(topic[i]) {
			return false
		}
	}
	return true
}

// open reports whether level k of the matched topics is not fixed yet.
func (s slice) open(k int) bool {
	if k < len(s.levels) {
		return s.levels[k] == anyLevel
	}
	return s.hash
}

// depth is how many levels the broker has to walk before it can look a name up: all but the last fixed one.
func (s slice) depth() int {
	for k := len(s.levels) - 1; k >= 0; k-- {
		if s.levels[k] != anyLevel {
			return k
		}
	}
	return len(s.levels)
}

// at returns s with level k fixed to name; the levels between become "+".
func (s slice) at(k int, name string) slice {
	levels := make([]string, max(k+1, len(s.levels)))
	for i := range levels {
		levels[i] = anyLevel
	}
	copy(levels, s.levels)
	levels[k] = name
	return slice{levels: levels, hash: s.hash}
}

// shorter returns the slices for the topics of s that have no level k, one for each depth: the rest beside at.
func (s slice) shorter(k int) []slice {
	if !s.hash {
		return nil
	}
	var out []slice
	for d := max(len(s.levels), 1); d <= k; d++ {
		levels := make([]string, d)
		for i := range levels {
			levels[i] = anyLevel
		}
		copy(levels, s.levels)
		out = append(out, slice{levels: levels})
	}
	return out
}

// asksFor reports whether name may stand in a topic filter as a level of its own.
func asksFor(name []byte) bool {
	return utf8.Valid(name) && !bytes.ContainsAny(name, "+#\x00")
}

// askable reports whether a topic may stand in a SUBSCRIBE as it is: UTF-8 without wildcards.
func askable(topic []byte) bool { return len(topic) > 0 && len(topic) <= 65535 && asksFor(topic) }

// topicLevels appends the levels of topic to dst.
func topicLevels(dst [][]byte, topic []byte) [][]byte {
	for {
		i := bytes.IndexByte(topic, '/')
		if i < 0 {
			return append(dst, topic)
		}
		dst = append(dst, topic[:i])
		topic = topic[i+1:]
	}
}
