package actions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store is the folder in which a manifest, its record and their lock live. Dir is the one on disk; a test can hand in
// one that is full or fails. Every method may be called from any goroutine.
type Store interface {
	// Names returns the names of the files whose name begins with prefix, in no order.
	Names(prefix string) ([]string, error)
	// Open opens a file for reading. The error of a file that is not there is fs.ErrNotExist.
	Open(name string) (ReadFile, error)
	// Append opens a file for writing at its end; a new one is made with mode 0600, and its name is synced.
	Append(name string) (AppendFile, error)
	// Replace makes content the whole of the file, or leaves the old one: written beside it, synced, renamed, and the
	// name synced. A new file has mode 0600; one that was there keeps its mode and, where that is allowed, its owner.
	Replace(name string, content []byte) error
	// TryLock takes the lock of the named file for this process, or returns an error that is ErrLocked and says who
	// has it. It does not wait. The lock goes with the process.
	TryLock(name string) (Lock, error)
	// Holder returns what whoever has the lock of the named file wrote into it, and false where nobody has it. It takes
	// nothing and makes nothing; the text is empty where it cannot be read.
	Holder(name string) (note string, held bool, err error)
}

// Lock is a lock that this process has. Its text is for the others: what counts is the operating system's.
type Lock interface {
	// Sign replaces the text of the lock: this process, and what it does.
	Sign(what string) error
	Release() error
}

// ReadFile is a file open for reading. Stat tells its size, and, where the two come from a disk, os.SameFile whether
// another is the same file.
type ReadFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// AppendFile is a file open for writing at its end.
type AppendFile interface {
	io.Writer
	Sync() error
	Close() error
}

// ErrLocked is the error of a lock that somebody else has.
var ErrLocked = errors.New("locked by another process")

// Dir is a Store on disk.
type Dir struct {
	path string
}

// OpenDir returns the store in the folder at path. It writes nothing: a folder that is not there reads as an empty one
// and is made, with mode 0700, before the first file is written into it. The error says that path is something else.
func OpenDir(path string) (*Dir, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open folder of the record: %s is no folder", Quote([]byte(path)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open folder of the record: %w", err)
	}
	return &Dir{path: path}, nil
}

// make makes the folder.
func (d *Dir) make() error { return os.MkdirAll(d.path, 0o700) }

// Names satisfies Store.
func (d *Dir) Names(prefix string) ([]string, error) {
	all, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range all {
		if strings.HasPrefix(e.Name(), prefix) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// regular returns the error of a path that names something else than a file with content of its own. Opening a named
// pipe would wait for its other end, and no signal ends that.
func regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", Quote([]byte(path)))
	}
	return nil // opening tells what else is wrong
}

// Open satisfies Store.
func (d *Dir) Open(name string) (ReadFile, error) {
	path := filepath.Join(d.path, name)
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err // and no file, which a *os.File that is nil would be
	}
	return f, nil
}

// Append satisfies Store.
func (d *Dir) Append(name string) (AppendFile, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, name)
	if err := regular(path); err != nil {
		return nil, err
	}
	_, missing := os.Lstat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if missing != nil {
		if err := d.syncNames(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Replace satisfies Store. A symbolic link at name stays one: the file it names is replaced.
func (d *Dir) Replace(name string, content []byte) (err error) {
	if err := d.make(); err != nil {
		return err
	}
	path := filepath.Join(d.path, name)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := regular(path); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if old, statErr := os.Stat(path); err == nil && statErr == nil {
		err = f.Chmod(old.Mode().Perm())
		keepOwner(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	// The new content stands; a folder that cannot be synced does not undo it.
	_ = syncDir(filepath.Dir(path))
	return nil
}

func (d *Dir) syncNames() error { return syncDir(d.path) }

// TryLock satisfies Store.
func (d *Dir) TryLock(name string) (Lock, error) {
	if err := d.make(); err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, name)
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := openLocked(path)
	if errors.Is(err, ErrLocked) {
		if s := noteIn(path); s != "" {
			err = fmt.Errorf("%w: %s", ErrLocked, s)
		}
	}
	if err != nil {
		return nil, err
	}
	lock := lockFile{f}
	_ = lock.Sign("") // it is had nevertheless
	return lock, nil
}

// Holder satisfies Store.
func (d *Dir) Holder(name string) (string, bool, error) {
	path := filepath.Join(d.path, name)
	if err := regular(path); err != nil {
		return "", false, err
	}
	switch held, err := isLocked(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil || !held:
		return "", false, err
	}
	return noteIn(path), true, nil
}

type lockFile struct{ f *os.File }

func (l lockFile) Sign(what string) error {
	note := fmt.Sprintf("process %d%s\n", os.Getpid(), prefixedText(": ", what))
	if _, err := l.f.WriteAt([]byte(note), 0); err != nil {
		return err
	}
	return l.f.Truncate(int64(len(note)))
}

func (l lockFile) Release() error { return l.f.Close() }

// noteIn returns the text of a lock, "" where it has none that can be shown.
func noteIn(path string) string {
	const most = 200 // bytes
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it is only read
	b, err := io.ReadAll(io.LimitReader(f, most))
	s := strings.TrimSpace(string(b))
	if err != nil || !plainText([]byte(s)) {
		return ""
	}
	return s
}

// readAll returns the whole of a file.
func readAll(s Store, name string) (_ []byte, err error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := sizeOf(f)
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	return b, readAt(f, b, 0)
}

func sizeOf(f ReadFile) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// readAt fills b from offset on; a file that ends before is an error.
func readAt(f ReadFile, b []byte, offset int64) error {
	n, err := f.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
