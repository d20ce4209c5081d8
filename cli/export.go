package cli

// The screen's export: the same lines as `list --json --payload`, and the summary behind them.

import (
	"context"
	"io"
	"time"

	"retainscope/inventory"
	"retainscope/readings"
	"retainscope/tui"
)

// exportTell is how many topics are written between two reports of progress.
const exportTell = 500

// exporter returns what the screen calls to write a selection. It runs on the screen's own goroutine for it and ends
// with ctx, which is then its error; any other error is the writer's. It is made when watching begins.
func exporter(inv *inventory.Inventory, reader *readings.Reader, m *memory, status func() (inventory.Link, inventory.Coverage)) func(context.Context, tui.Selection, io.Writer, func(int64)) error {
	since := time.Now()
	return func(ctx context.Context, s tui.Selection, w io.Writer, wrote func(int64)) error {
		e := NewEncoder(w, true)
		e.Read(reader, func() int64 { return time.Now().UnixMilli() })
		e.memory = m
		one := func(d inventory.Detail) error {
			if !s.Includes(d.Topic) {
				return nil
			}
			if err := e.Detail(&d); err != nil {
				return err
			}
			if e.Lines()%exportTell == 0 {
				wrote(e.Lines())
			}
			return ctx.Err()
		}
		var err error
		if s.Topic != nil && !s.Below {
			if r, ok := inv.Find(s.Topic); ok {
				if d, ok := inv.Detail(r); ok {
					err = one(d)
				}
			}
		} else {
			err = inv.Walk(ctx, inventory.Spec{Filter: s.Filter, Now: time.Now().UnixMilli()}, one)
		}
		if err != nil {
			return err
		}
		wrote(e.Lines())
		sum := Summary{Listed: e.Lines(), Now: time.Now(), Where: s.Filter.String(), Topic: s.Topic, Below: s.Below, Since: since}
		sum.Link, sum.Coverage = status()
		return e.Summary(sum)
	}
}
