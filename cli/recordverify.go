package cli

// `retainscope record verify` and `record export`: the record as a whole.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (p *program) recordVerify() *cobra.Command {
	kept := ""
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that every line is as it was written",
		Long: `Check every line against the one after it, and the end against the digest kept beside the manifest, and name the first
line that was changed or is broken. With --digest the line is looked for whose digest a clear printed: whoever can write here
can write a whole new record, and only a digest that was kept elsewhere shows that.

Exit codes: 0 as it was written; 19 it is not, or no line has the digest; 1 it could not be read.`,
		Example: `  retainscope record verify
  retainscope record verify --digest 5f7d...`,
		Args: none("verify takes the whole record"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.retire(cmd.Context(), func(t *retiring, line *progress) error { return p.verify(cmd.Context(), t, line, kept) })
		},
	}
	cmd.Flags().StringVar(&kept, "digest", "", "the `SHA256` that a clear printed, kept elsewhere")
	_ = cmd.RegisterFlagCompletionFunc("digest", cobra.NoFileCompletions)
	return cmd
}

func (p *program) verify(ctx context.Context, t *retiring, line *progress, kept string) error {
	kept = strings.ToLower(strings.TrimSpace(kept))
	if kept != "" && (len(kept) != 64 || strings.Trim(kept, "0123456789abcdef") != "") {
		return usage(errors.New("--digest is not 64 hexadecimal digits"))
	}
	line.show("checking the record")
	v, err := t.desk.Verify(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	wrong := v.Wrong()
	var told []string
	if kept != "" {
		switch n, found, err := t.desk.LineOf(ctx, kept); {
		case err != nil:
			return failed(ctx, err)
		case !found && wrong == "":
			wrong = "no line has the digest that was kept: that line, or one before it, is not as it was"
		case !found:
			wrong += "; no line has the digest that was kept"
		default:
			told = append(told, fmt.Sprintf("the digest that was kept is that of line %d", n))
		}
	}
	line.clear()
	fmt.Fprintf(p.stdout, "lines: %d, files: %d\n", v.Lines, v.Segments)
	if v.Lines > 0 {
		fmt.Fprintf(p.stdout, "digest of the last line: %s\n", v.Digest)
	}
	fmt.Fprintln(p.stdout, sentence(v.Head))
	for _, s := range slices.Concat(told, v.Reported, v.Limits) {
		fmt.Fprintf(p.stdout, "note: %s\n", s)
	}
	if wrong == "" {
		return nil
	}
	return p.ends(ExitBadRecord, "the record is not as it was written: "+wrong)
}

func (p *program) recordExport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print the record as a Markdown report, without payloads",
		Long:  `Print every operation of the record as a Markdown report, for whoever has to know. No payload is in it.`,
		Example: `  retainscope record export > retired.md
  retainscope record export --manifest home.toml`,
		Args: none("export takes the whole record"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.retire(cmd.Context(), func(t *retiring, _ *progress) error {
				if _, err := t.desk.Export(cmd.Context(), p.stdout); err != nil {
					return failed(cmd.Context(), err)
				}
				return nil
			})
		},
	}
	return cmd
}
