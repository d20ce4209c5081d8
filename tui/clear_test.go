package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// clearStage is the house with the birthday's state approved and the cursor on it; the writer is stopped unless
// provisional.
func clearStage(t *testing.T, w, h int, provisional bool) (*stage, *workshop) {
	t.Helper()
	s, shop := retireStage(t, w, h)
	s.find(birthdayState)
	evidence := "unit is disabled"
	if provisional {
		evidence = ""
	}
	s.approveWith(evidence)
	if s.m.form != nil {
		t.Fatalf("the approval stays open:\n%s", s.frame())
	}
	return s, shop
}

// typeWord goes to the place where the word is typed, and types.
func (s *stage) typeWord(text string) {
	s.t.Helper()
	switch f := s.m.form.(type) {
	case *clearForm:
		s.to(f.word)
	case *undoForm:
		s.to(f.word)
	default:
		s.t.Fatalf("no clear is open:\n%s", s.frame())
	}
	s.types(text)
}

func TestClearScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for name, keys := range map[string][]string{
			"opened": {"x"}, "typed": {"x", "down", "down", "s", "t", "a", "t", "e", "down"}, "done": {"x", "down", "down", "s", "t", "a", "t", "e", "enter"},
			"done in full": {"x", "down", "down", "s", "t", "a", "t", "e", "enter", "enter"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, _ := clearStage(t, size[0], size[1], name == "opened")
				s.keys(keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

func TestTheClearStandsOnNoAndTheOpeningKeySendsNothing(t *testing.T) {
	s, shop := clearStage(t, 80, 40, false)
	for range 100 {
		s.keys("x")
	}
	f, ok := s.m.form.(*clearForm)
	if !ok || f.now() != f.no || f.dirty() {
		t.Fatalf("it does not stand on no:\n%s", s.frame())
	}
	s.wants(`go down to "type it"`) // a word typed at the wrong place is not lost without a word
	s.keys("enter", "enter", "enter")
	if shop.sent != 0 || len(shop.requests) != 0 {
		t.Fatal("enter alone sent something")
	}
	// From the place of the word, x and what is pasted send nothing either.
	s.keys("x")
	s.typeWord("xxxx")
	s.keys("enter", "ctrl+u")
	s.send(tea.PasteMsg{Content: "state\r"})
	s.wants("pasted text confirms nothing")
	s.keys("enter", "down", "enter")
	for _, k := range []string{"A", "B", "C", "D", "F", "H"} {
		s.keys("ctrl+u", k, "enter")
	}
	if shop.sent != 0 || len(shop.requests) != 0 {
		t.Fatal("something was sent without the word")
	}
}

func TestAClearIsSentOnceByTheWordAndItsRowWalks(t *testing.T) {
	for _, sort := range []bool{false, true} {
		s, shop := clearStage(t, 120, 40, false)
		s.keys("esc")
		if sort {
			s.keys("s", "s", "s", "s", "s") // by reading
		}
		s.m.list.goal = []byte(birthdayState)
		s.run(s.m.relist())
		s.keys("d", "d")
		row := func() string { return s.line("› ") }
		var walk []string
		shop.between = func(step actions.Step) {
			s.tick(s.m.o.refresh())
			walk = append(walk, row())
			switch step {
			case actions.StepRead:
				s.w, s.h = 40, 10
				s.send(tea.WindowSizeMsg{Width: 40, Height: 10})
				s.w, s.h = 120, 40
				s.send(tea.WindowSizeMsg{Width: 120, Height: 40})
			case actions.StepReadBack:
				if !strings.Contains(row(), birthdayState) {
					t.Errorf("the row is gone:\n%s", s.frame())
				}
				s.wants("Clearing " + birthdayState)
			}
		}
		shop.watching = func() {
			s.tick(s.m.o.refresh())
			s.wants("watched to 14:03", "of 2 controls 2 intact", "watching     for a return until")
		}
		s.keys("x")
		s.typeWord("state")
		s.keys("enter")
		for i, want := range []string{"checked", "intent recorded", "baseline read", "value as approved", "acknowledged 0x00", "read back"} {
			if i >= len(walk) || !strings.Contains(walk[i], want) {
				t.Fatalf("step %d does not say %q: %q", i, want, walk)
			}
		}
		if shop.sent != 1 || len(shop.requests) != 1 {
			t.Fatalf("%d sent", shop.sent)
		}
		q := shop.requests[0]
		if string(q.Topic) != birthdayState || len(q.Controls) == 0 || len(q.Fingerprint) != 64 {
			t.Errorf("asked for %+v", q)
		}
		if len(shop.watched) != 1 || shop.watched[0].Sub(at0) < time.Minute {
			t.Errorf("watched until %v", shop.watched)
		}
		if _, held := s.inv.Find([]byte(birthdayState)); held {
			t.Fatal("it is held")
		}
		s.wants("cleared and verified", "Cleared and verified.", "record ends")
		if !strings.Contains(row(), birthdayState) {
			t.Errorf("the row is gone:\n%s", s.frame())
		}
		s.keys("up", "down")
		if sort {
			continue // there is no telling where it would stand
		}
		if !strings.Contains(row(), birthdayState) {
			t.Errorf("the cursor does not come back to it:\n%s", s.frame())
		}
		s.keys("t")
		s.wants("birthday")
		s.tick(actStays + time.Minute)
		s.keys("home")
		s.lacks("cleared and verified")
	}
}

func TestEveryVerdictIsSaidInTheRowAndNoneClaimsAbsence(t *testing.T) {
	for v, want := range map[actions.Verdict]string{
		actions.ClearedVerified: "cleared and verified", actions.StillPresent: "still present", actions.CameBack: "came back in 3s", actions.Refused: "refused 0x87",
		actions.CouldNotVerify: "not verified", actions.NoAnswer: "no answer", actions.NotSent: "not sent: locked", actions.Changed: "changed, not sent",
		actions.Vanished: "not seen, not sent", actions.Collateral: "ALARM: MORE WENT", actions.EmptyReplay: "empty replay", actions.Unknown: "in doubt",
	} {
		s, shop := clearStage(t, 120, 40, false)
		shop.verdict = v
		s.keys("x")
		s.typeWord("state")
		s.keys("enter")
		if row := s.line("› "); !strings.Contains(row, inCells(want, 18)) {
			t.Errorf("%s: the row says %q", v, row)
		}
		s.wantsProse("he sentence of " + v.String())
		for _, word := range []string{"deleted", "is gone", "removed from"} {
			s.lacks(word)
		}
		sent := 0
		if v.Sent() {
			sent = 1
		}
		if shop.sent != sent {
			t.Errorf("%s: %d sent", v, shop.sent)
		}
	}
}

func TestAProvisionalClearSaysSoEverywhere(t *testing.T) {
	s, _ := clearStage(t, 120, 40, true)
	s.keys("x")
	s.wants("provisional")
	s.typeWord("state")
	s.keys("enter")
	s.wants("cleared, provisional", "PROVISIONAL", "no writer is named")
	s.keys("4")
	s.wants("cleared, provisional")
}

func TestAValueThatChangesWhileTheClearIsOpenDeadensTheKey(t *testing.T) {
	s, shop := clearStage(t, 80, 60, false)
	s.keys("x")
	s.typeWord("state")
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.wants("ANOTHER VALUE", "Nothing can be sent: The value changed")
	s.keys("enter", "down", "enter", "enter")
	if len(shop.requests) != 0 {
		t.Fatal("another value was cleared")
	}
	// Between the last frame and the key as well.
	s, shop = clearStage(t, 80, 60, false)
	s.keys("x")
	s.typeWord("state")
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
	s.keys("enter")
	if len(shop.requests) != 0 {
		t.Fatal("a value that came a moment ago was cleared")
	}
	s.inv.Apply([]inventory.Publication{live(birthdayState, "", expiry.None(), 0)})
	s.tick(time.Second)
	s.wantsProse("no retained message of it is shown to this login")
	s.keys("enter")
	s.src.link.State = inventory.Lost
	s.send(changedMsg{})
	s.tick(time.Second)
	if len(shop.requests) != 0 {
		t.Fatal("sent")
	}
}

func TestALookalikeIsNotConfirmedByWhatItLooksLike(t *testing.T) {
	for name, c := range map[string]struct{ topic, typed, right string }{
		"a zero-width rune":  {"caldates2mqtt/birthday/sta\u200bte", "state", ""},
		"an override":        {"caldates2mqtt/birthday/\u202estate", "state", ""},
		"a space at the end": {"caldates2mqtt/birthday/state ", "state", ""},
		"another script":     {"caldates2mqtt/birthday/st\u0430te", "state", "st\u0430te"},
		"not UTF-8":          {"caldates2mqtt/birthday/state\xff", "state", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, shop := retireStage(t, 80, 40)
			s.inv.Apply([]inventory.Publication{retained(c.topic, "x", expiry.None())})
			s.m.list.goal = []byte(c.topic)
			s.keys("t")
			s.keys("a", "right")
			f := s.m.form.(*approveForm)
			s.to(f.owner)
			s.types("somebody")
			s.to(f.purpose)
			s.types("state")
			s.to(f.save)
			s.keys("enter", "x")
			s.typeWord(c.typed)
			s.keys("enter")
			if len(shop.requests) != 0 {
				t.Fatalf("%q was confirmed by %q", c.topic, c.typed)
			}
			e, _ := shop.entry(t, c.topic)
			if c.right == "" {
				c.right = e.Fingerprint[:6]
				s.wants(c.right)
			}
			s.keys("ctrl+u")
			s.typeWord(c.right)
			s.keys("enter")
			if len(shop.requests) != 1 || string(shop.requests[0].Topic) != c.topic {
				t.Fatalf("not confirmed by %q:\n%s", c.right, s.frame())
			}
		})
	}
}

func TestOneClearAtATimeAndTheOtherKeySaysWhich(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	s.find("caldates2mqtt/birthday/availability")
	s.keys("a", "right")
	f := s.m.form.(*approveForm)
	s.to(f.owner)
	s.types("caldates2mqtt")
	s.to(f.purpose)
	s.types("availability")
	s.to(f.save)
	s.keys("enter")
	s.find(birthdayState)
	shop.between = func(step actions.Step) {
		if step != actions.StepRead {
			return
		}
		s.keys("/", "ctrl+u")
		s.types("caldates2mqtt/birthday/availability")
		s.keys("enter", "home", "x", "u")
		if s.m.form != nil {
			t.Errorf("a second one is open:\n%s", s.frame())
		}
		if why := s.m.noClear(); !strings.Contains(why, "the clear of "+birthdayState+" is under way") {
			t.Errorf("x says %q", why)
		}
	}
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	if shop.sent != 1 {
		t.Fatalf("%d sent", shop.sent)
	}
}

// farewell returns what is said when the screen is left now.
func (s *stage) farewell() string {
	var b strings.Builder
	s.m.farewell(&b)
	for line := range strings.Lines(b.String()) {
		if len(line) > s.w+1 {
			s.t.Errorf("%q does not fit", line)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestLeavingInTheMiddleWaitsForTheOutcome(t *testing.T) {
	for _, c := range []struct {
		name string
		at   actions.Step
		key  string
		sent int
	}{
		{"before anything is sent", actions.StepRead, "q", 0}, {"before anything is sent, by ctrl+c", actions.StepIntended, "ctrl+c", 0},
		{"when it was sent", actions.StepSent, "q", 1}, {"at the last moment", actions.StepCompared, "ctrl+c", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, shop := clearStage(t, 80, 24, false)
			shop.between = func(step actions.Step) {
				if step == c.at {
					s.keys(c.key)
					if s.quit {
						t.Error("it leaves before the outcome is written")
					}
					s.wants("Leaving")
				}
			}
			s.keys("x")
			s.typeWord("state")
			s.keys("enter")
			if !s.quit {
				t.Error("it does not leave when the outcome is written")
			}
			if shop.sent != c.sent || len(shop.ops) != 1 || shop.ops[0].Outcome == nil {
				t.Errorf("%d sent, recorded %+v", shop.sent, shop.ops)
			}
			if len(shop.watched) != 0 {
				t.Error("a watch was begun by somebody who left")
			}
			said, want := s.farewell(), "The clear of "+birthdayState+": nothing was sent (left): left before anything was sent."
			if c.sent > 0 {
				want = "The clear of " + birthdayState + ": cleared and verified. The sentence of cleared and verified. A return was not watched for."
			}
			if said != want {
				t.Errorf("after leaving it says %q, want %q", said, want)
			}
		})
	}
}

// The fault: the terminal never said how a clear ended that was running when the screen was left, nor that the watch for
// a return was dropped.
func TestLeavingSaysWhatWasNotWatchedToItsEnd(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	shop.watching = func() {
		if said := s.farewell(); !strings.Contains(said, "The clear of "+birthdayState+": cleared and verified; the return was not watched to its end, ") {
			t.Errorf("while a return is watched for: %q", said)
		}
	}
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	if len(shop.watched) != 1 {
		t.Fatalf("watched %v", shop.watched)
	}
	if said := s.farewell(); said != "" {
		t.Errorf("everything was on the screen: %q", said)
	}
}

// A signal ends the screen before its model hears of the end of an act.
func TestASignalInTheMiddleSaysHowTheActEnded(t *testing.T) {
	s, _ := clearStage(t, 80, 24, false)
	topic := []byte(birthdayState)
	never := &act{topic: topic}
	unknown := &act{topic: topic, sends: true}
	ended := &act{topic: topic, restore: true}
	ended.result.Store(&actedMsg{undo: actions.UndoOutcome{Result: actions.Restored, Sentence: "it was put back"}})
	for a, want := range map[*act]string{
		never:   "The clear of " + birthdayState + ": nothing was sent: left before it had begun.",
		unknown: "The clear of " + birthdayState + ": it may have been sent, and its answer was not waited for any longer; the next start tells what is known of it.",
		ended:   "The undo of " + birthdayState + ": it was put back.",
	} {
		s.m.acts, s.m.running = []*act{a}, a
		if said := s.farewell(); said != want {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
}

func TestAnAnswerThatNeverComesDoesNotHoldTheEndForEver(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	stopped := false
	shop.between = func(step actions.Step) {
		if step != actions.StepSent {
			return
		}
		cancel := s.m.running.cancel
		s.m.running.cancel = func() { stopped = true; cancel() }
		s.keys("q")
		s.tick(actGrace - time.Second)
		if stopped || s.quit {
			t.Error("given up too early")
		}
		s.tick(2 * time.Second)
		if !stopped || s.quit {
			t.Errorf("stopped %v, left %v", stopped, s.quit)
		}
		s.tick(actGrace)
		if !s.quit {
			t.Error("it waits for ever")
		}
	}
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	// A second q gives up at once.
	s, shop = clearStage(t, 80, 24, false)
	shop.between = func(step actions.Step) {
		if step == actions.StepSent {
			cancel, n := s.m.running.cancel, 0
			s.m.running.cancel = func() { n++; cancel() }
			s.keys("q", "q")
			if n != 1 {
				t.Errorf("stopped %d times", n)
			}
		}
	}
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
}

func TestEscStopsOnlyWhatWasNotSent(t *testing.T) {
	for step, sent := range map[actions.Step]int{actions.StepRead: 0, actions.StepSent: 1} {
		s, shop := clearStage(t, 80, 24, false)
		shop.between = func(now actions.Step) {
			if now == step {
				s.keys("esc")
			}
		}
		s.keys("x")
		s.typeWord("state")
		s.keys("enter")
		if shop.sent != sent || s.quit || s.m.running != nil {
			t.Errorf("after esc at %s: %d sent", step, shop.sent)
		}
	}
}

func TestAReturnIsSaidAndWatchedForOnAsLongAsItMustBeExpected(t *testing.T) {
	s, shop := retireStage(t, 120, 40)
	const counter = "gas2mqtt/counter/state"
	s.find(counter)
	s.m.o.Readings.(*known).evidence[counter] = Evidence{Owner: "gas2mqtt", Role: "state"}
	s.approveWith("unit is disabled")
	s.keys("x")
	s.wantsProse("its owner published it every 7h59m55s")
	s.to(s.m.form.(*clearForm).watch)
	s.wants("[1m]", "8h", "not at all")
	s.typeWord("state")
	s.keys("enter")
	s.wants("It must be expected until 22:02:06")
	shop.later = actions.Later{Found: actions.Present, Return: &actions.Return{AfterMS: 61_000, Same: true}, Sentence: "it came back after 1m1s with the same value: somebody still writes it"}
	s.keys("w")
	if len(shop.watched) != 2 || shop.watched[1].Sub(at0) != 8*time.Hour-5*time.Second {
		t.Errorf("watched until %v", shop.watched)
	}
	s.wants("came back in 1m 1s", "somebody still writes it")
}

func TestAnOutcomeThatIsNotInTheRecordIsSaid(t *testing.T) {
	s, shop := clearStage(t, 120, 40, false)
	shop.unwritten = errors.New("the outcome of operation 1 is not in the record: no space left on device")
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	s.wantsProse("no space left on device")
}

func TestAPayloadThatIsNotSavedSaysThatUndoIsOffBeforeTheClear(t *testing.T) {
	s, shop := clearStage(t, 80, 40, false)
	shop.terms.UndoLimit = 10
	s.keys("x")
	s.wantsProse("OFF: its 58 B are more than the 10 B that are saved")
}

func TestWhatIsNotApprovedIsNotCleared(t *testing.T) {
	s, shop := retireStage(t, 80, 24)
	s.find(birthdayState)
	s.keys("x")
	s.wants("x is off: it is not approved")
	if s.m.form != nil || len(shop.requests) != 0 {
		t.Error("a clear is open")
	}
	s.approveWith("")
	s.keys("p", "x")
	s.wants("x is off: the picture is held still")
	s.keys("p", "3", "x")
	s.wants("Clear " + birthdayState)
	s.keys("esc")
	s.src.link.State = inventory.Lost
	s.send(changedMsg{})
	s.tick(time.Second)
	s.keys("x")
	s.wants("x is off: there is no connection")
}

func TestTheKeysOfAnArrowInPiecesNeverPublish(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	for _, where := range [][]string{nil, {"enter"}, {"esc", "2"}, {"3"}, {"4"}, {"c"}, {"?"}, {"1", "x"}, {"esc", "a"}, {"esc", "esc", "u"}} {
		s.keys(where...)
		for _, k := range []string{"A", "B", "C", "D", "F", "H", "[", "~", "1", "O"} {
			if k == "1" {
				continue
			}
			s.keys(k)
		}
	}
	if len(shop.requests)+len(shop.restores) != 0 || shop.decided != 1 {
		t.Errorf("%d clears, %d restores, %d decisions", len(shop.requests), len(shop.restores), shop.decided)
	}
}
