package inventory

import (
	"context"
	"math"

	"retainscope/expiry"
)

// The instants of asking again: an interval that ran out is asked about after dueAfter seconds, since brokers keep a
// copy up to that long, and again every askAgain seconds.
const (
	dueAfter = 2
	askAgain = 60
)

func (inv *Inventory) beginScan() {
	inv.epoch++
	if inv.epoch == 0 { // 0 stands for no scan at all
		inv.epoch = 1
	}
	inv.tombs.begin()
	inv.version++
}

func (inv *Inventory) endScan() { inv.tombs.end(inv.now) }

func (inv *Inventory) notSeen(ctx context.Context, limit int) [][]byte {
	var all [][]byte
	for id := uint32(0); ctx.Err() == nil; {
		inv.mu.Lock()
		end := min(id+sliceRecords, inv.records.n)
		for ; id < end && (limit <= 0 || len(all) < limit); id++ {
			if rec := inv.records.at(id); rec.flags&flagHeld != 0 && rec.epoch != inv.epoch {
				all = append(all, append([]byte(nil), inv.arena.at(rec.topic)...))
			}
		}
		done := id >= inv.records.n || limit > 0 && len(all) >= limit
		inv.mu.Unlock()
		if done {
			break
		}
	}
	return all
}

func (inv *Inventory) vanished(topic []byte, at int64, why EventKind) bool {
	id, ok := inv.lookupTopic(topic)
	if !ok || inv.records.at(id).received > at {
		return false
	}
	inv.news.put(at, why, topic)
	inv.tellGone(id)
	inv.remove(id)
	return true
}

func (inv *Inventory) stillServed(topic []byte, at int64) {
	id, ok := inv.lookupTopic(topic)
	if !ok {
		return
	}
	rec := inv.records.at(id)
	end := *inv.records.deadline(id)
	if rec.flags&flagPast == 0 && (end == 0 || int64(end)*1000 > at) {
		return
	}
	if rec.flags&FlagStillServed == 0 {
		inv.news.put(at, Kept, topic)
	}
	inv.reflag(rec, rec.flags|FlagStillServed)
	inv.tell(id)
	inv.version++
}

// overdue calls f, with the lock held, for every slot whose deadline is at or before second, until f returns false. One
// pass goes over packed numbers and touches a record only where something ran out. The lock is let go now and then.
func (inv *Inventory) overdue(second uint32, f func(id uint32, rec *record) bool) {
	for k := 0; ; {
		inv.mu.Lock()
		slabs := inv.records.slabs
		touched := 0
		for end := min(k+sliceSlabs, len(slabs)); k < end && touched < sliceChecks; k++ {
			slab := slabs[k]
			for i, end := range &slab.deadline {
				// 0 means no deadline; as an unsigned number less one it is beyond every second.
				if end-1 >= second {
					continue
				}
				touched++
				if !f(uint32(k)<<recordShift|uint32(i), &slab.records[i]) {
					inv.mu.Unlock()
					return
				}
			}
		}
		done := k >= len(slabs)
		inv.mu.Unlock()
		if done {
			return
		}
	}
}

// sliceSlabs is how many slabs of packed deadlines are gone through before the lock is let go.
const sliceSlabs = 64

func secondsOf(now int64) uint32 { return uint32(min(max(now/1000, 0), math.MaxUint32-1)) }

// watching moves the latest instant on and reports whether somebody watches.
func (inv *Inventory) watching(now int64) bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.now = max(inv.now, now)
	inv.tombs.forget(inv.now)
	return inv.awayAt == 0
}

func (inv *Inventory) tick(now int64) {
	if !inv.watching(now) {
		return
	}
	inv.overdue(secondsOf(now), func(_ uint32, rec *record) bool {
		if rec.flags&(FlagDue|FlagExpiring) == FlagExpiring && inv.awayAt == 0 {
			inv.reflag(rec, rec.flags|FlagDue)
			inv.version++
		}
		return true
	})
}

func (inv *Inventory) dueTopics(now int64, limit int) [][]byte {
	second := secondsOf(now)
	if !inv.watching(0) || second <= dueAfter {
		return nil
	}
	var all [][]byte
	inv.overdue(second-dueAfter, func(_ uint32, rec *record) bool {
		if rec.asked == 0 || second >= rec.asked+askAgain {
			rec.asked = second
			all = append(all, append([]byte(nil), inv.arena.at(rec.topic)...))
		}
		return limit <= 0 || len(all) < limit
	})
	return all
}

func (inv *Inventory) setAway(away bool) {
	switch {
	case !away:
		inv.awayAt = 0
	case inv.awayAt == 0:
		inv.awayAt = max(inv.now, 1)
	}
	inv.version++
}

func (inv *Inventory) setBrokerStamps(stamps bool) {
	inv.mu.Lock()
	if inv.stamps == stamps {
		inv.mu.Unlock()
		return
	}
	inv.stamps = stamps
	inv.mu.Unlock()
	for id := uint32(0); ; {
		inv.mu.Lock()
		end := min(id+sliceRecords, inv.records.n)
		for ; id < end; id++ {
			rec := inv.records.at(id)
			if rec.flags&flagHeld == 0 {
				continue
			}
			f := rec.flags&^flagsClass | inv.class(rec.flags, rec.seconds)
			if f&FlagExpiring == 0 {
				f &^= FlagDue
			}
			inv.reflag(rec, f)
			inv.tell(id)
		}
		done := id >= inv.records.n
		inv.version++
		inv.mu.Unlock()
		if done {
			return
		}
	}
}

func (inv *Inventory) counts() Counts {
	c := inv.tree.sums0().counts()
	c.Bytes, c.KeptBytes, c.Cut = inv.bytes, inv.kept, inv.cut
	c.Version, c.Structure = inv.version, inv.structure
	return c
}

// shownInterval returns the interval as it may be shown: not knowable where the broker's own cannot be told apart.
func (rec *record) shownInterval() expiry.Interval {
	if rec.flags&FlagUnknown != 0 {
		return expiry.NotKnown()
	}
	return rec.interval()
}
