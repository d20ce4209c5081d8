package cli

// `retainscope record`: what was done, whether the record is as it was written, and a later look.

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) recordCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Show, verify or export the record of what was cleared, or look again",
		Long: `The record lies beside the manifest: one line before and one after every clear and every restore, each with the digest
of the line before it. It is never rewritten. A line that was half written begins a new file and is told of.`,
		Example: `  retainscope record show
  retainscope record show 20261130-140211-5
  retainscope record verify --digest 5f7d...
  retainscope record export > retired.md
  retainscope record recheck 20261130-140211-5 --note "after the gateway was restarted"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("record has no command %s; it has show, verify, export and recheck", quote(args[0])))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	p.sectionFlags(cmd.PersistentFlags(), retireSections()...)
	cmd.AddCommand(p.recordShow(), p.recordVerify(), p.recordExport(), p.recordRecheck())
	return cmd
}
