//go:build unix

package tui

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"retainscope/expiry"
	"retainscope/inventory"
)

// still is a source whose clock and state do not move.
func still(inv *inventory.Inventory) Options {
	src := seenAll(watching())
	src.changed = make(chan struct{}, 1)
	return Options{Inventory: inv, Source: src, Version: "test", Now: func() time.Time { return at0 },
		Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=1"},
		Export:  func(context.Context, Selection, io.Writer, func(int64)) error { return nil }}
}

// TestBurstsOfKeysAndSizesEndOnTheRightScreen drives the real program with its renderer and compares what a virtual
// terminal shows with what the model alone draws for the same keys.
func TestBurstsOfKeysAndSizesEndOnTheRightScreen(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		sc := newGlass(80, 24)
		_, _ = sc.Write([]byte("\x1b[20h")) // without a terminal behind it a newline goes to the first column
		in, keys := io.Pipe()
		p, m, cancel := program(t.Context(), still(house(t)), in, sc, tea.WithWindowSize(80, 24), tea.WithColorProfile(colorprofile.ASCII))
		m.pen.pal = palette{}
		go sc.answer(keys)
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		twin := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
		same := func() {
			t.Helper()
			sc.wait(t, "the frame of the model:\n"+twin.frame(), func(text string) bool { return text == strings.TrimRight(twin.frame(), "\n")+"\n" })
		}
		same()
		names := []string{"down", "up", "pgdown", "pgup", "right", "left", "home", "end", "t", "enter", "esc", "c", "1", "*", "-", "3", "5"}
		for range 60 {
			if r.IntN(3) == 0 {
				w, h := 32+r.IntN(120), 7+r.IntN(40)
				sc.resize(w, h)
				p.Send(tea.WindowSizeMsg{Width: w, Height: h})
				twin.w, twin.h = w, h
				twin.send(tea.WindowSizeMsg{Width: w, Height: h})
				continue
			}
			k := names[r.IntN(len(names))]
			p.Send(press(k))
			twin.keys(k)
			if k == "t" {
				same() // keys that come before the new listing would move in the old one
			}
		}
		same()
		p.Send(press("q"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		cancel()
		_ = keys.Close()
	}
}

// onTerminal runs Run on a real pseudo-terminal.
type onTerminal struct {
	t      testing.TB
	master *os.File
	tty    *os.File
	sc     *glass
	before *term.State
	cancel context.CancelFunc
	done   chan error
}

func runOnTerminal(t testing.TB, o Options, w, h int, read bool) *onTerminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	before, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &onTerminal{t: t, master: master, tty: tty, sc: newGlass(w, h), before: before, cancel: cancel, done: make(chan error, 1)}
	if read {
		go func() { _, _ = io.Copy(x.sc, master) }()
		go x.sc.answer(master)
	}
	go func() { x.done <- Run(ctx, o, tty, tty) }()
	t.Cleanup(func() {
		cancel()
		_ = errors.Join(master.Close(), tty.Close())
	})
	return x
}

func (x *onTerminal) end() error {
	x.t.Helper()
	select {
	case err := <-x.done:
		return err
	case <-time.After(hang):
		x.t.Fatal("Run does not return")
		return nil
	}
}

func (x *onTerminal) wantRestored() {
	x.t.Helper()
	after, err := term.GetState(x.tty.Fd())
	if err != nil {
		x.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, x.before) {
		x.t.Error("the terminal's modes are not what they were")
	}
	x.sc.wait(x.t, "the way back to the ordinary screen", func(string) bool {
		raw := x.sc.raw.String()
		return strings.LastIndex(raw, "\x1b[?1049l") > strings.LastIndex(raw, "\x1b[?1049h") && strings.LastIndex(raw, "\x1b[?25h") > strings.LastIndex(raw, "\x1b[?25l")
	})
}

func TestATerminalIsGivenBackWhenThePersonLeaves(t *testing.T) {
	x := runOnTerminal(t, still(house(t)), 80, 24, true)
	x.sc.wait(t, "the list", func(s string) bool { return strings.Contains(s, "airthings2mqtt") })
	_, _ = x.master.WriteString("/gas2\r")
	x.sc.wait(t, "the filtered list", func(s string) bool { return strings.Contains(s, "/ gas2  11 topics") })
	_, _ = x.master.WriteString("\x1b[B\x1b[B\x1b[B\r")
	x.sc.wait(t, "the detail", func(s string) bool { return strings.Contains(s, "stored QoS") })
	if err := pty.Setsize(x.master, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	x.sc.resize(120, 40)
	// The terminal is not the controlling one of the test, so the kernel tells nobody.
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	x.sc.wait(t, "the list beside the detail", func(s string) bool { return strings.Contains(s, "stored QoS") && strings.Contains(s, "READING") })
	_, _ = x.master.WriteString("q")
	if err := x.end(); err != nil {
		t.Fatal(err)
	}
	x.wantRestored()
}

func TestATerminalIsGivenBackWhenTheContextEnds(t *testing.T) {
	x := runOnTerminal(t, still(house(t)), 80, 24, true)
	x.sc.wait(t, "the list", func(s string) bool { return strings.Contains(s, "airthings2mqtt") })
	x.cancel()
	if err := x.end(); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	x.wantRestored()
}

func TestATerminalThatStopsReadingDoesNotHoldUpTheEnd(t *testing.T) {
	ctx, gone := context.WithCancelCause(t.Context())
	wrote, free := make(chan int, 100), make(chan struct{})
	writes := 0
	lines := newOutlet(ctx, writerFunc(func(b []byte) (int, error) {
		writes++
		wrote <- writes
		if writes > 1 {
			<-free
		}
		return len(b), nil
	}), gone)
	in, keys := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, still(house(t)), in, lines, tea.WithWindowSize(80, 24)) }()
	<-wrote
	go func() { _, _ = keys.Write([]byte("jjjjttGgq")) }()
	<-wrote // and this one does not return
	leave := errors.New("leave")
	gone(leave)
	select {
	case err := <-done:
		if !errors.Is(err, leave) {
			t.Errorf("got %v", err)
		}
	case <-time.After(hang):
		t.Fatal("it does not end")
	}
	close(free)
	lines.close()
	_ = keys.Close()
}

// readUntil reads what the program writes, a little at a time, until text was among it, and then no more.
func (x *onTerminal) readUntil(text string) {
	x.t.Helper()
	var all []byte
	b := make([]byte, 16)
	for !strings.Contains(string(all), text) {
		n, err := x.master.Read(b)
		if err != nil {
			x.t.Fatal(err)
		}
		all = append(all, b[:n]...)
	}
}

func TestATerminalThatIsGoneEndsTheScreen(t *testing.T) {
	x := runOnTerminal(t, still(house(t)), 80, 24, false)
	x.readUntil("q leave")
	_ = x.master.Close() // nobody reads it now, so it really goes
	if err := x.end(); !errors.Is(err, ErrTerminalGone) {
		t.Fatalf("got %v", err)
	}
}

func TestAWriterThatFailsCancelsTheRest(t *testing.T) {
	ctx, gone := context.WithCancelCause(t.Context())
	boom := errors.New("boom")
	o := newOutlet(ctx, writerFunc(func([]byte) (int, error) { return 0, boom }), gone)
	defer o.close()
	if _, err := o.Write([]byte("x")); !errors.Is(err, boom) {
		t.Fatalf("got %v", err)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, ErrTerminalGone) || !errors.Is(cause, boom) {
		t.Fatalf("the cause is %v", cause)
	}
}

func TestAWriterThatBlocksIsGivenUpAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, gone := context.WithCancelCause(t.Context())
		free := make(chan struct{})
		o := newOutlet(ctx, writerFunc(func(b []byte) (int, error) { <-free; return len(b), nil }), gone)
		result := make(chan error, 1)
		go func() { _, err := o.Write([]byte("x")); result <- err }()
		synctest.Wait()
		select {
		case err := <-result:
			t.Fatalf("gave up before the end: %v", err)
		default:
		}
		gone(errors.New("leave"))
		begin := time.Now()
		if err := <-result; !errors.Is(err, errStalled) || time.Since(begin) != lastWords {
			t.Fatalf("got %v after %v", err, time.Since(begin))
		}
		if _, err := o.Write([]byte("y")); !errors.Is(err, errStalled) || time.Since(begin) != lastWords {
			t.Fatalf("a second write waited: %v", err)
		}
		close(free)
		o.close()
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// sent runs the real program for a while of invented time and returns the bytes it sends in that while, after the
// first ten seconds. world is called every 20 ms.
func sent(t *testing.T, inv *inventory.Inventory, refresh, during time.Duration, keys []string, world func(now time.Time)) int64 {
	t.Helper()
	var bytes atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		src := seenAll(watching())
		src.changed = make(chan struct{}, 1)
		src.link.Since = time.Now()
		o := Options{Inventory: inv, Source: src, Refresh: refresh, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}}
		in, typed := io.Pipe()
		out := writerFunc(func(b []byte) (int, error) { bytes.Add(int64(len(b))); return len(b), nil })
		p, m, stop := program(ctx, o, in, out, tea.WithWindowSize(120, 40), tea.WithColorProfile(colorprofile.ANSI))
		done := make(chan error, 1)
		go func() { _, err := p.Run(); done <- err }()
		synctest.Wait()
		for _, k := range keys {
			p.Send(press(k))
			<-time.After(100 * time.Millisecond)
		}
		var before int64
		for past := time.Duration(0); past < during+10*time.Second; past += 20 * time.Millisecond {
			if past == 10*time.Second {
				before = bytes.Load()
			}
			if world != nil {
				world(time.Now())
			}
			<-time.After(20 * time.Millisecond)
		}
		after := bytes.Load()
		p.Send(press("q"))
		if err := <-done; err != nil {
			t.Error(err)
		}
		stop()
		m.tasks.wait(time.Second)
		_ = typed.Close()
		bytes.Store(after - before)
	})
	return bytes.Load()
}

func TestBytesPerSecond(t *testing.T) {
	fill := func(n int, i expiry.Interval) *inventory.Inventory {
		inv := inventory.New(inventory.Options{})
		for k := range n {
			p := retained("site/dev"+number(int64(k))+"/state", `{"v":1}`, i)
			// The invented clock begins at midnight on 1 January 2000.
			p.ReceivedAt = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
			inv.Apply([]inventory.Publication{p})
		}
		return inv
	}
	const minute = time.Minute
	idle := sent(t, fill(1000, expiry.None()), 0, 10*minute, nil, nil)
	t.Logf("idle, nothing counts down: %.1f B/s", float64(idle)/600)
	if idle > 600*2 {
		t.Errorf("a still screen sends %d bytes in ten minutes", idle)
	}
	counting := sent(t, fill(1000, expiry.Seconds(86400)), 0, minute, []string{"t"}, nil)
	t.Logf("idle, 34 countdowns in sight: %.0f B/s", float64(counting)/60)
	if counting > 60*2500 {
		t.Errorf("34 countdowns cost %d bytes a minute", counting)
	}
	for _, refresh := range []time.Duration{250 * time.Millisecond, time.Second} {
		inv := fill(1000, expiry.Seconds(86400))
		r := rand.New(rand.NewPCG(1, 2))
		live := sent(t, inv, refresh, minute/2, []string{"t"}, func(now time.Time) {
			for range 20 { // 1000 a second
				p := retained("site/dev"+number(r.Int64N(1000))+"/state", `{"v":2}`, expiry.Seconds(86400))
				p.Origin, p.ReceivedAt = inventory.Live, now.UnixMilli()
				inv.Apply([]inventory.Publication{p})
			}
		})
		t.Logf("live, 1000 updates a second over 1000 topics, refresh %v: %.0f B/s", refresh, float64(live)/30)
		if live > 30*8000 {
			t.Errorf("a live screen sends %d bytes a minute", live)
		}
	}
}

// BenchmarkKeyToScreen is the time from a key written to a real pseudo-terminal until a virtual terminal behind it
// shows the new place of the cursor, while 50 000 updates a second come in.
func BenchmarkKeyToScreen(b *testing.B) {
	n := benchSizes()[len(benchSizes())-1]
	inv := plant(b, n)
	o := still(inv)
	o.Now = time.Now
	x := runOnTerminal(b, o, 120, 40, true)
	_, _ = x.master.WriteString("t")
	x.sc.wait(b, "the flat list", func(s string) bool { return strings.Contains(s, "1 of "+number(int64(n))) })
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		load(inv, n, &stop)
	}()
	took := make([]time.Duration, 0, 1<<16)
	at := 1
	for b.Loop() {
		key := "j"
		if at%2 == 0 {
			key = "k"
		}
		at = 3 - at
		want := number(int64(at)) + " of " + number(int64(n))
		begin := time.Now()
		_, _ = x.master.WriteString(key)
		x.sc.wait(b, want, func(s string) bool { return strings.Contains(s, "── row "+want+" ") })
		took = append(took, time.Since(begin))
	}
	stop.Store(true)
	<-ended
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	_, _ = x.master.WriteString("q")
	if err := x.end(); err != nil {
		b.Fatal(err)
	}
}
