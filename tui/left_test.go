package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"retainscope/expiry"
	"retainscope/inventory"
)

// known is a Readings that says what a test wants it to say.
type known struct {
	left     LeftBehind
	phrases  map[string]Phrase
	evidence map[string]Evidence
	asked    int
}

func (k *known) Phrase(topic []byte, _ int64) (Phrase, bool) {
	p, ok := k.phrases[string(topic)]
	return p, ok
}

func (k *known) Evidence(topic []byte, _ int64) (Evidence, bool) {
	e, ok := k.evidence[string(topic)]
	return e, ok
}

func (k *known) LeftBehind(int64) LeftBehind { k.asked++; return k.left }
func (k *known) Finding(name string) bool    { return name == "dangling" }
func members(role string, topics ...string) (all []Member) {
	for _, t := range topics {
		all = append(all, Member{Topic: t, Role: role, Phrase: "left behind: not named by its owner", Left: true})
	}
	return all
}

// incidents is what the fixture house has to show, in a few groups, and one with bytes that a terminal would act on.
func incidents() *known {
	unnamed := Finding{"unknown-name", "strong", `caldates2mqtt/status does not name "birthday", and the owner is online`}
	unstamped := Finding{"unstamped", "medium", "everything its owner publishes now carries an expiry, as caldates2mqtt/status does, and this does not: it was written before"}
	birthday := []string{"homeassistant/sensor/caldates2mqtt/birthday_days/config", "caldates2mqtt/birthday/state", "caldates2mqtt/birthday/availability"}
	k := &known{phrases: map[string]Phrase{}, evidence: map[string]Evidence{}}
	k.left.Groups = []Group{
		{Owner: "tas_plug7", Convention: "Tasmota", Device: "tas_plug7", State: "unknown", Strength: "hazard", Hazard: true,
			Reasons: []Finding{{"retained-command", "hazard", "a retained command is carried out at every reconnect"}},
			Members: []Member{{Topic: "cmnd/tas_plug7/POWER", Role: "command", Phrase: "hazard: retained command", Hazard: true}}},
		{Owner: "caldates2mqtt", Convention: "cosalette", Device: "birthday", State: "online", Strength: "strong", Go: 3, Silent: 2 * time.Hour,
			Reasons: []Finding{unnamed, unstamped},
			Members: append(members("config", birthday[0]), append(members("state", birthday[1]), members("availability", birthday[2])...)...)},
		{Owner: "airthings2mqtt-upper", Convention: "cosalette", Device: "airthings", State: "online", Strength: "strong", Go: 4, Silent: 20 * time.Minute,
			Reasons: []Finding{{"renamed", "strong", "homeassistant/sensor/airthings2mqtt/airthings_edge01_radon/config announces the same device and component under other topics"}},
			Members: append(members("config", "homeassistant/sensor/airthings2mqtt/airthings_radon/config", "homeassistant/sensor/airthings2mqtt/airthings_temperature/config"),
				members("state", "airthings2mqtt-upper/airthings/state", "airthings2mqtt-upper/airthings/availability")...)},
		{Owner: "evil\x1b[2J\u202e", Device: "\x00", State: "offline", Strength: "medium", Go: 1,
			Reasons: []Finding{{"owner-offline", "medium", "the owner is offline: \x1b]0;x\a holds \u200b"}}, Members: members("state", "evil/\x1b[31m/\u202e")},
	}
	k.left.Prefixes = []Prefix{{"homeassistant", 88, 20, 68, 0, 0}, {"zigbee2mqtt", 40, 0, 40, 2, 0}, {"gas2mqtt", 11, 11, 0, 0, 3},
		{"", 2, 0, 0, 0, 0}, {"\x1b[31m", 1, 0, 1, 0, 0}}
	for _, g := range k.left.Groups {
		for _, x := range g.Members {
			k.phrases[x.Topic] = Phrase{x.Phrase, x.Left, x.Hazard}
		}
	}
	k.evidence[birthday[1]] = Evidence{Phrase: k.phrases[birthday[1]], Owner: "caldates2mqtt", Convention: "cosalette", Device: "birthday", Role: "state",
		Rule: "it lies where caldates2mqtt/status speaks for the owner", State: "online", Source: "caldates2mqtt/status", Value: "status: online",
		Note:  "a retained online value proves only that nobody has published offline since",
		RefBy: []Reference{{birthday[0], "reads", true}}, RefByTotal: 40, Refs: []Reference{{"caldates2mqtt/\x1b", "availability", false}}, RefsTotal: 1,
		Findings: []Finding{unnamed, unstamped}}
	return k
}

// leftStage is the house with marks on what the incidents name.
func leftStage(t *testing.T, w, h int) (*stage, *known) {
	t.Helper()
	inv, k := house(t), incidents()
	for topic, p := range k.phrases {
		if strings.Contains(topic, "\x1b") {
			inv.Apply([]inventory.Publication{retained(topic, "x", expiry.None())})
		}
		f := inventory.FlagLeft
		if p.Hazard {
			f = inventory.FlagHazard
		}
		inv.Mark([]byte(topic), f, 0)
	}
	return newStage(t, seenAll(watching()), inv, w, h, func(o *Options) { o.Readings = k }), k
}

func TestLeftBehindScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {40, 10}} {
		for name, keys := range map[string][]string{
			"groups": {"2"}, "closed": {"2", "-", "down", "right", "down", "down"}, "prefixes": {"2", "b", "s", "down"},
			"rows": {"t", "/", "b", "i", "r", "t", "h", "d", "a", "y", "enter", "down"},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				s, _ := leftStage(t, size[0], size[1])
				s.keys(keys...)
				golden.RequireEqual(t, s.frame())
			})
		}
	}
}

func TestEvidenceStandsInThePane(t *testing.T) {
	s, _ := leftStage(t, 80, 60)
	s.types("/birthday/state")
	s.keys("enter", "t", "enter")
	s.wants("unknown-name", "guessed by", "caldates2mqtt/status holds status: online", "named by", "and 39 more", "nothing retained there")
	golden.RequireEqual(t, s.frame())
}

func TestEnterGoesToTheTopicAndAGroupFolds(t *testing.T) {
	for _, start := range [][]string{nil, {"t"}, {"/", "x", "x", "x", "enter"}} {
		s, _ := leftStage(t, 120, 40)
		s.keys(start...)
		s.keys("2")
		s.wants("tas_plug7", "caldates2mqtt / birthday", "3 left behind", "silent 2h")
		for range 60 {
			if r, _ := s.m.left.row(); r.member != nil && r.member.Topic == "caldates2mqtt/birthday/state" {
				break
			}
			s.keys("down")
		}
		s.keys("enter")
		r, ok := s.m.row()
		if !ok || string(r.Prefix) != "caldates2mqtt/birthday/state" || s.m.screen != topics {
			t.Fatalf("after %q the cursor is on %q:\n%s", start, r.Prefix, s.frame())
		}
		s.keys("2", "left")
		s.lacks("birthday/availability")
		s.keys("enter")
		s.wants("birthday/availability")
		s.keys("-")
		s.lacks("retained command is carried out")
		s.keys("*", "g")
		s.wants("retained command is carried out")
		s.keys("s", "s", "s") // by topics: hazards still stand first
		if rows := s.m.left.rows; !rows[0].group.Hazard || rows[0].group == rows[len(rows)-1].group {
			t.Fatal("hazards do not stand first")
		}
		s.keys("G", "esc")
		s.wants("READING")
	}
}

func TestGroupsAreGatheredOffTheKeysAndNotTooOften(t *testing.T) {
	s, k := leftStage(t, 120, 40)
	if k.asked != 0 {
		t.Fatal("groups are gathered though nobody looks")
	}
	s.keys("2", "down", "down")
	if k.asked != 1 {
		t.Fatalf("asked %d times", k.asked)
	}
	s.inv.Apply([]inventory.Publication{live("a", "1", expiry.None(), 0)})
	s.tick(100 * time.Millisecond)
	if k.asked != 1 {
		t.Fatalf("asked %d times within a second", k.asked)
	}
	at := s.m.left.at
	k.left.Groups = k.left.Groups[1:]
	s.tick(time.Second)
	s.tick(time.Second)
	if k.asked != 2 {
		t.Fatalf("asked %d times after a change", k.asked)
	}
	s.wants(wordNotListed) // under the cursor, so that no key is taken for another row
	if s.m.left.at != at {
		t.Fatalf("the cursor went from %q to %q", at, s.m.left.at)
	}
	s.keys("down", "*")
	s.lacks("tas_plug7")
	k.left.Groups = nil
	s.inv.Apply([]inventory.Publication{live("a", "2", expiry.None(), 0)})
	s.tick(5 * time.Second)
	s.wants("Nothing looks left behind")
	s.keys("down", "enter", "right")
	s.wants("no row is under the cursor")
}

func TestAFindingThatIsNoneIsToldInTheFilter(t *testing.T) {
	s, _ := leftStage(t, 120, 40)
	s.types("/finding:dang")
	s.wants("there is no finding dang")
	s.types("ling")
	s.lacks("there is no finding")
}

func TestAPhraseIsSaidShorterWhereItHasNoRoom(t *testing.T) {
	for text, want := range map[string]string{
		"never expires, owner online":                       "owner online",
		"never expires, owner not known to be online":       "owner not known",
		"left behind: renamed":                              "left: renamed",
		"left behind: not named by its owner":               "left: not named",
		"left behind: written before its owner used expiry": "left: no expiry",
		"left behind: nothing behind it":                    "left: dangling",
		"hazard: retained command":                          "hazard: command",
		"hazard: retained Sparkplug message":                "hazard: Sparkplug",
	} {
		if got := inCells(text, 18); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := inCells(text, 60); got != text {
			t.Errorf("%q is cut with room for it", text)
		}
	}
}

// TestFirstLevelsAreLeftTheWayTheyWereEntered was: 2 b esc 2 came back to the table, and its footer offered the table.
func TestFirstLevelsAreLeftTheWayTheyWereEntered(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 10}} {
		s, _ := leftStage(t, size[0], size[1])
		s.keys("2", "down", "down", "down")
		at := s.m.left.at
		s.keys("b")
		s.wants("zigbee2mqtt")
		if size[0] >= 80 {
			s.wants("b groups", "enter to level")
			s.lacks("b by prefix")
		}
		s.keys("down", "esc")
		if s.m.screen != leftBehind || s.m.left.prefixes || s.m.left.at != at {
			t.Fatalf("esc in the table leads to screen %d, table %v, row %q instead of the groups", s.m.screen, s.m.left.prefixes, s.m.left.at)
		}
		s.keys("esc")
		if s.m.screen != topics {
			t.Fatal("esc in the groups does not lead to the topics")
		}
		for _, way := range [][]string{{"2", "b", "esc", "2"}, {"2", "b", "1", "2"}, {"2", "b", "enter", "2"}, {"2", "b", "2"}, {"2", "b", "b"}} {
			s.keys("1")
			s.keys(way...)
			if s.m.screen != leftBehind || s.m.left.prefixes {
				t.Fatalf("%q shows screen %d, table %v", way, s.m.screen, s.m.left.prefixes)
			}
		}
	}
}

// TestAReasonTakesOneLineOfASmallTerminal was five of six lines, through which the cursor went one by one.
func TestAReasonTakesOneLineOfASmallTerminal(t *testing.T) {
	s, _ := leftStage(t, 40, 10)
	s.keys("2", "down", "down", "down", "down")
	r, _ := s.m.left.row()
	if r.reason == nil || r.group.Device != "birthday" || r.height() != 1 {
		t.Fatalf("four rows down: %+v", r)
	}
	s.wants("caldates2mqtt/status doe…")
	s.keys("down", "down")
	if r, _ := s.m.left.row(); r.member == nil {
		t.Fatalf("the cursor does not move by rows: %+v", r)
	}
	s.keys("down", "down")
	s.wants("avail. ")
	// Whole on demand, and a row higher than the screen is gone through.
	s.keys("up", "up", "up", "enter")
	if r, _ := s.m.left.row(); r.height() < 5 {
		t.Fatalf("not shown in full: %+v", r)
	}
	seen := s.frame()
	for range 4 {
		s.keys("down")
		seen += s.frame()
	}
	for _, w := range strings.Fields("everything its owner publishes now carries an expiry, as caldates2mqtt/status does, and this does not: it was written before") {
		if !strings.Contains(seen, w) {
			t.Errorf("%q is not seen:\n%s", w, seen)
		}
	}
	for range 60 { // to the end and back, whatever is open
		s.keys("down")
	}
	if s.m.left.cur != len(s.m.left.rows)-1 {
		t.Fatalf("the cursor is stuck at row %d of %d", s.m.left.cur, len(s.m.left.rows))
	}
	for range 60 {
		s.keys("up")
		if cur := s.m.left.rows[s.m.left.cur]; cur.at+cur.height() <= s.m.left.top || cur.at >= s.m.left.top+s.m.leftLines() {
			t.Fatalf("row %d is out of sight", s.m.left.cur)
		}
	}
	if s.m.left.cur != 0 || s.m.left.top != 0 {
		t.Fatalf("the cursor is stuck at row %d", s.m.left.cur)
	}
}

// TestWhatIsSaidOfAKeyGoesWithTheNext was a sentence that stood for six seconds on a line that small terminals need.
func TestWhatIsSaidOfAKeyGoesWithTheNext(t *testing.T) {
	s, _ := leftStage(t, 40, 10)
	s.keys("esc")
	s.wants("esc is off")
	s.keys("down")
	s.lacks("esc is off")
	s.m.tell(fine, "Something else came to its end.") // by no key
	s.keys("down")
	s.wants("Something else")
	s.tick(1500 * time.Millisecond)
	s.keys("down")
	s.lacks("Something else")
}

func TestATopicThatIsNotCalledLeftBehindForItsLifeSaysSoInItsDetail(t *testing.T) {
	s, _ := retireStage(t, 80, 60)
	const why = "not called left behind (unknown-name) for another 55m: caldates2mqtt/birthday/availability was published live 5m ago, at 2026-03-14 13:57:11Z"
	e := s.m.o.Readings.(*known).evidence[birthdayState]
	e.Spared, e.Left = why, false
	s.m.o.Readings.(*known).evidence[birthdayState] = e
	s.find(birthdayState)
	s.keys("enter")
	s.wantsProse("for another 55m: caldates2mqtt/birthday/availability was published live 5m ago")
}

func TestAnEmptyStoreIsNotCalledOneThatNobodyMayRead(t *testing.T) {
	src := watching()
	s := newStage(t, src, inventory.New(inventory.Options{}), 80, 24, func(o *Options) { o.Readings = incidents() })
	for _, c := range []struct {
		claim inventory.Claim
		known int64
		says  string
	}{
		{inventory.Verified, 0, "the broker's own count says that it holds none"},
		{inventory.Scanning, -1, "Nothing came yet"},
		{inventory.Unverified, -1, "No retained topic was shown to this login"},
	} {
		src.cov.Claim, src.cov.Known, src.cov.Seen = c.claim, c.known, 0
		s.send(changedMsg{})
		s.tick(time.Second)
		s.keys("2")
		s.send(leftMsg{})
		s.wantsProse(c.says)
	}
}
