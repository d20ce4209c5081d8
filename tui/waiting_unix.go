//go:build unix

package tui

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Waiting for a terminal to have something to read.

// hasMore reports whether fd has something to read within d.
func hasMore(fd uintptr, d time.Duration) bool {
	if fd >= unix.FD_SETSIZE {
		return false
	}
	for end := time.Now().Add(d); ; {
		var set unix.FdSet
		set.Set(int(fd))
		left := unix.NsecToTimeval(max(0, time.Until(end)).Nanoseconds())
		n, err := unix.Select(int(fd)+1, &set, nil, nil, &left)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}
