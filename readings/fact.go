package readings

// What the reader is told about one retained topic, and what it keeps of it.
// Payloads are read once and not kept, but for a few short words.

import "retainscope/expiry"

// Fact is one retained topic as an inventory holds it. Topic and Payload are borrowed: nothing of them is kept after
// the call.
type Fact struct {
	Topic   []byte
	Payload []byte // maybe cut: Size is the true length
	Size    int
	Cut     bool // Payload is not whole

	Interval expiry.Interval
	History  expiry.History

	ReceivedAt int64  // Unix milliseconds of the copy whose Interval this is
	LastLive   int64  // Unix milliseconds of the last publication that was no replay; 0 = none seen
	FirstSeen  int64  // Unix milliseconds
	LiveCount  uint32 // publications that were no replay since FirstSeen

	Fell        bool // it carried an expiry and was overwritten without
	Gained      bool // it had none and was overwritten with one
	StillServed bool // past due and yet served
	EmptyReplay bool // replayed with an empty payload
}

// held is a retained topic as it is kept.
type held struct {
	node     uint32
	own      uint32 // the first reference it makes
	says     uint32 // the first sign it gives
	config   uint32 // of Reader.configs, 0 for none
	sum      uint64 // of the payload
	meaning  uint64 // of what the payload said about owners; 0 = nothing
	received int64  // Unix milliseconds
	seconds  uint32 // of the interval
	window   uint32 // the largest interval seen
	gap      uint32 // seconds between live publications
	size     uint32
	kept     uint32 // of size
	lastLive uint32 // Unix seconds
	first    uint32 // Unix seconds
	lives    uint32 // publications seen live since then
	wake     uint32 // Unix seconds of the earliest wake-up, 0 for none
	digest   uint32 // of its reading, to tell whether it changed
	flags    heldFlags
	value    value
}

type heldFlags uint32

const (
	heldNever heldFlags = 1 << iota
	heldFinite
	heldRefreshed // at least two live refreshes were seen
	heldFell
	heldGained
	heldServed
	heldEmptyReplay
	heldCut
	heldLooksEmpty
	heldIgnored
	heldLeft   // as of its last judgement
	heldHazard // as of its last judgement
	heldJudged
	heldChanged // in the list of changes
)

// factFlags are those that come with a fact.
const factFlags = heldNever | heldFinite | heldRefreshed | heldFell | heldGained | heldServed | heldEmptyReplay | heldCut

func (f *Fact) flags() heldFlags {
	var x heldFlags
	switch f.Interval.Kind() {
	case expiry.Absent:
		x |= heldNever
	case expiry.Finite:
		x |= heldFinite
	}
	for _, b := range [...]struct {
		set  bool
		flag heldFlags
	}{
		{f.History.Refreshes >= 2, heldRefreshed}, {f.Fell, heldFell}, {f.Gained, heldGained},
		{f.StillServed, heldServed}, {f.EmptyReplay, heldEmptyReplay}, {f.Cut, heldCut},
	} {
		if b.set {
			x |= b.flag
		}
	}
	return x
}

// interval returns the interval as it was told.
func (h *held) interval() expiry.Interval {
	switch {
	case h.flags&heldNever != 0:
		return expiry.None()
	case h.flags&heldFinite != 0:
		return expiry.Seconds(h.seconds)
	default:
		return expiry.NotKnown()
	}
}

// standing returns where the message stands at now, in Unix milliseconds.
func (h *held) standing(now int64) expiry.Standing {
	history := expiry.History{Window: h.window}
	if h.flags&heldRefreshed != 0 {
		history.Refreshes = 2
	}
	return expiry.At(h.interval(), history, h.received, now)
}

// seconds32 returns Unix milliseconds as seconds, rounded up so that an instant that is there never becomes none.
func seconds32(ms int64) uint32 {
	if ms <= 0 {
		return 0
	}
	if s := (ms + 999) / 1000; s < 1<<32 {
		return uint32(s)
	}
	return 1<<32 - 1
}

func clamp32(n int) uint32 {
	if n < 0 {
		return 0
	}
	return uint32(min(uint64(n), 1<<32-1))
}
