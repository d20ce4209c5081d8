package broker

// One batch of slices on the wire: SUBSCRIBE, fence, quiet, UNSUBSCRIBE.

import (
	"context"
	"errors"
	"fmt"
)

// fetched is what one batch of slices brought.
type fetched struct {
	copies, bytes int64
	unanswered    bool // the broker dropped the PINGRESP: its queue was full
}

// tooLarge reports whether the batch was of a size from which brokers were seen to lose, so that it proves nothing.
func (f fetched) tooLarge(strict bool, safe int64) bool {
	return f.unanswered || f.copies > safeCopies && (strict || f.bytes > safe)
}

// fetch asks for a batch. A connection that ended, or whose pings no longer tell anything, is made anew, once, unless a
// fresh one ended right at what the batch asks for.
func (s *slicer) fetch(batch []part) (fetched, error) {
	filters := make([]string, len(batch))
	for i, p := range batch {
		filters[i] = s.filterOf(p)
	}
	var err error
	for range 2 {
		fresh := s.snap == nil
		if fresh {
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
		var over *endedOver
		if fresh && errors.As(err, &over) {
			return fetched{}, err
		}
	}
	return fetched{}, err
}

// filterOf returns the filter that p is asked for by: without "/#" where the broker ends connections over filters of that
// many levels, so that it has no topics below either.
func (s *slicer) filterOf(p part) string {
	if p.slice.hash && s.deep > 0 && len(p.slice.levels) >= s.deep {
		p.slice.hash = false
	}
	return p.slice.filter()
}

// reopen has the next fetch make a fresh connection.
func (s *slicer) reopen() {
	shut(s.snap.conn)
	s.snap = nil
}

func (s *slicer) fetchOver(ctx context.Context, snap *snapshot, filters []string) (fetched, error) {
	before, copies := snap.conn.Stats(), snap.copies.Load()
	grants, err := snap.conn.subscribeIn(ctx, s.w.subscriptions(filters, Subscription{}), s.portion.packet)
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
		err = snap.conn.unsubscribeIn(ctx, filters, s.portion.packet)
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

// wholePasses is how often the whole is asked for again before it is divided.
const wholePasses = 3

// wholeFirst asks again for everything, where the broker's count says how much is missing, as long as each pass brings
// most of that. It reports whether all is here. What a stall of the reader or of its machine lost comes with the next
// pass, for one walk of the broker through its topics; slices of the same store take many times as long, and where little
// came at first they have no names to ask by.
func (s *slicer) wholeFirst() bool {
	for range wholePasses {
		k, before := s.known(), s.w.held(s.ctx)
		if k <= before || s.ctx.Err() != nil || s.res.ended != "" {
			return false
		}
		if s.res.passes > 0 && !s.w.pause(s.ctx, standstill(k)/4) { // the broker's other clients come first
			return false
		}
		got, ok := s.whole()
		held := s.w.held(s.ctx)
		if s.known() == held && ok && !got.unanswered {
			return true
		}
		if held-before < (k-before)/2 {
			return false
		}
	}
	return false
}

// known returns the broker's count as it is now, -1 when there is none to compare with.
func (s *slicer) known() int64 {
	if !s.e.whole() {
		return -1
	}
	return s.w.sys.read().known()
}

// wholeAgain asks once more for everything where slices could not help: the loss is a race between the broker and the
// reader, and the next race may end otherwise. What came before is kept.
func (s *slicer) wholeAgain() {
	if s.res.flat && s.res.ended == "" && !s.enough() {
		_, _ = s.whole()
	}
}

// whole asks for everything once more, on a connection of its own.
func (s *slicer) whole() (fetched, bool) {
	if s.snap != nil {
		s.reopen()
	}
	var all []part
	for _, g := range s.e.grants {
		if !g.Refused() {
			all = append(all, part{slice: parseSlice(g.Filter)})
		}
	}
	s.w.progress(s.held(), s.known(), "asking for the whole once more")
	s.res.passes++
	quiet, scale := s.quiet, s.scale
	s.quiet = s.w.cfg.Quiet
	got, err := s.fetch(all)
	s.quiet, s.scale = quiet, scale
	if err != nil && s.ctx.Err() == nil {
		s.res.ended = lossText(err)
	}
	return got, err == nil
}
