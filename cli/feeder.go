package cli

// From the store to its readings: what changed goes in, what is found comes back as marks on the slots.
// A goroutine of its own beside the screen; the wire never waits for it.

import (
	"context"
	"time"

	"retainscope/inventory"
	"retainscope/readings"
)

const (
	feedPause = 200 * time.Millisecond // between two rounds; longer after a long one
	feedParts = 400                    // drains in one round, so that marks are not kept waiting by a flood
)

// feeder keeps a Reader in line with an Inventory and the marks of the Inventory in line with the Reader. One goroutine
// uses it at a time.
type feeder struct {
	inv     *inventory.Inventory
	reader  *readings.Reader
	filters []string // that were scanned
	updates inventory.Updates
	touched [][]byte
	fresh   [][]byte // topics whose slot is a new one, without marks
	first   chan struct{}
	told    bool
}

// newFeeder switches the feed of the inventory on, which begins with all that is held, and makes the reader its judge. The
// filters are those that fill the inventory.
func newFeeder(inv *inventory.Inventory, reader *readings.Reader, filters []string) *feeder {
	inv.TrackChanges(true)
	inv.SetJudge(judge{reader})
	return &feeder{inv: inv, reader: reader, filters: filters, first: make(chan struct{})}
}

// startFeeder runs a feeder from the end of the first scan until ctx ends. The returned function waits for its end; first
// is closed when all that the scan brought is read and marked.
func startFeeder(ctx context.Context, inv *inventory.Inventory, reader *readings.Reader, filters []string, scanned <-chan struct{}, status func() (inventory.Link, inventory.Coverage)) (first <-chan struct{}, wait func()) {
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-scanned:
		case <-ctx.Done():
			return
		}
		f := newFeeder(inv, reader, filters)
		f.first = ready
		defer inv.TrackChanges(false)
		pause := time.NewTimer(0)
		defer pause.Stop()
		for {
			select {
			case <-pause.C:
			case <-ctx.Done():
				return
			}
			start := time.Now()
			link, cov := status()
			f.round(ctx, link, cov, start)
			pause.Reset(max(feedPause, time.Since(start)))
		}
	}()
	return ready, func() { <-done }
}

// catchUp does rounds until everything that came is read and marked. The error is that of ctx.
func (f *feeder) catchUp(ctx context.Context, link inventory.Link, cov inventory.Coverage, now time.Time) error {
	for !f.round(ctx, link, cov, now) {
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// round takes in what changed, marks what reads differently, and reports whether nothing is left to do.
func (f *feeder) round(ctx context.Context, link inventory.Link, cov inventory.Coverage, at time.Time) (idle bool) {
	now := at.UnixMilli()
	if cov.Claim != inventory.Scanning { // until then what the scan before claimed holds
		f.reader.Saw(f.filters, wholeFor(cov))
	}
	switch link.State {
	case inventory.Watching:
		f.reader.Watched(link.Since.UnixMilli(), now)
	case inventory.Lost:
		// Nobody watches: what is not seen now is no silence, and countdowns stand still.
		now = min(now, link.Since.UnixMilli())
	}
	all := f.drain(ctx)
	for more := true; more && ctx.Err() == nil; {
		f.touched, more = f.reader.Touched(f.touched[:0], now)
		for _, topic := range f.touched {
			f.mark(topic, now)
		}
	}
	for _, topic := range f.fresh {
		f.mark(topic, now)
	}
	f.fresh = f.fresh[:0]
	if all && !f.told && ctx.Err() == nil {
		f.told = true
		close(f.first)
	}
	return all
}

// wholeFor reports whether a topic that is not held is not there, as far as this can be known: nothing was lost, and the
// broker counts no topic that it does not show to this login.
func wholeFor(c inventory.Coverage) bool {
	return (c.Claim == inventory.Verified || c.Claim == inventory.NoSignOfLoss) && c.Missing() == 0
}

// drain gives the reader what the feed has, and reports whether that was all.
func (f *feeder) drain(ctx context.Context) bool {
	for range feedParts {
		if ctx.Err() != nil {
			return false
		}
		more := f.inv.Drain(&f.updates, 256)
		for i := range f.updates.List {
			f.take(&f.updates.List[i])
		}
		if !more {
			return true
		}
	}
	return false
}

func (f *feeder) take(u *inventory.Update) {
	switch u.Kind {
	case inventory.UpdateGone:
		f.reader.Remove(u.Topic)
		return
	case inventory.UpdateHeard:
		f.reader.Heard(u.Topic, u.At)
		return
	}
	f.reader.Put(readings.Fact{
		Topic: u.Topic, Payload: u.Payload, Size: u.Size, Cut: u.Flags.Has(inventory.FlagCut),
		Interval: u.Interval, History: u.History,
		ReceivedAt: u.ReceivedAt, LastLive: u.LastLive, FirstSeen: u.FirstSeen, LiveCount: u.LiveCount,
		Fell: u.Flags.Has(inventory.FlagFell), Gained: u.Gained,
		StillServed: u.Flags.Has(inventory.FlagStillServed), EmptyReplay: u.Flags.Has(inventory.FlagEmptyReplay),
	})
	if u.Fresh {
		f.fresh = append(f.fresh, append([]byte(nil), u.Topic...))
	}
}

// mark brings the marks of a slot in line with its reading.
func (f *feeder) mark(topic []byte, now int64) {
	b, ok := f.reader.Brief(topic, now)
	if !ok {
		return
	}
	var set inventory.Flags
	if b.Left {
		set |= inventory.FlagLeft
	}
	if b.Hazard {
		set |= inventory.FlagHazard
	}
	f.inv.Mark(topic, set, (inventory.FlagLeft|inventory.FlagHazard)&^set)
}
