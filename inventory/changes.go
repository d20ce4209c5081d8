package inventory

import (
	"encoding/binary"

	"retainscope/expiry"
)

const (
	changeHeader  = 48
	changesShown  = 10
	changeSegment = 256 << 10
)

// changes keeps earlier contents of all slots in one ring of a fixed number of bytes: the oldest go first, whoever they
// belong to. Entries of one slot are chained from the newest to the oldest. A place in the ring is counted in units of
// eight bytes since the beginning and cut to 32 bits, which is enough to tell whether it has been written over; the
// entry itself says whose it is.
type changes struct {
	segments [][]byte // allocated when they are first reached
	size     int      // bytes of a segment
	head     uint64   // where the next entry goes, in bytes
}

func (c *changes) init(budget int) {
	c.size = min(max(budget/4&^7, 1<<10), changeSegment)
	c.segments = make([][]byte, max(budget/c.size, 2))
	c.head = 8 // place 0 means none
}

// put writes an entry and returns its place. prev is the place of the entry before of the same slot, or 0.
func (c *changes) put(id, gen, prev uint32, kind EventKind, at int64, i expiry.Interval, size int, payload []byte) uint32 {
	// One content may take a quarter of a segment, so that a single large topic does not push out everybody else.
	if limit := c.size/4 - changeHeader; len(payload) > limit {
		payload = payload[:limit]
	}
	n := (changeHeader + len(payload) + 7) &^ 7
	if left := c.size - int(c.head%uint64(c.size)); left < n {
		c.head += uint64(left) // entries do not cross segments
	}
	buf := c.bytes(c.head)[:n]
	le := binary.LittleEndian
	seconds, _ := i.Seconds()
	le.PutUint32(buf[0:], id)
	le.PutUint32(buf[4:], gen)
	le.PutUint32(buf[8:], prev)
	le.PutUint32(buf[12:], uint32(kind)|uint32(i.Kind())<<8)
	le.PutUint64(buf[16:], uint64(at))
	le.PutUint32(buf[24:], uint32(size))
	le.PutUint32(buf[28:], uint32(len(payload)))
	le.PutUint32(buf[32:], seconds)
	copy(buf[changeHeader:], payload)
	place := uint32(c.head / 8)
	c.head += uint64(n)
	if place == 0 {
		return 1 // once in 32 GiB; the entry is lost, the chain is not
	}
	return place
}

// bytes returns the ring from a position to the end of its segment.
func (c *changes) bytes(pos uint64) []byte {
	k := int(pos / uint64(c.size) % uint64(len(c.segments)))
	if c.segments[k] == nil {
		c.segments[k] = make([]byte, c.size)
	}
	return c.segments[k][pos%uint64(c.size):]
}

// list returns copies of the newest entries of a slot, newest first.
func (c *changes) list(id, gen, place uint32) []Change {
	var all []Change
	le := binary.LittleEndian
	for place != 0 && len(all) < changesShown {
		back := uint64(uint32(c.head/8)-place) * 8
		segment := c.head / uint64(c.size)
		oldest := uint64(0)
		if n := uint64(len(c.segments)); segment >= n {
			oldest = (segment - n + 1) * uint64(c.size)
		}
		if back == 0 || back > c.head || c.head-back < oldest {
			break
		}
		buf := c.bytes(c.head - back)
		if len(buf) < changeHeader || le.Uint32(buf[0:]) != id || le.Uint32(buf[4:]) != gen {
			break
		}
		kind := le.Uint32(buf[12:])
		kept := int(le.Uint32(buf[28:]))
		if changeHeader+kept > len(buf) {
			break
		}
		ch := Change{
			At: int64(le.Uint64(buf[16:])), Kind: EventKind(kind), Size: int(le.Uint32(buf[24:])),
			Payload: append([]byte(nil), buf[changeHeader:changeHeader+kept]...),
		}
		switch expiry.Kind(kind >> 8) {
		case expiry.Finite:
			ch.Interval = expiry.Seconds(le.Uint32(buf[32:]))
		case expiry.Absent:
			ch.Interval = expiry.None()
		}
		all = append(all, ch)
		next := le.Uint32(buf[8:])
		if next == place {
			break
		}
		place = next
	}
	return all
}
