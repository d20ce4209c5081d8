package cli

// What is approved, for a list: the manifest is read, and nothing else of it is used.

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"retainscope/inventory"
)

// markApproved marks in inv what the manifest of this broker and login approves to be cleared. Where the filter asks for
// it the error says why the manifest cannot tell; otherwise a manifest that cannot be used marks nothing.
func (p *program) markApproved(r *resolved, log *slog.Logger, inv *inventory.Inventory, filter *inventory.Filter) error {
	topics, err := p.approved(r, log)
	if err != nil && filter.Flagged(inventory.FlagApproved) {
		return &exit{ExitFailed, fmt.Errorf("is:approved: %w", err)}
	}
	inv.SetApproved(topics)
	return nil
}

// approved returns the topics that are approved to be cleared; none where there is no manifest.
func (p *program) approved(r *resolved, log *slog.Logger) ([][]byte, error) {
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
	var topics [][]byte
	for _, e := range m.Entries() {
		if e.CheckApproval() == nil {
			topics = append(topics, e.Topic)
		}
	}
	return topics, nil
}
