//go:build unix

package cli

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminal is the built program on a pseudo terminal whose other end is an emulator: what a person would see.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	pty  *os.File
	done chan struct{} // closed when the program has ended and everything it wrote was taken

	mu   sync.Mutex
	cond *sync.Cond
	em   *vt.Emulator // its own lock is known to race, so it is used under mu
	raw  []byte       // everything the program wrote
	eof  bool
	at   int // where the cursor's sign was, see moved
}

// open starts the program with args on a terminal of cols x rows.
func open(t *testing.T, cols, rows int, env []string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(binary(t), args...)
	// x/vt has no insert mode: with this name the program does not use it.
	cmd.Env = append([]string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{t: t, cmd: cmd, pty: f, em: vt.NewEmulator(cols, rows), done: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	// What the terminal answers must be read, or a write to the emulator blocks for ever.
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		b := make([]byte, 4096)
		for {
			n, err := s.em.Read(b)
			if err != nil {
				return
			}
			if n > 0 {
				_, _ = f.Write(b[:n]) // on also when the other end is gone
			}
		}
	}()
	go s.take()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.done
		// Not Close, which races with Read: the end of its input ends the reading too.
		_ = s.em.InputPipe().(io.Closer).Close()
		_ = f.Close()
		<-answers
	})
	return s
}

func (s *terminal) take() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw = append(s.raw, buf[:n]...)
		_, _ = s.em.Write(buf[:n])
		// Taken when the answers to it are at the program: what a test types on seeing the screen comes behind them.
		_, _ = s.em.InputPipe().Write(nil)
		s.eof = err != nil
		s.cond.Broadcast()
		s.mu.Unlock()
		if err != nil {
			break
		}
	}
	_ = s.cmd.Wait()
	close(s.done)
}

// screen returns what stands there; the caller holds mu or the program has ended.
func (s *terminal) screen() string { return s.em.String() }

// until waits for the screen to satisfy ok, and fails with what stands there instead.
func (s *terminal) until(what string, ok func(screen string) bool) string {
	s.t.Helper()
	late := false
	timer := time.AfterFunc(hang, func() {
		s.mu.Lock()
		late = true
		s.cond.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := s.screen()
		if ok(now) {
			return now
		}
		if late || s.eof {
			s.t.Fatalf("waited in vain for %s (ended: %v); the screen is:\n%s", what, s.eof, now)
		}
		s.cond.Wait()
	}
}

// sign returns the line of a screen that has the cursor's sign.
func (s *terminal) sign(screen string) string {
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, "›") {
			return line
		}
	}
	return ""
}

// moved waits for another line to have the cursor's sign than at the last call.
func (s *terminal) moved() {
	s.t.Helper()
	s.until("the cursor to move", func(v string) bool {
		i := strings.Index(v, "›")
		if i < 0 || i == s.at {
			return false
		}
		s.at = i
		return true
	})
}

// shows waits for text.
func (s *terminal) shows(text string) string {
	s.t.Helper()
	return s.until("the text "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// press types keys.
func (s *terminal) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// resize changes the size as a person would.
func (s *terminal) resize(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.em.Resize(cols, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)}); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the program to end and returns its exit code and everything it wrote.
func (s *terminal) ends() (int, string) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(hang):
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Fatalf("the program does not end; the screen is:\n%s", s.screen())
	}
	return s.cmd.ProcessState.ExitCode(), string(s.raw)
}
