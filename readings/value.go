package readings

// What is kept of a payload: short words as they are, and of a JSON object only the short members that liveness is
// read from. What is kept depends on the payload alone, never on who asks, so the order of arrival changes nothing.

import (
	"strings"
	"unicode/utf8"
)

const (
	maxPlain  = 40      // bytes of a word that is kept
	maxMember = 40      // bytes of a member that is kept
	maxLooked = 1 << 20 // bytes of a JSON object in which members are looked for
)

// value is the kept part of a payload. "{" starts the members of an object, each "name\x00kind text\x01"; anything else
// is a word. Empty means that nothing was kept.
type value string

// fieldNames are the members that are kept beside those a user's rules name.
func fieldNames(user []string) []string {
	return append([]string{
		"state", "status", "value", "online", "available", "availability", "connected", "connection", "alive", "reachable",
		"State", "Status", "Online", "LWT", "lwt",
	}, user...)
}

// keep returns what is kept of a payload, and shares no memory with it.
func keep(payload []byte, fields []string) value {
	i := space(payload, 0)
	if i < len(payload) && payload[i] == '{' {
		if len(payload) > maxLooked {
			return "{"
		}
		return keepMembers(payload[i:], fields)
	}
	if len(payload) == 0 || len(payload) > maxPlain || !utf8.Valid(payload) {
		return ""
	}
	if s := commonWord(payload); s != "" {
		return s
	}
	for _, c := range payload {
		if c < ' ' {
			return ""
		}
	}
	// A number of several digits says nothing about life, and there are many.
	if c := payload[0]; len(payload) > 1 && (c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == '[') {
		return ""
	}
	return value(payload)
}

// commonWord returns the words that most topics hold without making a string each time.
func commonWord(b []byte) value {
	switch string(b) {
	case "online":
		return "online"
	case "offline":
		return "offline"
	case "Online":
		return "Online"
	case "Offline":
		return "Offline"
	case "ON":
		return "ON"
	case "OFF":
		return "OFF"
	case "on":
		return "on"
	case "off":
		return "off"
	case "true":
		return "true"
	case "false":
		return "false"
	case "ready":
		return "ready"
	case "lost":
		return "lost"
	case "1":
		return "1"
	case "0":
		return "0"
	default:
		return ""
	}
}

func keepMembers(payload []byte, fields []string) value {
	var out []byte
	members(payload, func(k, v []byte) bool {
		if len(k) > maxMember || len(v) > maxMember || len(out) > 8*maxMember {
			return true
		}
		for _, f := range fields {
			if string(k) == f {
				out = appendMember(out, k, v)
				break
			}
		}
		return true
	})
	switch string(out) {
	case "":
		return "{"
	case "state\x00sonline\x01":
		return "{state\x00sonline\x01"
	case "state\x00soffline\x01":
		return "{state\x00soffline\x01"
	case "status\x00sonline\x01":
		return "{status\x00sonline\x01"
	}
	return value("{" + string(out))
}

// appendMember adds a member when its value is a string, a number or a word.
func appendMember(out, k, v []byte) []byte {
	kind, s := byte('w'), v
	switch {
	case v[0] == '"':
		var ok bool
		if s, ok = textBytes(v); !ok {
			return out
		}
		kind = 's'
	case v[0] == '{' || v[0] == '[':
		return out
	}
	for _, c := range s {
		if c <= 1 {
			return out
		}
	}
	out = append(append(append(out, k...), 0, kind), s...)
	return append(out, 1)
}

func (v value) isObject() bool { return strings.HasPrefix(string(v), "{") }

// plain returns a word, or "" where the payload is an object or was not kept.
func (v value) plain() string {
	if v.isObject() {
		return ""
	}
	return string(v)
}

// shown returns what can be shown of it to a person.
func (v value) shown() string {
	if !v.isObject() {
		return string(v)
	}
	if len(v) == 1 {
		return ""
	}
	s := strings.TrimSuffix(string(v[1:]), "\x01")
	var b strings.Builder
	for i, m := range strings.Split(s, "\x01") {
		name, text, _ := strings.Cut(m, "\x00")
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name + ": " + strings.TrimLeft(text[:1], "sw") + text[1:])
	}
	return b.String()
}

// member returns the last kept member of that name: its kind, 's' or 'w', and its text.
func (v value) member(name string) (kind byte, text string) {
	if !v.isObject() {
		return 0, ""
	}
	for s := string(v[1:]); s != ""; {
		m, rest, _ := strings.Cut(s, "\x01")
		if n, t, ok := strings.Cut(m, "\x00"); ok && n == name && t != "" {
			kind, text = t[0], t[1:]
		}
		s = rest
	}
	return kind, text
}

// rendered returns a member as a template would print it: JSON's true is True there.
func (v value) rendered(name string) string {
	kind, text := v.member(name)
	if kind != 'w' {
		return text
	}
	switch text {
	case "true":
		return "True"
	case "false":
		return "False"
	case "null":
		return "None"
	default:
		return text
	}
}

// truth returns whether a member counts as true in a template, and false as the second result where there is none.
func (v value) truth(name string) (truth, ok bool) {
	kind, text := v.member(name)
	switch kind {
	case 's':
		return text != "", true
	case 'w':
		return text != "false" && text != "null" && text != "0" && text != "0.0", true
	default:
		return false, false
	}
}

// looksEmpty reports whether a payload is a value that a person takes for nothing. No bytes at all are not a value.
func looksEmpty(payload []byte) bool {
	i, end := 0, len(payload)
	for i < end && (payload[i] <= ' ') {
		i++
	}
	for end > i && payload[end-1] <= ' ' {
		end--
	}
	switch string(payload[i:end]) {
	case "":
		return len(payload) > 0
	case "null", "{}", `""`, "{ }":
		return true
	default:
		return false
	}
}
