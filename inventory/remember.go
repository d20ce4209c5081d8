package inventory

import (
	"math"

	"retainscope/expiry"
)

// Memory is what was observed of one topic before: by an earlier run of this program, or by another one beside it. Topic
// is borrowed.
type Memory struct {
	Topic     []byte
	FirstSeen int64 // Unix ms; 0 = not known
	LastLive  int64 // Unix ms of the last publication that was no replay, retained or not; 0 = none
	Times     uint64
	Largest   uint32 // largest interval seen, in seconds; 0 = none
	// History is what the live publications up to LastLive have taught.
	History expiry.History
}

// Remember merges memories into the slots of their topics; a topic that is not held is passed over. It may be called
// again with newer memories, and what this inventory saw itself is never counted twice. It returns how many topics are
// held. It holds the lock for at most 256 at a time.
func (inv *Inventory) Remember(list []Memory) (held int) {
	for len(list) > 0 {
		n := min(len(list), batchLimit)
		held += inv.rememberRun(list[:n])
		list = list[n:]
	}
	return held
}

func (inv *Inventory) rememberRun(list []Memory) (held int) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	for i := range list {
		if id, ok := inv.lookupTopic(list[i].Topic); ok {
			held++
			inv.remember(id, &list[i])
		}
	}
	return held
}

func (inv *Inventory) remember(id uint32, m *Memory) {
	rec := inv.records.at(id)
	was := *rec
	if m.FirstSeen > 0 {
		rec.first = min(rec.first, m.FirstSeen)
	}
	rec.history = rec.recalled(m)
	rec.live = max(rec.live, m.LastLive)
	rec.count = max(rec.count, uint32(min(m.Times, math.MaxUint32)))
	if second := m.LastLive / 1000; rec.set == 0 && m.History.Refreshes > 0 && rec.received-m.LastLive >= answerGuard {
		rec.set = uint32(second) // the gap to the next refresh is one of the cadence
	}
	if m.LastLive > 0 {
		inv.reflag(rec, rec.flags|FlagLive)
	}
	if *rec != was {
		inv.version++
		inv.tell(id)
	}
}

// recalled returns the history of a slot with what m remembers of the time before.
func (rec *record) recalled(m *Memory) expiry.History {
	h, own := m.History, rec.history
	switch {
	case rec.flags&flagAbsent != 0:
		return own // what is held now is of another kind of publisher
	case h.Refreshes == 0:
		h = own
	case own.Refreshes == 0, rec.live <= m.LastLive && own.Refreshes <= h.Refreshes:
		// Nothing was seen here, or the memory has it too.
	case own.Refreshes == 1 && int64(rec.set) > m.LastLive/1000:
		// The first refresh that was seen here followed those that are remembered.
		h = h.Live(expiry.Seconds(own.Window), rec.set-uint32(m.LastLive/1000))
	default:
		h = own
	}
	if rec.flags&flagFinite != 0 && own.Refreshes == 0 {
		// A replay shows what is left of a window, and so did the replays that are remembered.
		h.Window = max(h.Window, own.Window)
		if h.Refreshes == 0 {
			h.Window = max(h.Window, m.Largest)
		}
	}
	return h
}
