package broker

// What is learned between scans: the broker's later figures, what it does to intervals, drops while we only watch.
// A claim is only ever raised here, never lowered; what speaks against it is added as a gap.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"retainscope/inventory"
)

// followFigures looks, once a second between scans, whether figures that came meanwhile say more than was known.
func (w *Watcher) followFigures(ctx context.Context) {
	if w.last == nil || w.last.ended != "" || !w.sys.alive() || !w.last.live() {
		return
	}
	v := w.sys.read()
	if v.live == w.last.now.live {
		return
	}
	if settled := v.live == w.figuresAt; !settled {
		w.figuresAt = v.live // a tick may still be coming in: look again in a second
		return
	}
	w.toldBroker(v.version)
	claim, _ := w.last.claim()
	w.last.now, w.last.held, w.last.ticked = v, w.held(ctx), true
	if better, _ := w.last.claim(); better == inventory.Verified && claim != inventory.Verified {
		w.republish(w.last)
	}
	w.noteDrops(v)
}

func (w *Watcher) republish(e *evidence) {
	c := e.coverage()
	w.setCoverage(func(old *inventory.Coverage) {
		c.Away, c.Notes = old.Away, old.Notes
		c.StartedAt, c.EndedAt = old.StartedAt, old.EndedAt
		*old = c
	})
}

const (
	sinceScan  = "Since the scan the broker dropped "
	liveBehind = "The live stream was faster than this machine"
)

// noteDrops says that the broker dropped messages while we only watched: some of them may have been ours.
func (w *Watcher) noteDrops(v sysValues) {
	n, moved := v.dropsSince(w.last.after)
	if !moved {
		return
	}
	what := "messages"
	if n > 0 {
		what = fmt.Sprintf("%d messages", n)
	}
	w.noteGap(sinceScan, n, what+" for some client; if it was this one, changes are missing until the next scan.")
}

// stalledLive says that live changes may have been missed because our own read-ahead was full.
func (w *Watcher) stalledLive(n int64) {
	w.noteGap(liveBehind, -1, fmt.Sprintf(" %d times since the connection was made; changes may be missing until the next scan.", n))
}

// noteGap adds a gap, or replaces the one that begins with the same words.
func (w *Watcher) noteGap(begin string, n int64, rest string) {
	w.setCoverage(func(c *inventory.Coverage) {
		gaps := slices.DeleteFunc(slices.Clone(c.Gaps), func(g inventory.Gap) bool { return strings.HasPrefix(g.Text, begin) })
		c.Gaps = append(gaps, inventory.Gap{Count: n, Text: begin + rest})
	})
}

// withNote returns notes with one more, once.
func withNote(notes []string, note string) []string {
	if slices.Contains(notes, note) {
		return notes
	}
	return append(slices.Clone(notes), note)
}
