package journal

// One writer at a time, on every system: a lock that the kernel lets go when its process ends, however it ends.
// The lock file stays; its text says who holds it.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// HeldError says that another process writes to the journal.
type HeldError struct {
	Path string // of the lock file
	By   string // who holds it, printable ASCII; for instance "retainscope watch, process 1234 on pi4, since 2026-09-14T08:00:00Z"
}

// Error returns one sentence that names the holder.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the journal is being written by %s (lock %q): it can be read, and this program does not write to it", e.By, e.Path)
}

var errLocked = errors.New("locked by another process")

type lockFile struct{ f *os.File }

// acquire takes the lock at path and writes into it who holds it.
func acquire(path, holder string, now int64, group bool) (*lockFile, error) {
	mode := os.FileMode(0o600)
	if group {
		mode = 0o660
	}
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("lock journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode)
	if err != nil {
		return nil, fmt.Errorf("lock journal: %w", err)
	}
	if err := tryLock(f); err != nil {
		defer func() { _ = f.Close() }()
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("lock journal: %w", err)
		}
		text, _ := io.ReadAll(io.LimitReader(f, 300))
		by := printable(string(text))
		if by == "" {
			by = "another program that has not said its name"
		}
		return nil, &HeldError{Path: path, By: by}
	}
	if group {
		_ = f.Chmod(mode) // the umask may have taken it; a file of somebody else keeps what it has
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	text := fmt.Sprintf("%s, process %d on %s, since %s\n", holder, os.Getpid(), host, time.UnixMilli(now).UTC().Format(time.RFC3339))
	// The text is a courtesy: a full disk must not keep the lock from being held.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(text), 0)
	}
	return &lockFile{f}, nil
}

// release lets the next writer in.
func (l *lockFile) release() {
	_ = l.f.Truncate(0)
	_ = l.f.Close() // ends the lock
}

// printable returns s on one line without anything that a terminal might act on: whoever may write the file chose it.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, s))
}
