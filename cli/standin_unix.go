//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// standIn reports whether f is what the Go runtime opens in place of a stdout that was closed (>&-): the null device, for
// reading and writing. A shell's > /dev/null is for writing only. Where a program opened it for both and handed it over
// nothing tells the two apart.
func standIn(f *os.File) bool {
	if f.Fd() != 1 {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	here, err := f.Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(here, null)
}
