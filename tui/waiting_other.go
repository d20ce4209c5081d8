//go:build !unix

package tui

import "time"

// Where the terminal cannot be waited for.

// hasMore cannot tell here: a lone escape is an escape at once.
func hasMore(uintptr, time.Duration) bool { return false }
