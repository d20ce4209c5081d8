//go:build unix

package inventory

import (
	"syscall"
	"time"
)

// cpuTime returns what this process has used of the processors so far: on a machine that others use as well it says
// more than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
