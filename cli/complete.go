package cli

// What a shell may offer behind a flag: words that a flag chooses from, names of profiles, files.
// Completion reads settings; it connects to nothing and its errors are silent.

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"retainscope/actions"
	"retainscope/tui"
)

// completions has every flag of a choice complete to its words, and --profile to the names in the file.
func (p *program) completions(root *cobra.Command) {
	for _, s := range settings() {
		var offer cobra.CompletionFunc
		switch v := s.bind(new(Settings)).(type) {
		case choiceValue:
			offer = cobra.FixedCompletions(v.words, cobra.ShellCompDirectiveNoFileComp)
		case versionValue:
			offer = cobra.FixedCompletions(protocolVersions, cobra.ShellCompDirectiveNoFileComp)
		default:
			if s.kind() == "FILE" || s.kind() == "FOLDER" {
				continue
			}
			offer = cobra.NoFileCompletions
		}
		for _, c := range append([]*cobra.Command{root}, root.Commands()...) {
			if s.flag != "" && c.Flag(s.flag) != nil {
				_ = c.RegisterFlagCompletionFunc(s.flag, offer) // the error is of a flag that was registered already
			}
		}
	}
	_ = root.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return p.profileNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

// profileNames returns the profiles of the configuration file, nothing where there is none or it cannot be read.
func (p *program) profileNames() []string {
	path, must := p.configFile()
	f, err := readConfig(path, must)
	if err != nil || f == nil {
		return nil
	}
	table, _ := f.doc["profile"].(map[string]any)
	var names []string
	for name := range table {
		if !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// sortWords are what --sort takes.
func sortWords() []string {
	words := []string{"topic", "expiry", "size", "live", "received", "reading"}
	for _, w := range slices.Clone(words) {
		words = append(words, "-"+w)
	}
	return words
}

// silently returns the composition for what a shell asks, nil where the settings are wrong.
func (p *program) silently() *retiring {
	r, err := p.merge()
	if err != nil || r.settle() != nil {
		return nil
	}
	t, err := p.retiring(r, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil
	}
	return t
}

// approvedTopics completes a topic to those that the manifest marks clear, as far as a shell can take their names.
func (p *program) approvedTopics(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if t := p.silently(); t != nil {
		if m, err := t.desk.Manifest(); err == nil {
			for _, e := range m.Entries() {
				plain := tui.Printable(e.Topic) == string(e.Topic) && !strings.ContainsAny(string(e.Topic), " \t")
				if e.Disposition == actions.Clear && e.Refusal == nil && plain {
					names = append(names, string(e.Topic))
				}
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// operationNames completes an operation to those in the record. Its errors are silent.
func (p *program) operationNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.operationsWhere(cmd, args, func(actions.Summary) bool { return true })
}

// restorable completes an operation to those that took something away, as far as the record tells, and of which nothing
// was put back.
func (p *program) restorable(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.operationsWhere(cmd, args, func(s actions.Summary) bool {
		return s.Acted() && s.Verdict != actions.Refused && !s.Restored
	})
}

func (p *program) operationsWhere(cmd *cobra.Command, args []string, wanted func(actions.Summary) bool) ([]string, cobra.ShellCompDirective) {
	t := p.silently()
	if len(args) > 0 || t == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, _ := t.desk.List(cmd.Context())
	var names []string
	for _, s := range slices.Backward(l.Operations) {
		if wanted(s) {
			names = append(names, s.ID+"\t"+tui.Printable(s.Topic)+", "+s.Verdict.String())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
