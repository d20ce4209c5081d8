package cli

// How wide the columns of a table are on a terminal: as wide as what stands in them, and what is left for the topic.

import (
	"context"

	"retainscope/inventory"
)

// columns are widths in cells. While measuring they grow with every line, and nothing is written.
type columns struct {
	topic, expiry, size, reading int
	measuring                    bool
}

func (c *columns) take(topic, expires, size, reading string) {
	c.topic = max(c.topic, textWidth(topic))
	c.expiry = max(c.expiry, textWidth(expires))
	c.size = max(c.size, textWidth(size))
	c.reading = max(c.reading, textWidth(reading))
}

// fit measures everything that will be listed. The error is ctx's.
func (t *table) fit(ctx context.Context, inv *inventory.Inventory, spec inventory.Spec) error {
	t.cols = &columns{measuring: true}
	if err := t.head(); err != nil {
		return err
	}
	err := inv.Walk(ctx, spec, func(d inventory.Detail) error { return t.row(&d, spec.Now) })
	t.cols.measuring = false
	return err
}

// widths returns the columns to draw with; what is longer than its share moves its own row to the right.
func (t table) widths() columns {
	if t.cols == nil {
		w := columns{topicWidth, max(expiryWidth, t.expiryMost()), sizeWidth, readingWidth, false}
		if t.showsLive() {
			w.expiry = t.expiryMost() + 2 + liveWidth
		}
		return w
	}
	w := *t.cols
	w.reading = min(w.reading, readingWidth)
	w.expiry = min(w.expiry, t.expiryMost())
	if t.showsLive() {
		w.expiry = t.expiryMost() + 2 + liveWidth
	}
	return w
}

// topicCells returns the width of the first column.
func (t table) topicCells() int {
	if t.width == 0 {
		return topicWidth
	}
	w := t.widths()
	if w.measuring {
		return t.width
	}
	rest := t.width - w.expiry - w.size - w.reading - 6
	if t.payload {
		rest = (rest - 2) / 2
	}
	rest = max(narrowest, rest)
	if t.cols != nil {
		rest = min(rest, w.topic)
	}
	return rest
}
