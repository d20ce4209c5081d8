package journal

// The lock on Windows. It covers bytes far beyond the text, because others could not read what is locked.

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock returns errLocked when another open file holds the lock.
func tryLock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}
