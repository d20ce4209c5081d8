package inventory

import (
	"encoding/binary"

	"retainscope/expiry"
)

// The feed tells one reader which slots came, changed or went, and which topics that nobody retains were heard. It holds
// numbers of records, each once, so that a busy topic costs no more than a quiet one; only a topic that went is kept as
// bytes.

const (
	heardKept    = 512      // topics heard between two drains
	heardBytes   = 64 << 10 // bytes of them
	updatesBytes = 1 << 20  // bytes copied before a drain lets the lock go
)

type feed struct {
	on      bool
	queue   []uint32 // numbers of records that came or changed; used from next on
	next    int
	gone    []byte // topics that went, each with its length in front
	goneAt  int
	heard   []byte // topics heard, each with its instant and length in front
	heardN  int
	lastOf  [heardKept]uint32 // hashes of what is in heard, so that a busy topic is in it once
	started uint32            // records that are to be queued because the feed was switched on
	starts  bool
}

// Update is one slot that came, changed or went, or one topic that was heard. Its bytes are borrowed from Updates.
type Update struct {
	Topic []byte
	Kind  UpdateKind
	// Fresh means that the slot came since the feed told of its topic: it has no marks.
	Fresh bool
	At    int64 // of UpdateHeard: Unix ms

	// Of UpdateHeld:
	Payload    []byte // the bytes kept
	Size       int    // true length of the payload
	Interval   expiry.Interval
	History    expiry.History
	ReceivedAt int64
	LastLive   int64
	FirstSeen  int64
	LiveCount  uint32
	Flags      Flags
	Gained     bool // it had no interval and was overwritten with one; FlagFell is the opposite
}

// UpdateKind says what an Update tells. The zero value is UpdateHeld.
type UpdateKind uint8

const (
	// UpdateHeld means that the slot is as the Update says.
	UpdateHeld UpdateKind = iota
	// UpdateGone means that there is no slot of the topic any more, or was none for a moment.
	UpdateGone
	// UpdateHeard means that a live publication without RETAIN was seen on a topic that nobody retains. Not all of them
	// are told: they are a hint, and a bounded one.
	UpdateHeard
)

// Updates holds what Drain brings; it is used again and again by one goroutine. Its zero value is ready.
type Updates struct {
	List []Update
	buf  []byte
}

// TrackChanges switches the feed on or off. Switched on it begins with every slot that is held. It is off at first and
// costs nothing then. One reader drains it; while nobody does it grows with the number of topics that come and go, and
// with nothing else.
func (inv *Inventory) TrackChanges(on bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	f := &inv.feed
	if f.on == on {
		return
	}
	for _, id := range f.queue[f.next:] {
		inv.records.at(id).flags &^= flagInFeed
	}
	*f = feed{on: on, starts: on}
}

// Drain fills u with at most limit slots and returns whether there are more; topics heard come on top of them. Of one
// topic it tells the last state, and that it went before that it is there again. A call holds the lock for at most 256
// slots or about a megabyte, and one payload that is larger.
func (inv *Inventory) Drain(u *Updates, limit int) (more bool) {
	u.List, u.buf = u.List[:0], u.buf[:0]
	inv.mu.Lock()
	defer inv.mu.Unlock()
	f := &inv.feed
	limit = min(limit, batchLimit)
	for f.goneAt < len(f.gone) {
		if len(u.List) >= limit {
			return true
		}
		n := int(binary.LittleEndian.Uint16(f.gone[f.goneAt:]))
		from := f.goneAt + 2
		u.List = append(u.List, Update{Topic: u.keep(f.gone[from : from+n]), Kind: UpdateGone})
		f.goneAt = from + n
	}
	f.gone, f.goneAt = f.gone[:0], 0
	for i := 0; i < len(f.heard); {
		at := int64(binary.LittleEndian.Uint64(f.heard[i:]))
		n := int(binary.LittleEndian.Uint16(f.heard[i+8:]))
		from := i + 10
		u.List = append(u.List, Update{Topic: u.keep(f.heard[from : from+n]), Kind: UpdateHeard, At: at})
		i = from + n
	}
	if f.heardN > 0 {
		f.heard, f.heardN, f.lastOf = f.heard[:0], 0, [heardKept]uint32{}
	}
	for len(u.List) < limit && len(u.buf) < updatesBytes {
		id, ok := inv.nextInFeed()
		if !ok {
			f.queue, f.next = f.queue[:0], 0
			return false
		}
		if rec := inv.records.at(id); rec.flags&flagHeld != 0 {
			inv.copyUpdate(rec, u)
		}
	}
	if f.next > batchLimit && f.next > len(f.queue)/2 {
		f.queue, f.next = f.queue[:copy(f.queue, f.queue[f.next:])], 0
	}
	return f.next < len(f.queue) || f.starts
}

// nextInFeed returns the next record that the feed has to tell of, which may be a free one.
func (inv *Inventory) nextInFeed() (uint32, bool) {
	f := &inv.feed
	if f.starts {
		for f.started < inv.records.n {
			id := f.started
			f.started++
			if rec := inv.records.at(id); rec.flags&(flagHeld|flagInFeed) == flagHeld {
				return id, true
			}
		}
		f.starts = false
	}
	if f.next >= len(f.queue) {
		return 0, false
	}
	id := f.queue[f.next]
	f.next++
	inv.records.at(id).flags &^= flagInFeed
	return id, true
}

func (inv *Inventory) copyUpdate(rec *record, u *Updates) {
	payload, _, _ := inv.parts(rec)
	u.List = append(u.List, Update{
		Topic: u.keep(inv.arena.at(rec.topic)), Payload: u.keep(payload), Fresh: rec.flags&flagFresh != 0,
		Size: int(rec.size), Interval: rec.shownInterval(), History: rec.history,
		ReceivedAt: rec.received, LastLive: rec.live, FirstSeen: rec.first, LiveCount: rec.count, Flags: rec.flags & flagsPublic,
		Gained: rec.flags&flagGained != 0,
	})
	rec.flags &^= flagFresh
}

// keep copies bytes. What was cut from an earlier buffer stays valid until that is used again.
func (u *Updates) keep(b []byte) []byte {
	n := len(u.buf)
	u.buf = append(u.buf, b...)
	return u.buf[n:len(u.buf):len(u.buf)]
}

// tell queues a slot that changed. Call it with the lock held.
func (inv *Inventory) tell(id uint32) {
	if !inv.feed.on {
		return
	}
	rec := inv.records.at(id)
	if rec.flags&flagInFeed == 0 {
		rec.flags |= flagInFeed
		inv.feed.queue = append(inv.feed.queue, id)
	}
}

// tellNew queues a slot that came.
func (inv *Inventory) tellNew(id uint32) {
	if inv.feed.on {
		inv.records.at(id).flags |= flagFresh
		inv.tell(id)
	}
}

// tellGone notes a slot that is about to be removed.
func (inv *Inventory) tellGone(id uint32) {
	if f := &inv.feed; f.on {
		topic := inv.arena.at(inv.records.at(id).topic)
		f.gone = binary.LittleEndian.AppendUint16(f.gone, uint16(len(topic)))
		f.gone = append(f.gone, topic...)
	}
}

// hear notes a publication on a topic that nobody retains.
func (f *feed) hear(hash uint64, topic []byte, at int64) {
	if !f.on || f.heardN >= heardKept || len(f.heard)+len(topic) > heardBytes {
		return
	}
	h := uint32(hash) | 1
	if last := &f.lastOf[hash>>32%heardKept]; *last == h {
		return
	} else {
		*last = h
	}
	f.heard = binary.LittleEndian.AppendUint64(f.heard, uint64(at))
	f.heard = binary.LittleEndian.AppendUint16(f.heard, uint16(len(topic)))
	f.heard = append(f.heard, topic...)
	f.heardN++
}
