package broker

// One batch of slices on the wire: SUBSCRIBE, fence, quiet, UNSUBSCRIBE.

import (
	"context"
	"fmt"
)

// fetched is what one batch of slices brought.
type fetched struct {
	copies, bytes int64
	unanswered    bool // the broker dropped the PINGRESP: its queue was full
}

// tooLarge reports whether the batch was of a size from which brokers were seen to lose, so that it proves nothing.
func (f fetched) tooLarge(strict bool) bool {
	return f.unanswered || f.copies > safeCopies && (strict || f.bytes > safeBytes)
}

// fetch asks for a batch. A connection that ended, or whose pings no longer tell anything, is made anew, once.
func (s *slicer) fetch(batch []part) (fetched, error) {
	filters := make([]string, len(batch))
	for i, p := range batch {
		filters[i] = p.slice.filter()
	}
	var err error
	for range 2 {
		if s.snap == nil {
			if s.snap, err = s.w.dialSnapshot(s.ctx); err != nil {
				s.snap = nil
				return fetched{}, err
			}
		}
		var got fetched
		if got, err = s.fetchOver(s.ctx, s.snap, filters); err == nil {
			if got.unanswered {
				s.reopen()
			}
			s.learn(batch, got)
			return got, nil
		}
		s.reopen()
		if s.ctx.Err() != nil {
			return fetched{}, s.ctx.Err()
		}
	}
	return fetched{}, err
}

// reopen has the next fetch make a fresh connection.
func (s *slicer) reopen() {
	shut(s.snap.conn)
	s.snap = nil
}

func (s *slicer) fetchOver(ctx context.Context, snap *snapshot, filters []string) (fetched, error) {
	before, copies := snap.conn.Stats(), snap.copies.Load()
	grants, err := snap.conn.Subscribe(ctx, s.w.subscriptions(filters, Subscription{}))
	if err != nil {
		return fetched{}, fmt.Errorf("ask for a part: %w", err)
	}
	for _, g := range grants {
		if g.Refused() {
			s.res.refused++
		}
	}
	b, err := snap.end(ctx, s.quiet, func() bool { return false }, func() {})
	if err != nil {
		return fetched{}, err
	}
	after := snap.conn.Stats()
	got := fetched{
		copies: snap.copies.Load() - copies, bytes: after.WireBytes - before.WireBytes,
		unanswered: b.pings > 0 || !b.fenced,
	}
	s.e.allWire += got.bytes
	s.e.stalls += after.Stalled - before.Stalled
	s.e.stalled += after.StalledFor - before.StalledFor
	if !got.unanswered {
		err = snap.conn.Unsubscribe(ctx, filters)
	}
	return got, err
}

// learn adapts how many copies are to be expected for each one known.
func (s *slicer) learn(batch []part, got fetched) {
	var known int64
	for _, p := range batch {
		known += p.copies
	}
	if known > 0 && got.copies > 0 {
		s.scale = max(s.scale*0.7, 1.1*float64(got.copies)/float64(known), 1.1)
	}
}

// wholeAgain asks once more for everything where slices could not help: the loss is a race between the broker and the
// reader, and the next race may end otherwise. What came before is kept.
func (s *slicer) wholeAgain() {
	if !s.res.flat || s.res.ended != "" || s.enough() {
		return
	}
	if s.snap != nil {
		s.reopen()
	}
	var all []part
	for _, g := range s.e.grants {
		if !g.Refused() {
			all = append(all, part{slice: parseSlice(g.Filter)})
		}
	}
	s.w.progress(0, -1, "asking for the whole once more: slices cannot divide it")
	s.res.again = true
	s.quiet = s.w.cfg.Quiet
	if _, err := s.fetch(all); err != nil && s.ctx.Err() == nil {
		s.res.ended = lossText(err)
	}
}
