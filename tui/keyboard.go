package tui

import (
	"context"
	"fmt"
	"os"
	"time"
)

// The terminal that is read, through the sieve.

// keyboard is a terminal whose bytes go through a sieve. A terminal never ends: when reading does, it is gone, and the
// library would go on without keys. One goroutine reads.
type keyboard struct {
	*os.File
	gone  context.CancelCauseFunc
	sieve sieve
	raw   [256]byte
	out   []byte // what got past the sieve and was not handed out yet
}

// Read waits until something came and returns what got past the sieve, which can be nothing. The library asks only
// when the terminal has something to read, so nothing that could be handed out now may be kept for the next call.
func (k *keyboard) Read(b []byte) (int, error) {
	if len(k.out) == 0 {
		if err := k.take(); err != nil {
			return 0, err
		}
	}
	n := copy(b, k.out)
	k.out = append(k.out[:0], k.out[n:]...)
	return n, nil
}

// take fills out. What it adds fits into the 4 KiB that the library reads at once: an escape grows to at most five bytes.
func (k *keyboard) take() error {
	for room := 3; room > 0; room-- {
		n, err := k.File.Read(k.raw[:])
		if err != nil {
			k.gone(fmt.Errorf("%w: %w", ErrTerminalGone, err))
			return err
		}
		k.out = k.sieve.pass(k.out, k.raw[:n], time.Now())
		if !k.sieve.asks {
			return nil
		}
		if !hasMore(k.Fd(), patience) {
			k.out = k.sieve.silence(k.out)
			return nil
		}
	}
	return nil
}
