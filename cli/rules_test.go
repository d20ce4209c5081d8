package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mergeText(t *testing.T, text string) (*resolved, error) {
	t.Helper()
	f, err := parseConfig("config.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return merge(sources{file: f})
}

func TestRulesComeOutOfTheFile(t *testing.T) {
	r, err := mergeText(t, `
[readings]
ignore = ["lab/#"]

[[rule]]
owner = "heating script"
topics = "heating/#"
liveness_topic = "heating/status"
online = "up"
offline = ["down", "error"]

[[rule]]
owner = "boiler {1}"
topics = ["boiler/+/state"]

[log]
level = "debug"
`)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.rules.Conventions; len(c) != 2 || c[0].Topics[0] != "heating/#" || c[0].Online[0] != "up" || len(c[0].Offline) != 2 || c[1].Owner != "boiler {1}" {
		t.Errorf("the rules are %+v", c)
	}
	if len(r.rules.Ignore) != 1 || r.from["log.level"].name != "config.toml line 17" {
		t.Errorf("ignored: %q; the log level is from %v", r.rules.Ignore, r.from["log.level"])
	}
	if got := r.listing(); !strings.Contains(got, `# rule 1: "heating script" owns ["heating/#"], liveness in "heating/status" (config.toml line 5)`) ||
		!strings.Contains(got, "rule 2") || !strings.Contains(got, `readings.ignore              = ["lab/#"]`) {
		t.Errorf("the listing is\n%s", got)
	}
	if reader, err := r.reader(); reader == nil || err != nil {
		t.Errorf("no reader: %v", err)
	}
	if d := r.forDemo("mqtt://localhost:1", t.TempDir()); len(d.rules.Conventions)+len(d.rules.Ignore)+len(d.Readings.Ignore) != 0 {
		t.Errorf("the demo has rules: %+v", d.rules)
	}
}

func TestAFaultInARuleIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no topics", "[[rule]]\nowner = \"a\"\n", "config.toml line 1: rule 1: topics"},
		{"a key that is none", "[[rule]]\nowner = \"a\"\ntopics = \"a/#\"\ntopic = \"b\"\n", "config.toml line 4: rule 1: topic: is no key of a rule"},
		{"a number", "\n[[rule]]\nowner = 3\n", "config.toml line 3: rule 1: owner: must be a text in quotes"},
		{"a list of numbers", "[[rule]]\ntopics = [1]\n", "config.toml line 2: rule 1: topics: must be a text, or a list of texts"},
		{"a filter that is none, in the second", "[[rule]]\nowner = \"a\"\ntopics = \"a/#\"\n[[rule]]\nowner = \"b\"\ntopics = [\"b/#/c\"]\n", "config.toml line 6: rule 2: topics"},
		{"a wildcard in the liveness topic", "[mqtt]\nuser = \"me\"\n\n[[rule]]\nowner = \"a\"\ntopics = \"a/#\"\nliveness_topic = \"a/+\"\n", "config.toml line 7: rule 1: liveness_topic"},
		{"online and offline the same", "[[rule]]\nowner = \"a\"\ntopics = \"a/#\"\nliveness_topic = \"a\"\nonline = \"x\"\noffline = \"x\"\n", "config.toml line 6: rule 1: offline"},
		{"one table", "[rule]\nowner = \"a\"\n", "config.toml line 1: rule is a list of tables"},
		{"what to ignore", "[readings]\nignore = [\"a/#/b\"]\n", "config.toml line 2"},
		{"a rule of a profile", "[[profile.home.rule]]\nowner = \"a\"\n", "profile.home.rule is no setting"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := mergeText(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestAListWithReadingsAndRules goes the whole way with the built program. A list waits for the broker's figures, so all of
// them are made beside each other.
func TestAListWithReadingsAndRules(t *testing.T) {
	t.Parallel()
	b := quick(t)
	house := lastingHouse(t)
	fill(t, b.URL(), house)
	file := filepath.Join(t.TempDir(), "config.toml")
	rules := "[readings]\nignore = [\"zigbee2mqtt-garage/#\"]\n[[rule]]\nowner = \"the test\"\ntopics = \"edge/#\"\n"
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	list := func(args ...string) (made func() outcome) {
		done := make(chan outcome, 1)
		go func() {
			defer close(done)
			done <- runBinary(t, append([]string{"list", "--config", file, "--broker", b.URL()}, args...)...)
		}()
		return func() outcome { return <-done }
	}
	listAll, listLeft, listHazards := list("--json"), list("--json", "--where", "is:left"), list("--json", "--where", "is:hazard")
	listOwn, listRenamed := list("--json", "--where", `owner:"the test"`), list("--json", "--where", "finding:renamed")
	listTable, listNonsense := list("--where", "owner:caldates is:left"), list("--where", "finding:nonsense")
	listPlain := list("--json", "--readings=false")
	all, _ := lines(t, listAll())
	left, _ := lines(t, listLeft())
	hazards, _ := lines(t, listHazards())
	if len(all) < len(house) || len(left) == 0 || len(hazards) != 3 {
		t.Fatalf("%d topics, %d left behind, %d hazards", len(all), len(left), len(hazards))
	}
	for topic, l := range all {
		_, isLeft := left[topic]
		_, isHazard := hazards[topic]
		if l.Left != isLeft || l.Hazard != isHazard || l.Reading == "" {
			t.Errorf("%q reads %q, left %v, hazard %v; listed as left %v, as a hazard %v", topic, l.Reading, l.Left, l.Hazard, isLeft, isHazard)
		}
		if isLeft && (len(l.Findings) == 0 || l.Findings[0].Reason == "") {
			t.Errorf("%q is left behind without a reason", topic)
		}
		if strings.HasPrefix(topic, "zigbee2mqtt-garage/") && (isLeft || len(l.Findings) > 0) {
			t.Errorf("%q is to be ignored: %+v", topic, l)
		}
	}
	if l := all["caldates2mqtt/birthday/state"]; l.Owner == nil || *l.Owner != "caldates2mqtt" || l.OwnerRule == "" || l.Liveness.State != "online" ||
		l.Liveness.Topic != "caldates2mqtt/status" || l.Findings[0].Kind != "unknown-name" || l.Findings[0].Strength != "strong" {
		t.Errorf("the birthday calendar reads %+v", l)
	}
	own, _ := lines(t, listOwn())
	if len(own) == 0 {
		t.Error("the rule in the file owns nothing")
	}
	for topic := range own {
		if !strings.HasPrefix(topic, "edge/") {
			t.Errorf("%q is owned by the rule", topic)
		}
	}
	renamed, _ := lines(t, listRenamed())
	if len(renamed) == 0 {
		t.Error("nothing was renamed")
	}
	table := listTable()
	if table.code != 0 || !strings.Contains(table.out, "left behind: not named by its owner") || !strings.Contains(table.out, "look left behind, 3 a hazard") {
		t.Errorf("exit %d\n%s%s", table.code, table.out, table.errout)
	}
	if o := listNonsense(); o.code != ExitUsage || !strings.Contains(o.errout, "retained-command") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	plain, _ := lines(t, listPlain())
	if l := plain["caldates2mqtt/birthday/state"]; l.Reading != "" || l.SHA256 == "" {
		t.Errorf("%d topics without readings, such as %+v", len(plain), l)
	}
}
