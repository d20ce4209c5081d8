package journal

// Reading, while somebody writes or nobody does.
// Short transactions only: a long one would keep the writer's log from being folded back.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Reader reads a journal. Its methods may be called from any goroutine, before Close.
type Reader struct {
	db   *sql.DB
	path string
}

// Info is what a journal says about itself.
type Info struct {
	Broker  string
	Topics  int64
	Dropped int64 // topics dropped since it was begun, because it was full
	Spans   int   // spans of watching that are kept
}

// Read opens the journal at path for reading; another process may write to it at the same time. It returns an error
// that is os.ErrNotExist when there is none, and otherwise the error of the file system or database. Where the journal's writer
// runs, reading needs the right to read its three files; otherwise that of the one file is enough.
func Read(path string) (*Reader, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	r, err := read(path, "ro")
	if err != nil {
		// Nobody writes and the folder is not ours: SQLite cannot make the files that go with the log, and needs none
		// of them as long as there is no log.
		if _, e := os.Stat(path + "-wal"); errors.Is(e, os.ErrNotExist) {
			if alone, e := read(path, "ro&immutable=1"); e == nil {
				return alone, nil
			}
		}
		return nil, fmt.Errorf("read journal %q: %w", path, err)
	}
	return r, nil
}

func read(path, mode string) (*Reader, error) {
	db, err := sql.Open("sqlite", source(path, mode))
	if err != nil {
		return nil, err
	}
	r := &Reader{db: db, path: path}
	var app, has int64
	err = errors.Join(db.QueryRowContext(context.Background(), "PRAGMA application_id").Scan(&app),
		db.QueryRowContext(context.Background(), "PRAGMA user_version").Scan(&has))
	if err == nil {
		err = recognise(app, has)
	}
	if err != nil {
		_ = db.Close()
		if foreign(err) {
			err = errForeign // SQLite says it with a number, once for each question
		}
		return nil, err
	}
	return r, nil
}

// Topic returns what is known of one topic, and whether anything is.
func (r *Reader) Topic(ctx context.Context, topic []byte) (Record, bool, error) {
	rec := Record{Topic: append([]byte(nil), topic...)}
	err := rec.scan(r.db.QueryRowContext(ctx, "SELECT "+columns+" FROM topic WHERE name=?", topic))
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("read journal: %w", err)
	}
	return rec, true, nil
}

// chunk is how many topics are read in one transaction.
const chunk = 4096

// Each calls f for every topic, in the order of their bytes, until f returns false. No transaction is open while f
// runs, so that f sees what was in the file at different instants. It returns ctx's error when that ends first.
func (r *Reader) Each(ctx context.Context, f func(Record) bool) error {
	after := []byte(nil)
	const all = "SELECT name, " + columns + " FROM topic"
	records := make([]Record, 0, chunk)
	for first := true; ; first = false {
		var rows *sql.Rows
		var err error
		if first {
			rows, err = r.db.QueryContext(ctx, all+" ORDER BY name LIMIT ?", chunk)
		} else {
			rows, err = r.db.QueryContext(ctx, all+" WHERE name>? ORDER BY name LIMIT ?", after, chunk)
		}
		records = records[:0]
		if err == nil {
			records, err = collect(rows, records)
		}
		if err != nil {
			return fmt.Errorf("read journal: %w", err)
		}
		for _, rec := range records {
			if !f(rec) {
				return nil
			}
		}
		if len(records) < chunk {
			return nil
		}
		after = records[len(records)-1].Topic
	}
}

func collect(rows *sql.Rows, records []Record) ([]Record, error) {
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var rec Record
		if err := rec.scan(rows, &rec.Topic); err != nil {
			return records, err
		}
		records = append(records, rec)
	}
	return records, rows.Err()
}

// Spans returns when somebody was watching, oldest first. The last one may still go on: its writer moves its Stop once
// a minute, or with every flush.
func (r *Reader) Spans(ctx context.Context) ([]Span, error) {
	rows, err := r.db.QueryContext(ctx, "SELECT start, stop, filters FROM span ORDER BY start")
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Span
	for rows.Next() {
		var s Span
		var filters string
		if err := rows.Scan(&s.Start, &s.Stop, &filters); err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		if err := json.Unmarshal([]byte(filters), &s.Filters); err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return all, nil
}

// Info returns what the journal says about itself.
func (r *Reader) Info(ctx context.Context) (Info, error) {
	var i Info
	err := r.db.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE name='broker'), (SELECT value FROM meta WHERE name='topics'),
		(SELECT value FROM meta WHERE name='dropped'), (SELECT count(*) FROM span)`).Scan(&i.Broker, &i.Topics, &i.Dropped, &i.Spans)
	if err != nil {
		return Info{}, fmt.Errorf("read journal: %w", err)
	}
	return i, nil
}

// Close ends the reading. A second call does nothing.
func (r *Reader) Close() error { return r.db.Close() }
