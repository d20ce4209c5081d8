package inventory

import "retainscope/expiry"

// record is one slot without its bytes. It holds no pointers, so that the collector passes over a million of them. The
// order of its fields leaves no holes: 96 bytes.
type record struct {
	received int64 // Unix ms
	first    int64
	live     int64
	topic    place
	blob     uint32 // payload kept, then properties, then for a cut payload the trailer
	blobLen  uint32
	size     uint32 // true length of the payload
	seconds  uint32 // of a finite interval
	history  expiry.History
	count    uint32 // live publications
	flags    Flags  // public ones and the bits below
	node     uint32 // of the tree; while the record is free the next free one
	gen      uint32 // moves when the record is used again
	change   uint32 // newest earlier content in the ring, see changes
	hash     uint32 // of the topic
	set      uint32 // Unix seconds of the last live publication with RETAIN, 0 for none
	asked    uint32 // Unix seconds when it was last asked for, 0 for never since the copy came
	epoch    uint16 // scan in which it was last seen
	setEpoch uint16 // scan in which set was
}

// The upper bits of record.flags are for the inside.
const (
	flagHeld    Flags = 1 << (17 + iota) // the record is in use
	flagInOrder                          // it is in the order by topic
	flagPast                             // a copy came although the interval had run out before
	flagTold                             // the interval was told by a live publication
	flagFinite                           // the interval on the wire
	flagAbsent
	flagQoSKnown
	flagQoS1
	flagQoS2
	flagQueued  // its number waits in the queue of the order; stays when the record is freed
	flagInFeed  // its number waits in the feed of changes; stays when the record is freed
	flagFresh   // it came since the feed told of it
	flagGained  // it had no interval and was overwritten with one
	flagCounted // it is in the sums of the tree

	flagsPublic = FlagApproved<<1 - 1
	flagsClass  = FlagNever | FlagExpiring | FlagUnknown
	flagsWire   = flagFinite | flagAbsent
	flagsQoS    = flagQoSKnown | flagQoS1 | flagQoS2
	flagsSummed = flagsClass | FlagDue | findings
	flagsQueue  = flagQueued | flagInFeed
)

const (
	recordShift = 11
	recordChunk = 1 << recordShift
)

// recordSlab keeps deadlines apart from the records, so that one pass over all of them is a pass over packed numbers.
type recordSlab struct {
	records  [recordChunk]record
	deadline [recordChunk]uint32 // Unix seconds, rounded up; 0 = none
}

// records hands out records by number.
type records struct {
	slabs []*recordSlab
	n     uint32 // numbers handed out so far
	free  uint32 // first free number plus one
}

func (r *records) at(id uint32) *record { return &r.slabs[id>>recordShift].records[id&(recordChunk-1)] }

func (r *records) deadline(id uint32) *uint32 {
	return &r.slabs[id>>recordShift].deadline[id&(recordChunk-1)]
}

// take returns the number of a record that is blank but for its generation.
func (r *records) take() uint32 {
	if r.free != 0 {
		id := r.free - 1
		rec := r.at(id)
		r.free = rec.node
		*rec = record{gen: rec.gen + 1, flags: rec.flags & flagsQueue}
		return id
	}
	id := r.n
	if id&(recordChunk-1) == 0 {
		r.slabs = append(r.slabs, new(recordSlab))
	}
	r.n++
	r.at(id).gen = 1
	return id
}

// giveBack frees a record. Its generation moves when it is taken again; until then flagHeld is off.
func (r *records) giveBack(id uint32) {
	rec := r.at(id)
	*rec = record{gen: rec.gen, node: r.free, flags: rec.flags & flagsQueue}
	*r.deadline(id) = 0
	r.free = id + 1
}

// interval returns the interval as it was on the wire.
func (rec *record) interval() expiry.Interval {
	switch {
	case rec.flags&flagFinite != 0:
		return expiry.Seconds(rec.seconds)
	case rec.flags&flagAbsent != 0:
		return expiry.None()
	default:
		return expiry.NotKnown()
	}
}

// qos returns the stored QoS, -1 when it is not known.
func (rec *record) qos() int8 {
	switch {
	case rec.flags&flagQoSKnown == 0:
		return -1
	case rec.flags&flagQoS2 != 0:
		return 2
	case rec.flags&flagQoS1 != 0:
		return 1
	default:
		return 0
	}
}

func qosFlags(qos uint8) Flags {
	f := flagQoSKnown
	switch qos {
	case 1:
		f |= flagQoS1
	case 2:
		f |= flagQoS2
	}
	return f
}
