package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/expiry"
	"retainscope/inventory"
)

func small(t testing.TB) *stage {
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{
		retained("a/1", "one", expiry.None()),
		retained("a/2", "two", expiry.Seconds(100)),
		retained("b", "bee", expiry.None()),
		retained("c/d/e", `{"x":1}`, expiry.Seconds(86400)),
	})
	return newStage(t, watching(), inv, 80, 24, nil)
}

// cursor returns the topic or level under the cursor.
func (s *stage) cursor() string {
	r, ok := s.m.row()
	if !ok {
		return ""
	}
	return string(r.Prefix)
}

func (s *stage) wantCursor(want string) {
	s.t.Helper()
	if got := s.cursor(); got != want {
		s.t.Fatalf("the cursor is on %q, want %q:\n%s", got, want, s.frame())
	}
}

func TestNoKeyIsTheEndOfAnArrowSequence(t *testing.T) {
	for _, c := range commands() {
		for _, k := range c.keys.Keys() {
			if strings.Contains("ABCDFH~", k) {
				t.Errorf("%s is bound to %q: on a bad link an arrow key arrives as that", k, c.keys.Help().Desc)
			}
		}
	}
}

func TestArrowsMoveTheCursorAndStopAtTheEnds(t *testing.T) {
	s := small(t)
	s.keys("up")
	s.wantCursor("a")
	s.keys("down")
	s.wantCursor("b")
	s.keys("j", "j", "down")
	s.wantCursor("c")
	s.keys("k")
	s.wantCursor("b")
	s.keys("end")
	s.wantCursor("c")
	s.keys("g")
	s.wantCursor("a")
	s.keys("G")
	s.wantCursor("c")
	s.keys("home")
	s.wantCursor("a")
	s.send(tea.KeyPressMsg{Code: tea.KeyKpDown})
	s.wantCursor("b")
}

func TestFoldingAndUnfolding(t *testing.T) {
	s := small(t)
	s.lacks("▾")
	s.keys("right")
	s.wants("▾ a")
	s.keys("l", "down")
	s.wantCursor("a/2")
	s.keys("left")
	s.wantCursor("a")
	s.keys("h")
	s.wants("▸ a")
	s.keys("*")
	s.wants("▾ a", "▾ d")
	s.keys("-")
	s.wants("▸ a")
	s.lacks("▾")
}

func TestPageKeysMoveByTheScreen(t *testing.T) {
	s := newStage(t, watching(), house(t), 80, 24, nil)
	s.keys("t", "pgdown")
	if i := s.m.list.l.Index(s.m.list.cur); i != s.m.lay.lines-1 {
		t.Fatalf("a screen down is row %d", i)
	}
	s.keys("space", "ctrl+f", "pgup", "ctrl+b", "pgup")
	if i := s.m.list.l.Index(s.m.list.cur); i != 0 {
		t.Fatalf("and back is row %d", i)
	}
}

func TestTreeAndFlatKeepTheTopic(t *testing.T) {
	s := small(t)
	s.keys("t", "end")
	s.wantCursor("c/d/e")
	s.keys("t")
	s.wantCursor("c/d/e")
	s.wants("▾ c", "▾ d")
	s.keys("t")
	s.wantCursor("c/d/e")
}

func TestSortCyclesAndTurnsRound(t *testing.T) {
	s := small(t)
	s.keys("s")
	s.wants("s is off: the tree is always in the order of topics")
	s.keys("t", "s")
	s.wants("flat, by expiry")
	s.wantCursor("a/2")
	s.keys("S")
	s.wants("by expiry↓")
	s.keys("s", "s", "s")
	s.wants("by received↓")
	s.keys("s")
	s.wants("by reading↓", "READING↓")
	s.keys("s", "S")
	s.wants("flat, by topic")
	s.wantCursor("a/1")
}

func TestTheCursorStaysOnItsTopicWhileTheStoreMoves(t *testing.T) {
	s := small(t)
	s.keys("down")
	s.wantCursor("b")
	s.inv.Apply([]inventory.Publication{live("a0", "x", expiry.None(), 0), live("a1/x", "x", expiry.None(), 0)})
	s.tick(time.Second)
	s.wantCursor("b")
	s.wants("a0")
	s.inv.Apply([]inventory.Publication{live("b", "", expiry.None(), 0)})
	s.tick(time.Second)
	s.wantCursor("b")
	s.wants("cleared by someone: b", wordNotHeld)
	s.keys("down")
	s.wantCursor("c")
	s.lacks(wordNotHeld)
}

func TestFilterNarrowsWhileTyped(t *testing.T) {
	s := small(t)
	s.types("/")
	s.wants("words, a/+/b")
	s.types("a/2")
	s.wants("/ a/2  1 topic")
	s.lacks("c (1)")
	s.keys("backspace")
	s.wants("/ a/  2 topics")
	s.keys("enter")
	s.types("t")
	s.wants("a/1", "a/2", "/ a/")
	s.keys("esc")
	s.wants("flat, by topic", "c/d/e")
	s.types("/is:nope")
	s.wants(`filter word "is:nope"`)
	s.keys("esc")
	s.wants("c/d/e")
}

func TestFilterLineEditing(t *testing.T) {
	s := small(t)
	s.types("/one two")
	s.keys("ctrl+w")
	if got := string(s.m.filter.text); got != "one " {
		t.Fatalf("after ctrl+w: %q", got)
	}
	s.keys("home", "delete", "right", "left", "end", "left", "ctrl+k", "ctrl+a")
	s.types("x")
	if got := string(s.m.filter.text); got != "xne" {
		t.Fatalf("after editing: %q", got)
	}
	s.keys("ctrl+e", "ctrl+u")
	if got := string(s.m.filter.text); got != "" {
		t.Fatalf("after ctrl+u: %q", got)
	}
	s.send(tea.PasteMsg{Content: "a/1\n\x1b[31m"})
	if got := string(s.m.filter.text); got != "a/1  [31m" {
		t.Fatalf("after a paste: %q", got)
	}
	s.keys("q")
	if s.quit {
		t.Fatal("a typed q left the program")
	}
	x, y, ok := s.m.cursor()
	if !ok || y != 3 || x <= 0 || x >= 80 {
		t.Fatalf("the caret is at %d,%d", x, y)
	}
}

func TestPastedTextIsNeverTakenForKeys(t *testing.T) {
	s := small(t)
	s.send(tea.PasteMsg{Content: "q"})
	if s.quit || s.m.filter.set() {
		t.Fatal("a paste into the list did something")
	}
}

func TestAnOlderListingNeverReplacesANewerOne(t *testing.T) {
	s := small(t)
	s.types("/")
	_, first := s.m.Update(tea.KeyPressMsg{Code: 'a', Text: "a"})
	_, second := s.m.Update(tea.KeyPressMsg{Code: '/', Text: "/"})
	s.run(second)
	s.run(first)
	s.wants("/ a/  2 topics")
	if s.m.list.pending {
		t.Fatal("the list waits for a listing that was given up")
	}
}

func TestDetailOpensScrollsAndSteps(t *testing.T) {
	s := small(t)
	s.keys("t", "enter")
	s.wants("Never expires: no Message Expiry Interval", "Payload  3 B  text", "one", "stored QoS   not known at QoS 0")
	s.keys("n")
	s.wants("two", "expires in   00:01:31", "on the wire  100 s")
	s.keys("N", "J", "K")
	s.wants("one")
	s.keys("end")
	s.wants("None.")
	s.keys("esc")
	s.wantCursor("a/1")
	s.wants("READING")
}

func TestPayloadViewsCycle(t *testing.T) {
	s := small(t)
	s.keys("t", "end", "enter")
	s.wants(`  "x": 1`, "JSON, v changes")
	s.keys("v")
	s.wants("00000000  7b 22 78 22 3a 31 7d", `{"x":1}`, "hex")
	s.keys("v")
	s.wants("text, v changes")
	s.keys("v")
	s.wants("JSON, v changes")
}

func TestAskSaysTheStoredQoS(t *testing.T) {
	s := small(t)
	s.keys("o")
	s.wants("o is off: the row is not a retained topic itself")
	s.src.ask = func(_ context.Context, topic []byte) (byte, bool, error) { return 1, string(topic) == "a/1", nil }
	s.keys("t", "o")
	s.wants("Stored at QoS 1: a/1")
	s.src.ask = func(context.Context, []byte) (byte, bool, error) { return 0, false, nil }
	s.keys("o")
	s.wants("The broker sent this login nothing for a/1 when asked.")
	s.src.ask = func(context.Context, []byte) (byte, bool, error) { return 0, false, errors.New("refused \x1b[31m") }
	s.keys("o")
	s.wants(`Asking failed: refused \x1b[31m`)
}

func TestAQuestionUnderWayCanBeStopped(t *testing.T) {
	s := small(t)
	s.src.ask = func(ctx context.Context, _ []byte) (byte, bool, error) { <-ctx.Done(); return 0, false, ctx.Err() }
	s.keys("t")
	_, cmd := s.m.Update(press("o"))
	s.wants("Asking the broker for this topic, esc stops", "esc stop")
	s.keys("down")
	s.wantCursor("a/2")
	s.keys("o")
	if s.m.job == nil {
		t.Fatal("a second question took the place of the first")
	}
	s.keys("esc")
	s.run(cmd)
	s.wants("Stopped asking.")
}

func TestCopyTakesTheExactTopicOrSaysThatItIsEscaped(t *testing.T) {
	s := small(t)
	s.keys("t", "y")
	s.wants("Copied the topic, if this terminal takes OSC 52.")
	s.inv.Apply([]inventory.Publication{live("Z\x1b", "x", expiry.None(), 0)})
	s.tick(time.Second)
	s.keys("home", "y")
	s.wants("Copied the topic in its escaped form")
	if want := []string{"tea.setClipboardMsg a/1", `tea.setClipboardMsg Z\x1b`}; fmt.Sprint(s.said) != fmt.Sprint(want) {
		t.Fatalf("sent %q, want %q", s.said, want)
	}
}

func TestExportWritesANewFileForItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	var got []Selection
	s := small(t)
	s.m.o.ExportDir = dir
	s.m.o.Export = func(_ context.Context, sel Selection, w io.Writer, wrote func(int64)) error {
		got = append(got, sel)
		wrote(2)
		_, err := io.WriteString(w, "line\n")
		return err
	}
	s.keys("e")
	s.wants("this topic: a (no retained topic itself)", "this branch, 2 topics: a", "everything, 4 topics")
	s.keys("enter")
	s.wants("Wrote 2 topics to", dir)
	s.types("/a/")
	s.keys("enter", "t", "e", "down", "enter", "e", "enter")
	name := filepath.Join(dir, "retainscope-20260314-140211.jsonl")
	for _, f := range []string{name, strings.Replace(name, ".jsonl", "-2.jsonl", 1), strings.Replace(name, ".jsonl", "-3.jsonl", 1)} {
		st, err := os.Stat(f)
		if err != nil || st.Mode().Perm() != 0o600 || st.Size() != 5 {
			t.Fatalf("%s: %v %v", f, st, err)
		}
	}
	if len(got) != 3 || string(got[0].Topic) != "a" || !got[0].Below || got[1].Filter.String() != "a/" || got[1].Topic != nil ||
		string(got[2].Topic) != "a/1" || got[2].Below {
		t.Fatalf("selections %+v", got)
	}
}

func TestAnExportThatFailsLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	s := small(t)
	s.m.o.ExportDir = dir
	for _, err := range []error{errors.New("disk full"), context.Canceled} {
		s.m.o.Export = func(_ context.Context, _ Selection, w io.Writer, _ func(int64)) error {
			_, _ = io.WriteString(w, "half")
			return err
		}
		s.keys("e", "enter")
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Fatalf("%v left %v", err, left)
		}
	}
	s.wants("Export stopped; nothing was kept.")
	s.m.o.ExportDir = filepath.Join(dir, "missing")
	s.keys("e", "enter")
	s.wants("Export failed: make the file")
}

func TestSelectionIncludes(t *testing.T) {
	below := Selection{Topic: []byte("a/b"), Below: true}
	exact := Selection{Topic: []byte("a/b")}
	for topic, want := range map[string][2]bool{"a/b": {true, true}, "a/b/c": {true, false}, "a/bb": {false, false}, "a": {false, false}, "x/a/b": {false, false}} {
		if got := [2]bool{below.Includes([]byte(topic)), exact.Includes([]byte(topic))}; got != want {
			t.Errorf("%s: below and exact are %v, want %v", topic, got, want)
		}
	}
	if !(Selection{}).Includes([]byte("anything")) {
		t.Error("no topic means every topic")
	}
}

func TestRescanAsksBeforeALargeStoreIsRead(t *testing.T) {
	s := small(t)
	s.keys("r")
	s.wants("Scanning again.")
	s.src.cov.Known = 1_000_000
	s.send(changedMsg{})
	s.tick(time.Second)
	s.keys("r")
	s.wants("Scan again?", "1 000 000 topics", "3.0 s")
	s.keys("enter")
	if s.src.rescans != 1 {
		t.Fatal("enter alone scanned a large store")
	}
	s.keys("r", "down", "esc", "r", "j", "enter")
	if s.src.rescans != 2 {
		t.Fatalf("%d scans", s.src.rescans)
	}
}

func TestPauseHoldsThePictureStill(t *testing.T) {
	s := newStage(t, watching(), house(t), 80, 24, nil)
	s.keys("t", "s", "p")
	s.wants("PAUSED 14:02:11")
	s.tick(toastFor)
	before := s.frame()
	s.inv.Apply([]inventory.Publication{live("brand/new", "x", expiry.None(), 0)})
	s.tick(3 * time.Second)
	s.tick(time.Minute)
	if after := s.frame(); after != before {
		t.Fatalf("the picture moved:\n%s", after)
	}
	if d := s.timers[len(s.timers)-1]; d < time.Second {
		t.Fatalf("a picture that is held still wakes after %v", d)
	}
	s.keys("p")
	s.wants("331 retained", "live 14:02:01")
}

func TestLeavingWorksFromEverywhere(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"/", "ctrl+c"}, {"e", "ctrl+c"}, {"?", "q"}, {"t", "enter", "q"}, {"c", "ctrl+c"}} {
		s := small(t)
		s.keys(keys...)
		if !s.quit {
			t.Errorf("%v does not leave", keys)
		}
	}
}

func TestSuspendAndRedrawWorkFromEverywhere(t *testing.T) {
	for _, keys := range [][]string{nil, {"/"}, {"e"}, {"?"}} {
		s := small(t)
		s.keys(keys...)
		s.keys("ctrl+z", "ctrl+l")
		if fmt.Sprint(s.said) != "[tea.SuspendMsg {} tea.clearScreenMsg {}]" {
			t.Errorf("after %v: %v", keys, s.said)
		}
		s.send(tea.ResumeMsg{})
	}
}

func TestTabsAndEscGoBack(t *testing.T) {
	s := small(t)
	s.keys("2")
	s.wants("[2 Left behind]", "Readings are switched off")
	s.keys("5")
	s.wants("What this list may claim", "[5 Coverage]")
	s.keys("6")
	s.wants("What happened while we watched")
	s.keys("1")
	s.wants("READING")
	s.keys("c", "esc")
	s.wants("READING")
	s.keys("esc")
	s.wants("esc is off: nothing runs and no filter is in force")
}

func TestPagesScroll(t *testing.T) {
	s := small(t)
	s.keys("?")
	s.wants("more lines", "Keys  retainscope test")
	s.keys("down", "pgdown", "end")
	s.lacks("more lines")
	s.wants("subscription removes none.")
	s.keys("up", "pgup", "home")
	s.wants("Keys  retainscope test")
	s.keys("?")
	s.lacks("Keys  retainscope test")
}

func TestHelpSaysWhyAKeyIsOff(t *testing.T) {
	s := small(t)
	s.m.o.Export = nil
	s.src.link.State = inventory.Lost
	s.send(changedMsg{})
	s.tick(time.Second)
	s.m.h, s.h = 60, 60
	s.keys("?")
	for _, want := range []string{"without a place to", "there is no connection", "the tree is always"} {
		s.wantsProse(want)
	}
	s.keys("esc", "r")
	s.wants("r is off: there is no connection")
}

func TestDialogsIgnoreOtherKeys(t *testing.T) {
	s := small(t)
	s.keys("e", "r", "x", "?", "/")
	s.wants("Export as JSON lines")
	s.keys("q")
	s.lacks("Export as JSON lines")
	if s.quit || s.src.rescans != 0 {
		t.Fatal("a key went past the dialog")
	}
}

func TestHelpIsLeftToWhereItWasOpened(t *testing.T) {
	s, _ := leftStage(t, 80, 24)
	for _, from := range []screen{leftBehind, approvedPage, recordPage, coveragePage, topics} {
		for _, back := range []string{"esc", "?"} {
			s.m.show(from)
			s.keys("?")
			if s.m.screen != helpPage {
				t.Fatalf("help is not open: %d", s.m.screen)
			}
			s.keys(back)
			if s.m.screen != from {
				t.Errorf("%s in help opened from %d goes to %d", back, from, s.m.screen)
			}
		}
	}
}

func TestTheTabsAreDimmedWhileAQuestionHasTheKeys(t *testing.T) {
	s, _ := leftStage(t, 120, 40)
	s.m.pen.pal = sixteen
	s.keys("1")
	if !strings.Contains(s.m.frame, sixteen.selected+" 1 Topics ") {
		t.Fatalf("the tab is not marked:\n%q", s.m.frame)
	}
	s.keys("e")
	if strings.Contains(s.m.frame, sixteen.selected+" 1 Topics ") {
		t.Errorf("a tab looks usable beside a question:\n%q", s.m.frame)
	}
}
