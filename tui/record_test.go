package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

// clearedStage is the house after one clear of the birthday's state.
func clearedStage(t *testing.T, w, h int) (*stage, *workshop) {
	t.Helper()
	s, shop := clearStage(t, w, h, false)
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	if shop.sent != 1 {
		t.Fatalf("%d sent:\n%s", shop.sent, s.frame())
	}
	return s, shop
}

// history gives the record one operation of every verdict, and two without an outcome.
func (w *workshop) history(topics ...string) {
	for i, v := range []actions.Verdict{actions.ClearedVerified, actions.StillPresent, actions.CameBack, actions.Refused, actions.CouldNotVerify, actions.NoAnswer,
		actions.NotSent, actions.Changed, actions.Vanished, actions.Collateral, actions.EmptyReplay} {
		op := w.operation(actions.Request{Topic: []byte(topics[i%len(topics)]), Controls: [][]byte{[]byte("caldates2mqtt/status"), []byte("edge/\x1b[2J")}}, v)
		op.Begun = at0.Add(time.Duration(i-30) * time.Hour)
		w.ops = append(w.ops, op)
	}
	for range 2 {
		op := w.operation(actions.Request{Topic: []byte(topics[0])}, actions.Unknown)
		op.Outcome = nil
		w.ops = append(w.ops, op)
	}
	w.ops[len(w.ops)-1].Baseline = nil
}

func TestRecordScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for name, keys := range map[string][]string{
			"list": {"4", "down"}, "in full": {"4", "end", "enter"}, "recheck": {"4", "down", "r"}, "undo": {"4", "end", "u"}, "collateral": {"4", "down", "down", "down", "u", "down"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, shop := clearStage(t, size[0], size[1], false)
				shop.history(birthdayState, "edge/\x1b[2J\u202e")
				s.keys(keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

func TestWhatHasNoOutcomeIsToldAtTheStartWithAnOfferToReadBack(t *testing.T) {
	inv, shop := house(t), newWorkshop(t)
	shop.inv = inv
	if err := shop.desk.Save(t.Context(), actions.NewManifest(lan)); err != nil {
		t.Fatal(err)
	}
	op := shop.operation(actions.Request{Topic: []byte(birthdayState)}, actions.Unknown)
	op.Outcome = nil
	shop.ops = append(shop.ops, op)
	s := newStage(t, seenAll(watching()), inv, 80, 24, func(o *Options) { o.Retiring = shop })
	s.wantsProse("Unknown: 1 clear was begun and has no outcome")
	s.wants("4 Record!")
	s.keys("4")
	s.wants("UNKNOWN, no outcome", "1 without an outcome: r reads back", birthdayState)
	shop.later = actions.Later{Found: actions.Present, Sentence: "it is served to a new subscription"}
	s.keys("r")
	s.wantsProse("whether the empty message was sent stays unknown, and it is not sent again")
	for range 20 {
		s.keys("r")
	}
	if len(shop.notes) != 0 {
		t.Fatal("the key that opens the question looked again")
	}
	s.keys("down")
	s.types("after the power came back")
	s.keys("enter", "enter")
	if len(shop.notes) != 1 || shop.notes[0] != op.ID+" after the power came back" {
		t.Fatalf("looked again: %q", shop.notes)
	}
	s.wants("It is served to a new subscription.")
	if shop.sent+len(shop.restores) != 0 {
		t.Error("something was sent")
	}
}

func TestUndoStandsOnNoAndPutsBackTheLastVerifiedClear(t *testing.T) {
	s, shop := clearedStage(t, 80, 40)
	for range 30 {
		s.keys("u")
	}
	s.wants("Put back "+birthdayState, "58 B", `"days":7`, "nothing is shown to this login")
	s.keys("enter", "enter")
	if len(shop.restores) != 0 {
		t.Fatal("the first answer put it back")
	}
	s.keys("u", "down", "enter")
	if len(shop.restores) != 1 || shop.restores[0].Overwrite != "" || string(shop.restores[0].Topic) != birthdayState {
		t.Fatalf("restored %+v", shop.restores)
	}
	s.tick(time.Second)
	s.wants("put back, the same", "bytes, properties and expiry are the same")
	s.keys("4")
	s.wants("put back since")
	s.keys("1", "u")
	s.wantsProse("u is off: the record holds no verified clear that was not put back")
}

func TestWhatLiesThereByNowIsOverwrittenOnlyByTheWord(t *testing.T) {
	s, shop := clearedStage(t, 80, 40)
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":1}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.keys("u")
	s.wants("SOMETHING, fingerprint", `{"days":1}`)
	f := s.m.form.(*undoForm)
	s.to(f.send)
	s.keys("enter", "enter")
	if len(shop.restores) != 0 {
		t.Fatal("what is there was overwritten without the word")
	}
	s.typeWord("state")
	// It changes again: what was typed was about another value.
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":0}`, expiry.None(), 0)})
	s.keys("enter")
	if len(shop.restores) != 0 {
		t.Fatal("another value was overwritten than the one shown")
	}
	s.tick(time.Second)
	s.typeWord("state")
	want, _ := s.m.heldPrint([]byte(birthdayState))
	s.keys("enter")
	if len(shop.restores) != 1 || shop.restores[0].Overwrite != want {
		t.Fatalf("restored %+v, shown was %s", shop.restores, want)
	}
}

func TestANeighbourThatWentCanBePutBack(t *testing.T) {
	s, shop := clearStage(t, 80, 40, false)
	shop.verdict = actions.Collateral
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	s.wants("ALARM: MORE WENT")
	s.wantsProse("u offers to put it back")
	lost := shop.ops[0].Outcome.Controls[0].Topic
	s.inv.Apply([]inventory.Publication{live(string(lost), "", expiry.None(), 0)})
	s.tick(time.Second)
	s.keys("u")
	f := s.m.form.(*undoForm)
	s.to(f.what)
	s.keys("right")
	s.wants("Put back " + string(lost))
	s.to(f.send)
	s.keys("enter")
	if len(shop.restores) != 1 || string(shop.restores[0].Topic) != string(lost) || shop.restores[0].Operation != shop.ops[0].ID {
		t.Fatalf("restored %+v", shop.restores)
	}
}

func TestWhatCannotBePutBackSaysWhy(t *testing.T) {
	s, shop := clearedStage(t, 80, 40)
	shop.ops[0].Baseline.Topic.Saved = false
	s.keys("u")
	s.wantsProse("were more than the limit for undo")
	s.keys("down", "enter", "esc")
	shop.ops[0].Baseline.Topic.Saved, shop.ops[0].Baseline.Topic.Expiry, shop.ops[0].Baseline.Topic.Seconds = true, "finite", 3
	s.keys("u")
	s.tick(4 * time.Second)
	s.wantsProse("its expiry has run out")
	s.keys("down", "enter", "esc")
	shop.ops[0].Intent.Broker.URL = "mqtt://elsewhere"
	s.keys("u")
	s.wantsProse("another broker")
	s.keys("down", "enter")
	if len(shop.restores) != 0 {
		t.Fatal("put back")
	}
}

// TestALargeRecordHoldsUpNoKey: reading runs as a command, says how far it is, and can be left.
func TestALargeRecordHoldsUpNoKey(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	shop.history(birthdayState)
	one := shop.ops[0]
	for i := range 30_000 {
		one.ID = fmt.Sprintf("20260313-%06d-%d", i, i)
		shop.ops = append(shop.ops, one)
	}
	shop.reading = func(read func(int64)) {
		read(40_000)
		s.tick(s.m.o.refresh())
		s.wants("reading, 40 000 lines so far")
		s.keys("down", "3", "1", "4")
		s.wants("reading, 40 000 lines so far")
		shop.reading = nil // the second time it is read at once
	}
	s.keys("4")
	s.tick(7 * time.Second)
	s.wants("30 013 operations", "operation 1 of 30 013")
	var slowest time.Duration
	for _, k := range []string{"down", "end", "pgup", "home", "pgdown", "enter", "end", "esc"} {
		start := time.Now()
		s.keys(k)
		slowest = max(slowest, time.Since(start))
	}
	t.Logf("the slowest key took %v", slowest)
	shop.reading = func(read func(int64)) {
		read(10)
		s.keys("esc")
		shop.reading = nil
	}
	s.keys("1", "4")
	s.wants("Reading was stopped")
	if s.quit || s.m.screen != recordPage {
		t.Error("esc left the screen")
	}
}

func TestTheRecordIsCheckedOnAsking(t *testing.T) {
	s, shop := clearedStage(t, 80, 24)
	shop.verification = actions.Verification{Lines: 12, HeadFits: true, Head: "the end is the one that was written down"}
	s.keys("4", "v")
	s.wants("All 12 lines are as they were written.")
	shop.verification.Bad = &actions.BadLine{File: "home.record.jsonl", Line: 7, Seq: 7, Why: "its digest differs"}
	s.keys("v")
	s.wantsProse("The record was changed or is broken")
	shop.verification = actions.Verification{Lines: 3, Head: "3 lines are missing at the end"}
	s.keys("v")
	s.wants("the end is another")
}

func TestAnOperationInFullHoldsNothingThatATerminalWouldActOn(t *testing.T) {
	s, shop := clearStage(t, 80, 24, false)
	shop.history("edge/\x1b[2J\u202e")
	s.keys("4")
	for range len(shop.ops) {
		s.keys("enter", "end", "esc", "down")
	}
	if strings.Contains(s.frame(), "\x1b[2J") {
		t.Error("an escape sequence is on the screen")
	}
}

func TestATopicThatCameBackBeforeIsNotClearedAgainWithoutAWord(t *testing.T) {
	s, shop := clearStage(t, 80, 60, false)
	shop.verdict = actions.CameBack
	s.keys("x")
	s.typeWord("state")
	s.keys("enter", "x")
	s.wants("x is off: operation", "used the approval")
	s.keys("3", "enter")
	s.wantsProse("Used up, there again. Operation")
	s.keys("esc")
	s.wants("0 approved", "1 used up") // and not as approved
	s.keys("esc", "/")
	s.types("is:approved")
	s.keys("enter")
	s.wants("0 topics")
	s.keys("/", "ctrl+u")
	s.types(birthdayState)
	s.keys("enter")
	// Approved anew it can be cleared again.
	shop.ops[0].Intent.Entry.ApprovedAt = at0.Add(-time.Hour)
	s.keys("4", "1", "x")
	s.wantsProse("already: came back. Somebody still writes it; to clear it again and again retires nothing")
}

func TestATopicThatIsThereAgainIsNotShownAsCleared(t *testing.T) {
	s, shop := clearStage(t, 120, 40, false)
	s.keys("x")
	s.typeWord("state")
	s.keys("enter", "4")
	s.wants("cleared and verified   caldates2mqtt")
	shop.inv.Apply([]inventory.Publication{live(birthdayState, "again", expiry.None(), 0)})
	s.keys("1", "4")
	s.wants("cleared, there again")
	s.keys("enter")
	s.wantsProse("The topic is there again")
	s.keys("esc", "3")
	s.wants("there again")
}

func TestAClearOfThisProgramIsNotCountedAsSomebodyElses(t *testing.T) {
	inv := house(t)
	s := newStage(t, seenAll(watching()), inv, 120, 40, func(*Options) {})
	p := live(birthdayState, "", expiry.None(), 0)
	p.Origin = inventory.Own
	inv.Apply([]inventory.Publication{p})
	s.keys("6")
	s.wants("1 cleared by someone, 1 cleared from here", "cleared from here     caldates2mqtt/birthday/state")
}

func TestARecordThatWasChangedIsToldAtTheStartAndWhenItIsReadOn(t *testing.T) {
	changed := actions.Verification{Bad: &actions.BadLine{File: "home.record.jsonl", Line: 3, Seq: 3, Why: "it was changed after it was written"}}
	inv, shop := house(t), newWorkshop(t)
	shop.inv, shop.check = inv, changed
	s := newStage(t, seenAll(watching()), inv, 120, 40, func(o *Options) { o.Retiring = shop })
	s.wantsProse("The record is not as it was written: home.record.jsonl, line 3")
	s.wants("4 Record!")
	s.keys("4")
	s.wants("NOT AS IT WAS WRITTEN: v checks")

	s, shop = clearStage(t, 120, 40, false)
	s.lacks("4 Record!")
	shop.check = changed
	s.keys("x")
	s.typeWord("state")
	s.keys("enter")
	s.wantsProse("The record is not as it was written: home.record.jsonl, line 3")
	// It is told once, not after every act again.
	s.tick(time.Hour)
	s.send(s.m.readRecord()())
	s.lacks("The record is not as it was written")
	s.wants("4 Record!")
}

// TestAClearThatRunsInAnotherProcessIsNotUnknownOnTheScreen has tab 4 say who runs it, and follow without a key when it ends.
func TestAClearThatRunsInAnotherProcessIsNotUnknownOnTheScreen(t *testing.T) {
	inv, shop := house(t), newWorkshop(t)
	shop.inv = inv
	if err := shop.desk.Save(t.Context(), actions.NewManifest(lan)); err != nil {
		t.Fatal(err)
	}
	op := shop.operation(actions.Request{Topic: []byte(birthdayState)}, actions.Unknown)
	op.Outcome, op.Running = nil, "process 4711"
	shop.ops = append(shop.ops, op)
	s := newStage(t, seenAll(watching()), inv, 80, 24, func(o *Options) { o.Retiring = shop })
	s.lacks("Unknown:")
	s.lacks("4 Record!")
	s.keys("4")
	s.wants("runs: process 4711", birthdayState)
	s.lacks("UNKNOWN")
	s.lacks("without an outcome")
	s.keys("r")
	s.wantsProse("r is off: it is running, by process 4711: there is no outcome yet")
	s.keys("enter")
	s.wantsProse("Operation " + op.ID + ": running, by process 4711, provisional.")

	ended := shop.operation(actions.Request{Topic: []byte(birthdayState)}, actions.ClearedVerified)
	ended.ID = op.ID
	shop.ops[0] = ended
	s.tick(3 * time.Second)
	s.lacks("4711")
	s.keys("esc")
	s.wants("cleared, there again") // the house still has it
	s.lacks("runs:")

	// One that was killed is unknown from then on.
	shop.ops[0] = op
	s.keys("1", "4")
	s.wants("runs: process 4711")
	shop.ops[0].Running = ""
	s.tick(3 * time.Second)
	s.wants("UNKNOWN, no outcome", "1 without an outcome")
}
