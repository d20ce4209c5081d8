//go:build unix

package journal

// The lock on unix systems.

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock returns errLocked when another open file holds the lock.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		}
		return err
	}
}
