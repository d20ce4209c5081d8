package tui

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestTheScreenNeverImportsWhatItMustNotKnow(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		src, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range src.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			for _, bad := range []string{"retainscope/broker", "retainscope/cli", "retainscope/demo", "github.com/eclipse", "github.com/mochi-mqtt",
				"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles", "github.com/charmbracelet/lipgloss", "net"} {
				if path == bad || strings.HasPrefix(path, bad+"/") {
					t.Errorf("%s imports %s", f, path)
				}
			}
		}
	}
}

func TestEverySizeDraws(t *testing.T) {
	src := seenAll(watching())
	src.cov.Notes = []string{"A note about this broker that is longer than most screens are wide, so that it has to be cut somewhere."}
	s := newStage(t, src, house(t), 80, 24, nil)
	for _, keys := range [][]string{nil, {"t"}, {"end", "enter"}, {"esc", "/"}, {"e"}, {"esc", "esc", "e"}, {"esc", "c"}, {"?"}, {"5"}, {"3"}} {
		s.keys(keys...)
		for w := 0; w < 140; w += 1 + w/12 {
			for h := 0; h < 50; h += 1 + h/8 {
				s.w, s.h = max(w, 1), max(h, 1)
				s.send(tea.WindowSizeMsg{Width: w, Height: h})
			}
		}
		s.w, s.h = 4000, 3000
		s.send(tea.WindowSizeMsg{Width: 4000, Height: 3000})
		s.w, s.h = 80, 24
		s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	}
	s.w, s.h = 31, 24
	s.send(tea.WindowSizeMsg{Width: 31, Height: 24})
	s.wants("too small")
}

func TestNothingIsDrawnWhileNothingMoves(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained("a", "x", expiry.None()), retained("b", "x", expiry.Seconds(900_000))})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.tick(2 * time.Minute) // "not in 2m" holds for a minute from here on, less what passed before
	s.tick(50 * time.Second)
	frames, looks := 0, 0
	for range 8 {
		before, looked := s.m.frame, s.m.looked
		s.tick(s.timers[len(s.timers)-1])
		if s.m.frame != before {
			frames++
		}
		if s.m.looked != looked {
			looks++
		}
		if d := s.timers[len(s.timers)-1]; d < 900*time.Millisecond {
			t.Fatalf("it wakes after %v", d)
		}
	}
	// One row turns its minute of silence, the other also a minute of its countdown of days.
	if frames > 2 || looks > frames {
		t.Fatalf("%d frames and %d looks at the rows in 8 s", frames, looks)
	}
}

func TestACountdownIsDrawnOncePerSecondAtTheTurnOfTheSecond(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for i := range 20 {
		p := retained("t/"+string(rune('a'+i)), "x", expiry.Seconds(3600))
		p.ReceivedAt += int64(i * 47)
		inv.Apply([]inventory.Publication{p})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.now = s.now.Add(300 * time.Millisecond)
	s.keys("t")
	s.tick(250 * time.Millisecond)
	s.now = s.now.Add(-250 * time.Millisecond)
	s.timers, s.m.wake.at = nil, time.Time{}
	s.keys("down")
	for range 5 {
		d := s.timers[len(s.timers)-1]
		if d != 700*time.Millisecond && d != time.Second {
			t.Fatalf("it wakes after %v", d)
		}
		before := s.m.frame
		s.tick(d)
		if s.m.frame == before {
			t.Fatal("the second turned and nothing changed")
		}
	}
}

func TestAChangeIsSeenWithinTheRefreshInterval(t *testing.T) {
	s := small(t)
	s.tick(time.Second)
	s.inv.Apply([]inventory.Publication{live("new", "x", expiry.None(), 0)})
	s.tick(s.timers[len(s.timers)-1])
	s.wants("5 retained")
	if d := s.timers[len(s.timers)-1]; d > 250*time.Millisecond {
		t.Fatalf("while the store moves it wakes after %v", d)
	}
}

func TestStatusIsReadAtMostOncePerRefresh(t *testing.T) {
	s := small(t)
	s.src.link.User = "somebody"
	s.send(changedMsg{})
	s.lacks("as somebody")
	if d := s.timers[len(s.timers)-1]; d <= 0 || d > 250*time.Millisecond {
		t.Fatalf("it wakes after %v", d)
	}
	s.tick(250 * time.Millisecond)
	s.wants("as somebody")
	s.now = s.now.Add(time.Second)
	s.src.link.User = "another"
	s.send(changedMsg{})
	s.wants("as another")
}

func TestAnOldTimerDoesNothing(t *testing.T) {
	s := small(t)
	n := len(s.timers)
	s.send(tickMsg{s.m.wake.generation - 1})
	if len(s.timers) != n {
		t.Fatal("a timer that was replaced set another one")
	}
}

func TestWhileAwayCountdownsStandStillAndNothingIsClaimed(t *testing.T) {
	s := newStage(t, watching(), house(t), 120, 40, nil)
	s.types("/panel/s")
	s.keys("enter", "end")
	s.wants("00:05:00", "one refresh missed")
	s.inv.SetAway(true)
	s.src.link.State, s.src.link.Since, s.src.link.RetryAt = inventory.Lost, at0, at0.Add(30*time.Second)
	s.send(changedMsg{})
	s.tick(20 * time.Minute)
	s.wants("stopped", "LOST 14:02:11", "countdowns are stopped")
	s.lacks("due")
	s.lacks("00:05:00 ") // not in the column any more
}

func TestAConnectionThatComesBackCountsSilenceFromThere(t *testing.T) {
	s := small(t)
	s.keys("t")
	s.tick(3 * time.Hour)
	s.wants("not in 3h")
	s.src.link.Since = s.now.Add(-time.Minute)
	s.send(changedMsg{})
	s.tick(time.Second)
	s.wants("not in 1m")
	s.lacks("not in 3h")
}

func TestInsecureStaysInTheHeader(t *testing.T) {
	src := watching()
	src.link.Insecure = true
	for _, size := range [][2]int{{200, 50}, {80, 24}, {40, 10}} {
		s := newStage(t, src, inventory.New(inventory.Options{}), size[0], size[1], nil)
		s.wants("INSECURE")
	}
}

func TestClustersAreCountedAsTheRendererDoes(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained("x/\u2764\ufe0f/क्षि/👍🏽", "x", expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t")
	s.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
	if s.m.pen.m.method != ansi.GraphemeWidth {
		t.Fatal("the method did not change")
	}
	if w := ansi.StringWidth(s.line("never expires")); w != len("   ")+24+2+10+2+10+2+7+2+len("never expires") {
		t.Fatalf("the columns slipped: the row has %d cells", w)
	}
}

func TestLargePayloadsAreReadOffTheKeys(t *testing.T) {
	inv := inventory.New(inventory.Options{MaxPayload: 1 << 20})
	inv.Apply([]inventory.Publication{retained("big", strings.Repeat("0123456789", 20000), expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	_, cmd := s.m.Update(press("enter"))
	s.wants("Reading 200 kB.")
	s.run(cmd)
	s.wants("Payload  200 kB (200 000 bytes)", "0123456789")
}

func TestOverSSHTheTerminalIsAskedWhetherItShowsFramesAtOnce(t *testing.T) {
	for _, env := range []string{"SSH_TTY=/dev/pts/1", "SSH_CONNECTION=a", "OTHER=x"} {
		s := newStage(t, watching(), inventory.New(inventory.Options{}), 80, 24, func(o *Options) { o.Environ = append(o.Environ, env) })
		if asked := strings.Contains(strings.Join(s.said, ""), "\x1b[?2026$p"); asked == strings.HasPrefix(env, "OTHER") {
			t.Errorf("%s: %q", env, s.said)
		}
	}
}

func TestAChangeOfValueDoesNotHideWhatSomebodyCleared(t *testing.T) {
	s := small(t)
	s.inv.Apply([]inventory.Publication{live("b", "", expiry.None(), 0)})
	for i := range 2000 {
		s.inv.Apply([]inventory.Publication{live("a/1", number(int64(i)), expiry.None(), 0)})
	}
	s.tick(time.Second)
	s.wants("cleared by someone: b")
	s.keys("6")
	s.wants("cleared by someone    b", "replaced ×2 000")
}

func TestALargePayloadIsLaidOutOffTheKeys(t *testing.T) {
	inv := inventory.New(inventory.Options{MaxPayload: 8 << 20})
	inv.Apply([]inventory.Publication{retained("big", strings.Repeat("ab  ", 500_000), expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	_, read := s.m.Update(press("enter"))
	msg := read().(detailMsg)
	_, lay := s.m.Update(msg)
	s.wants("Laying out a payload of 2.0 MB.")
	s.keys("down", "esc", "down", "enter")
	s.run(lay)
	s.wants("Payload  2.0 MB", "ab  ab  ab")
	s.keys("end")
	s.wants("None.")
}

func TestACutPayloadSaysSo(t *testing.T) {
	inv := inventory.New(inventory.Options{MaxPayload: 1000})
	inv.Apply([]inventory.Publication{retained("big", strings.Repeat("x", 5_000_000), expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.wants("5.0 MB*")
	s.keys("enter")
	s.wants("Payload  5.0 MB (5 000 000 bytes), first 1 000 kept", "length and digest are of")
	wide := newStage(t, watching(), inv, 118, 24, nil)
	wide.wants("5.0 MB cut")
}

func TestANameOfSixtyThousandBytesIsWholeInTheDetail(t *testing.T) {
	name := "x/" + strings.Repeat("long ", 12000) + "end"
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained(name, "x", expiry.None())})
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t")
	s.wants("x/long", "ong end ")
	s.keys("enter")
	if n := len(s.m.detail.head); n < len(name)/78 {
		t.Fatalf("the detail has %d lines for a name of %d bytes", n, len(name))
	}
	s.keys("end", "home", "down", "pgdown")
}

func TestProfileAndTerminalByEnvironment(t *testing.T) {
	for _, c := range []struct {
		env               []string
		ascii, mono, dumb bool
	}{
		{[]string{"TERM=xterm", "LANG=en_GB.UTF-8"}, false, false, false},
		{[]string{"TERM=xterm", "LANG=C"}, true, false, false},
		{[]string{"TERM=xterm", "LANG=C.UTF-8", "LC_ALL=C"}, true, false, false},
		{[]string{"TERM=xterm", "LC_CTYPE=UTF-8"}, false, false, false},
		{[]string{"TERM=xterm"}, true, false, false},
		{[]string{"TERM=linux", "LANG=C.utf8"}, true, false, false},
		{[]string{"TERM=xterm", "LANG=C.UTF-8", "NO_COLOR=yes"}, false, true, false},
		{[]string{"TERM=xterm", "LANG=C.UTF-8", "NO_COLOR="}, false, false, false},
		{[]string{"TERM=dumb", "LANG=C.UTF-8"}, false, false, true},
		{[]string{"LANG=C.UTF-8"}, false, false, true},
	} {
		e := environ(c.env)
		if e.asciiOnly() != c.ascii || e.noColour() != c.mono || e.dumb() != c.dumb {
			t.Errorf("%v: ascii %v, no colour %v, dumb %v", c.env, e.asciiOnly(), e.noColour(), e.dumb())
		}
	}
}

func TestRunRefusesWhatIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(r.Close(), w.Close()) })
	err = Run(t.Context(), Options{Inventory: inventory.New(inventory.Options{}), Source: watching()}, r, w)
	if !errors.Is(err, ErrNoScreen) || !strings.Contains(err.Error(), "retainscope list") {
		t.Fatalf("got %v", err)
	}
}
