package journal

// The file: SQLite in WAL mode, one row per topic, one per span, a few facts about the file itself.
// Nothing outside this file and the reader knows SQL.

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// application marks the file as ours in the database header: "RSCJ".
	application = 0x5253434A
	// version is the layout of the tables.
	version = 1
)

// The tables. A topic is a row keyed by its bytes, without a second index: rows stand in topic order, so a batch in
// that order touches few pages. Instants are Unix milliseconds; interval is NULL where it was not knowable, -1 where
// it was absent.
const schema = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE TABLE topic(
	name BLOB PRIMARY KEY, first INTEGER NOT NULL, seen INTEGER NOT NULL, live INTEGER NOT NULL, times INTEGER NOT NULL,
	largest INTEGER, interval INTEGER, gap INTEGER NOT NULL, steady INTEGER NOT NULL, refreshes INTEGER NOT NULL,
	digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE span(start INTEGER PRIMARY KEY, stop INTEGER NOT NULL, filters TEXT NOT NULL) STRICT;
`

const columns = "first, seen, live, times, largest, interval, gap, steady, refreshes, digest"

// BrokerError says that a journal belongs to another broker.
type BrokerError struct{ Path, Broker, Want string }

// Error returns one sentence with both names, quoted.
func (e *BrokerError) Error() string {
	return fmt.Sprintf("the journal %q belongs to %q, not to %q", e.Path, e.Broker, e.Want)
}

var errForeign = errors.New("this file is not a journal")

// writer is the one connection that writes.
type writer struct {
	opts   Options
	db     *sql.DB
	conn   *sql.Conn
	shut   bool
	rows   int64 // topics in the file
	get    *sql.Stmt
	put    *sql.Stmt
	update *sql.Stmt
}

// openWriter opens or makes the file at path. A damaged one is moved aside.
func openWriter(path string, o Options) (*writer, error) {
	w, err := newWriter(path, o)
	if !damaged(err) && !(foreign(err) && wasJournal(path)) {
		return w, err
	}
	aside := path + ".damaged." + time.UnixMilli(o.Now()).UTC().Format("20060102T150405")
	o.Logger.Error("the journal is damaged: it is moved aside and a new one is begun", "to", aside, "error", err)
	for _, end := range []string{"", "-wal"} {
		if e := os.Rename(path+end, aside+end); e != nil && !errors.Is(e, os.ErrNotExist) {
			return nil, fmt.Errorf("move the damaged journal aside: %w", e)
		}
	}
	_ = os.Remove(path + "-shm")
	return newWriter(path, o)
}

func damaged(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xFF == sqlite3.SQLITE_CORRUPT || errors.Is(err, errDamaged)
}

// foreign reports whether SQLite or the mark in the header says that the file is something else.
func foreign(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xFF == sqlite3.SQLITE_NOTADB || errors.Is(err, errForeign)
}

// wasJournal reports whether the file at path holds our tables behind a header that is broken: the first page of a
// database has them in words. Anything else may be a person's file, and is left alone.
func wasJournal(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	page := make([]byte, 64<<10)
	n, _ := io.ReadFull(f, page) // a shorter file is looked at as far as it goes
	for line := range strings.Lines(schema) {
		if first, _, _ := strings.Cut(strings.TrimSpace(line), " STRICT"); strings.HasPrefix(first, "CREATE TABLE") && !bytes.Contains(page[:n], []byte(first)) {
			return false
		}
	}
	return true
}

var errDamaged = errors.New("the check of the database found a fault")

func newWriter(path string, o Options) (_ *writer, err error) {
	mode := os.FileMode(0o600)
	if o.Group {
		mode = 0o660
	}
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	// SQLite gives its other files the rights of this one.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if o.Group {
		_ = f.Chmod(mode) // the umask may have taken it; a file of somebody else keeps what it has
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if info.Size() > 0 && info.Size() < 512 { // SQLite would take it for empty
		return nil, fmt.Errorf("open journal %q: %w", path, errForeign)
	}
	w := &writer{opts: o}
	defer func() {
		if err != nil {
			_ = w.close()
			err = fmt.Errorf("open journal %q: %w", path, err)
		}
	}()
	if w.db, err = sql.Open("sqlite", source(path, "rw")); err != nil {
		return nil, err
	}
	w.db.SetMaxOpenConns(1)
	if w.conn, err = w.db.Conn(context.Background()); err != nil {
		return nil, err
	}
	if err = w.prepare(path); err != nil {
		return nil, err
	}
	return w, nil
}

// regular returns the error of a path that names something else than a file with content of its own. Opening a named
// pipe would wait for its other end, and no signal ends that.
func regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is no regular file", path)
	}
	return nil // opening tells what else is wrong
}

// source returns the data source name of path.
func source(path, mode string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: "mode=" + mode + "&_pragma=busy_timeout(5000)"}
	return u.String()
}

// prepare makes sure that the file is a journal of this broker.
func (w *writer) prepare(path string) error {
	fresh, err := w.recognise() // before anything is changed
	if err != nil {
		return err
	}
	for _, s := range []string{
		"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA cache_size=-8192", "PRAGMA journal_size_limit=16777216",
	} {
		if err := w.exec(s); err != nil {
			return err
		}
	}
	if fresh {
		if err := w.begin(); err != nil {
			return err
		}
	}
	broker, clean := "", int64(1)
	err = errors.Join(w.value("SELECT value FROM meta WHERE name='broker'", &broker),
		w.value("SELECT value FROM meta WHERE name='clean'", &clean), w.value("SELECT value FROM meta WHERE name='topics'", &w.rows))
	if err != nil {
		return err
	}
	if broker != w.opts.Broker {
		return &BrokerError{Path: path, Broker: broker, Want: w.opts.Broker}
	}
	if clean == 0 {
		// The last writer did not close it: a kill does no harm, a loss of power on a disk that lies may.
		found := ""
		if err := w.value("PRAGMA quick_check(1)", &found); err != nil || found != "ok" {
			return errors.Join(errDamaged, err)
		}
	}
	if err := w.exec("UPDATE meta SET value=0 WHERE name='clean'"); err != nil {
		return err
	}
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.get, "SELECT " + columns + " FROM topic WHERE name=?"},
		{&w.put, "INSERT INTO topic(name, " + columns + ") VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
		{&w.update, "UPDATE topic SET (" + columns + ")=(?,?,?,?,?,?,?,?,?,?) WHERE name=?"},
	} {
		if *s.to, err = w.conn.PrepareContext(context.Background(), s.sql); err != nil {
			return err
		}
	}
	return nil
}

// recognise returns nil when the file is a journal, and tells whether it is empty and yet to become one.
func (w *writer) recognise() (fresh bool, err error) {
	var app, has, tables int64
	err = errors.Join(w.value("PRAGMA application_id", &app), w.value("PRAGMA user_version", &has),
		w.value("SELECT count(*) FROM sqlite_schema", &tables))
	switch {
	case err != nil:
		return false, err
	case tables == 0 && app == 0:
		return true, nil
	}
	return false, recognise(app, has)
}

// begin makes the tables, all of them or none.
func (w *writer) begin() error {
	return w.within(func() error {
		for _, s := range []string{
			schema, fmt.Sprintf("PRAGMA application_id=%d", application), fmt.Sprintf("PRAGMA user_version=%d", version),
		} {
			if err := w.exec(s); err != nil {
				return err
			}
		}
		return w.exec("INSERT INTO meta VALUES('broker',?), ('topics',0), ('dropped',0), ('clean',1)", w.opts.Broker)
	})
}

// recognise returns nil when a file with that mark and layout can be used.
func recognise(app, has int64) error {
	switch {
	case app != application:
		return errForeign
	case has != version:
		return fmt.Errorf("its layout is %d and this program knows %d", has, version)
	}
	return nil
}

// within runs f in one transaction.
func (w *writer) within(f func() error) error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = w.exec("COMMIT")
	}
	if err != nil {
		_ = w.exec("ROLLBACK") // fails where the database rolled back by itself
	}
	return err
}

func (w *writer) exec(s string, args ...any) error {
	_, err := w.conn.ExecContext(context.Background(), s, args...)
	return err
}

func (w *writer) value(s string, to any) error {
	return w.conn.QueryRowContext(context.Background(), s).Scan(to)
}

// close checkpoints and closes the file. It may be called on what was opened in part.
func (w *writer) close() error {
	if w.shut {
		return nil
	}
	w.shut = true
	var errs []error
	if w.get != nil {
		errs = append(errs, w.exec("UPDATE meta SET value=1 WHERE name='clean'"))
	}
	for _, s := range []*sql.Stmt{w.get, w.put, w.update} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	return errors.Join(errs...)
}
