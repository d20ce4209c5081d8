package tui

import (
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// drafted opens the approval of the birthday's state, types into every place of it, and leaves it.
func drafted(t *testing.T, leave ...string) (*stage, *workshop) {
	t.Helper()
	s, shop := retireStage(t, 80, 50)
	s.find(birthdayState)
	s.keys("a", "right")
	f := s.m.form.(*approveForm)
	for _, x := range []struct {
		place *place
		text  string
	}{{f.owner, "the calendar"}, {f.purpose, "days left"}, {f.reason, "it was renamed"}} {
		s.to(x.place)
		s.keys("ctrl+u")
		s.types(x.text)
	}
	s.to(f.add)
	s.keys("enter")
	w := s.m.form.(*writerForm)
	for w.state.chosen != 1 {
		s.keys("right")
	}
	s.to(w.evidence)
	s.types("unit is disabled")
	s.to(w.done)
	s.keys("enter")
	s.keys(leave...)
	if s.m.form != nil || shop.decided != 0 {
		t.Fatalf("the form stays, or it was saved:\n%s", s.frame())
	}
	return s, shop
}

func TestWhatWasTypedIntoAnApprovalWasLostByEsc(t *testing.T) {
	s, shop := drafted(t, "esc")
	s.wants("What was typed is kept")
	// It belongs to its topic alone.
	s.find(birthdayAvailability)
	s.keys("a")
	s.lacks("A draft is back")
	s.lacks("the calendar")
	s.keys("esc")
	s.find(birthdayState)
	s.now = s.now.Add(time.Minute)
	s.keys("a")
	s.wants("A draft is back: what was typed here until 14:02:11 and not saved.", "[cleared]", "the calendar", "days left", "it was renamed", "unit is disabled")
	s.lacks("changed since")
	// It is kept as often as it is left, by "not now" too.
	s.to(s.m.form.(*approveForm).no)
	s.keys("enter", "a")
	s.wants("A draft is back: what was typed here until 14:03:11", "the calendar", "unit is disabled")
	s.to(s.m.form.(*approveForm).save)
	s.keys("enter")
	e, ok := shop.entry(t, birthdayState)
	if hex, _ := s.m.heldPrint([]byte(birthdayState)); !ok || e.Owner != "the calendar" || e.Purpose != "days left" || e.Reason != "it was renamed" || len(e.Writers) != 1 || e.Fingerprint != hex {
		t.Errorf("saved %+v", e)
	}
	s.keys("a")
	s.lacks("A draft is back")
}

func TestADraftIsForgottenWhereItIsEmptied(t *testing.T) {
	s, _ := drafted(t, "esc")
	s.keys("a")
	s.to(s.m.form.(*approveForm).forget)
	s.keys("enter")
	s.wants("The draft is emptied.", "[on hold]")
	s.lacks("the calendar")
	s.lacks("A draft is back")
	s.keys("esc", "a")
	s.lacks("A draft is back")
	s.keys("esc")

	// By hand, place by place.
	s, _ = drafted(t, "esc")
	s.keys("a")
	f := s.m.form.(*approveForm)
	for _, x := range f.typedPlaces() {
		s.to(x)
		s.keys("ctrl+u")
	}
	s.keys("home")
	s.to(f.writerAt[0])
	s.keys("enter")
	s.to(s.m.form.(*writerForm).remove)
	s.keys("enter")
	for f.now() != f.disposition {
		s.keys("up")
	}
	s.keys("left", "esc")
	s.lacks("What was typed is kept")
	s.keys("a")
	s.lacks("A draft is back")
}

func TestADraftWouldHaveApprovedTheValueItWasTypedFor(t *testing.T) {
	s, shop := drafted(t, "esc")
	old, _ := s.m.heldPrint([]byte(birthdayState))
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.keys("a")
	s.wants("The value changed since: look at it again.", `{"days":6}`, "[on hold]", "the calendar")
	f := s.m.form.(*approveForm)
	s.to(f.disposition)
	for f.now() != f.disposition {
		s.keys("up")
	}
	s.keys("right")
	s.to(f.save)
	// It changes once more while the form is open.
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":5}`, expiry.None(), 0)})
	s.keys("enter")
	s.wantsProse("the value is not the one shown any more")
	if shop.decided != 0 {
		t.Fatal("a value that nobody saw was approved")
	}
	s.keys("esc", "a")
	s.wants("The value changed since", `{"days":5}`, "[on hold]", "the calendar")
	f = s.m.form.(*approveForm)
	for f.now() != f.disposition {
		s.keys("up")
	}
	s.keys("right")
	s.to(f.save)
	s.keys("enter")
	e, _ := shop.entry(t, birthdayState)
	if now, _ := s.m.heldPrint([]byte(birthdayState)); e.Fingerprint != now || e.Fingerprint == old || e.Disposition != actions.Clear {
		t.Errorf("approved %+v", e)
	}
}

func TestADraftSaysThatTheValueIsNotHeldAnyMore(t *testing.T) {
	s, shop := drafted(t, "esc")
	shop.elsewhere(t, birthdayState, actions.Preserve)
	s.inv.Apply([]inventory.Publication{live(birthdayState, "", expiry.None(), 0)})
	s.tick(rereadAfter)
	s.keys("esc", "3", "a")
	s.wants("The value changed since", "none is held", "The manifest says something else since", "owner somebody, purpose else", "[preserved]", "the calendar")
	if s.m.form.(*approveForm).save.off != "" || shop.decided != 0 {
		t.Errorf("%s", s.frame())
	}
}

func TestWhatWasTypedAboutAWriterWasLostByEsc(t *testing.T) {
	s, shop := retireStage(t, 80, 50)
	s.find(birthdayState)
	s.keys("a")
	f := s.m.form.(*approveForm)
	s.to(f.add)
	s.keys("enter")
	s.to(s.m.form.(*writerForm).evidence)
	s.types("half a sen")
	s.keys("esc", "esc", "a")
	s.wants("A draft is back")
	f = s.m.form.(*approveForm)
	s.to(f.add)
	s.keys("enter")
	s.wants("what was typed here before and not taken over", "half a sen")
	w := s.m.form.(*writerForm)
	s.to(w.evidence)
	s.types("tence")
	s.to(w.done)
	s.keys("enter")
	s.wants("half a sentence")
	s.to(f.add)
	s.keys("enter")
	s.lacks("half a sen")
	s.to(s.m.form.(*writerForm).evidence)
	s.types("something")
	s.to(s.m.form.(*writerForm).back) // "without this"
	s.keys("enter")
	s.to(f.add)
	s.keys("enter")
	s.lacks("something")
	if shop.decided != 0 {
		t.Error("it was saved")
	}
}

func TestAnAnswerToASavingThatWasLeftClosedWhatWasTypedSince(t *testing.T) {
	s, shop := drafted(t, "esc")
	s.keys("a")
	s.send(decidedMsg{entry: actions.Entry{Topic: []byte(birthdayState), Owner: "the calendar"}})
	if f, ok := s.m.form.(*approveForm); !ok || f.owner.String() != "the calendar" || shop.decided != 0 {
		t.Errorf("the form was closed:\n%s", s.frame())
	}
}

func TestDraftScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		s, _ := drafted(t, "esc")
		s.w, s.h = size[0], size[1]
		s.m.w, s.m.h = size[0], size[1]
		s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
		s.keys("a")
		s.wantsProse("A draft is back")
		for range 30 {
			s.keys("down")
		}
		s.wantsProse("empty the draft")
	}
}
