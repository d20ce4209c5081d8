package inventory

// EventKind says what happened to a topic. The zero value is none of them.
type EventKind uint8

const (
	// Appeared means that a live publication made a slot that was not there.
	Appeared EventKind = iota + 1
	// Replaced means that a live retained publication changed payload or properties.
	Replaced
	// FoundChanged means that a replayed copy differed from what was held: it changed at some time before, unseen.
	FoundChanged
	// Cleared means that a live tombstone was seen: somebody emptied the slot. Also for topics that were not held.
	Cleared
	// ClearedHere means that a live tombstone was seen that this program had sent.
	ClearedHere
	// Expired means that the interval had run out, that the broker was asked, and that the topic was gone.
	Expired
	// Gone means that a scan did not show the topic, that the broker was asked, and that it was gone.
	Gone
	// FellToNever means that an expiring copy was replaced by one that never expires.
	FellToNever
	// GainedExpiry means that a copy that never expired was replaced by one that does.
	GainedExpiry
	// Kept means that the broker was asked for a topic whose interval had run out and still served it.
	Kept

	eventKinds
)

// EventCounts says how many events of each kind there were, by kind.
type EventCounts [eventKinds]int64

var eventNames = [...]string{
	"none", "appeared", "replaced", "found changed", "cleared by someone", "cleared from here", "expired", "gone", "fell to never",
	"gained an expiry", "still served after its end",
}

// String returns a short lower-case phrase.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return eventNames[0]
}

// Event is one thing that happened to one topic.
type Event struct {
	At    int64 // Unix ms, when it was seen
	Kind  EventKind
	Topic []byte
}
