package broker

// Asking for the store in slices, when the whole did not come whole: each slice small enough that no broker drops any
// of it, each fenced, each unsubscribed from before the next.

import (
	"context"
	"errors"
	"strings"
	"time"

	"retainscope/inventory"
)

const (
	// sliceCopies is what a batch of slices is planned for, and as much of the safe size in bytes; the rest is for what was
	// not foreseen.
	sliceCopies = safeCopies * 3 / 4
	// sliceWalk bounds the tree nodes that the broker visits for one SUBSCRIBE: some tens of milliseconds.
	sliceWalk    = 300_000
	sliceFilters = 500
	slicePacket  = 64 << 10
	sliceRounds  = 24
	// sliceSample is how many names of single topics are asked for before they are taken as what they look like.
	sliceSample = 1000
	// sampleTime is how long slices are asked for where nothing but the size speaks of a loss and they bring nothing. What
	// a full queue drops it drops all over the store, so a part of it shows.
	sampleTime = 20 * time.Second
)

// slicer is one run of slices.
type slicer struct {
	w     *Watcher
	ctx   context.Context
	e     *evidence
	snap  *snapshot
	topic *survey
	quiet time.Duration
	// strict is set for brokers that were seen to drop by number, whatever the size.
	strict bool
	// portion is how many filters are asked for at a time.
	portion portion
	deep    int             // levels from which on filters go without "/#", 0 for none
	ends    int             // narrower filters over which the broker ended the connection
	scale   float64         // how many copies came for each one known
	done    map[string]bool // filters that were asked for and came whole
	queue   []part
	res     sliceResult
	start   int64     // topics held before the first slice
	began   time.Time // when the first slice was asked for as a sample: zero where something points at a loss
	since   int64     // live values of the broker's count before the first slice
}

// sliceWhereItHelps asks for the store in slices when something is missing and slices can tell more, until the broker's
// count agrees or nothing more comes.
func (w *Watcher) sliceWhereItHelps(ctx context.Context, e *evidence) {
	if !e.worthSlicing() {
		return
	}
	s := &slicer{w: w, ctx: ctx, e: e, done: make(map[string]bool), start: w.inv.Brought(), since: e.now.countLive, scale: 3, quiet: queryQuiet}
	s.portion.packet = w.portions.most()
	if strings.HasPrefix(e.now.version, "mosquitto ") {
		s.quiet = 60 * time.Millisecond // its PINGRESP stands behind the last copy
	} else {
		s.strict = true
	}
	if k := e.known(); k > e.held && e.held > 0 {
		s.scale = max(s.scale, float64(k)/float64(e.held))
	}
	if !e.suspicious() {
		s.began = time.Now()
	}
	w.setCoverage(func(c *inventory.Coverage) {
		*c = withClaim(e.coverage(), *c)
		c.Rule = "The whole did not come whole; it is asked for again, and then narrower filters one after another."
	})
	if !s.wholeFirst() {
		s.run()
		s.wholeAgain()
	}
	if s.snap != nil {
		shut(s.snap.conn)
	}
	e.held = w.held(ctx)
	s.res.found = w.inv.Brought() - s.start
	e.slices = s.res
	if ctx.Err() == nil {
		e.now, e.ticked = w.sys.read(), false
		w.settleFigures(ctx, e)
	}
}

// withClaim returns c as the statement of a scan that still runs, with what lasts taken from old.
func withClaim(c, old inventory.Coverage) inventory.Coverage {
	c.Claim = inventory.Scanning
	c.Away, c.Notes, c.StartedAt = old.Away, old.Notes, old.StartedAt
	return c
}

// worthSlicing reports whether narrower filters can bring what is missing, or show that something is.
func (e *evidence) worthSlicing() bool {
	if e.ended != "" || e.copies == 0 || e.agrees() || e.nothingDropped() {
		return false
	}
	_, moved := e.now.dropsSince(e.before)
	return moved && !e.othersLoss() || e.pings > 0 || e.stalls > 0 || e.discards > 0 || !e.small()
}

// run divides and asks until there is nothing left that could bring more.
func (s *slicer) run() {
	barren := 0
	for range sliceRounds {
		before := s.held()
		next, sample, ok := s.plan()
		if !ok || !s.ask(next, sample) || s.enough() {
			return
		}
		if s.held() > before {
			barren = 0
		} else if barren++; barren >= 3 {
			return
		}
	}
}

func (s *slicer) held() int64 { return s.w.inv.Counts().Topics }

// enough reports whether the broker's count is reached.
func (s *slicer) enough() bool {
	if s.ctx.Err() != nil {
		return true
	}
	v := s.w.sys.read()
	k := v.known()
	// A count from before the scan may be as old as the broker likes.
	young := s.e.ticked || v.countLive > s.since
	return s.e.whole() && young && k > 0 && s.w.held(s.ctx) >= k
}

// plan returns the parts of the best way to divide the store that has parts which were not asked for yet. sample is set
// where the first thousand of them tell whether the others are worth asking for.
func (s *slicer) plan() (parts []part, sample, ok bool) {
	if err := s.survey(); err != nil {
		return nil, false, false
	}
	for _, g := range s.e.grants {
		base := parseSlice(g.Filter)
		if g.Refused() || base.depth() < len(base.levels) && !base.hash && !hasAny(base) {
			continue
		}
		for _, c := range s.topic.cuts(base) {
			if parts := s.fresh(c); len(parts) > 0 {
				return parts, c.flat(), true
			}
		}
	}
	return nil, false, false
}

func hasAny(s slice) bool {
	for _, l := range s.levels {
		if l == anyLevel {
			return true
		}
	}
	return false
}

// fresh returns the parts of c that were not asked for yet; none where the cut costs the broker too much.
func (s *slicer) fresh(c cut) []part {
	var parts []part
	for _, p := range c.parts {
		if !s.done[p.slice.filter()] {
			parts = append(parts, p)
		}
	}
	if c.walked*int64(len(parts)) > walkMost {
		s.res.dear = true
		return nil
	}
	for i := range parts {
		parts[i].walk = max(c.walked, 1)
	}
	s.res.skipped = max(s.res.skipped, c.skipped)
	return parts
}

// survey copies the topics held.
func (s *slicer) survey() error {
	l, err := s.w.inv.List(s.ctx, inventory.Spec{Now: s.w.now().UnixMilli()})
	if err != nil {
		return err
	}
	v := &survey{}
	var rows []inventory.Row
	const window = 512
	for i := 0; i < l.Len(); i += window {
		rows = l.Rows(l.At(i), window, rows[:0])
		for _, r := range rows {
			v.add(r.Slot.Topic, r.Slot.Size, r.Slot.FirstSeen)
		}
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
	s.topic = v
	return nil
}

// ask asks for parts, batch by batch, dividing what turns out too large. It returns false when it cannot go on.
func (s *slicer) ask(parts []part, sample bool) bool {
	s.queue = append(s.queue[:0], parts...)
	s.res.planned += len(parts)
	before, first := s.held(), s.res.asked
	for len(s.queue) > 0 {
		if sample && s.res.asked-first >= sliceSample && s.held() == before {
			for _, p := range s.queue {
				s.done[p.slice.filter()] = true
			}
			s.res.planned -= len(s.queue)
			break
		}
		batch := s.nextBatch()
		s.w.progress(int64(s.res.asked), int64(s.res.planned), "asking for parts of the store: slice %d of %d", s.res.asked+1, s.res.planned)
		began := time.Now()
		got, err := s.fetch(batch)
		if err != nil {
			if s.smaller(batch, err) {
				continue
			}
			if s.ctx.Err() == nil {
				s.res.ended = lossText(err)
			}
			return false
		}
		if s.portion.many {
			s.w.learnFew()
		}
		s.portion.grow(sliceFilters)
		if got.tooLarge(s.strict, s.w.cfg.safeSize()) {
			s.divide(batch, got)
		} else {
			for _, p := range batch {
				s.done[p.slice.filter()] = true
			}
			s.res.asked += len(batch)
		}
		if s.enough() {
			return true
		}
		if s.sampled() {
			return false
		}
		// What a batch costs the broker is left to its other clients before the next one.
		if !s.w.pause(s.ctx, max(s.w.cfg.Pace, min(time.Since(began)/4, standstill(got.copies)))) {
			return false
		}
	}
	s.res.flat = sample && s.held() == before
	return true
}

// smaller has what was asked for asked for again in smaller batches where the broker ended the connection over it, and
// leaves out the single filter over which it did. It returns false where that does not help.
func (s *slicer) smaller(batch []part, err error) bool {
	var over *endedOver
	if s.ctx.Err() != nil || !errors.As(err, &over) {
		return false
	}
	again := s.portion.shrink(len(batch), over)
	if p := batch[0].slice; !again && p.hash && len(p.levels) > 1 && s.deep == 0 {
		again, s.deep = true, len(p.levels)
	}
	if again {
		s.queue = append(append([]part(nil), batch...), s.queue...)
		return true
	}
	if len(batch[0].slice.levels) == s.deep {
		s.deep = 0 // it was not "/#" over which the connection ended
	}
	s.done[batch[0].slice.filter()] = true
	s.res.asked++
	s.res.refused++
	s.ends++
	return s.ends <= asideMost
}

// sampled reports whether slices were a sample that has been large enough, and brought nothing.
func (s *slicer) sampled() bool {
	if s.began.IsZero() || s.w.inv.Brought() > s.start || time.Since(s.began) < sampleTime {
		return false
	}
	s.res.sample = true
	return true
}

// nextBatch takes parts from the queue until a batch is as large as may be asked for at once.
func (s *slicer) nextBatch() []part {
	var copies, size float64
	var walk, packet, n int
	for n < len(s.queue) && n < s.portion.limit(sliceFilters) {
		p := s.queue[n]
		copies += float64(p.copies) * s.scale
		size += float64(p.bytes) * s.scale
		walk += int(p.walk)
		packet += len(p.slice.filter()) + 3
		if n > 0 && (copies > sliceCopies && (s.strict || size > float64(s.w.cfg.safeSize())*3/4) || walk > sliceWalk || packet > slicePacket) {
			break
		}
		n++
	}
	batch := append([]part(nil), s.queue[:n]...)
	s.queue = s.queue[n:]
	return batch
}

// divide puts the parts of a batch that came too large to be trusted back, smaller.
func (s *slicer) divide(batch []part, got fetched) {
	if len(batch) > 1 {
		s.queue = append(append([]part(nil), batch...), s.queue...)
		// nextBatch takes fewer of them: what came is more than was foreseen.
		half := max(len(batch)/2, 1)
		var known float64
		for _, p := range batch[:half] {
			known += float64(p.copies)
		}
		s.scale = max(s.scale*1.5, float64(sliceCopies)/max(known, 1))
		return
	}
	p := batch[0]
	s.done[p.slice.filter()] = true
	s.res.asked++
	if s.survey() != nil {
		return
	}
	for _, c := range s.topic.cuts(p.slice) {
		if c.largest > 0.9 {
			continue
		}
		if parts := s.fresh(c); len(parts) > 0 {
			s.queue = append(parts, s.queue...)
			s.res.planned += len(parts)
			return
		}
	}
	s.res.whole = max(s.res.whole, got.copies)
}
