package actions

import (
	"context"
	"fmt"
	"io"
	"slices"
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
	fmt.Fprintf(&b, "%s in %s. Digest of the last line: `%s`. %s.\n", Counted(len(ops), "operation"), Counted(int(v.Lines), "line"), v.Digest, markdown(capital(v.Head)))
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
	undos := map[string][]*Operation{}
	var order []*Operation
	before := d.holder()
	err := d.eachLine(ctx, func(_ int, line []byte, hurt *Damage) error {
		l, err := decodeLine(line)
		if hurt != nil || err != nil {
			return nil //nolint:nilerr // Verify names such a line; a report is of what can be read
		}
		if l.Baseline != nil {
			l.Baseline.forget()
		}
		ops := []*Operation{byID[l.Operation]}
		switch {
		case l.Intent != nil:
			ops[0] = &Operation{}
			byID[l.Operation], order = ops[0], append(order, ops[0])
		case l.UndoIntent != nil:
			ops[0] = byID[l.UndoIntent.Of]
			if took := lastActed(order, l.UndoIntent.Topic); took != ops[0] {
				ops = append(ops, took)
			}
			undos[l.Operation] = ops
		case l.UndoOutcome != nil:
			ops = undos[l.Operation]
		}
		for _, op := range ops {
			if op != nil {
				op.fold(l)
			}
		}
		return nil
	})
	after := d.holder()
	all := make([]Operation, len(order))
	for i, op := range order {
		op.runs(before, after)
		all[i] = *op
	}
	return all, err
}

// lastActed returns the last operation on topic that may have sent its empty message, nil when there is none.
func lastActed(ops []*Operation, topic []byte) *Operation {
	for _, op := range slices.Backward(ops) {
		if string(op.Topic) == string(topic) && op.acted() {
			return op
		}
	}
	return nil
}

// forget drops the bytes; what they were stays.
func (b *Baseline) forget() {
	b.Topic.Payload, b.Topic.Properties = nil, nil
	for i := range b.Controls {
		b.Controls[i].Payload, b.Controls[i].Properties = nil, nil
	}
}

// capital returns a sentence with a capital letter in front.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// code is b inside a Markdown code span of a table.
func code(b []byte) string {
	return strings.NewReplacer("`", `\x60`, "|", `\x7c`).Replace(Quote(b))
}

// markdown escapes what Markdown would read as its own, and whatever a terminal might act on or a person could not see:
// the text may be a person's or a broker's.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\n", " ") {
		writeVisible(&b, r)
	}
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;",
		"|", "\\|", "#", "\\#").Replace(b.String())
}
