package tui

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestPausedRowsWereReadAnewUnderTheCursor(t *testing.T) {
	for _, flat := range []bool{true, false} {
		s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
		if flat {
			s.keys("t", "s", "s", "s") // by the last live publication
		} else {
			s.keys("*")
		}
		s.keys("p")
		var before []string
		for range 40 {
			r, _ := s.m.row()
			before = append(before, string(r.Prefix)+" "+s.line("› "))
			s.keys("down")
		}
		s.keys("home")
		for i := range 300 {
			s.inv.Apply([]inventory.Publication{live("brand/"+number(int64(i)), "x", expiry.Seconds(9), 0), live("gas2mqtt/counter/state", number(int64(i)), expiry.Seconds(99), 0)})
		}
		s.src.cov.Seen = 1
		s.send(changedMsg{})
		s.tick(time.Minute)
		s.keys("up")
		for i, want := range before {
			r, _ := s.m.row()
			if got := string(r.Prefix) + " " + s.line("› "); got != want {
				t.Fatalf("flat %v, row %d is\n%s\nit was\n%s", flat, i, got, want)
			}
			s.keys("down")
		}
		s.keys("end", "home", "pgdown")
		s.wants("330 retained", "seen 330 of 330")
		s.keys("p")
		s.wants("630 retained")
	}
}

func TestPausedDetailShowedAPayloadThatCameLater(t *testing.T) {
	s := small(t)
	s.keys("t", "enter")
	s.wants("one")
	s.keys("p")
	s.inv.Apply([]inventory.Publication{live("a/1", "another", expiry.None(), 0), live("a/2", "another", expiry.None(), 0)})
	s.keys("down")
	s.wants("one")
	s.keys("n")
	s.wants("a/2", "It changed since the picture is held still")
	s.lacks("another")
	s.keys("p")
	s.wants("another")
}

func TestKeysThatNeedTheStoreAreOffWhilePaused(t *testing.T) {
	s := small(t)
	s.keys("p")
	for _, k := range []string{"right", "left", "t", "*", "-", "/", "o", "e", "r"} {
		s.keys(k)
		s.wants("is off: the picture is held still; p moves on")
		if s.m.filter.active || s.m.dialog != nil || s.src.rescans != 0 {
			t.Fatalf("%s did something", k)
		}
		s.m.toast.text = ""
	}
}

func TestPausedReadingsWentOn(t *testing.T) {
	s, k := leftStage(t, 80, 24)
	s.types("/caldates2mqtt/birthday/state")
	s.keys("enter", "end", "p")
	s.wants("left: not named")
	k.phrases["caldates2mqtt/birthday/state"] = Phrase{Text: "owner online"}
	s.tick(time.Second)
	s.keys("up", "down", "end")
	s.wants("left: not named")
	s.lacks("owner online")
	s.keys("2")
	s.wants("2 is off: the picture is held still")
	s.keys("p")
	s.wants("owner online")
}

// TestPausedEvidenceWentOn: the pane showed what the readings rest on as it was a moment ago, beside a held payload.
func TestPausedEvidenceWentOn(t *testing.T) {
	s, k := leftStage(t, 80, 60)
	const topic = "caldates2mqtt/birthday/state"
	s.types("/" + topic)
	s.keys("enter", "end", "enter")
	s.wants("guessed by", "and 39 more")
	s.keys("p")
	k.evidence[topic] = Evidence{Phrase: Phrase{Text: "owner online"}, Owner: "somebody else"}
	s.tick(time.Second)
	s.keys("down", "up")
	s.wants("guessed by", "and 39 more")
	s.lacks("somebody else")
	s.keys("p")
	s.wants("somebody else")
}

// TestPausedEvidenceOfWhatWasNotInSightIsNotMadeUp is a row that was kept and that nobody asked about in time.
func TestPausedEvidenceOfWhatWasNotInSightIsNotMadeUp(t *testing.T) {
	s, k := leftStage(t, 80, 24)
	s.keys("t", "p")
	for topic := range k.phrases {
		k.evidence[topic] = Evidence{Owner: "somebody else"}
	}
	s.keys("end", "enter")
	s.wants("was not in sight when")
	for range 40 {
		s.lacks("somebody else")
		s.keys("N")
	}
}
