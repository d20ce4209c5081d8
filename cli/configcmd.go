package cli

// `retainscope config`: every value and where it came from; and the example file, out of the same table.

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (p *program) configCommand() *cobra.Command {
	example := false
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting, its value and where it came from",
		Long: `Print every setting, its value and where it came from. Secrets are masked. Each key has an environment
name: section and key joined by two underscores, MQTT__BROKER, and the same with RETAINSCOPE_ in front, which wins.
RETAINSCOPE_CONFIG and RETAINSCOPE_PROFILE stand for --config and --profile.`,
		Example: `  retainscope config
  retainscope config --profile home
  retainscope config --example > ~/.config/retainscope/config.toml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if example {
				fmt.Fprint(p.stdout, exampleFile())
				return nil
			}
			r, err := p.load(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprint(p.stdout, r.listing())
			return nil
		},
	}
	cmd.Flags().BoolVar(&example, "example", false, "print a configuration file with every setting at its default")
	p.screenFlags(cmd)
	p.retireFlags(cmd)
	p.watchFlags(cmd)
	return cmd
}

// listing returns what was found out about files, and one line for each setting: name, value as TOML, source.
func (r *resolved) listing() string {
	var b strings.Builder
	switch {
	case r.file != "":
		fmt.Fprintf(&b, "# file: %s\n", quoteless(r.file))
	case r.looked != "":
		fmt.Fprintf(&b, "# file: none (looked for %s)\n", quoteless(r.looked))
	default:
		b.WriteString("# file: none\n")
	}
	if r.profile != "" {
		fmt.Fprintf(&b, "# profile: %s\n", quoteless(r.profile))
	}
	if path, err := r.manifestPath(); err == nil {
		fmt.Fprintf(&b, "# manifest: %s\n", quoteless(path))
	}
	for _, s := range settings() {
		note := ""
		if s.dependent() && r.MQTT.ProtocolVersion == version311 {
			note = ", without effect with " + version311
		}
		fmt.Fprintf(&b, "%-28s = %-28s # %s%s\n", s.id(), s.bind(&r.Settings).show(), quoteless(r.from[s.id()].String()), note)
	}
	b.WriteString(r.listRules())
	return b.String()
}

const exampleHead = `# Settings of retainscope. Everything here is the default: keep the lines you change, delete the rest.
# Flags win over the environment, the environment over this file. Each key has an environment name, section and key
# joined by two underscores: MQTT__BROKER; the same with RETAINSCOPE_ in front wins, for programs that share the host.
# A relative path in this file is relative to the folder of this file; in a flag or the environment, to the current one.
# A wrong or unknown key is an error. "retainscope config" prints every value and where it came from.
`

const exampleTail = `
# A rule says whose topics are whose where no convention tells. Any number of them; {1} is what the first + matched.
# liveness_topic is where the owner says that it lives: its payload, or the member "field" of a JSON object, is compared
# with online and offline, each a text or a list of texts.
#
# [[rule]]
# owner = "heating script"
# topics = ["heating/#", "boiler/+/state"]
# liveness_topic = "heating/status"
# online = "up"
# offline = ["down", "error"]

# A profile is chosen with --profile home. Its own keys stand for those of [mqtt]; other sections follow its name.
# One that names another broker needs its own user and password: those of [mqtt] are not offered to it.
#
# [profile.home]
# broker = "mqtts://broker.home.lan"
# user = "me"
# password_file = "/home/me/.config/retainscope/home.password"
#
# [profile.home.scan]
# filters = ["zigbee2mqtt/#", "homeassistant/#"]
`

// exampleFile returns config.toml.example.
func exampleFile() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	section := ""
	for _, s := range settings() {
		if s.section != section {
			section = s.section
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		var defaults Settings
		v := s.bind(&defaults)
		if err := v.take(s.preset, false); err != nil {
			panic(err) // a default that its own check refuses: caught by every test
		}
		out := ""
		if s.dependent() {
			out = "# "
		}
		fmt.Fprintf(&b, "# %s\n%s%s = %s\n", s.usage, out, s.name, v.show())
	}
	b.WriteString(exampleTail)
	return b.String()
}
