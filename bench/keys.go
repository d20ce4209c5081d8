package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	keysEach = 100                    // in each of the ways to look
	keyPause = 100 * time.Millisecond // between two keys
)

// runKeys runs the built program on a pseudo-terminal beside a mosquitto that is sent updates at a steady rate, and
// prints how long it takes from a key until the cursor stands elsewhere on the screen.
func runKeys(ctx context.Context, o options) error {
	fmt.Fprintf(os.Stdout, "%s; %d updates/s\n", machine(), o.rate)
	for _, n := range o.sizes {
		if err := keysOver(ctx, o, n); err != nil {
			return err
		}
	}
	return nil
}

func keysOver(ctx context.Context, o options, n int) error {
	m, err := startMosquitto(true)
	if err != nil {
		return err
	}
	defer m.stop()
	if err := fill(m.addr, o.layout, n, 0); err != nil {
		return err
	}
	s, err := startScreen(o.program, "--broker", "mqtt://"+m.addr)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.until(2*time.Minute, func(v string) bool { return strings.Contains(v, "Verified") || strings.Contains(v, "No sign of loss") }); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	sent := make(chan error, 1)
	go func() { _, err := updates(ctx, m.addr, n, 0, o.rate, time.Hour); sent <- err }()
	for _, look := range []struct{ name, keys string }{{"tree", ""}, {"flat", "t"}, {"flat, filtered", "/temp\r"}, {"tree, filtered", "t"}} {
		s.press(look.keys)
		took, err := s.moves(keysEach)
		if err != nil {
			err = fmt.Errorf("%s: %w", look.name, err)
			cancel()
			return errors.Join(err, ignoreEnd(<-sent))
		}
		fmt.Fprintf(os.Stdout, "%8d topics, %-15s key to screen p50 %3d ms, p90 %3d ms, p99 %3d ms, longest %3d ms\n", n, look.name,
			took[len(took)/2].Milliseconds(), took[len(took)*9/10].Milliseconds(), took[len(took)*99/100].Milliseconds(), took[len(took)-1].Milliseconds())
	}
	cancel()
	return ignoreEnd(<-sent)
}

func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// screen is the program on a pseudo-terminal with an emulator behind it.
type screen struct {
	cmd *exec.Cmd
	pty *os.File
	dir string

	mu   sync.Mutex
	cond *sync.Cond
	em   *vt.Emulator
	eof  bool
}

func startScreen(program string, args ...string) (*screen, error) {
	const cols, rows = 120, 40
	dir, err := os.MkdirTemp("", "retainscope-bench")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=" + dir}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: cols})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &screen{cmd: cmd, pty: f, dir: dir, em: vt.NewEmulator(cols, rows)}
	s.cond = sync.NewCond(&s.mu)
	go func() { _, _ = io.Copy(f, s.em) }() // what a terminal answers
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			s.mu.Lock()
			_, _ = s.em.Write(buf[:n])
			s.eof = err != nil
			s.cond.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s, nil
}

func (s *screen) press(keys string) { _, _ = io.WriteString(s.pty, keys) }

// until waits for the screen to satisfy ok.
func (s *screen) until(most time.Duration, ok func(screen string) bool) error {
	late := false
	timer := time.AfterFunc(most, func() {
		s.mu.Lock()
		late = true
		s.cond.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		now := s.em.String()
		if ok(now) {
			return nil
		}
		if late || s.eof {
			return fmt.Errorf("waited in vain; the screen is\n%s", now)
		}
		s.cond.Wait()
	}
}

// cursor returns the line of a screen on which the sign of the cursor stands, -1 where there is none.
func cursor(screen string) int {
	i := 0
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, "›") {
			return i
		}
		i++
	}
	return -1
}

// moves presses down and up in turn, n times in all, and returns how long each took to be seen, in order of length.
func (s *screen) moves(n int) ([]time.Duration, error) {
	time.Sleep(3 * time.Second) //nolint:forbidigo // a tool run by hand lets the new list be made
	s.press("g")
	time.Sleep(time.Second) //nolint:forbidigo // and the cursor come to its first row
	at := -1
	if err := s.until(time.Minute, func(v string) bool { at = cursor(v); return at >= 0 }); err != nil {
		return nil, err
	}
	var took []time.Duration
	for i := range n {
		before := at
		begin := time.Now()
		s.press([]string{"j", "k"}[i%2])
		if err := s.until(20*time.Second, func(v string) bool { at = cursor(v); return at >= 0 && at != before }); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		time.Sleep(keyPause) //nolint:forbidigo // as a person types
	}
	slices.Sort(took)
	return took, nil
}

func (s *screen) end() {
	s.press("q")
	kill := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	kill.Stop()
	_ = s.em.InputPipe().(io.Closer).Close()
	_ = s.pty.Close()
	_ = os.RemoveAll(s.dir)
}
