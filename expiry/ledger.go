package expiry

// What a publisher re-asserts: the last retained message of each topic it owns, in the order of the wire.
// In memory only, one owner, no lock of its own; every instant comes from the caller.

import (
	"bytes"
	"time"
)

// The bounds of a Ledger. They are those of the decision record that the ledger follows: what a publisher repeats every
// third of a window has to stay small.
const (
	LedgerTopics = 1000     // distinct topics
	LedgerBytes  = 16 << 20 // bytes of all topics and payloads together; properties are not counted
)

// Entry is one retained message of the ledger's owner, or a tombstone of its own that nobody has answered yet.
type Entry struct {
	Topic string
	// Payload is what was put on the wire. Empty means that this is a pending tombstone.
	Payload []byte
	// Properties are encoded as on the wire, without the Message Expiry Interval and without the length in front.
	Properties []byte
	QoS        byte
	// Published is when the application published it. A refresh does not change it.
	Published time.Time
}

// Tombstone reports whether the entry is a pending tombstone.
func (e Entry) Tombstone() bool { return len(e.Payload) == 0 }

func (e Entry) bytes() int { return len(e.Topic) + len(e.Payload) }

// Ledger holds what a publisher owns in the retained store: per topic the last payload, QoS, properties and publish
// instant, in the order in which they were recorded. It is the publisher's copy of the broker's slots, so an empty
// payload takes the entry away.
//
// A tombstone that may have been lost is kept as pending, because the broker may still hold the value: Answered or any
// newer value on the topic ends that. Pending tombstones have the same two bounds for themselves; where they would
// exceed them the oldest is forgotten, because an empty publish is always allowed.
//
// The zero value is empty and ready. It is not safe for concurrent use: whoever holds the lock that orders the wire
// calls it, and then ledger order is wire order.
//
// Source: ADR rows A4 to A9.
type Ledger struct {
	entries map[string]*link
	ends    link // of the ring of all entries, oldest first; its next is the oldest once the ledger was used

	values, pending shelf
	forgotten       int64
}

// link is an entry in its place in the order.
type link struct {
	Entry
	prev, next *link
}

// shelf counts the entries of one kind.
type shelf struct{ count, bytes int }

func (s *shelf) add(e Entry)    { s.count++; s.bytes += e.bytes() }
func (s *shelf) remove(e Entry) { s.count--; s.bytes -= e.bytes() }

// Check returns nil when a message with that topic and payload length could be recorded now, and a *BoundError
// otherwise. What the topic holds already is subtracted first. An empty payload is always allowed.
func (l *Ledger) Check(topic string, payload int) error {
	if payload == 0 {
		return nil
	}
	count, size := l.values.count+1, l.values.bytes+len(topic)+payload
	if old := l.entries[topic]; old != nil && !old.Tombstone() {
		count, size = count-1, size-old.bytes()
	}
	switch {
	case count > LedgerTopics:
		return &BoundError{Topic: topic, Bound: TopicBound, Would: count}
	case size > LedgerBytes:
		return &BoundError{Topic: topic, Bound: ByteBound, Would: size}
	}
	return nil
}

// Record takes e as the newest message on its topic; payload and properties are copied. An empty payload removes the
// entry and leaves a pending tombstone. It returns what Check returns, and then nothing has changed.
func (l *Ledger) Record(e Entry) error {
	if err := l.Check(e.Topic, len(e.Payload)); err != nil {
		return err
	}
	e.Payload, e.Properties = bytes.Clone(e.Payload), bytes.Clone(e.Properties)
	l.remove(l.entries[e.Topic])
	if e.Tombstone() {
		l.makeRoom(e.bytes())
	}
	l.append(e)
	return nil
}

// Answered forgets the pending tombstone of topic that was published at that instant: the broker has said what became
// of it. It returns false and changes nothing when there is none, or when a newer publish has taken its place.
func (l *Ledger) Answered(topic string, published time.Time) bool {
	at := l.entries[topic]
	if at == nil || !at.Tombstone() || !at.Published.Equal(published) {
		return false
	}
	l.remove(at)
	return true
}

// Entry returns what is held for topic, a value or a pending tombstone, and whether there is anything. Its slices are
// the ledger's own and must not be changed; they stay as they are when the ledger moves on.
func (l *Ledger) Entry(topic string) (Entry, bool) {
	if at := l.entries[topic]; at != nil {
		return at.Entry, true
	}
	return Entry{}, false
}

// Older returns the topics of all values and pending tombstones that were published before the given instant, in
// ledger order. What was published at exactly that instant is not older.
func (l *Ledger) Older(than time.Time) []string {
	topics := make([]string, 0, len(l.entries))
	for at := l.ends.next; at != nil && at != &l.ends; at = at.next {
		if at.Published.Before(than) {
			topics = append(topics, at.Topic)
		}
	}
	return topics
}

// Len returns the number of values held, without pending tombstones.
func (l *Ledger) Len() int { return l.values.count }

// Bytes returns the bytes of topic and payload of all values, without pending tombstones.
func (l *Ledger) Bytes() int { return l.values.bytes }

// Pending returns the number of tombstones that have not been answered.
func (l *Ledger) Pending() int { return l.pending.count }

// Forgotten returns how many pending tombstones were given up because there were too many of them.
func (l *Ledger) Forgotten() int64 { return l.forgotten }

// Clear empties the ledger and starts it anew.
func (l *Ledger) Clear() { *l = Ledger{} }

// makeRoom forgets the oldest pending tombstones until one more of that size fits.
func (l *Ledger) makeRoom(size int) {
	for at := l.ends.next; l.pending.count+1 > LedgerTopics || l.pending.bytes+size > LedgerBytes; {
		next := at.next
		if at.Tombstone() {
			l.remove(at)
			l.forgotten++
		}
		at = next
	}
}

func (l *Ledger) append(e Entry) {
	if l.entries == nil {
		l.entries = make(map[string]*link)
		l.ends.prev, l.ends.next = &l.ends, &l.ends
	}
	at := &link{Entry: e, prev: l.ends.prev, next: &l.ends}
	at.prev.next, at.next.prev = at, at
	l.entries[e.Topic] = at
	l.shelf(e).add(e)
}

// remove takes at out of the ledger; nil is allowed.
func (l *Ledger) remove(at *link) {
	if at == nil {
		return
	}
	at.prev.next, at.next.prev = at.next, at.prev
	delete(l.entries, at.Topic)
	l.shelf(at.Entry).remove(at.Entry)
}

func (l *Ledger) shelf(e Entry) *shelf {
	if e.Tombstone() {
		return &l.pending
	}
	return &l.values
}
