package broker

// Keeping what is held honest between scans: nothing announces that a retained message has expired, so what is due is
// asked for again; and what a scan did not bring is asked for before anybody calls it gone.

import (
	"context"
	"slices"
	"sync"
	"time"

	"retainscope/inventory"
)

const (
	// dueBatch is how many due topics are asked for in one go.
	dueBatch = 4 * queryFilters
	// unseenMost is how many topics that a scan did not bring are asked for one by one.
	unseenMost = 200_000
	// unseenFew is how many are asked for before anything else is waited for, and how many of a broker that takes only a
	// few filters at a time.
	unseenFew = 5 * queryFilters
)

// tend marks what is due every second and asks for it. Questions run beside the clock: a slow answer stops no tick.
func (w *Watcher) tend(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	busy := make(chan struct{}, 1)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := w.now().UnixMilli()
		w.inv.Tick(now)
		w.queries.idle()
		select {
		case busy <- struct{}{}:
		default:
			continue
		}
		due := w.inv.DueTopics(now, dueBatch)
		if len(due) == 0 {
			<-busy
			continue
		}
		asking.Go(func() {
			defer func() { <-busy }()
			w.settleDue(ctx, due)
		})
	}
}

// settleDue asks for topics whose interval has run out here. What is not concluded is due again a minute later.
func (w *Watcher) settleDue(ctx context.Context, topics [][]byte) {
	err := w.queries.exact(ctx, topics, func(topic []byte, at int64, v verdict) {
		switch v {
		case present:
			w.inv.StillServed(topic, at)
		case absent:
			if w.inv.Vanished(topic, at, inventory.Expired) {
				w.expiries.add(at)
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		w.cfg.Logger.Info("due topics could not be asked for", "error", err)
	}
}

// unseen returns what is held and was not brought by the scan; nothing where this was the only one.
func (w *Watcher) unseen(ctx context.Context) [][]byte {
	if w.cfg.Once {
		return nil
	}
	return w.inv.NotSeen(ctx, unseenMost)
}

// settleUnseen asks for topics that are held and were not brought by a scan. Only what the broker does not have when
// asked is gone.
func (w *Watcher) settleUnseen(ctx context.Context, e *evidence, topics [][]byte) {
	if len(topics) == 0 {
		return
	}
	done, kept, unsure := int64(0), int64(0), int64(0)
	answer := func(topic []byte, at int64, v verdict) {
		if done%fewTogether == 0 {
			w.progress(done, int64(len(topics)), "asking for %s topics that the scan did not bring", grouped(len(topics)))
		}
		done++
		switch v {
		case present:
			kept++
		case absent:
			w.inv.Vanished(topic, at, w.whyGone(topic, at))
		default:
			unsure++
		}
	}
	var err error
	for part := range slices.Chunk(topics, unseenFew) {
		if done >= unseenFew && w.portions.most() > 0 {
			w.portions.cutShort()
			break
		}
		if err = w.queries.exact(ctx, part, answer); err != nil {
			break
		}
	}
	unsure += int64(len(topics)) - done
	if err != nil {
		w.cfg.Logger.Info("topics not brought by the scan could not be asked for", "error", err)
	}
	e.recovered, e.unsure = kept, unsure
	e.expired = w.expiries.since(e.now.at)
	e.held = w.held(ctx)
}

// whyGone tells an expiry from a removal by somebody: a copy that still had time left was removed.
func (w *Watcher) whyGone(topic []byte, at int64) inventory.EventKind {
	ref, ok := w.inv.Find(topic)
	if !ok {
		return inventory.Gone
	}
	slot, ok := w.inv.Slot(ref)
	if !ok {
		return inventory.Gone
	}
	// Brokers remove a copy up to a second before its end.
	if deadline, ok := slot.Interval.Deadline(slot.ReceivedAt); ok && deadline <= at+1000 {
		return inventory.Expired
	}
	return inventory.Gone
}

// askWildcards asks for a topic that was published with RETAIN before a scan that brought nothing. It returns 1 when an
// exact filter brings it, 2 when that brings nothing either, 0 when it could not be asked.
func (w *Watcher) askWildcards(ctx context.Context) int {
	topic := w.live.seen()
	if topic == nil {
		return 0
	}
	_, found, err := w.Ask(ctx, topic)
	switch {
	case err != nil:
		return 0
	case found:
		return 1
	default:
		return 2
	}
}
