package inventory

import (
	"time"

	"retainscope/expiry"
)

// headLength is how many bytes of a payload a Slot carries, so that a row can be drawn without asking again.
const headLength = 64

// Ref names one slot while that slot lives: when it goes and its place is used again, the old Ref finds nothing. It is
// comparable; the zero value is none.
type Ref struct {
	id  uint32 // slot number plus one
	gen uint32
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r.id == 0 }

// Slot is the retained place of one topic as it was when it was read. It is a copy: whoever holds it may keep it.
//
// Source: MQTT 5, 3.3.1.3.
type Slot struct {
	Ref   Ref
	Topic []byte // exact bytes as received
	Size  int    // true length of the payload in bytes
	Head  []byte // the first bytes of the payload, at most 64

	Interval expiry.Interval // as on the wire of the copy received at ReceivedAt; NotKnown where the broker stamps
	History  expiry.History  // what watching has taught

	ReceivedAt int64 // Unix ms, when the held copy reached us
	FirstSeen  int64 // Unix ms, when the slot came, or the topic was first seen as far as Remember told
	LastLive   int64 // Unix ms of the last live publication, retained or not, seen here or told by Remember; 0 = none
	LiveCount  uint32
	Flags      Flags
	QoS        int8 // of the stored message; -1 = not known

	// StoppedAt is the instant, Unix ms, since when nobody watches the broker, and 0 while somebody does. A
	// countdown is shown stopped there.
	StoppedAt int64
}

// at returns now, or the instant at which the countdown stopped.
func (s *Slot) at(now int64) int64 {
	if s.StoppedAt != 0 && s.StoppedAt < now {
		return s.StoppedAt
	}
	return now
}

// Standing returns where the slot stands at now, in Unix ms. While nobody watches it stays where it was when the
// connection was lost.
func (s *Slot) Standing(now int64) expiry.Standing {
	return expiry.At(s.Interval, s.History, s.ReceivedAt, s.at(now))
}

// Remaining returns how long the copy has left at now, in Unix ms, negative when it has run out, and false when there
// is nothing to count. While nobody watches it stays where it was when the connection was lost.
func (s *Slot) Remaining(now int64) (time.Duration, bool) {
	return s.Interval.Remaining(s.ReceivedAt, s.at(now))
}

// Detail is everything that is held of one slot. It is a copy: whoever holds it may keep it.
type Detail struct {
	Slot
	Payload     []byte     // the bytes kept, which are all of them unless FlagCut is set
	Kept        int        // len(Payload)
	SHA256      [32]byte   // of the whole payload, also where bytes were cut
	Properties  Properties // none where they were cut
	Fingerprint string     // see Fingerprint
	Changes     []Change   // earlier contents, newest first, at most ten
}

// Change is what a slot held before its content changed.
type Change struct {
	At       int64           // Unix ms, when the change was seen; for FoundChanged it happened at some time before
	Kind     EventKind       // Replaced or FoundChanged
	Payload  []byte          // the earlier payload, perhaps cut
	Size     int             // true length of the earlier payload
	Interval expiry.Interval // of the earlier copy
}

// Counts are sums over the whole inventory, or over the topics below one level of a tree (there only Topics, Never,
// Expiring, Unknown, Due, Findings, Left and Hazards are filled).
type Counts struct {
	Topics   int64 // slots held; each is one of Never, Expiring and Unknown
	Never    int64
	Expiring int64 // Due included
	Unknown  int64
	Due      int64
	Findings int64 // slots with at least one of still-served, fell-to-never, empty-replay, looks-empty, odd-name, live-differs, left-behind, hazard
	Left     int64 // marked as left behind, see Inventory.Mark
	Hazards  int64 // marked as a hazard

	Bytes     int64 // true payload bytes
	KeptBytes int64 // payload and property bytes kept
	Cut       int64 // slots with FlagCut

	Version   uint64 // moves on every change
	Structure uint64 // moves when a slot comes or goes
}
