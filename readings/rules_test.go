package readings

// A user's rules: what they say, what is wrong with them, and that they come before every convention.

import (
	"errors"
	"strings"
	"testing"
)

func withRules(t *testing.T, rules Rules, lines ...string) *Reader {
	t.Helper()
	r, err := New(rules)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		topic, payload, _ := strings.Cut(l, "=")
		r.Put(fact(topic, payload))
	}
	return r
}

func TestAUserRuleNamesTheOwnerAndReadsItsLiveness(t *testing.T) {
	rules := Rules{Conventions: []UserRule{
		{Owner: "pump house", Topics: []string{"pumps/#"}, LivenessTopic: "pumps/alive", Online: []string{"yes", "1"}, Offline: []string{"no"}},
		{Owner: "meter {1}", Topics: []string{"meters/+/#", "old/+"}, LivenessTopic: "meters/{1}/info", Field: "up", Online: []string{"true"}, Offline: []string{"false"}},
		{Owner: "me", Topics: []string{"notes/#"}},
	}}
	r := withRules(t, rules, "pumps/1/flow=3", "pumps/alive=no", "meters/a/power=1", `meters/a/info={"up":true,"rssi":-60}`, "meters/b/power=1", `meters/b/info={"up":false}`, "old/b=1", "notes/x=y")
	for _, x := range []struct {
		topic, owner, rule string
		state              State
		left               bool
	}{
		{"pumps/1/flow", "pump house", "rule 1 of the configuration", Offline, true},
		{"meters/a/power", "meter a", "rule 2 of the configuration", Alive, false},
		{"meters/b/power", "meter b", "rule 2 of the configuration", Offline, true},
		{"old/b", "meter b", "rule 2 of the configuration", Offline, true},
		{"notes/x", "me", "rule 3 of the configuration", Unknown, false},
	} {
		g, _ := r.Reading([]byte(x.topic), scanEnd)
		if g.Owner.Name != x.owner || g.Owner.Rule != x.rule || g.Liveness.State != x.state || g.Left != x.left {
			t.Errorf("%s: %+v", x.topic, g)
		}
	}
	drain(r, scanEnd)
	r.Put(fact("pumps/alive", "1"))
	if told := drain(r, scanEnd); !told["pumps/1/flow"] {
		t.Error("the pump house came back and nobody was told")
	}
	if g, _ := r.Reading([]byte("pumps/1/flow"), scanEnd); g.Left || g.Liveness.State != Alive {
		t.Errorf("%+v", g)
	}
}

func TestAUserRuleComesBeforeAConvention(t *testing.T) {
	r := withRules(t, Rules{Conventions: []UserRule{{Owner: "mine", Topics: []string{"zigbee2mqtt/gone"}}}}, z2mOnline, z2mDevices, z2mGroups, "zigbee2mqtt/gone=1", "zigbee2mqtt/other=1")
	if g, _ := r.Reading([]byte("zigbee2mqtt/gone"), scanEnd); g.Left || g.Owner.Name != "mine" {
		t.Errorf("%+v", g)
	}
	if g, _ := r.Reading([]byte("zigbee2mqtt/other"), scanEnd); !g.Left {
		t.Errorf("%+v", g)
	}
}

func TestWhatIsIgnoredIsNotJudged(t *testing.T) {
	r := withRules(t, Rules{Ignore: []string{"cmnd/+/POWER", "zigbee2mqtt/gone/#"}}, z2mOnline, z2mDevices, "zigbee2mqtt/gone=1", "cmnd/x/POWER=ON", "cmnd/x/Backlog=y")
	for _, topic := range []string{"zigbee2mqtt/gone", "cmnd/x/POWER"} {
		if g, _ := r.Reading([]byte(topic), scanEnd); g.Left || g.Hazard || !g.Ignored || len(g.Findings) != 0 || g.Phrase != "ignored by a rule" {
			t.Errorf("%s: %+v", topic, g)
		}
	}
	if g := r.Groups(scanEnd); len(g) != 1 || len(g[0].Members) != 1 {
		t.Errorf("%+v", g)
	}
}

func TestARuleErrorNamesTheRule(t *testing.T) {
	for _, x := range []struct {
		rules Rules
		want  string
	}{
		{Rules{Ignore: []string{"ok/#", "a/#/b"}}, `ignore rule 2: "a/#/b": # must be the last level`},
		{Rules{Ignore: []string{""}}, `ignore rule 1: "" is not a topic filter`},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a+/b"}}}}, `convention 1: topics: "a+/b": + and # must be a level of their own`},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}}, {Topics: []string{"a"}}}}, "convention 2: owner: a name is needed"},
		{Rules{Conventions: []UserRule{{Owner: "o"}}}, "convention 1: topics: at least one topic filter is needed"},
		{Rules{Conventions: []UserRule{{Owner: "o {2}", Topics: []string{"+/a"}}}}, "convention 1: owner: {2} names a + that a filter of the rule does not have"},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"+/+", "+/a"}, LivenessTopic: "{2}/x"}}}, "convention 1: liveness_topic: {2} names a +"},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}, LivenessTopic: "a/+"}}}, "convention 1: liveness_topic: an exact topic is needed"},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}, LivenessTopic: "a/{x}"}}}, "convention 1: liveness_topic: a brace is only for {1} to {9}"},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}, Field: "x"}}}, "convention 1: liveness_topic: field, online and offline mean nothing without it"},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}, LivenessTopic: "b", Online: []string{"x"}, Offline: []string{"x"}}}}, `convention 1: offline: "x" means online too`},
		{Rules{Conventions: []UserRule{{Owner: "o", Topics: []string{"a"}, LivenessTopic: "b", Online: []string{strings.Repeat("x", 41)}}}}, "convention 1: online: "},
	} {
		err := x.rules.Check()
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("got %v, want %s", err, x.want)
			continue
		}
		var fault *RuleError
		if !errors.As(err, &fault) {
			t.Errorf("%T is no RuleError", err)
		}
		if _, err := New(x.rules); err == nil {
			t.Errorf("New took %+v", x.rules)
		}
	}
	if err := (Rules{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestFiltersMatchAsMQTTSays(t *testing.T) {
	for _, x := range []struct {
		filter, topic string
		want          bool
	}{
		{"#", "a/b", true}, {"#", "$SYS/a", false}, {"+/a", "$SYS/a", false}, {"$SYS/#", "$SYS/a", true}, {"a/#", "a", true}, {"a/+", "a", false},
		{"a/+", "a/", true}, {"+", "/a", false}, {"+/+", "/a", true}, {"a/+/c", "a/b/c", true}, {"a/b", "a/b/c", false}, {"a/b/c", "a/b", false}, {"/#", "/a", true},
	} {
		if _, got := matchFilter(x.filter, x.topic); got != x.want {
			t.Errorf("%q on %q: %v", x.filter, x.topic, got)
		}
	}
}
