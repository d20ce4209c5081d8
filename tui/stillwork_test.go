package tui

import (
	"strings"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// body returns the frame without its first lines and without what is said for a while.
func (s *stage) body() string {
	lines := strings.Split(s.frame(), "\n")
	return strings.Join(lines[s.m.lay.head:s.m.lay.head+s.m.lay.body], "\n")
}

// elsewhere decides about a topic as another program would.
func (w *workshop) elsewhere(t *testing.T, topic string, d actions.Disposition) {
	t.Helper()
	was, ok := w.entry(t, topic)
	e := actions.Entry{Topic: []byte(topic), Owner: "somebody", Purpose: "else", Disposition: d}
	before := &was
	if !ok {
		before = nil
	}
	if err := w.desk.Decide(t.Context(), lan, before, e, actions.Protection{}, w.person); err != nil {
		t.Fatal(err)
	}
}

const birthdayAvailability = "caldates2mqtt/birthday/availability"

func TestPausedApprovedScreenWentOn(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for _, full := range []bool{false, true} {
			s, shop := clearStage(t, size[0], size[1], false)
			shop.elsewhere(t, "cmnd/plug7/POWER", actions.Preserve)
			s.tick(rereadAfter)
			s.keys("3", "home")
			if full {
				s.keys("enter")
			}
			s.wants("approved")
			s.keys("p")
			s.tick(toastFor)
			before := s.body()
			s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":1}`, expiry.Seconds(60), 0)})
			shop.elsewhere(t, "cmnd/plug7/POWER", actions.Hold)
			shop.elsewhere(t, "a/new/one", actions.Hold)
			s.send(s.m.readManifest()()) // one that was on its way
			s.tick(time.Minute)
			s.keys("up")
			if got := s.body(); got != before {
				t.Fatalf("%v: it went on:\n%s\nit was\n%s", size, got, before)
			}
			if !full {
				s.keys("4", "3")
				if got := s.body(); got != before {
					t.Fatalf("%v: it went on after another screen:\n%s\nit was\n%s", size, got, before)
				}
			}
			s.keys("p")
			s.tick(time.Second)
			if !strings.Contains(s.frame(), "not as approved") {
				s.wantsProse("hanged since")
			}
			if !full {
				s.keys("esc", "3")
				s.wants("a/new/one")
			}
		}
	}
}

func TestPausedRecordScreenWentOn(t *testing.T) {
	s, shop := clearStage(t, 120, 40, false)
	shop.history(birthdayAvailability, "cmnd/plug7/POWER")
	s.inv.Apply([]inventory.Publication{live(birthdayAvailability, "", expiry.None(), 0), live("cmnd/plug7/POWER", "", expiry.None(), 0)})
	s.tick(time.Second)
	s.keys("4", "down", "p")
	s.tick(toastFor)
	before := s.body()
	s.inv.Apply([]inventory.Publication{live(birthdayAvailability, "online", expiry.None(), 0), live("cmnd/plug7/POWER", "ON", expiry.None(), 0)})
	other := shop.operation(actions.Request{Topic: []byte(birthdayState)}, actions.Refused)
	shop.ops = append(shop.ops, other)
	shop.ops[0].Later = []actions.LaterLine{{At: at0.Add(time.Minute), Later: actions.Later{Found: actions.Present, Sentence: "seen elsewhere"}}}
	s.send(s.m.readRecord()()) // one that was on its way
	s.tick(time.Minute)
	s.keys("3", "4")
	if got := s.body(); got != before {
		t.Fatalf("it went on:\n%s\nit was\n%s", got, before)
	}
	// What is read in full while the picture stands says what of it is newer.
	s.keys("end", "enter")
	s.wants("Part of this was written since the picture is held still.")
	s.keys("esc", "p")
	s.tick(time.Second)
	s.lacks("Part of this")
	s.wants("refused", "cleared, there again")
	if got := s.body(); got == before {
		t.Error("it did not move on")
	}
}

func TestWhatAPersonDoesWhilePausedWasNotSeen(t *testing.T) {
	s, shop := clearStage(t, 120, 40, false)
	shop.elsewhere(t, "cmnd/plug7/POWER", actions.Preserve)
	shop.history("a/1", "a/2")
	s.tick(rereadAfter)
	s.send(s.m.readRecord()())
	shop.between = func(step actions.Step) {
		if step != actions.StepSent {
			return
		}
		s.keys("3", "p") // in the middle of a clear
		shop.elsewhere(t, "cmnd/plug7/POWER", actions.Hold)
		shop.elsewhere(t, "a/new/one", actions.Hold)
		shop.ops = append(shop.ops, shop.operation(actions.Request{Topic: []byte(birthdayAvailability)}, actions.Refused))
		s.wants("ack 0x00 success")
	}
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	if shop.sent != 1 || s.m.paused.IsZero() {
		t.Fatalf("%d sent", shop.sent)
	}
	s.wants("cleared and verified", "to be preserved")
	s.keys("4")
	if row := s.line("› "); !strings.Contains(row, "cleared and verified   "+birthdayState) {
		t.Errorf("the clear of the person is not in the record:\n%s", s.frame())
	}
	s.lacks(birthdayAvailability)

	// An approval that is taken back.
	s.keys("3", "home")
	s.wants("› ")
	s.keys("w", "down", "enter")
	if e, ok := shop.entry(t, birthdayState); !ok || e.Disposition != actions.Hold {
		t.Fatalf("it is not on hold: %+v", e)
	}
	s.lacks("a/new/one")
	s.wants("to be preserved", "0 approved to be cleared")

	// A look that is made again.
	s.keys("4", "end")
	row := s.line("› ")
	id := shop.ops[0].ID
	shop.ops[0].Later = []actions.LaterLine{{At: at0, Later: actions.Later{Found: actions.Present, Sentence: "it is there"}}}
	shop.ops[1].Later = shop.ops[0].Later
	s.keys("r", "enter")
	if len(shop.notes) != 1 || !strings.HasPrefix(shop.notes[0], id) {
		t.Fatalf("looked at %q", shop.notes)
	}
	if got := s.line("› "); got == row || !strings.Contains(got, "came back") {
		t.Errorf("the look of the person is not seen:\n%s", s.frame())
	}
	s.keys("p")
	s.tick(time.Second)
	s.wants(birthdayAvailability)
	s.keys("3")
	s.wants("a/new/one")
	s.lacks("to be preserved")
}

func TestPausedBeforeTheFirstReadingShowsNothingThatCameLater(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	shop.history("a/1")
	late := newStage(t, seenAll(watching()), s.inv, 80, 24, nil)
	late.m.o.Retiring = shop
	late.keys("p")
	late.send(late.m.readManifest()(), late.m.readRecord()())
	late.keys("3")
	late.wants("The manifest was not read yet when the picture was held still")
	late.keys("4")
	late.wants("The record was not read yet when the picture was held still")
	late.keys("p")
	late.wants("a/1")
	late.keys("3")
	late.wants(birthdayState)
}
