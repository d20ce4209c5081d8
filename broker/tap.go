package broker

// What a watcher sees, for somebody who remembers it: publications as they happen, and when anybody was looking.
// Replays never pass here; whoever wants them reads the inventory after a scan.

import (
	"slices"
	"time"

	"retainscope/inventory"
)

// Tap is told what a Watcher sees. Each method is called on a goroutine of the watcher, Live on the one that decodes:
// none may block, call the watcher back, or keep a slice it was given.
type Tap interface {
	// Live takes publications as they were published, never replays; after the inventory has taken them.
	Live(batch []inventory.Publication)
	// Watching says that from the given instant on whatever matches one of filters is given to Live, as far as the login
	// may read it.
	Watching(at time.Time, filters []string)
	// Blind says that nothing was given to Live that was published after the given instant, which lies in the past where
	// a connection was found lost: that of its last byte.
	Blind(at time.Time)
	// Scanned says that a scan has ended, well or not: what it brought is in the inventory.
	Scanned()
}

// tapWatching tells the tap that a live connection stands.
func (w *Watcher) tapWatching(at time.Time) {
	if w.cfg.Tap == nil {
		return
	}
	var filters []string
	for _, g := range slices.Concat(w.liveGrants, w.liveExtra) {
		if !g.Refused() {
			filters = append(filters, g.Filter)
		}
	}
	w.cfg.Tap.Watching(at, filters)
}

// tapBlind tells the tap that the live connection has ended; lastByte is when it brought something last.
func (w *Watcher) tapBlind(lastByte time.Time) {
	if w.cfg.Tap == nil {
		return
	}
	at := w.now()
	if !lastByte.IsZero() && lastByte.Before(at) && w.ctx.Err() == nil {
		at = lastByte
	}
	w.cfg.Tap.Blind(at)
}
