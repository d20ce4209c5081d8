package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// append writes one line at the end of the record and syncs it, and then writes down the new end. make is given the
// number of the line. Either the line stands and is synced when it returns nil, or the error says what is missing; a
// half-written line is found by the next one, which then begins a new segment. It returns the line as written.
func (d *Desk) append(ctx context.Context, line func(seq int64) Line) (Line, error) {
	done, err := d.hold(ctx)
	if err != nil {
		return Line{}, fmt.Errorf("write record: %w", err)
	}
	defer done()
	d.writing.Lock()
	defer d.writing.Unlock()
	if err := d.findEnd(); err != nil {
		return Line{}, err
	}
	if d.end.fresh != "" {
		if err := d.beginSegment(); err != nil {
			return Line{}, err
		}
	}
	next := line(d.end.seq + 1)
	d.announce(next)
	return d.write(next)
}

// findEnd makes d.end true: another process may have written since.
func (d *Desk) findEnd() (err error) {
	if d.end.known && d.end.segment > 0 {
		f, err := d.store.Open(d.segmentName(d.end.segment))
		if err == nil {
			size, sizeErr := sizeOf(f)
			_ = f.Close() // it was only looked at
			numbers, namesErr := d.segments()
			if sizeErr == nil && namesErr == nil && size == d.end.size && len(numbers) > 0 && numbers[len(numbers)-1] == d.end.segment {
				return nil
			}
		}
	}
	d.end, err = d.readTail()
	return err
}

func (d *Desk) beginSegment() error {
	start := &SegmentStart{Number: d.end.segment + 1, Why: d.end.fresh, Moved: d.end.moved}
	if d.end.hurt.Bytes > 0 {
		hurt := d.end.hurt
		start.Damage = &hurt
	}
	d.end.segment, d.end.size, d.end.fresh, d.end.hurt, d.end.moved = start.Number, 0, "", Damage{}, false
	_, err := d.write(Line{Kind: LineSegment, Segment: start})
	return err
}

// write puts the line at d.end and moves it. After an error d.end is not known.
func (d *Desk) write(l Line) (Line, error) {
	l.Prev, l.Seq, l.At = d.end.hash, d.end.seq+1, d.now().UTC()
	b, err := l.encode()
	if err != nil {
		return l, err
	}
	d.end.known = false
	f, err := d.store.Append(d.segmentName(d.end.segment))
	if err != nil {
		return l, fmt.Errorf("write record: %w", err)
	}
	n, err := f.Write(append(b, '\n'))
	if err == nil && n != len(b)+1 {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return l, fmt.Errorf("write record: %w", err)
	}
	d.end.known = true
	d.end.size += int64(len(b)) + 1
	d.end.seq, d.end.hash = l.Seq, digest(b)
	head, err := json.Marshal(Head{Lines: l.Seq, SHA256: d.end.hash, At: l.At})
	if err == nil {
		err = d.store.Replace(d.headName(), append(head, '\n'))
	}
	if err != nil {
		return l, fmt.Errorf("%w: %w", errHead, err)
	}
	return l, nil
}

// errHead is the error of a line that stands and is synced, and whose digest could not be written beside it.
var errHead = errors.New("write head digest of the record")

// unrecorded returns the error of appending what, a finished statement such as an outcome. It says whether the record
// holds it.
func unrecorded(what string, err error) error {
	if errors.Is(err, errHead) {
		return fmt.Errorf("%s is in the record, but the head digest beside it could not be written: %w", what, err)
	}
	return fmt.Errorf("%s is not in the record: %w", what, err)
}
