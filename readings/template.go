package readings

// How a liveness value is read: plain, from a JSON field, or through one of a few common templates.
// Templates are matched, never evaluated; what is not recognised reads as unknown.

import "strings"

// form is the shape of a rule.
type form uint8

const (
	formPlain        form = iota // the payload itself
	formField                    // {{ value_json.X }}
	formFieldOrPlain             // {{ value_json.X if value_json is mapping else value }}
	formChoice                   // {{ 'A' if value_json.X else 'B' }}
	formForeign                  // anything else
)

// rule says which payloads mean online and offline. Several values are separated by a NUL byte, which no rule's
// value can hold. It is comparable: equal rules are kept once.
type rule struct {
	form    form
	field   string
	yes, no string // what formChoice renders
	on, off string
}

// wordRule is the plain rule with these values.
func wordRule(on, off string) rule { return rule{on: on, off: off} }

// several joins values for a rule.
func several(values ...string) string { return strings.Join(values, "\x00") }

// parseTemplate returns the rule that a value template makes of one with on and off.
func parseTemplate(t, on, off string) rule {
	r := rule{form: formForeign, on: on, off: off}
	t = strings.TrimSpace(t)
	if t == "" {
		r.form = formPlain
		return r
	}
	body, ok := strings.CutPrefix(t, "{{")
	if !ok {
		return r
	}
	if body, ok = strings.CutSuffix(body, "}}"); !ok || strings.Contains(body, "{") || strings.Contains(body, "}") {
		return r
	}
	body = strings.TrimSpace(strings.Trim(body, "-"))
	words := strings.Fields(body)
	switch {
	case body == "value":
		r.form = formPlain
	case len(words) == 1:
		if f, ok := templateField(words[0]); ok {
			r.form, r.field = formField, f
		}
	case len(words) == 7 && strings.Join(words[1:], " ") == "if value_json is mapping else value":
		if f, ok := templateField(words[0]); ok {
			r.form, r.field = formFieldOrPlain, f
		}
	case len(words) == 5 && words[1] == "if" && words[3] == "else":
		yes, ok1 := templateText(words[0])
		no, ok2 := templateText(words[4])
		if f, ok := templateField(words[2]); ok && ok1 && ok2 {
			r.form, r.field, r.yes, r.no = formChoice, f, yes, no
		}
	}
	return r
}

// templateField returns X of value_json.X, value_json['X'] and value_json["X"].
func templateField(s string) (string, bool) {
	if f, ok := strings.CutPrefix(s, "value_json."); ok && f != "" && !strings.ContainsAny(f, ".[]()|'\"") {
		return f, true
	}
	f, ok := strings.CutPrefix(s, "value_json[")
	if !ok {
		return "", false
	}
	if f, ok = strings.CutSuffix(f, "]"); !ok {
		return "", false
	}
	return templateText(f)
}

func templateText(s string) (string, bool) {
	if len(s) < 2 || s[0] != s[len(s)-1] || s[0] != '\'' && s[0] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	return s, s != "" && !strings.ContainsAny(s, "'\"\\")
}

// read returns what a kept value means under the rule.
func (r rule) read(v value) State {
	shown := ""
	switch r.form {
	case formPlain:
		shown = v.plain()
	case formField:
		shown = v.rendered(r.field)
	case formFieldOrPlain:
		if v.isObject() {
			shown = v.rendered(r.field)
		} else {
			shown = v.plain()
		}
	case formChoice:
		if truth, ok := v.truth(r.field); ok && truth {
			shown = r.yes
		} else if ok {
			shown = r.no
		}
	}
	switch {
	case shown == "":
		return Unknown
	case oneOf(shown, r.on):
		return Alive
	case oneOf(shown, r.off):
		return Offline
	default:
		return Unknown
	}
}

// oneOf reports whether s is one of the values that several joined.
func oneOf(s, list string) bool {
	for list != "" {
		head, rest, _ := strings.Cut(list, "\x00")
		if s == head {
			return true
		}
		list = rest
	}
	return false
}
