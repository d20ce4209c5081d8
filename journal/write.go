package journal

// One flush in the file, and the bounds of the file.
// All of it in one transaction: a reader and a kill see it whole or not at all.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"retainscope/expiry"
)

// write brings topics and spans into the file, and calls pause after each portion of topics. It returns how many topics had to be dropped for the bounds.
func (w *writer) write(topics map[string]*delta, spans []Span, pause func()) (dropped int64, err error) {
	rows := w.rows
	err = w.within(func() error {
		for i, name := range slices.Sorted(maps.Keys(topics)) {
			if i%portion == portion-1 {
				pause()
			}
			made, err := w.topic([]byte(name), topics[name])
			if err != nil {
				return err
			}
			if made {
				rows++
			}
		}
		if err := w.spans(spans); err != nil {
			return err
		}
		if dropped, err = w.bound(rows); err != nil {
			return err
		}
		if rows -= dropped; rows == w.rows && dropped == 0 {
			return nil
		}
		return errors.Join(w.exec("UPDATE meta SET value=? WHERE name='topics'", rows),
			w.exec("UPDATE meta SET value=value+? WHERE name='dropped'", dropped))
	})
	if err != nil {
		return 0, err
	}
	w.rows = rows
	return dropped, nil
}

// topic merges d into the row of name and tells whether a row was made for it.
func (w *writer) topic(name []byte, d *delta) (made bool, err error) {
	var old Record
	err = old.scan(w.get.QueryRowContext(context.Background(), name))
	exists := !errors.Is(err, sql.ErrNoRows)
	if exists && err != nil {
		return false, err
	}
	if !exists && !d.kept {
		return false, nil // nothing retained was ever seen there
	}
	r, changed := old.apply(d)
	switch {
	case !changed:
		return false, nil
	case exists:
		_, err = w.update.ExecContext(context.Background(), append(r.values(), name)...)
	default:
		_, err = w.put.ExecContext(context.Background(), append([]any{name}, r.values()...)...)
	}
	return !exists && err == nil, err
}

// values returns r as the columns of its row, in their order.
func (r *Record) values() []any {
	largest, interval := sql.NullInt64{Int64: int64(r.Largest), Valid: r.HasLargest}, sql.NullInt64{}
	switch r.Interval.Kind() {
	case expiry.Finite:
		seconds, _ := r.Interval.Seconds()
		interval = sql.NullInt64{Int64: int64(seconds), Valid: true}
	case expiry.Absent:
		interval = sql.NullInt64{Int64: -1, Valid: true}
	}
	return []any{r.FirstSeen, r.LastSeen, r.LastLive, int64(r.Times), largest, interval, r.gap, r.steady, r.refreshes, int64(r.Digest)}
}

// scan fills r from a row of columns; before are what stands in front of them.
func (r *Record) scan(row interface{ Scan(...any) error }, before ...any) error {
	var largest, interval sql.NullInt64
	var times, digest int64
	err := row.Scan(append(before, &r.FirstSeen, &r.LastSeen, &r.LastLive, &times, &largest, &interval,
		&r.gap, &r.steady, &r.refreshes, &digest)...)
	r.Times, r.Digest = uint64(times), uint64(digest)
	r.Largest, r.HasLargest = uint32(largest.Int64), largest.Valid
	switch {
	case !interval.Valid:
		r.Interval = expiry.NotKnown()
	case interval.Int64 < 0:
		r.Interval = expiry.None()
	default:
		r.Interval = expiry.Seconds(uint32(interval.Int64))
	}
	return err
}

// spans writes spans and drops the oldest beyond the bound.
func (w *writer) spans(spans []Span) error {
	for _, s := range spans {
		filters, err := json.Marshal(s.Filters)
		if err != nil {
			return err
		}
		if err := w.exec("INSERT INTO span VALUES(?,?,?) ON CONFLICT DO UPDATE SET stop=excluded.stop, filters=excluded.filters",
			s.Start, s.Stop, string(filters)); err != nil {
			return err
		}
	}
	if len(spans) == 0 {
		return nil
	}
	return w.exec("DELETE FROM span WHERE start <= (SELECT start FROM span ORDER BY start DESC LIMIT 1 OFFSET ?)", w.opts.MaxSpans)
}

// bound drops topics until at most MaxTopics rows and MaxBytes of pages are in use, a little more than is needed, and
// returns how many.
func (w *writer) bound(rows int64) (int64, error) {
	drop := int64(0)
	if rows > w.opts.MaxTopics {
		drop = rows - w.opts.MaxTopics + w.opts.MaxTopics/50
	}
	var pages, free, size int64
	err := errors.Join(w.value("PRAGMA page_count", &pages), w.value("PRAGMA freelist_count", &free), w.value("PRAGMA page_size", &size))
	if err != nil {
		return 0, err
	}
	if used := (pages - free) * size; used > w.opts.MaxBytes {
		keep := float64(w.opts.MaxBytes) / float64(used) * 0.95
		drop = max(drop, rows-int64(float64(rows)*keep))
	}
	if drop <= 0 {
		return 0, nil
	}
	result, err := w.conn.ExecContext(context.Background(),
		"DELETE FROM topic WHERE name IN (SELECT name FROM topic ORDER BY live>0, max(seen,live), name LIMIT ?)", drop)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
