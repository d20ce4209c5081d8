//go:build unix

package cli

// Switching the echo of a terminal off before anything is asked: what is typed early must not show either.

import (
	"syscall"

	"github.com/charmbracelet/x/term"
)

func echoOff(fd uintptr) {
	st, err := term.GetState(fd)
	if err != nil {
		return // the reading of the password switches it off again, and reports
	}
	st.Lflag &^= syscall.ECHO
	_ = term.SetState(fd, st)
}
