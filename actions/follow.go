package actions

import (
	"bytes"
	"context"
	"strings"
	"time"
)

// Announced is what the record of some program says that it is about to send, or how that ended.
type Announced struct {
	Record    string // name of its record, without what a segment adds
	Operation string
	At        time.Time
	Broker    BrokerID
	Topic     []byte
	// Fingerprint is that of the message to be put back, see inventory.Fingerprint; empty for a tombstone.
	Fingerprint string
	// Over says that it has ended, and Sent whether something was written then; of the rest only Record, Operation and At
	// are set.
	Over, Sent bool
}

// Follower reads what is appended to the records in a folder, by whatever program. It is not safe for concurrent use.
type Follower struct {
	store  Store
	prefix string
	read   map[string]int64 // by file: how far it was read
}

// Follow returns a follower of the records whose name begins with prefix, from their ends as they are now. The error is
// that of the folder.
func Follow(s Store, prefix string) (*Follower, error) {
	f := &Follower{store: s, prefix: prefix, read: map[string]int64{}}
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		file, err := s.Open(n)
		if err != nil {
			continue // it is read from its first line once it can be
		}
		if size, err := sizeOf(file); err == nil {
			f.read[n], _ = lastLineEnd(file, size) // 0 where it cannot be read
		}
		_ = file.Close() // it was only looked at
	}
	return f, nil
}

func (f *Follower) names() (names []string, err error) {
	all, err := f.store.Names(f.prefix)
	for _, n := range all {
		if strings.HasSuffix(n, ".jsonl") && strings.Contains(n, ".record.") {
			names = append(names, n)
		}
	}
	return names, err
}

// Next returns what was announced since the last call, in the order of each record. It does not wait for anything. What
// cannot be read now is tried again at the next call; the first error is returned with what could be read.
func (f *Follower) Next(ctx context.Context) (all []Announced, err error) {
	names, err := f.names()
	for _, n := range names {
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		got, failed := f.appended(n)
		all = append(all, got...)
		if err == nil {
			err = failed
		}
	}
	return all, err
}

// appended reads one file on.
func (f *Follower) appended(name string) (all []Announced, err error) {
	file, err := f.store.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := sizeOf(file)
	from := f.read[name]
	if err != nil || size == from {
		return nil, err
	}
	if size < from { // another file than the one that was read
		f.read[name] = size
		return nil, nil
	}
	end, err := lastLineEnd(file, size)
	if err != nil || end <= from {
		return nil, err
	}
	lines := make([]byte, end-from)
	if err := readAt(file, lines, from); err != nil {
		return nil, err
	}
	f.read[name] = end
	record := name[:strings.LastIndex(name, ".record.")]
	for line := range bytes.Lines(lines) {
		if l, err := decodeLine(line); err == nil {
			if a, ok := l.announces(); ok {
				a.Record = record
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// announces returns what a line says of what is sent, and whether it does.
func (l Line) announces() (Announced, bool) {
	a := Announced{Operation: l.Operation, At: l.At}
	switch {
	case l.Intent != nil:
		a.Broker, a.Topic = l.Intent.Broker, l.Intent.Topic
	case l.UndoIntent != nil:
		a.Broker, a.Topic, a.Fingerprint = l.UndoIntent.Broker, l.UndoIntent.Topic, l.UndoIntent.Fingerprint
	case l.Outcome != nil:
		a.Over, a.Sent = true, l.Outcome.Packet != nil
	case l.UndoOutcome != nil:
		a.Over, a.Sent = true, l.UndoOutcome.Packet != nil
	default:
		return a, false
	}
	return a, true
}

// Wrote reports whether this desk wrote what a says.
func (d *Desk) Wrote(a Announced) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return a.Record == d.base && d.begun[a.Operation]
}

// announce notes, before it is written, that a line is this desk's own.
func (d *Desk) announce(l Line) {
	if l.Intent == nil && l.UndoIntent == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun == nil {
		d.begun = map[string]bool{}
	}
	d.begun[l.Operation] = true
}
