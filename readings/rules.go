package readings

// A user's own rules: whose topics are whose, where that owner's liveness is read, and what to say nothing about.
// Text in, errors that name the rule out; the file they come from is somebody else's.

import (
	"errors"
	"fmt"
	"strings"
)

// Rules are a user's own conventions and what to be silent about.
type Rules struct {
	Conventions []UserRule
	// Ignore holds MQTT topic filters. What they match is not judged: no findings, never left behind.
	Ignore []string
}

// UserRule says that topics belong to an owner. In Topics a "+" can be named by {1}, {2} and so on in Owner and
// LivenessTopic: {1} is what the first "+" matched.
type UserRule struct {
	Owner         string
	Topics        []string // MQTT topic filters
	LivenessTopic string   // empty when the owner has none
	// Field is the member of a JSON object that is compared; empty compares the payload itself, which must be a word of
	// at most 40 bytes. Values longer than that are not kept.
	Field   string
	Online  []string // "online" when empty
	Offline []string // "offline" when empty
}

// RuleError is one fault in a user's rules.
type RuleError struct {
	Ignore bool   // in Ignore, not in Conventions
	Index  int    // of the rule, from 0
	Key    string // owner, topics, liveness_topic, field, online, offline; empty for Ignore
	Reason string
}

// Error names the rule as a person counts, from 1.
func (e *RuleError) Error() string {
	if e.Ignore {
		return fmt.Sprintf("ignore rule %d: %s", e.Index+1, e.Reason)
	}
	return fmt.Sprintf("convention %d: %s: %s", e.Index+1, e.Key, e.Reason)
}

// Check returns every fault of the rules, joined, each a *RuleError; nil when there is none.
func (r Rules) Check() error {
	_, err := r.compile()
	return err
}

// userRules are rules as they are used.
type userRules struct {
	rules  []userRule
	ignore []string
	fields []string
}

type userRule struct {
	UserRule
	rule rule
}

func (r Rules) compile() (userRules, error) {
	var out userRules
	var errs []error
	for i, f := range r.Ignore {
		if why := filterFault(f); why != "" {
			errs = append(errs, &RuleError{Ignore: true, Index: i, Reason: why})
			continue
		}
		out.ignore = append(out.ignore, f)
	}
	for i, u := range r.Conventions {
		fault := func(key, why string) {
			if why != "" {
				errs = append(errs, &RuleError{Index: i, Key: key, Reason: why})
			}
		}
		plus := -1
		for _, f := range u.Topics {
			fault("topics", filterFault(f))
			if n := strings.Count(f, "+"); plus < 0 || n < plus {
				plus = n
			}
		}
		if len(u.Topics) == 0 {
			fault("topics", "at least one topic filter is needed")
		}
		if u.Owner == "" {
			fault("owner", "a name is needed")
		}
		fault("owner", bracesFault(u.Owner, plus))
		fault("liveness_topic", bracesFault(u.LivenessTopic, plus))
		if strings.ContainsAny(u.LivenessTopic, "+#\x00") {
			fault("liveness_topic", "an exact topic is needed, without + and #")
		}
		if u.LivenessTopic == "" && (u.Field != "" || len(u.Online)+len(u.Offline) > 0) {
			fault("liveness_topic", "field, online and offline mean nothing without it")
		}
		fault("online", valuesFault(u.Online))
		fault("offline", valuesFault(u.Offline))
		for _, v := range u.Online {
			if oneOf(v, several(u.Offline...)) && v != "" {
				fault("offline", fmt.Sprintf("%q means online too", v))
			}
		}
		if len(u.Field) > maxMember || strings.ContainsAny(u.Field, "\x00\x01") {
			fault("field", fmt.Sprintf("the name of a JSON member of at most %d bytes is needed", maxMember))
		}
		if len(u.Online) == 0 {
			u.Online = []string{"online"}
		}
		if len(u.Offline) == 0 {
			u.Offline = []string{"offline"}
		}
		x := userRule{UserRule: u, rule: wordRule(several(spelled(u.Online, u.Field)...), several(spelled(u.Offline, u.Field)...))}
		if u.Field != "" {
			x.rule.form, x.rule.field = formField, u.Field
			out.fields = append(out.fields, u.Field)
		}
		out.rules = append(out.rules, x)
	}
	return out, errors.Join(errs...)
}

// spelled returns values as they are compared: a member's true is True once it is rendered.
func spelled(values []string, field string) []string {
	out := append([]string(nil), values...)
	if field == "" {
		return out
	}
	for _, v := range values {
		switch v {
		case "true":
			out = append(out, "True")
		case "false":
			out = append(out, "False")
		case "null":
			out = append(out, "None")
		}
	}
	return out
}

func valuesFault(values []string) string {
	for _, v := range values {
		if v == "" || len(v) > maxPlain || strings.ContainsAny(v, "\x00\x01") {
			return fmt.Sprintf("%.50q is not a value of 1 to %d bytes", v, maxPlain)
		}
	}
	return ""
}

// bracesFault checks {1}, {2} and so on against the number of "+" in the shortest of the filters.
func bracesFault(s string, plus int) string {
	for i := range len(s) {
		if s[i] != '{' {
			continue
		}
		if i+2 >= len(s) || s[i+2] != '}' || s[i+1] < '1' || s[i+1] > '9' {
			return "a brace is only for {1} to {9}"
		}
		if int(s[i+1]-'0') > plus {
			return fmt.Sprintf("%s names a + that a filter of the rule does not have", s[i:i+3])
		}
	}
	return ""
}

// userClaim returns the owner that the first matching rule gives a topic.
func (r *Reader) userClaim(topic string) (claim, bool) {
	for i := range r.rulesOf.rules {
		u := &r.rulesOf.rules[i]
		words, ok := u.match(topic)
		if !ok {
			continue
		}
		c := claim{owner: fill(u.Owner, words), convention: "user rule", rule: ruleUser, by: uint32(i), place: place{role: leafRole(topic)}}
		if u.LivenessTopic == "" {
			return c, true
		}
		live := fill(u.LivenessTopic, words)
		if c.live = r.lookup(live); c.live != 0 {
			c.state = r.sayPlain(c.live, u.rule)
		}
		if live == topic {
			c.place.role = RoleLiveness
		}
		return c, true
	}
	return claim{}, false
}

// liveness returns the topic on which the first matching rule reads the owner's liveness, empty for none.
func (u *userRules) liveness(topic string) string {
	for i := range u.rules {
		if words, ok := u.rules[i].match(topic); ok {
			return fill(u.rules[i].LivenessTopic, words)
		}
	}
	return ""
}

func (u *userRule) match(topic string) ([]string, bool) {
	for _, f := range u.Topics {
		if words, ok := matchFilter(f, topic); ok {
			return words, true
		}
	}
	return nil, false
}

func (u *userRules) ignores(topic string) bool {
	for _, f := range u.ignore {
		if _, ok := matchFilter(f, topic); ok {
			return true
		}
	}
	return false
}

// fill puts the words in for {1}, {2} and so on.
func fill(s string, words []string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	for i, w := range words {
		if i < 9 {
			s = strings.ReplaceAll(s, "{"+string(rune('1'+i))+"}", w)
		}
	}
	return s
}

// filterFault says what is wrong with a topic filter, empty for nothing.
//
// Source: MQTT 5, 4.7.1.
func filterFault(f string) string {
	if f == "" || strings.ContainsRune(f, 0) {
		return fmt.Sprintf("%q is not a topic filter", f)
	}
	levels := strings.Split(f, "/")
	for i, l := range levels {
		switch {
		case l == "#" && i < len(levels)-1:
			return fmt.Sprintf("%q: # must be the last level", f)
		case l != "#" && strings.Contains(l, "#"), l != "+" && strings.Contains(l, "+"):
			return fmt.Sprintf("%q: + and # must be a level of their own", f)
		}
	}
	return ""
}

// matchFilter matches a topic and returns what each "+" stood for.
//
// Source: MQTT 5, 4.7.1 and 4.7.2.
func matchFilter(filter, topic string) (words []string, ok bool) {
	if topic != "" && topic[0] == '$' && filter != "" && (filter[0] == '+' || filter[0] == '#') {
		return nil, false
	}
	for {
		level, filterRest, filterMore := strings.Cut(filter, "/")
		if level == "#" {
			return words, true
		}
		part, topicRest, topicMore := strings.Cut(topic, "/")
		if level == "+" {
			words = append(words, part)
		} else if level != part {
			return nil, false
		}
		switch {
		case !filterMore && !topicMore:
			return words, true
		case filterMore && !topicMore:
			return words, filterRest == "#" // the parent is matched too
		case !filterMore:
			return nil, false
		}
		filter, topic = filterRest, topicRest
	}
}
