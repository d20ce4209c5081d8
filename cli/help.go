package cli

// Help: of a command that there is, in lines that fit. What is no command is an error and gets no help of another one.

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// helps has root and all below it refuse help of what is no command.
func (p *program) helps(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if rest := cmd.Flags().Args(); cmd.HasAvailableSubCommands() && len(rest) > 0 {
			p.misled = noCommand(cmd, rest[0])
			return
		}
		file, _ := p.stdout.file()
		width := p.columnsOf(file)
		if width == 0 {
			usual(cmd, args)
			return
		}
		var text strings.Builder
		cmd.SetOut(&text)
		usual(cmd, args)
		cmd.SetOut(p.stdout)
		_, _ = io.WriteString(p.stdout, wrapHelp(text.String(), width)) // what is lost there is told at the end
	})
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print the help of a command",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			switch {
			case err != nil:
				return noCommand(root, args[0])
			case len(rest) > 0:
				return noCommand(of, rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	})
}

// noCommand is the error of a name that no command of cmd has.
func noCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return usage(fmt.Errorf("%s has no commands; %s is too much", cmd.CommandPath(), quote(name)))
	}
	return usage(fmt.Errorf("%s has no command %s; it has %s", cmd.CommandPath(), quote(name), strings.Join(names, ", ")))
}
