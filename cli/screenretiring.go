package cli

// What the screen may do to topics: the composition that the commands use as well, on the broker that is being watched.

import (
	"context"
	"log/slog"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/tui"
)

// screenRetiring is a tui.Retiring.
type screenRetiring struct {
	*retiring
	inv  *inventory.Inventory
	link func() inventory.Link
}

// actsOnScreen returns what the screen acts with, or why it cannot act at all: one can look nevertheless.
func (p *program) actsOnScreen(r *resolved, log *slog.Logger, inv *inventory.Inventory, link func() inventory.Link) (tui.Retiring, string) {
	t, err := p.retiring(r, log)
	if err != nil {
		return nil, oneLine(err.Error())
	}
	if t.off != nil {
		return nil, t.off.Error()
	}
	return &screenRetiring{t, inv, link}, ""
}

// here names the broker as it is connected now.
func (s *screenRetiring) here() actions.BrokerID { return s.broker(s.link().Broker) }

// clears returns what acts now. Whether the broker stamps intervals may have been learned since the last time.
func (s *screenRetiring) clears(told func(actions.Progress)) *actions.Clearer {
	_, sure := s.inv.Habits().Stamps()
	return s.clearer(s.here(), sure == expiry.Certain, told)
}

func (s *screenRetiring) Terms() tui.Terms {
	off := ""
	if s.off != nil {
		off = oneLine(s.off.Error())
	}
	return tui.Terms{Off: off, By: s.who.Name(), Broker: s.here(), Manifest: s.path, Protection: s.guard, UndoLimit: s.limit.Payload, Window: s.watch}
}

func (s *screenRetiring) Manifest(context.Context) (*actions.Manifest, error) {
	return s.desk.Manifest()
}

func (s *screenRetiring) Decide(ctx context.Context, was *actions.Entry, e actions.Entry) error {
	return s.desk.Decide(ctx, s.here(), was, e, s.guard, s.who)
}

func (s *screenRetiring) Withdraw(ctx context.Context, topic []byte) error {
	_, err := s.desk.Withdraw(ctx, s.here(), topic)
	return err
}

func (s *screenRetiring) Clear(ctx context.Context, req actions.Request, told func(actions.Progress)) (actions.Operation, error) {
	return s.clears(told).Clear(ctx, req)
}

func (s *screenRetiring) Watch(ctx context.Context, op actions.Operation, until time.Time) (actions.Later, error) {
	return s.clears(nil).WatchReturn(ctx, op, until)
}

func (s *screenRetiring) Recheck(ctx context.Context, id, note string) (actions.Later, error) {
	return s.clears(nil).Recheck(ctx, id, note)
}

func (s *screenRetiring) Restore(ctx context.Context, req actions.RestoreRequest, told func(actions.Progress)) (actions.UndoOutcome, error) {
	req.By = s.who.Name()
	return s.clears(told).Restore(ctx, req)
}

func (s *screenRetiring) Record(ctx context.Context, read func(lines int64)) (actions.Listed, error) {
	return s.desk.ListCounting(ctx, read)
}

func (s *screenRetiring) Operation(ctx context.Context, id string) (actions.Operation, error) {
	return s.desk.Operation(ctx, id)
}

func (s *screenRetiring) Head(context.Context) (actions.Head, bool, error) { return s.desk.Head() }

func (s *screenRetiring) Verify(ctx context.Context) (actions.Verification, error) {
	return s.desk.Verify(ctx)
}
