package tui

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// hang is how long is waited for what a slow machine may take its time for: longer means that it never comes.
const hang = 2 * time.Minute

// glass is a virtual terminal that a program writes to, with a condition to wait on. The emulator's own locking is
// not used: one mutex stands around all of it.
type glass struct {
	mu    sync.Mutex
	grown *sync.Cond
	em    *vt.Emulator
	bytes int
	ended bool
	raw   strings.Builder
}

func newGlass(w, h int) *glass {
	s := &glass{em: vt.NewEmulator(w, h)}
	s.grown = sync.NewCond(&s.mu)
	return s
}

func (s *glass) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += len(b)
	s.raw.Write(b)
	n, err := s.em.Write(b)
	s.grown.Broadcast()
	return n, err
}

// answer passes on what the terminal replies to questions; without a reader it would block.
func (s *glass) answer(to io.Writer) { _, _ = io.Copy(to, s.em) }

func (s *glass) resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.em.Resize(w, h)
}

// text is what is on the screen, without spaces at the ends of lines. The mutex must be held.
func (s *glass) text() string {
	lines := strings.Split(strings.TrimRight(s.em.String(), "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wait returns when the screen satisfies ok, and fails the test after a while.
func (s *glass) wait(t testing.TB, what string, ok func(text string) bool) {
	t.Helper()
	timer := time.AfterFunc(hang, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		s.grown.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ok(s.text()) {
		if s.ended {
			t.Fatalf("%s did not come; the screen is\n%s", what, s.text())
		}
		s.grown.Wait()
	}
}
