package tui

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"retainscope/actions"
	"retainscope/expiry"
	"retainscope/inventory"
)

const birthdayState = "caldates2mqtt/birthday/state"

// retireStage is the house with a workshop, the readings of the incidents, and the cursor on the birthday's state.
func retireStage(t *testing.T, w, h int) (*stage, *workshop) {
	t.Helper()
	inv, k, shop := house(t), incidents(), newWorkshop(t)
	shop.inv = inv
	s := newStage(t, seenAll(watching()), inv, w, h, func(o *Options) { o.Readings, o.Retiring, o.ExportDir = k, shop, t.TempDir() })
	return s, shop
}

// find filters for one topic and puts the cursor on it.
func (s *stage) find(topic string) {
	s.t.Helper()
	s.keys("esc", "/")
	s.types(topic)
	s.keys("enter")
	if !s.m.list.spec.Tree {
		return
	}
	s.keys("t", "home")
}

func TestApprovalScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for name, keys := range map[string][]string{
			"opened": {"a"}, "clear chosen": {"a", "right", "end"}, "writer": {"a", "down", "down", "down", "down", "enter"},
			"at the end": {"a", "right", "down", "down", "down", "down", "down", "down"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, _ := retireStage(t, size[0], size[1])
				s.find(birthdayState)
				s.keys(keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

func TestTheKeyThatOpensTheApprovalApprovesNothing(t *testing.T) {
	s, shop := retireStage(t, 80, 24)
	s.find(birthdayState)
	for range 200 {
		s.keys("a")
	}
	for range 200 {
		s.keys("enter")
	}
	if f, ok := s.m.form.(*approveForm); ok && f.dirty() || shop.decided != 0 {
		t.Fatalf("a repeated key wrote into the form or saved it %d times:\n%s", shop.decided, s.frame())
	}
	s.send(tea.PasteMsg{Content: "\n\nclear\r\n"})
	s.keys("esc", "esc")
	if _, ok := shop.entry(t, birthdayState); ok || s.m.form != nil {
		t.Error("something was saved, or the form stays")
	}
}

// approveWith goes through the form: the value may be cleared, by a writer that is stopped.
func (s *stage) approveWith(evidence string) {
	s.t.Helper()
	s.keys("a")
	f, ok := s.m.form.(*approveForm)
	if !ok {
		s.t.Fatalf("no approval is open:\n%s", s.frame())
	}
	for range 3 {
		if f.disposition.chosen != 1 { // on a low screen the first key brings it into sight
			s.keys("right")
		}
	}
	if evidence != "" {
		s.to(f.add)
		s.keys("enter")
		w := s.m.form.(*writerForm)
		for w.state.chosen != 1 {
			s.keys("right")
		}
		s.to(w.evidence)
		s.types(evidence)
		s.to(w.will)
		s.keys("right", "right")
		s.to(w.done)
		s.keys("enter")
	}
	s.to(f.save)
	s.keys("enter")
}

// to moves the cursor of the form to a place, by keys.
func (s *stage) to(x *place) {
	s.t.Helper()
	b := s.m.form.base()
	for range 2 * len(b.all) {
		if b.now() == x {
			return
		}
		s.keys("down")
	}
	for b.now() != x && b.at > 0 {
		s.keys("up")
	}
	if b.now() != x {
		s.t.Fatalf("the place %s is not reached:\n%s", x.label, s.frame())
	}
}

func TestAnApprovalIsSavedAtOnceAndSaysEverywhereThatItIsProvisional(t *testing.T) {
	s, shop := retireStage(t, 120, 40)
	s.find(birthdayState)
	s.approveWith("")
	s.wants("Approved, provisional: no writer is named", "provisional approval")
	e, ok := shop.entry(t, birthdayState)
	if !ok || e.CheckApproval() != nil || e.Owner != "caldates2mqtt" || e.Purpose != "state" || e.ApprovedBy != "kim" || len(e.Writers) != 0 {
		t.Fatalf("saved was %+v", e)
	}
	s.wants("Manifest  provisional approval", "no writer is named")
	s.keys("3")
	s.wants("provisional approval", birthdayState, "kim")
	s.keys("enter")
	s.wants("The approval is provisional", "None named" /* writers */)
}

func TestAnApprovalWithAWriterThatIsStoppedIsNotProvisional(t *testing.T) {
	s, shop := retireStage(t, 120, 40)
	s.find(birthdayState)
	s.approveWith("stopped by systemctl, journal ends 13:58")
	e, ok := shop.entry(t, birthdayState)
	if !ok || len(e.Provisional()) != 0 || len(e.Writers) != 1 {
		t.Fatalf("saved was %+v, open %q", e, e.Provisional())
	}
	if x := e.Writers[0]; x.Name != "caldates2mqtt" || x.State != actions.Stopped || x.Will != actions.WillDiscarded || x.EvidenceAt.IsZero() {
		t.Errorf("the writer is %+v", x)
	}
	s.lacks("provisional")
	s.wants("Approved; nothing was sent.")
	if line := s.line("› "); !strings.Contains(line, "approved") {
		t.Errorf("the row says %q", line)
	}
	// The same owner's next topic takes the writers over, and nothing else is chosen.
	s.find("caldates2mqtt/birthday/availability")
	s.m.o.Readings.(*known).evidence["caldates2mqtt/birthday/availability"] = Evidence{Owner: "caldates2mqtt", Rule: "it lies there"}
	s.keys("a")
	s.wants("[on hold]", "as said of "+birthdayState, "stopped by systemctl")
	// Only the exact topic is approved.
	s.keys("esc", "esc", "/")
	s.types("is:approved")
	s.keys("enter")
	s.wants("1 topic")
	// An approval whose value changed is none any more.
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.tick(time.Second) // marked by then, and listed anew
	s.wants("0 topics")
	s.keys("3")
	s.wants("0 approved", "1 changed since approval")
}

func TestAValueThatChangesWhileItsApprovalIsOpenIsNotApproved(t *testing.T) {
	s, shop := retireStage(t, 80, 40)
	s.find(birthdayState)
	s.keys("a", "right")
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":6}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.to(s.m.form.(*approveForm).save)
	s.wantsProse("the value is not the one shown any more")
	s.keys("enter", "enter")
	if shop.decided != 0 {
		t.Fatal("a value that nobody saw was approved")
	}
	// An approval of a value that changed later has to be chosen anew.
	s.keys("esc")
	s.approveWith("")
	s.inv.Apply([]inventory.Publication{live(birthdayState, `{"days":5}`, expiry.None(), 0)})
	s.tick(time.Second)
	s.wants("not as approved")
	s.keys("a")
	s.wants("changed since approval", "[on hold]")
}

func TestWhatSomebodyElseWroteMeanwhileIsNotOverwritten(t *testing.T) {
	s, shop := retireStage(t, 80, 40)
	s.find(birthdayState)
	s.keys("a", "right")
	f := s.m.form.(*approveForm)
	other := f.entry()
	other.Owner, other.Disposition = "somebody else", actions.Preserve
	if err := shop.desk.Decide(t.Context(), lan, nil, other, actions.Protection{}, shop.person); err != nil {
		t.Fatal(err)
	}
	s.to(f.save)
	s.keys("enter")
	s.wantsProse("the manifest says something else about this topic than was shown here")
	if e, _ := shop.entry(t, birthdayState); e.Owner != "somebody else" {
		t.Fatalf("overwritten with %+v", e)
	}
	s.keys("esc", "a")
	s.wants("somebody else", "to be preserved", "[preserved]")
}

func TestWhatIsProtectedOrOfAnotherBrokerCannotBeApproved(t *testing.T) {
	s, shop := retireStage(t, 80, 40)
	guard, err := actions.Protect([]string{"caldates2mqtt/#"})
	if err != nil {
		t.Fatal(err)
	}
	shop.terms.Protection = guard
	s.find(birthdayState)
	s.keys("a", "right")
	s.to(s.m.form.(*approveForm).save)
	s.wantsProse("protects it")
	s.keys("enter")
	if shop.decided != 0 {
		t.Fatal("a protected topic was approved")
	}
	s.keys("esc")
	shop.terms.Protection = actions.Protection{}
	s.tick(11 * time.Second)
	s.approveWith("")
	shop.terms.Broker.URL = "mqtt://elsewhere"
	s.tick(11 * time.Second)
	s.keys("a")
	s.wantsProse("a is off: another broker")
	s.keys("3")
	s.wants("another broker")
	if s.inv.Counts().Topics == 0 || strings.Contains(s.line(birthdayState), "provisional approval") {
		t.Error("an approval for another broker counts here")
	}
}

func TestAnApprovalIsTakenBackAfterAQuestion(t *testing.T) {
	s, shop := retireStage(t, 80, 24)
	s.find(birthdayState)
	s.approveWith("")
	s.keys("3", "w", "enter")
	if e, _ := shop.entry(t, birthdayState); e.Disposition != actions.Clear {
		t.Fatal("the first answer took it back")
	}
	s.keys("w", "down", "enter")
	if e, ok := shop.entry(t, birthdayState); !ok || e.Disposition != actions.Hold || e.ApprovedBy != "" || e.Owner == "" {
		t.Fatalf("on hold, and yet %+v", e)
	}
	s.wants("on hold")
	s.keys("w")
	s.wants("w is off: it is on hold")
}

func TestAGroupIsGoneThroughTopicByTopic(t *testing.T) {
	s, shop := retireStage(t, 120, 40)
	s.keys("2", "*", "home", "down")
	for range 40 {
		if r, ok := s.m.left.row(); ok && r.group != nil && r.group.Device == "birthday" && r.member == nil && r.reason == nil {
			break
		}
		s.keys("down")
	}
	s.keys("a")
	// From the head of a group one of its topics is opened: which of how many is said.
	s.wants("Approve 1 of 3: homeassistant/sensor/caldates2mqtt/birthday_days/config", "[on hold]")
	f := s.m.form.(*approveForm)
	s.to(f.owner)
	s.types("caldates2mqtt")
	s.to(f.purpose)
	s.types("config")
	s.to(f.save)
	s.keys("enter")
	s.wants("The next topic of this group?", birthdayState)
	s.keys("down", "enter")
	s.wants("Approve 2 of 3: "+birthdayState, "[on hold]")
	if shop.decided != 1 {
		t.Errorf("%d decisions", shop.decided)
	}
	s.keys("esc")
}

func TestALookalikeNameIsShownEscapedInItsApproval(t *testing.T) {
	s, _ := retireStage(t, 80, 24)
	name := "caldates2mqtt/birth\u200bday/sta\u202ete"
	s.inv.Apply([]inventory.Publication{retained(name, "x", expiry.None())})
	s.find("birth")
	s.keys("/", "ctrl+u")
	s.types("is:odd birth")
	s.keys("enter", "a")
	s.wants(`birth\u200bday`, "bytes")
}

func TestWhatIsPastedIsTypedAndNothingElse(t *testing.T) {
	s, _ := retireStage(t, 80, 24)
	s.find(birthdayState)
	s.keys("a")
	f := s.m.form.(*approveForm)
	s.send(tea.PasteMsg{Content: "clear"})
	if f.dirty() {
		t.Fatal("pasted text chose something")
	}
	s.to(f.purpose)
	s.keys("ctrl+u")
	s.send(tea.PasteMsg{Content: "days until\r\nthe birthday"})
	if got := f.purpose.String(); got != "days until  the birthday" {
		t.Errorf("the purpose is %q", got)
	}
	if s.m.form != form(f) {
		t.Error("the form is closed")
	}
}

func TestApprovedScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for name, keys := range map[string][]string{"list": {"3"}, "in full": {"3", "down", "down", "enter"}, "nothing": {"3"}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, shop := retireStage(t, size[0], size[1])
				if name != "nothing" {
					shop.fill(t, s)
				}
				s.keys(keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

// fill writes entries of every standing, and one with bytes that a terminal would act on.
func (w *workshop) fill(t *testing.T, s *stage) {
	t.Helper()
	silent := actions.Writer{Name: "caldates2mqtt", Kind: actions.Service, State: actions.Stopped, Evidence: "unit is disabled", EvidenceAt: at0.Add(-time.Hour), Will: actions.WillNone}
	for _, x := range []struct {
		topic string
		d     actions.Disposition
		print string
		ws    []actions.Writer
	}{
		{birthdayState, actions.Clear, "", []actions.Writer{silent}},
		{"caldates2mqtt/birthday/availability", actions.Clear, "", nil},
		{"airthings2mqtt-upper/airthings/state", actions.Clear, strings.Repeat("0f", 32), []actions.Writer{silent, {Name: "evil\x1b[2J", Evidence: "\u202e"}}},
		{"caldates2mqtt/removed/state", actions.Clear, strings.Repeat("0f", 32), []actions.Writer{silent}},
		{"caldates2mqtt/status", actions.Preserve, "", nil},
		{"edge/\x1b[2J\u202e", actions.Hold, "", nil},
	} {
		e := actions.Entry{Topic: []byte(x.topic), Owner: "caldates2mqtt", Purpose: "state", Disposition: x.d, Fingerprint: x.print, Writers: x.ws}
		if e.Fingerprint == "" {
			e.Fingerprint, _ = s.m.heldPrint(e.Topic)
		}
		if err := w.desk.Decide(t.Context(), lan, nil, e, actions.Protection{}, w.person); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAManifestThatIsWrongIsNamedLineByLineAndLeftAsItIs(t *testing.T) {
	s, shop := retireStage(t, 80, 24)
	dir := t.TempDir()
	text := "[broker]\nurl = \"mqtt://localhost:1883\"\nuser = \"operator\"\n\n[[topic]]\ntopic = \"a\"\nowned = \"x\"\n\n[[topic]]\ntopic = \"a\"\n"
	if err := os.WriteFile(filepath.Join(dir, "home.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := actions.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	shop.desk = actions.OpenDesk(store, "home.toml", func() time.Time { return at0 })
	s.keys("3")
	s.wants("The manifest cannot be used", "line 7", "line 9")
	s.find(birthdayState)
	s.keys("a")
	s.wants("a is off: the manifest cannot be used")
	if now, err := os.ReadFile(filepath.Join(dir, "home.toml")); err != nil || string(now) != text {
		t.Errorf("the file is %q, %v", now, err)
	}
}

// TestFormsAreASCIIWhereTheTerminalAsksForIt goes through every form and page on a terminal that has nothing else.
func TestFormsAreASCIIWhereTheTerminalAsksForIt(t *testing.T) {
	inv, k, shop := house(t), incidents(), newWorkshop(t)
	shop.inv = inv
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		s := newStage(t, seenAll(watching()), inv, size[0], size[1], func(o *Options) {
			o.Readings, o.Retiring, o.ExportDir, o.Environ = k, shop, t.TempDir(), []string{"TERM=linux", "NO_COLOR=1"}
		})
		ascii := func() {
			t.Helper()
			for _, r := range s.frame() {
				if r > 0x7e {
					t.Fatalf("%U is not ASCII:\n%s", r, s.frame())
				}
			}
		}
		s.find("caldates2mqtt/birthday/availability")
		for _, k := range []string{"a", "down", "down", "end", "pgdown", "pgup", "down", "down", "enter", "down", "esc", "esc", "3", "enter", "esc", "4", "1", "x", "u"} {
			s.keys(k)
			ascii()
		}
		s.keys("esc", "esc", "esc")
		s.find(birthdayState)
		if _, approved := shop.entry(t, birthdayState); !approved {
			s.approveWith("unit is disabled")
		}
		for _, k := range []string{"x", "pgdown", "down", "down", "s", "t", "a", "t", "e", "enter", "enter", "esc", "4", "enter", "pgdown", "esc", "r", "esc", "u", "pgdown", "down", "enter", "1"} {
			s.keys(k)
			ascii()
		}
		if len(shop.restores) == 0 || shop.sent == 0 {
			t.Errorf("at %v nothing was cleared and put back", size)
		}
		shop.restores, shop.sent, shop.ops = nil, 0, nil // and the approval was never used
	}
}

// TestAnyKeysInAnyOrderSendNothingWithoutTheWord presses what a person, a cat or a bad line might.
func TestAnyKeysInAnyOrderSendNothingWithoutTheWord(t *testing.T) {
	names := []string{"a", "x", "u", "w", "r", "v", "1", "2", "3", "4", "5", "enter", "enter", "enter", "esc", "up", "down", "down", "left", "right", "tab", "space", "pgup",
		"pgdown", "home", "end", "backspace", "A", "B", "C", "D", "F", "H", "[", "~", "O", "t", "s", "d", "y", "p", "?", "c", "/", "j", "k", "*", "-"}
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		s, shop := clearStage(t, 80, 24, seed%2 == 0)
		e, _ := shop.entry(t, birthdayState)
		word, err := actions.ConfirmationFor(e)
		if err != nil {
			t.Fatal(err)
		}
		for range 400 {
			k := names[r.IntN(len(names))]
			if f, ok := s.m.form.(*clearForm); ok && k == "enter" && word.Accepts(f.word.String()) {
				continue
			}
			if r.IntN(12) == 0 {
				s.w, s.h = 20+r.IntN(120), 4+r.IntN(40)
				s.send(tea.WindowSizeMsg{Width: s.w, Height: s.h})
			}
			if r.IntN(20) == 0 {
				s.inv.Apply([]inventory.Publication{live(birthdayState, fmt.Sprint(r.IntN(3)), expiry.None(), 0)})
				s.tick(time.Second)
			}
			s.keys(k)
		}
		if len(shop.requests) != 0 || len(shop.restores) != 0 {
			t.Fatalf("seed %d: %d clears, %d restores", seed, len(shop.requests), len(shop.restores))
		}
	}
}
