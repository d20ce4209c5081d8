package cli

// The kinds of value a setting can have: how each is read from text or TOML, and how it is written back.
// An error says what is expected; which setting it was and where it came from is added by resolve.go.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"retainscope/actions"
	"retainscope/broker"
)

// value is one setting being filled. take accepts a string where text is true (flag, environment), else what TOML has:
// string, int64, float64, bool, []any. show writes the value as TOML.
type value interface {
	take(v any, text bool) error
	show() string
}

// quote writes s as TOML has it, safe for a terminal.
func quote(s string) string { return actions.QuoteTOML(s) }

// textValue is any text; check may refuse it.
type textValue struct {
	p     *string
	check func(string) error
}

func (t textValue) take(v any, _ bool) error {
	s, ok := v.(string)
	if !ok {
		return errors.New("must be text in quotes")
	}
	if t.check != nil {
		if err := t.check(s); err != nil {
			return err
		}
	}
	*t.p = s
	return nil
}

func (t textValue) show() string { return quote(*t.p) }

// secretValue is text that no output shows.
type secretValue struct{ p *broker.Secret }

func (t secretValue) take(v any, _ bool) error {
	s, ok := v.(string)
	if !ok {
		return errors.New("must be text in quotes")
	}
	*t.p = broker.Secret(s)
	return nil
}

func (t secretValue) show() string { return quote(t.p.String()) }

// choiceValue is one of a few words.
type choiceValue struct {
	p     *string
	words []string
}

func (c choiceValue) take(v any, _ bool) error {
	if b, ok := v.(bool); ok { // screen.ascii = true
		v = strconv.FormatBool(b)
	}
	s, _ := v.(string)
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.words, ", "))
	}
	*c.p = s
	return nil
}

func (c choiceValue) show() string { return quote(*c.p) }

type boolValue struct{ p *bool }

func (b boolValue) take(v any, text bool) error {
	switch v := v.(type) {
	case bool:
		*b.p = v
		return nil
	case string:
		switch yes, err := strconv.ParseBool(v); {
		case !text:
		case err == nil:
			*b.p = yes
			return nil
		}
	}
	return errors.New("must be true or false")
}

func (b boolValue) show() string { return strconv.FormatBool(*b.p) }

// durationValue is a time with its unit. A bare number is refused: nothing tells whether it means seconds.
type durationValue struct {
	p        *time.Duration
	min, max time.Duration
}

func (d durationValue) take(v any, _ bool) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("must be text with a unit, for example %q", showDuration(d.min))
	}
	n, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("is not a duration; write it with its unit, as 250ms, 10s or 2m")
	}
	if n < d.min || n > d.max {
		return fmt.Errorf("must be between %s and %s", showDuration(d.min), showDuration(d.max))
	}
	*d.p = n
	return nil
}

func (d durationValue) show() string { return quote(showDuration(*d.p)) }

// showDuration writes 1m0s as 1m.
func showDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// sizeValue is a number of bytes.
type sizeValue struct {
	p        *int64
	min, max int64
}

var sizeUnits = []struct {
	name string
	n    int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

func (z sizeValue) take(v any, text bool) error {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case string:
		number, unit := v, int64(1)
		for _, u := range sizeUnits {
			if rest, ok := strings.CutSuffix(v, u.name); ok {
				number, unit = strings.TrimSpace(rest), u.n
				break
			}
		}
		k, err := strconv.ParseInt(number, 10, 64)
		if err != nil || k > z.max/unit || k < 0 {
			return fmt.Errorf("must be a number of bytes between %s and %s, for example 256KiB", showSize(z.min), showSize(z.max))
		}
		n = k * unit
	default:
		return errors.New("must be a number of bytes, or text such as \"256KiB\"")
	}
	if n < z.min || n > z.max {
		return fmt.Errorf("must be between %s and %s", showSize(z.min), showSize(z.max))
	}
	*z.p = n
	return nil
}

func (z sizeValue) show() string { return quote(showSize(*z.p)) }

func showSize(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.n && n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.name
		}
	}
	return "0B"
}

// countValue is a number of things.
type countValue struct {
	p        *int64
	min, max int64
}

func (c countValue) take(v any, text bool) error {
	n := c.min - 1
	switch v := v.(type) {
	case int64:
		n = v
	case string:
		if k, err := strconv.ParseInt(v, 10, 64); text && err == nil {
			n = k
		}
	}
	if n < c.min || n > c.max {
		return fmt.Errorf("must be a whole number between %d and %d", c.min, c.max)
	}
	*c.p = n
	return nil
}

func (c countValue) show() string { return strconv.FormatInt(*c.p, 10) }

// listValue is a list of texts. As text it is divided by commas, unless it is written as a TOML array: a topic filter
// may hold a comma.
type listValue struct {
	p     *[]string
	check func(string) error
}

func (l listValue) take(v any, text bool) error {
	var out []string
	switch v := v.(type) {
	case []string: // a flag given more than once
		out = slices.Clone(v)
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return errors.New("must be a list of texts, for example [\"home/#\"]")
			}
			out = append(out, s)
		}
	case string:
		if !text {
			return errors.New("must be a list of texts, for example [\"home/#\"]")
		}
		if strings.HasPrefix(v, "[") {
			var doc struct{ V []string }
			if _, err := toml.Decode("V = "+v, &doc); err != nil {
				return errors.New("begins with [ but is not a list of texts in quotes")
			}
			out = doc.V
		} else if v != "" {
			out = strings.Split(v, ",")
		}
	default:
		return errors.New("must be a list of texts, for example [\"home/#\"]")
	}
	for _, s := range out {
		if err := l.check(s); err != nil {
			return fmt.Errorf("%s: %w", quote(s), err)
		}
	}
	*l.p = out
	return nil
}

func (l listValue) show() string {
	parts := make([]string, len(*l.p))
	for i, s := range *l.p {
		parts[i] = quote(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// protectValue is a list to which every source adds: none of them can take away what another one protects.
type protectValue struct{ listValue }

func (l protectValue) take(v any, text bool) error {
	before := *l.p
	if err := l.listValue.take(v, text); err != nil {
		return err
	}
	for _, f := range *l.p {
		if !slices.Contains(before, f) {
			before = append(before, f)
		}
	}
	*l.p = before
	return nil
}
