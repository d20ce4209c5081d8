package cli

// Merging the sources of settings: flag over environment over file over default.
// A value that is wrong is an error with its key, its value and where it came from, also when another source wins
// over it in the file: a file is right or wrong as a whole.

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"retainscope/actions"
	"retainscope/broker"
	"retainscope/readings"
)

// layer orders the sources; the higher one wins.
type layer uint8

const (
	fromDefault layer = iota
	fromFile
	fromProfile
	fromEnv      // MQTT__BROKER
	fromPrefixed // RETAINSCOPE_MQTT__BROKER
	fromFlag
	fromPrompt
	fromSeveral // that add up
)

// source says where a value came from.
type source struct {
	layer layer
	name  string // "config.toml line 3", "MQTT__BROKER", "--broker"
}

// String returns a phrase such as "environment MQTT__BROKER".
func (s source) String() string {
	switch s.layer {
	case fromFile, fromProfile, fromSeveral:
		return s.name
	case fromEnv, fromPrefixed:
		return "environment " + s.name
	case fromFlag:
		return "flag " + s.name
	case fromPrompt:
		return "prompt"
	default:
		return "default"
	}
}

// resolved is the outcome of a merge.
type resolved struct {
	Settings
	from    map[string]source // by setting.id
	brokers map[layer]string  // the address each source gives
	file    string            // the configuration file that was read; empty when there is none
	looked  string            // where it would have been
	// credentials is the folder in which a service manager hands out secrets; empty where there is none.
	credentials string
	state       string // the folder for what is remembered between runs; empty where there is none
	profile     string
	warnings    []string // one sentence each, for stderr
	// echoes tells what watches of what is sent in the same process.
	echoes *broker.Echoes

	rules     readings.Rules
	ruleLines []string // where each of the rules stands
}

// sources is what a merge reads. flags holds the text of each flag that was given, by its name.
type sources struct {
	flags   map[string][]string
	env     map[string]string
	file    *configFile // nil when there is none
	profile string
}

// merge returns the settings, or the first error in table order; an unknown key comes first.
func merge(in sources) (*resolved, error) {
	table := settings()
	r := &resolved{from: map[string]source{}, profile: in.profile, echoes: new(broker.Echoes)}
	if err := unknownEnv(table, in.env); err != nil {
		return nil, err
	}
	r.warnings = append(r.warnings, likelyTypos(table, in.env)...)
	if in.file != nil {
		r.file = in.file.path
		if err := in.file.check(table); err != nil {
			return nil, err
		}
	}
	if in.profile != "" && (in.file == nil || !in.file.hasProfile(in.profile)) {
		return nil, in.noProfile()
	}
	for _, s := range table {
		v := s.bind(&r.Settings)
		if err := v.take(s.preset, false); err != nil {
			return nil, fmt.Errorf("default of %s: %w", s.id(), err)
		}
		r.from[s.id()] = source{}
		for _, c := range s.candidates(in) {
			if err := v.take(c.value, c.text); err != nil {
				return nil, wrongValue(s, c, err)
			}
			before := r.from[s.id()]
			r.from[s.id()] = c.source
			if s.adds() && before.layer != fromDefault {
				r.from[s.id()] = source{fromSeveral, before.String() + " and " + c.source.String()}
			}
		}
	}
	if err := r.checkProtocol(); err != nil {
		return nil, err
	}
	r.brokers = brokersNamed(in)
	if err := r.takeRules(in.file); err != nil {
		return nil, err
	}
	return r, nil
}

// adds reports whether the values of all sources count together, so that no source takes away what another one says.
func (s setting) adds() bool {
	_, yes := s.bind(new(Settings)).(protectValue)
	return yes
}

// candidate is one value some source gives to a setting.
type candidate struct {
	value  any
	text   bool
	source source
}

// candidates returns the given values of s, lowest source first.
func (s setting) candidates(in sources) []candidate {
	var out []candidate
	if in.file != nil {
		out = append(out, in.file.values(s, in.profile)...)
	}
	if v, ok := in.env[s.env()]; ok {
		out = append(out, candidate{v, true, source{fromEnv, s.env()}})
	}
	if v, ok := in.env[envPrefix+s.env()]; ok {
		out = append(out, candidate{v, true, source{fromPrefixed, envPrefix + s.env()}})
	}
	if v, ok := in.flags[s.flag]; ok && s.flag != "" {
		c := candidate{v[len(v)-1], true, source{fromFlag, "--" + s.flag}}
		if _, list := s.preset.([]any); list {
			c.value = v
		}
		out = append(out, c)
	}
	if n := len(out); n > 0 && out[n-1].source.layer > fromEnv && !s.adds() {
		// The shared name is some other program's then: whatever it holds is not our error.
		out = slices.DeleteFunc(out, func(c candidate) bool { return c.source.layer == fromEnv })
	}
	return out
}

// wrongValue names key, value and source; the value of a secret is left out, and so is an address that may hold one.
func wrongValue(s setting, c candidate, err error) error {
	shown := showRaw(c.value)
	if s.secret || strings.Contains(shown, "@") {
		shown = "(not shown)"
	}
	return fmt.Errorf("%s = %s (%s): %w", s.id(), shown, c.source, err)
}

func showRaw(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case []string:
		return listValue{p: &v}.show()
	case float64: // 5.0 is not 5 here
		if text := strconv.FormatFloat(v, 'f', -1, 64); !strings.Contains(text, ".") && v-v == 0 {
			return text + ".0"
		}
		return fmt.Sprint(v)
	default:
		return quoteless(fmt.Sprint(v))
	}
}

// quoteless makes the text of a number, a boolean or a table safe for a terminal.
func quoteless(s string) string {
	q := quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// unknownEnv refuses a prefixed name that is no setting: it can only be meant for us. The plain names belong to
// whoever shares the host.
func unknownEnv(table []setting, env map[string]string) error {
	var names []string
	for name := range env {
		rest, ok := strings.CutPrefix(name, envPrefix)
		if !ok || !strings.Contains(rest, "__") {
			continue
		}
		if !slices.ContainsFunc(table, func(s setting) bool { return s.env() == rest }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("environment %s is no setting; `retainscope config` lists them", quoteless(names[0]))
}

// likelyTypos warns of plain names of the section mqtt that are no setting and differ in a letter or two from one. They
// may be some other program's, so nothing is refused.
func likelyTypos(table []setting, env map[string]string) (warnings []string) {
	const section = "mqtt"
	for _, name := range slices.Sorted(maps.Keys(env)) {
		rest, ok := strings.CutPrefix(name, strings.ToUpper(section)+"__")
		if !ok || known(table, section, strings.ToLower(rest)) {
			continue
		}
		for _, s := range table {
			if _, near := actions.Nearest([]string{s.name}, strings.ToLower(rest)); s.section == section && near {
				warnings = append(warnings, fmt.Sprintf("environment %s is no setting and has no effect; is %s meant?", quoteless(name), s.env()))
				break
			}
		}
	}
	return warnings
}

func (in sources) noProfile() error {
	if in.file == nil {
		return fmt.Errorf("profile %s is asked for, but there is no configuration file", quote(in.profile))
	}
	have := in.file.profiles()
	if len(have) == 0 {
		return fmt.Errorf("%s has no profile %s, and no other", in.file.path, quote(in.profile))
	}
	return fmt.Errorf("%s has no profile %s; it has %s", in.file.path, quote(in.profile), strings.Join(have, ", "))
}

// environ turns NAME=value lines into a map.
func environ(lines []string) map[string]string {
	out := make(map[string]string, len(lines))
	for _, l := range lines {
		if k, v, ok := strings.Cut(l, "="); ok && k != "" {
			out[k] = v
		}
	}
	return out
}
