package actions

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Export writes every operation of the record as Markdown, without any payload. It returns how many there are. The
// error is that of w, of ctx, or what kept the record from being read.
func (d *Desk) Export(ctx context.Context, w io.Writer) (int, error) {
	ops, err := d.operations(ctx)
	if err != nil {
		return 0, err
	}
	v, err := d.Verify(ctx)
	if err != nil {
		return 0, err
	}
	var b strings.Builder
	b.WriteString("# Retired topics\n\n")
	fmt.Fprintf(&b, "%d operations in %d lines. Digest of the last line: `%s`. %s.\n", len(ops), v.Lines, v.Digest, markdown(v.Head))
	if v.Bad != nil {
		fmt.Fprintf(&b, "\n**The record does not verify:** %s.\n", markdown(v.Bad.String()))
	}
	b.WriteString("\n| operation | topic | owner | verdict |\n|---|---|---|---|\n")
	for _, op := range ops {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", markdown(op.ID), code(op.Topic), markdown(op.owner()), markdown(op.headline()))
	}
	for _, op := range ops {
		fmt.Fprintf(&b, "\n## %s: %s\n\n", markdown(op.ID), markdown(op.headline()))
		for _, f := range op.facts(Quote, false) {
			for i, l := range f.lines {
				if i == 0 {
					fmt.Fprintf(&b, "- **%s**: %s\n", f.label, markdown(l))
				} else {
					fmt.Fprintf(&b, "  - %s\n", markdown(strings.TrimSpace(l)))
				}
			}
		}
	}
	_, err = io.WriteString(w, b.String())
	return len(ops), err
}

// operations reads every operation, without payloads.
func (d *Desk) operations(ctx context.Context) ([]Operation, error) {
	byID := map[string]*Operation{}
	undos := map[string]*Operation{}
	var order []*Operation
	err := d.eachLine(ctx, func(_ int, line []byte, whole bool) error {
		l, err := decodeLine(line)
		if !whole || err != nil {
			return nil //nolint:nilerr // Verify names such a line; a report is of what can be read
		}
		if l.Baseline != nil {
			l.Baseline.forget()
		}
		op := byID[l.Operation]
		switch {
		case l.Intent != nil:
			op = &Operation{}
			byID[l.Operation], order = op, append(order, op)
		case l.UndoIntent != nil:
			op = byID[l.UndoIntent.Of]
			undos[l.Operation] = op
		case l.UndoOutcome != nil:
			op = undos[l.Operation]
		}
		if op != nil {
			op.fold(l)
		}
		return nil
	})
	all := make([]Operation, len(order))
	for i, op := range order {
		all[i] = *op
	}
	return all, err
}

// forget drops the bytes; what they were stays.
func (b *Baseline) forget() {
	b.Topic.Payload, b.Topic.Properties = nil, nil
	for i := range b.Controls {
		b.Controls[i].Payload, b.Controls[i].Properties = nil, nil
	}
}

// code is b inside a Markdown code span of a table.
func code(b []byte) string {
	return strings.NewReplacer("`", `\x60`, "|", `\x7c`).Replace(Quote(b))
}

// markdown escapes what Markdown would read as its own.
func markdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;",
		"|", "\\|", "#", "\\#", "\n", " ").Replace(s)
}
