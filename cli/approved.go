package cli

// Whose approval holds, for a list: the manifest and its record are read, and nothing else is done with them.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"retainscope/actions"
	"retainscope/inventory"
)

// markApproved marks in inv, which is scanned, the topics whose approval by the manifest of this broker and login holds.
// Where the filter asks for it the error says why that cannot be told; otherwise a manifest or a record that cannot be
// used marks nothing.
func (p *program) markApproved(ctx context.Context, r *resolved, log *slog.Logger, inv *inventory.Inventory, filter *inventory.Filter) error {
	topics, err := p.approved(ctx, r, log, inv)
	if err != nil && ctx.Err() != nil {
		return failed(ctx, err)
	}
	if err != nil && filter.Flagged(inventory.FlagApproved) {
		return &exit{ExitFailed, fmt.Errorf("is:approved: %w", err)}
	}
	inv.SetApproved(topics)
	return nil
}

// approved returns the topics whose approval holds; none where there is no manifest.
func (p *program) approved(ctx context.Context, r *resolved, log *slog.Logger, inv *inventory.Inventory) ([][]byte, error) {
	t, err := p.retiring(r, log)
	if err != nil {
		return nil, err
	}
	m, err := t.desk.Manifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := m.Broker().Same(t.broker("")); err != nil {
		return nil, err
	}
	guard, err := actions.Protect(t.guard.Filters(), m.Protect())
	if err != nil {
		return nil, err
	}
	g := actions.Grounds{Guard: guard}
	if len(g.Holding(m.Entries(), inv)) == 0 {
		return nil, nil // so that a record, which may be large, is read only where it matters
	}
	listed, err := t.list(ctx, newProgress(p.stderr))
	if err != nil {
		return nil, err
	}
	g.Past = actions.PastOf(listed)
	return g.Holding(m.Entries(), inv), nil
}
