//go:build !windows

package actions

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens the file at path with an exclusive lock on it, which ends when the file is closed.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// flock takes a lock on f without waiting. The error is ErrLocked where somebody has it.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		}
		return err
	}
}

// isLocked reports whether somebody has the lock on the file at path. It asks for a shared one and gives it back at once:
// whoever wants the lock in that instant asks again.
func isLocked(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was only asked
	err = flock(f, syscall.LOCK_SH)
	if errors.Is(err, ErrLocked) {
		return true, nil
	}
	return false, err
}

// syncDir makes the names in a folder last.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// keepOwner gives f the owner of the file it replaces: under sudo a person's file stays theirs. Who may not do that
// owns both already, or does without.
func keepOwner(f *os.File, old os.FileInfo) {
	if s, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(s.Uid), int(s.Gid))
	}
}
