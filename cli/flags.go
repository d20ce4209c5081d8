package cli

// Flags out of the table of settings. A flag only keeps its text: merging and checking is the same for every source.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagText is the text of one flag, as often as it was given.
type flagText struct {
	texts []string
	kind  string
	shown string // default, as help shows it
}

// String returns the default before the flag was given: pflag asks for it to print help.
func (f *flagText) String() string {
	if len(f.texts) > 0 {
		return f.texts[len(f.texts)-1]
	}
	return f.shown
}

// Set keeps s.
func (f *flagText) Set(s string) error {
	f.texts = append(f.texts, s)
	return nil
}

// Type returns the word that stands behind the flag in help.
func (f *flagText) Type() string { return f.kind }

func (p *program) addFlag(flags *pflag.FlagSet, s setting) {
	if s.flag == "" {
		return
	}
	f := p.given[s.id()]
	if f == nil {
		f = &flagText{kind: s.kind()}
		switch d := s.preset.(type) {
		case []any:
			if len(d) > 0 {
				f.shown = fmt.Sprint(d[0])
			}
		default:
			f.shown = fmt.Sprint(d)
		}
		p.given[s.id()] = f
	}
	flag := flags.VarPF(f, s.flag, "", s.usage)
	if _, yes := s.preset.(bool); yes {
		flag.NoOptDefVal = "true"
	}
}

// kind returns the word for help: what one writes behind the flag.
func (s setting) kind() string {
	switch s.bind(new(Settings)).(type) {
	case boolValue:
		return "bool" // pflag then writes nothing
	case durationValue:
		return "TIME"
	case sizeValue:
		return "SIZE"
	case listValue, protectValue:
		return "FILTER"
	case choiceValue:
		return "WORD"
	case versionValue:
		return "VERSION"
	case intervalValue:
		return "SECONDS"
	case countValue:
		return "NUMBER"
	}
	switch {
	case s.name == "broker":
		return "URL"
	case strings.HasSuffix(s.name, "file"), s.name == "manifest":
		return kindFile
	case strings.HasSuffix(s.name, "dir"):
		return kindFolder
	}
	return "NAME"
}

const (
	kindFile   = "FILE"
	kindFolder = "FOLDER"
)

// path reports whether the value of s is the path of a file or of a folder.
func (s setting) path() bool { k := s.kind(); return k == kindFile || k == kindFolder }

// everywhere reports whether every command has the flag of s.
func (s setting) everywhere() bool {
	switch s.section {
	case "screen", "clear", "observer", "watch":
		return false
	}
	return true
}

// sectionFlags adds the flags of the given sections.
func (p *program) sectionFlags(flags *pflag.FlagSet, sections ...string) {
	for _, s := range settings() {
		if slices.Contains(sections, s.section) {
			p.addFlag(flags, s)
		}
	}
}

// screenFlags adds the flags that only a screen has.
func (p *program) screenFlags(cmd *cobra.Command) { p.sectionFlags(cmd.Flags(), "screen") }

// retireFlags adds the flags of what clears or restores.
func (p *program) retireFlags(cmd *cobra.Command) { p.sectionFlags(cmd.Flags(), retireSections()...) }

func retireSections() []string { return []string{"clear", "observer"} }

// manifestFlag adds the one flag that says where the manifest is, for what only reads it.
func (p *program) manifestFlag(cmd *cobra.Command) {
	for _, s := range settings() {
		if s.id() == "clear.manifest" {
			p.addFlag(cmd.Flags(), s)
		}
	}
}

// watchFlags adds the flags of what publishes.
func (p *program) watchFlags(cmd *cobra.Command) { p.sectionFlags(cmd.Flags(), "watch") }

// load merges all sources and fetches the password. Warnings go to stderr, once.
func (p *program) load(ctx context.Context) (*resolved, error) {
	r, err := p.merge()
	if err != nil {
		return nil, usage(err)
	}
	if err := r.settle(); err != nil {
		return nil, usage(err)
	}
	for _, w := range r.warnings {
		p.say("warning: %s", w)
	}
	if p.askPassword {
		r.from["mqtt.password"] = source{layer: fromPrompt}
		if err := r.checkUser(true); err != nil {
			return nil, usage(err)
		}
		pass, err := askPassword(ctx, p.stdin, p.stderr, r.MQTT.User, r.MQTT.Broker)
		if err != nil {
			return nil, failed(ctx, err)
		}
		r.MQTT.Password = pass
	}
	return r, nil
}

// configFile returns the path of the configuration file, and whether it must be there.
func (p *program) configFile() (path string, must bool) {
	if p.configPath != "" {
		return p.configPath, true
	}
	if path := p.env[envPrefix+"CONFIG"]; path != "" {
		return path, true
	}
	return defaultConfigPath(p.env), false
}

// merge reads the file and merges it with what was given.
func (p *program) merge() (*resolved, error) {
	path, must := p.configFile()
	file, err := readConfig(path, must)
	if err != nil {
		return nil, err
	}
	in := sources{flags: map[string][]string{}, env: p.env, file: file, profile: p.profile}
	if in.profile == "" {
		in.profile = p.env[envPrefix+"PROFILE"]
	}
	for _, s := range settings() {
		if f := p.given[s.id()]; f != nil && len(f.texts) > 0 {
			in.flags[s.flag] = f.texts
		}
	}
	r, err := merge(in)
	if err != nil {
		return nil, err
	}
	r.looked, r.state, r.credentials = path, stateDir(p.env), p.env["CREDENTIALS_DIRECTORY"] // systemd, LoadCredential=
	if file != nil && openToOthers(file.mode) && file.holdsSecret(settings()) {
		r.warnings = append(r.warnings, openWarning(file.path))
	}
	return r, nil
}
