package cli

// The configuration file: reading it, finding the line of a key, refusing keys that are no settings.

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"retainscope/actions"
)

// configFile is a file that was read. Sections hold keys; profile.NAME holds keys of mqtt, and sections again.
type configFile struct {
	path string
	text string
	mode fs.FileMode
	doc  map[string]any
}

// defaultConfigPath returns where the file is looked for, or "" where the system has no such place.
func defaultConfigPath(env map[string]string) string {
	dir := env["XDG_CONFIG_HOME"]
	if dir == "" || !filepath.IsAbs(dir) {
		home := env["HOME"]
		switch {
		case runtime.GOOS == "windows":
			dir = env["AppData"]
		case runtime.GOOS == "darwin" && home != "":
			dir = filepath.Join(home, "Library", "Application Support")
		case home != "":
			dir = filepath.Join(home, ".config")
		}
		if dir == "" || !filepath.IsAbs(dir) {
			return ""
		}
	}
	return filepath.Join(dir, "retainscope", "config.toml")
}

// readConfig returns the file at path, or nil when it is not there and need not be.
func readConfig(path string, must bool) (*configFile, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", unreadable(path, err))
	}
	f, err := parseConfig(path, string(raw))
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		f.mode = info.Mode()
	}
	return f, nil
}

// unreadable says in words why a file that was named cannot be read.
func unreadable(path string, err error) error {
	var what string
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "there is no file " + quote(path)
	case errors.Is(err, fs.ErrPermission):
		what = quote(path) + " may not be read by this user"
	case errors.Is(err, syscall.EISDIR):
		what = quote(path) + " is a folder"
	default:
		return err
	}
	return &said{what, err}
}

// said is an error in other words.
type said struct {
	text string
	err  error
}

func (s *said) Error() string { return s.text }

// Unwrap returns the error that is said.
func (s *said) Unwrap() error { return s.err }

// parseConfig reads text; the error names path and line.
func parseConfig(path, text string) (*configFile, error) {
	f := &configFile{path: path, text: text}
	if _, err := toml.Decode(f.text, &f.doc); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			if strings.Contains(p.Message, `got '\n' instead`) {
				p.Position.Line-- // what is missing is missing before the end of the line
			}
			return nil, fmt.Errorf("%s line %d: %s", path, p.Position.Line, f.whyUnreadable(p))
		}
		return nil, fmt.Errorf("%s: %s", path, quoteless(err.Error()))
	}
	return f, nil
}

// whyUnreadable says what is wrong with a line, and where it is the value of a setting, which and what it takes. What
// may be a secret without its quotes is not repeated.
func (f *configFile) whyUnreadable(p toml.ParseError) string {
	why := inWords(quoteless(firstLine(p.Message, p.Error())))
	key := parts(p.LastKey)
	if len(key) < 2 || lineOf(f.text, key) != p.Position.Line {
		return why
	}
	section, name := key[len(key)-2], key[len(key)-1]
	if len(key) == 3 && key[0] == "profile" {
		section = "mqtt"
	}
	for _, s := range settings() {
		if s.section != section || s.name != name {
			continue
		}
		if s.secret || s.id() == "mqtt.broker" {
			why = "(not shown)"
		}
		return fmt.Sprintf("%s: %s; its value %s", s.id(), why, s.bind(new(Settings)).take(nil, false))
	}
	return why
}

// inWords returns what a person understands of what the parser of TOML says.
func inWords(parser string) string {
	for _, k := range []struct{ has, words string }{
		{"to end table name", "the name of a section is not closed: write it as [mqtt]"},
		{"strings cannot contain newlines", "a text is not closed with its quote"},
		{"unexpected EOF", "the file ends in the middle of a value"},
		{"expected '.' or '='", "an = is missing behind the name of a setting"},
		{"expected a top-level item to end", "something stands behind the value; a text stands in quotes"},
	} {
		if strings.Contains(parser, k.has) {
			return k.words
		}
	}
	if m := noValue.FindStringSubmatch(parser); m != nil {
		if strings.HasSuffix(m[1], `n'`) { // the end of the line
			return "the value is missing"
		}
		return m[1] + " is no value; texts stand in quotes"
	}
	return parser
}

// noValue is what the parser says of what stands where a value belongs.
var noValue = regexp.MustCompile(`^expected value but found (.*) instead$`)

func firstLine(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			line, _, _ := strings.Cut(t, "\n")
			return line
		}
	}
	return ""
}

// at returns "PATH line N", or PATH alone where the line cannot be told.
func (f *configFile) at(key ...string) string {
	if n := lineOf(f.text, key); n > 0 {
		return fmt.Sprintf("%s line %d", f.path, n)
	}
	return f.path
}

// check refuses a section or key that is no setting, naming the first by its place in the file.
func (f *configFile) check(table []setting) error {
	var wrong [][]string
	section := func(path []string, name string, v any) {
		keys, ok := v.(map[string]any)
		if !ok || !slices.ContainsFunc(table, func(s setting) bool { return s.section == name }) {
			wrong = append(wrong, path)
			return
		}
		for k := range keys {
			if !known(table, name, k) {
				wrong = append(wrong, append(slices.Clone(path), k))
			}
		}
	}
	for name, v := range f.doc {
		if name == "rule" {
			continue // a list of tables with keys of its own: see rules
		}
		if name != "profile" {
			section([]string{name}, name, v)
			continue
		}
		profiles, ok := v.(map[string]any)
		if !ok {
			wrong = append(wrong, []string{"profile"})
			continue
		}
		for p, body := range profiles {
			keys, ok := body.(map[string]any)
			if !ok {
				wrong = append(wrong, []string{"profile", p})
				continue
			}
			for k, v := range keys {
				path := []string{"profile", p, k}
				if _, table := v.(map[string]any); table {
					section(path, k, v)
					continue
				}
				if !known(table, "mqtt", k) {
					wrong = append(wrong, path)
				}
			}
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.SortFunc(wrong, func(a, b []string) int {
		if d := lineOf(f.text, a) - lineOf(f.text, b); d != 0 {
			return d
		}
		return slices.Compare(a, b)
	})
	key := wrong[0]
	return fmt.Errorf("%s: %s is no setting; `retainscope config` lists them%s",
		f.at(key...), quoteless(strings.Join(key, ".")), nearest(table, key[len(key)-1]))
}

func known(table []setting, section, name string) bool {
	return slices.ContainsFunc(table, func(s setting) bool { return s.section == section && s.name == name })
}

// nearest proposes a setting whose name differs from the wrong one in one or two letters.
func nearest(table []setting, wrong string) string {
	names := make([]string, len(table))
	for i, s := range table {
		names[i] = s.name
	}
	if name, ok := actions.Nearest(names, wrong); ok {
		return "; is " + table[slices.Index(names, name)].id() + " meant?"
	}
	return ""
}

// values returns what the file gives to s, the profile's value last.
func (f *configFile) values(s setting, profile string) []candidate {
	var out []candidate
	add := func(l layer, note string, path ...string) {
		if v, ok := lookup(f.doc, path); ok {
			if text, is := v.(string); is && s.path() && text != "" && !filepath.IsAbs(text) {
				v = filepath.Join(filepath.Dir(f.path), text) // wherever the program is started
			}
			out = append(out, candidate{v, false, source{l, f.at(path...) + note}})
		}
	}
	add(fromFile, "", s.section, s.name)
	if profile != "" {
		note := ", profile " + quoteless(profile)
		if s.section == "mqtt" {
			add(fromProfile, note, "profile", profile, s.name)
		}
		add(fromProfile, note, "profile", profile, s.section, s.name)
	}
	return out
}

func lookup(doc map[string]any, path []string) (any, bool) {
	for _, p := range path[:len(path)-1] {
		next, ok := doc[p].(map[string]any)
		if !ok {
			return nil, false
		}
		doc = next
	}
	v, ok := doc[path[len(path)-1]]
	return v, ok
}

func (f *configFile) hasProfile(name string) bool {
	_, ok := lookup(f.doc, []string{"profile", name})
	return ok
}

func (f *configFile) profiles() []string {
	p, _ := f.doc["profile"].(map[string]any)
	names := slices.Sorted(maps.Keys(p))
	for i, n := range names {
		names[i] = quote(n)
	}
	return names
}

// holdsSecret reports whether a password stands in the file itself, for itself or in an address.
func (f *configFile) holdsSecret(table []setting) bool {
	names := []string{""}
	if p, ok := f.doc["profile"].(map[string]any); ok {
		names = slices.AppendSeq(names, maps.Keys(p))
	}
	for _, s := range table {
		for _, profile := range names {
			for _, c := range f.values(s, profile) {
				text, _ := c.value.(string)
				if s.secret && text != "" {
					return true
				}
				if _, pass := splitUserInfo(text); s.id() == "mqtt.broker" && pass != nil {
					return true
				}
			}
		}
	}
	return false
}

// openToOthers reports whether a mode lets the group or everybody read. Windows has no such bits.
func openToOthers(mode fs.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o044 != 0
}

var (
	headerLine = regexp.MustCompile(`^\s*\[\s*([^\[\]]+?)\s*\]`)
	keyLine    = regexp.MustCompile(`^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=`)
	keyPart    = regexp.MustCompile(`[A-Za-z0-9_-]+|"[^"]*"|'[^']*'`)
)

// lineOf returns the line where key stands, else the line of the table around it, else 0. It reads headers and the
// beginning of lines; a key inside an inline table is answered with the line of that table.
func lineOf(text string, key []string) int {
	var table []string
	best, bestDepth := 0, 0
	for n, line := range strings.Split(text, "\n") {
		var path []string
		if m := arrayLine.FindStringSubmatch(line); m != nil {
			table = []string{"[[" + m[1] + "]]"} // keys below it are those of no setting
			continue
		}
		if m := headerLine.FindStringSubmatch(line); m != nil {
			table = parts(m[1])
			path = table
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			path = append(slices.Clone(table), parts(m[1])...)
		} else {
			continue
		}
		if len(path) <= len(key) && len(path) > bestDepth && slices.Equal(path, key[:len(path)]) {
			best, bestDepth = n+1, len(path)
		}
	}
	return best
}

func parts(s string) []string {
	out := keyPart.FindAllString(s, -1)
	for i, p := range out {
		if p[0] == '"' || p[0] == '\'' {
			out[i] = p[1 : len(p)-1]
		}
	}
	return out
}
