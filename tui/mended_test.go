package tui

import (
	"strings"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

func TestAFaultyFilterShowedTheRowsOfAnOlderTextAsIfInForce(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 120, 40, nil)
	s.types("/is:x")
	s.wantsProse("The list still shows what passes: is")
	s.keys("enter")
	s.wantsProse("Not kept:")
	if !s.m.filter.active {
		t.Fatal("enter kept a text that cannot be read")
	}
	s.keys("ctrl+u")
	s.types("size>")
	s.wantsProse("The list still shows")
	s.keys("esc")
	s.lacks("The list still shows")
	s.types("/nothing like it size>")
	s.wantsProse("No topic passes nothing like it")
	low := newStage(t, seenAll(watching()), house(t), 40, 10, nil)
	low.types("/is:x")
	low.wants("faulty; listed: is")
}

func TestAKeyOfAnotherScreenWasDeadWithoutAWord(t *testing.T) {
	s, _ := clearStage(t, 80, 24, false)
	s.keys("2", "/")
	s.wants("/ is off here: it is a key of the topics (1)")
	s.keys("t")
	s.wants("t is off here")
	s.keys("6", "b")
	s.wants("b is off here: it is a key of what looks left behind (2)")
	s.keys("1", "enter")
	if s.m.scope() != inDetail {
		t.Fatal("the detail is not open")
	}
	s.keys("t")
	s.wants("t is off here: it is a key of the list; esc goes back")
	s.keys("/")
	if s.m.focus || !s.m.filter.active {
		t.Fatalf("/ does nothing in the detail:\n%s", s.frame())
	}
}

func TestTheFilterOfTheTopicsStoodOverOtherScreensAndWentWithoutAWord(t *testing.T) {
	s, _ := clearStage(t, 120, 40, false)
	s.keys("esc")
	s.types("/never")
	s.keys("enter", "2")
	s.lacks("/ never")
	s.goLeft(birthdayState)
	s.keys("enter")
	s.wantsProse("The filter never was let go of: all topics are listed.")
	s.wantCursor(birthdayState)
}

// goLeft goes down on the screen of what looks left behind until the cursor is on a topic.
func (s *stage) goLeft(topic string) {
	s.t.Helper()
	for range 100 {
		if r, _ := s.m.left.row(); r.member != nil && r.member.Topic == topic {
			return
		}
		s.keys("down")
	}
	s.t.Fatalf("%s is not on the screen:\n%s", topic, s.frame())
}

func TestOnANarrowScreenWhatLooksLeftBehindDidNotMarkWhatWasApproved(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 10}, {120, 40}} {
		s, _ := clearStage(t, size[0], size[1], false)
		s.keys("esc", "2")
		s.goLeft(birthdayState)
		if row := s.line("› "); !strings.Contains(row, "appr") {
			t.Errorf("%dx%d: the row is %q", size[0], size[1], row)
		}
	}
}

func TestWhoLooksAtWhatIsLeftBehindActedOnTheNextRowWhenHisWent(t *testing.T) {
	s, _ := clearStage(t, 120, 40, false)
	s.keys("esc", "2")
	s.goLeft(birthdayState)
	without := s.m.left.data
	without.Groups = append([]Group(nil), without.Groups...)
	for i, g := range without.Groups {
		var kept []Member
		for _, x := range g.Members {
			if x.Topic != birthdayState {
				kept = append(kept, x)
			}
		}
		without.Groups[i].Members = kept
	}
	on := func() string {
		r, _ := s.m.left.row()
		if r.member == nil {
			return ""
		}
		return r.member.Topic
	}
	with := s.m.left.data
	s.send(leftMsg{data: without})
	if on() != birthdayState {
		t.Fatalf("the cursor is on %q:\n%s", on(), s.frame())
	}
	s.wants(wordNotListed)
	s.send(leftMsg{data: with})
	if on() != birthdayState {
		t.Fatalf("the cursor is on %q:\n%s", on(), s.frame())
	}
	s.lacks(wordNotListed)
	with.Groups = with.Groups[:1]
	s.send(leftMsg{data: with})
	if on() != birthdayState {
		t.Fatalf("the cursor is on %q:\n%s", on(), s.frame())
	}
}

func TestTheApprovalDidNotSayInWhoseNameItIs(t *testing.T) {
	s, shop := retireStage(t, 120, 60)
	s.find(birthdayState)
	s.keys("a")
	s.lacks("approved by")
	s.keys("right")
	s.wants("approved by", shop.terms.By+" (the user of this system)")
}

func TestADraftedEntryTookTheGuessOutOfTheApproval(t *testing.T) {
	s, shop := retireStage(t, 120, 60)
	if err := shop.desk.Decide(t.Context(), lan, nil, actions.Entry{Topic: []byte(birthdayState), Reason: "of the draft"}, actions.Protection{}, shop.person); err != nil {
		t.Fatal(err)
	}
	s.find(birthdayState)
	s.keys("3", "1", "a")
	f, ok := s.m.form.(*approveForm)
	if !ok {
		t.Fatalf("no approval is open:\n%s", s.frame())
	}
	if f.owner.String() != f.guess.Owner || f.guess.Owner == "" || f.reason.String() != "of the draft" {
		t.Fatalf("owner %q, why %q:\n%s", f.owner.String(), f.reason.String(), s.frame())
	}
	s.to(f.owner)
	s.keys("ctrl+u")
	s.to(f.purpose)
	s.keys("ctrl+u")
	s.to(f.disposition)
	s.keys("right")
	s.wants("whose it is and what the value is for were not said", "a guess is "+f.guess.Owner)
}

func TestBranchRowsCountedWhatDoesNotPassTheFilter(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for i := range 6 {
		e := expiry.None()
		if i%2 > 0 {
			e = expiry.Seconds(900)
		}
		inv.Apply([]inventory.Publication{retained("plant/"+number(int64(i)), "x", e)})
	}
	for _, w := range []int{120, 80, 40} {
		s := newStage(t, watching(), inv, w, 24, nil)
		s.types("/-is:never")
		s.keys("enter", "g")
		row := s.line("› ")
		if !strings.Contains(row, "plant (3)") || !strings.Contains(row, "of 6") || strings.Contains(row, "never") || strings.Contains(row, "expire") {
			t.Errorf("at %d columns: %q", w, row)
		}
	}
}

func TestHalfOfWhatAClearCameToWasCutAtEightyColumns(t *testing.T) {
	s := newStage(t, watching(), house(t), 80, 24, nil)
	text := "Cleared and verified, PROVISIONAL. " + strings.Repeat("The observer did not see it again. ", 11) + "Of 3 controls 3 intact."
	s.m.announce(fine, text)
	s.run(s.m.settle(true))
	s.wantsProse(text[:40])
	if got := strings.Count(s.frame(), "observer"); got != 11 {
		t.Errorf("%d of 11 sentences:\n%s", got, s.frame())
	}
	s.lacks("…Of")
}

func TestNamesThatWereCutLookedTheSame(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for _, d := range []string{"kitchen", "cellar", "bathroom_upstairs"} {
		inv.Apply([]inventory.Publication{retained("homeassistant/sensor/"+d+"_temperature/config", "x", expiry.None())})
	}
	for _, w := range []int{40, 60} {
		s := newStage(t, watching(), inv, w, 10, nil)
		s.keys("t")
		s.wants("kitchen", "cellar", "bathroom")
	}
}

func TestTheRowOfAClearedTopicWasCutAtItsEnd(t *testing.T) {
	s, _ := clearStage(t, 80, 24, false)
	s.keys("esc", "t", "t")
	const long = "homeassistant/sensor/a_device_with_a_long_name/config"
	s.m.acts = []*act{{topic: []byte(long), over: true, overAt: s.now, op: actions.Operation{}}}
	s.m.list.spec.Tree = true
	s.m.list.goal = []byte(long)
	s.run(s.m.relist())
	s.keys("*")
	if row := s.line("› "); !strings.Contains(row, "/config") {
		t.Fatalf("its end is cut: %q\n%s", row, s.frame())
	}
}

func TestNothingLooksLeftBehindWasSaidOfAStoreThatNobodyCouldRead(t *testing.T) {
	src := watching()
	src.cov.Claim = inventory.Unverified
	s := newStage(t, src, inventory.New(inventory.Options{}), 80, 24, func(o *Options) { o.Readings = incidents() })
	s.send(leftMsg{})
	s.keys("2")
	s.send(leftMsg{})
	s.wantsProse("No retained topic was shown to this login, so nothing was judged.")
	s.lacks("Nothing looks left behind")
	full, _ := retireStage(t, 80, 24)
	full.src.cov.Claim = inventory.Unverified
	full.send(changedMsg{})
	full.tick(time.Second)
	full.keys("2")
	full.send(leftMsg{data: LeftBehind{Prefixes: full.m.left.data.Prefixes}})
	full.wantsProse("What was shown to this login is Unverified")
}

func TestANarrowReadingLeftOutWhatItIsAbout(t *testing.T) {
	for text, want := range map[string]string{"changed since approval": "not as approved", "left behind: owner offline": "left: offline"} {
		if got := inCells(text, 18); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestALowScreenCutWordsWithoutASign(t *testing.T) {
	s, shop := retireStage(t, 40, 10)
	shop.terms.Manifest = "/var/lib/retainscope/" + strings.Repeat("manifests-of-the-house/", 12) + "mqtt.toml"
	s.keys("3")
	s.wants("more lines")
}

func TestAKeyWasTakenForTheEntryThatCameToStandUnderTheCursor(t *testing.T) {
	for _, full := range []bool{false, true} {
		s, shop := clearStage(t, 80, 24, false)
		shop.elsewhere(t, "z/last", actions.Preserve)
		s.keys("3", "g")
		if r, ok := s.m.approvedRow(); !ok || string(r.Topic) != birthdayState {
			t.Fatalf("the cursor is elsewhere:\n%s", s.frame())
		}
		if full {
			s.keys("enter")
		}
		msg := s.m.readManifest()().(manifestMsg)
		with := msg
		msg.text, msg.entries = "without", nil
		for _, e := range with.entries {
			if string(e.Topic) != birthdayState {
				msg.entries = append(msg.entries, e)
			}
		}
		s.send(msg)
		s.wantsProse("is not in the manifest any more")
		for _, k := range []string{"a", "x", "w", "u"} {
			s.keys(k)
			if s.m.form != nil || s.m.dialog != nil {
				t.Fatalf("%s acted on another entry:\n%s", k, s.frame())
			}
		}
		s.send(with)
		if r, ok := s.m.approvedRow(); !ok || string(r.Topic) != birthdayState {
			t.Fatalf("it is back and the cursor is not:\n%s", s.frame())
		}
		s.send(msg)
		s.keys("esc", "3", "down")
		if r, ok := s.m.approvedRow(); !ok || string(r.Topic) != "z/last" {
			t.Fatalf("the cursor does not move on:\n%s", s.frame())
		}
	}
}
