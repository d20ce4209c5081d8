package cli

// A user's own rules in the configuration file: [[rule]] tables. A fault is told with its line.

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"retainscope/readings"
)

// ruleKeys are the keys of a [[rule]] table.
var ruleKeys = []string{"owner", "topics", "liveness_topic", "field", "online", "offline"}

// rules returns the [[rule]] tables of the file. The error names the line.
func (f *configFile) rules() ([]readings.UserRule, error) {
	v, ok := f.doc["rule"]
	if !ok {
		return nil, nil
	}
	tables, ok := v.([]map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: rule is a list of tables: write [[rule]]", f.at("rule"))
	}
	var out []readings.UserRule
	for i, t := range tables {
		var u readings.UserRule
		for _, key := range sortedKeys(t) {
			if err := takeRule(&u, key, t[key]); err != nil {
				return nil, fmt.Errorf("%s: rule %d: %s: %w", f.atRule(i, key), i+1, quoteless(key), err)
			}
		}
		out = append(out, u)
	}
	return out, nil
}

func takeRule(u *readings.UserRule, key string, v any) error {
	text := func(p *string) error {
		s, ok := v.(string)
		if !ok {
			return errors.New("must be a text in quotes")
		}
		*p = s
		return nil
	}
	list := func(p *[]string) error {
		if s, ok := v.(string); ok {
			*p = []string{s}
			return nil
		}
		all, ok := v.([]any)
		if !ok {
			return errors.New("must be a text, or a list of texts")
		}
		for _, x := range all {
			s, ok := x.(string)
			if !ok {
				return errors.New("must be a text, or a list of texts")
			}
			*p = append(*p, s)
		}
		return nil
	}
	switch key {
	case "owner":
		return text(&u.Owner)
	case "topics":
		return list(&u.Topics)
	case "liveness_topic":
		return text(&u.LivenessTopic)
	case "field":
		return text(&u.Field)
	case "online":
		return list(&u.Online)
	case "offline":
		return list(&u.Offline)
	}
	return fmt.Errorf("is no key of a rule; it takes %s", strings.Join(ruleKeys, ", "))
}

// takeRules puts the rules of the file and what to ignore into r. The first fault is the error.
func (r *resolved) takeRules(f *configFile) error {
	r.rules.Ignore = r.Readings.Ignore
	if f != nil {
		var err error
		if r.rules.Conventions, err = f.rules(); err != nil {
			return err
		}
		for i := range r.rules.Conventions {
			r.ruleLines = append(r.ruleLines, f.atRule(i, ""))
		}
	}
	err := r.rules.Check()
	var fault *readings.RuleError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &fault):
		return err
	case fault.Ignore:
		return fmt.Errorf("readings.ignore = %s (%s): %s", quote(r.rules.Ignore[fault.Index]), r.from["readings.ignore"], fault.Reason)
	}
	return fmt.Errorf("%s: rule %d: %s: %s", f.atRule(fault.Index, fault.Key), fault.Index+1, fault.Key, quoteless(fault.Reason))
}

// atRule returns "PATH line N" of a key of a rule, of its header where the key is not there.
func (f *configFile) atRule(index int, key string) string {
	n, line := -1, 0
	for i, l := range strings.Split(f.text, "\n") {
		switch {
		case arrayLine.MatchString(l):
			if m := arrayLine.FindStringSubmatch(l); m[1] == "rule" {
				if n++; n == index {
					line = i + 1
				}
			} else if n == index {
				n++ // the tables of another name end it
			}
		case headerLine.MatchString(l):
			if n == index {
				return fmt.Sprintf("%s line %d", f.path, line)
			}
		case n == index:
			if m := keyLine.FindStringSubmatch(l); m != nil && slices.Equal(parts(m[1]), []string{key}) {
				return fmt.Sprintf("%s line %d", f.path, i+1)
			}
		}
	}
	if line == 0 {
		return f.path
	}
	return fmt.Sprintf("%s line %d", f.path, line)
}

var arrayLine = regexp.MustCompile(`^\s*\[\[\s*([^\[\]]+?)\s*\]\]`)

func sortedKeys(t map[string]any) []string {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// listRules returns one line for each rule, for `retainscope config`.
func (r *resolved) listRules() string {
	var b strings.Builder
	for i, u := range r.rules.Conventions {
		fmt.Fprintf(&b, "# rule %d: %s owns %s", i+1, quote(u.Owner), listValue{p: &u.Topics}.show())
		if u.LivenessTopic != "" {
			fmt.Fprintf(&b, ", liveness in %s", quote(u.LivenessTopic))
		}
		fmt.Fprintf(&b, " (%s)\n", quoteless(r.ruleLines[i]))
	}
	return b.String()
}
