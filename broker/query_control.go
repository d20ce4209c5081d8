package broker

// Positive controls for exact questions: topics that must answer, or the silence of the others says nothing.

import (
	"bytes"
	"context"
	"slices"
	"time"

	"retainscope/inventory"
)

// controlFilters are tried in order: quiet and never expiring, then never expiring, then with time left, then those of
// which nothing is known, where the wire does not tell.
var controlFilters = []string{"is:never -is:live -is:notseen", "is:never -is:notseen", "expiry>5m -is:notseen", "is:unknown -is:live -is:notseen", "is:unknown -is:notseen"}

// controlTime is how long the same controls are used; choosing them costs a pass over the inventory.
const controlTime = time.Minute

// controls returns at most three topics that are expected to answer and are not in batch: two of the inventory, so that
// one that was cleared this moment does not matter, and the broker's own version where the login was told it.
func (q *querier) controls(ctx context.Context, batch [][]byte) [][]byte {
	if len(q.chosen) > 0 && time.Since(q.chosenAt) < controlTime && !slices.ContainsFunc(q.chosen, func(c []byte) bool { return contains(batch, c) }) {
		return q.chosen
	}
	q.chosen, q.chosenAt = q.w.chooseControls(ctx, batch), time.Now()
	return q.chosen
}

// chooseControls may be called from any goroutine.
func (w *Watcher) chooseControls(ctx context.Context, batch [][]byte) (out [][]byte) {
	const most = 3
	if w.versionTold.Load() {
		out = append(out, []byte(sysVersion))
	}
	for _, text := range controlFilters {
		filter, err := inventory.ParseFilter(text)
		if err != nil {
			continue
		}
		l, err := w.inv.List(ctx, inventory.Spec{Filter: filter, Now: w.now().UnixMilli()})
		if err != nil || l.Len() == 0 {
			continue
		}
		// Another place each time: a control that went unseen is not asked for again and again.
		turn := int(w.turn.Add(1))
		for _, r := range l.Rows(l.At((turn*7919)%l.Len()), 64, nil) {
			t := r.Slot.Topic
			if r.Held && len(t) > 0 && len(t) < 4096 && r.Slot.Size < 64<<10 && t[0] != '$' && askable(t) && !contains(batch, t) {
				out = append(out, t)
			}
			if len(out) >= most {
				return out
			}
		}
	}
	return out
}

func contains(batch [][]byte, topic []byte) bool {
	for _, t := range batch {
		if bytes.Equal(t, topic) {
			return true
		}
	}
	return false
}
