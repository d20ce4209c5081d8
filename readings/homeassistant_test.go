package readings

// Discovery beyond what the house shows: what Home Assistant would read of a config, and what is said of it.

import (
	"strings"
	"testing"
)

func TestDiscovery(t *testing.T) {
	const generic = "Home Assistant discovery"
	for _, x := range []struct {
		name  string
		store []string
		ask   string
		owner string
		conv  string
		state State
		left  bool
		finds string
	}{
		{"any one topic is enough", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":[{"t":"a/1"},{"t":"a/2"}],"avty_mode":"any","o":{"name":"p"}}`, "a/s=1", "a/1=offline", "a/2=online"}, "a/s", "p", generic, Alive, false, ""},
		{"all must be there", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":[{"t":"a/1"},{"t":"a/2"}],"avty_mode":"all","o":{"name":"p"}}`, "a/s=1", "a/1=online"}, "homeassistant/sensor/x/config", "p", generic, Unknown, false, "never-available strong"},
		{"which of several was the latest is not on the wire", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":[{"t":"a/1"},{"t":"a/2"}],"o":{"name":"p"}}`, "a/s=1", "a/1=online", "a/2=offline"}, "a/s", "p", generic, Unknown, false, ""},
		{"one of two offline is the device", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":[{"t":"a/1"},{"t":"a/2"}],"avty_mode":"all","o":{"name":"p"}}`, "a/s=1", "a/1=online", "a/2=offline"}, "homeassistant/sensor/x/config", "p", generic, Alive, false, "device-offline weak"},
		{"all of them offline is the owner", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":[{"t":"a/1"},{"t":"a/2"}],"avty_mode":"all","o":{"name":"p"}}`, "a/s=1", "a/1=offline", "a/2=offline"}, "a/s", "p", generic, Offline, true, "owner-offline medium"},
		{"a gateway's device that is off says nothing about the gateway", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty_t":"a/1","o":{"name":"p"},"dev":{"ids":"d","via_device":"g"}}`, "a/s=1", "a/1=offline"}, "a/s", "p", generic, Unknown, false, ""},
		{"a template that is not known says nothing", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty_t":"a/1","avty_tpl":"{{ 'online' if value|int > 3 else 'offline' }}","o":{"name":"p"}}`, "a/s=1", "a/1=2"}, "a/s", "p", generic, Unknown, false, ""},
		{"a template that renders a member", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","avty":{"t":"a/1","val_tpl":"{{ value_json['online'] }}","pl_avail":"True","pl_not_avail":"False"},"o":{"name":"p"}}`, "a/s=1", `a/1={"online":false}`}, "a/s", "p", generic, Offline, true, "owner-offline medium"},
		{"a base at the end", []string{`homeassistant/sensor/x/config={"~":"a/b","stat_t":"x/~","o":{"name":"p"}}`, "x/a/b=1"}, "x/a/b", "p", generic, Unknown, false, ""},
		{"a base at the root of a device form does nothing", []string{`homeassistant/device/x/config={"~":"a","dev":{"ids":"d"},"o":{"name":"p"},"cmps":{"c":{"p":"sensor","stat_t":"~/s"}}}`, "a/s=1"}, "a/s", "", "", Unknown, false, ""},
		{"a component inherits the root's availability", []string{`homeassistant/device/x/config={"dev":{"ids":"d"},"o":{"name":"p"},"avty_t":"a/st","cmps":{"c":{"p":"sensor","stat_t":"a/s"}}}`, "a/s=1", "a/st=offline"}, "a/s", "p", generic, Offline, true, "owner-offline medium"},
		{"a component that is only a platform is none", []string{`homeassistant/device/x/config={"dev":{"ids":"d"},"o":{"name":"p"},"cmps":{"c":{"p":"sensor"}}}`}, "homeassistant/device/x/config", "p", generic, Unknown, false, ""},
		{"a button has no state to miss", []string{`homeassistant/button/x/config={"uniq_id":"u","cmd_t":"a/c","o":{"name":"p"}}`}, "homeassistant/button/x/config", "p", generic, Unknown, false, ""},
		{"a trigger is never retained", []string{`homeassistant/device_automation/x/config={"topic":"a/click","o":{"name":"p"}}`}, "homeassistant/device_automation/x/config", "p", generic, Unknown, false, ""},
		{"a command that a config names", []string{`homeassistant/switch/x/config={"stat_t":"a/s","cmd_t":"a/c","o":{"name":"p"}}`, "a/s=ON", "a/c=ON"}, "a/c", "p", generic, Unknown, false, "retained-command hazard"},
		{"a command topic that is the state topic too", []string{`homeassistant/switch/x/config={"stat_t":"a/s","cmd_t":"a/s","o":{"name":"p"}}`, "a/s=ON"}, "a/s", "p", generic, Unknown, false, ""},
		{"another discovery prefix is found by its configs", []string{`my/disco/sensor/n/x/config={"uniq_id":"u","stat_t":"a/s","o":{"name":"p"}}`, "a/s=1"}, "a/s", "p", generic, Unknown, false, ""},
		{"a broken config under a prefix that has others", []string{`my/disco/sensor/n/x/config={"uniq_id":"u","stat_t":"a/s"}`, "my/disco/sensor/n/y/config={", "a/s=1"}, "my/disco/sensor/n/y/config", "n/y", generic, Unknown, true, "invalid-json strong"},
		{"a topic that only looks like a config", []string{"plant/sensor/x/config=12"}, "plant/sensor/x/config", "", "", Unknown, false, ""},
		{"a config whose topic is refused and whose owner lives", []string{`homeassistant/sensor/b d/config={"stat_t":"a/s","avty_t":"a/st","o":{"name":"p"}}`, "a/s=1", "a/st=online"}, "homeassistant/sensor/b d/config", "p", generic, Alive, false, "illegal-topic strong"},
		{"beside what configs name", []string{`homeassistant/sensor/x/config={"stat_t":"a/s","o":{"name":"p"}}`, "a/s=1", "a/t=1"}, "a/t", "", "", Unknown, false, "state-without-config weak"},
		{"one unique id on two platforms is legal", []string{`homeassistant/sensor/x/config={"uniq_id":"u","stat_t":"a/s"}`, `homeassistant/switch/x/config={"uniq_id":"u","stat_t":"a/s"}`, "a/s=1"}, "homeassistant/sensor/x/config", "x", generic, Unknown, false, ""},
		{"one unique id twice in a device form", []string{`homeassistant/device/x/config={"dev":{"ids":"d"},"o":{"name":"p"},"cmps":{"c":{"p":"sensor","uniq_id":"u","stat_t":"a/s"},"d":{"p":"sensor","uniq_id":"u","stat_t":"a/s"}}}`, "a/s=1"}, "homeassistant/device/x/config", "p", generic, Unknown, false, "duplicate-id strong"},
		{"of two versions that both say online both may live", []string{
			`homeassistant/sensor/old/config={"uniq_id":"u1","stat_t":"old/t","avty_t":"old/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.9"}}`,
			`homeassistant/sensor/new/config={"uniq_id":"u2","stat_t":"new/t","avty_t":"new/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.10"}}`,
			"old/t=1", "old/st=online", "new/t=1", "new/st=online"}, "old/t", "p", generic, Alive, false, "renamed medium"},
		{"a rename that the version tells, and the old name says nothing", []string{
			`homeassistant/sensor/old/config={"uniq_id":"u1","stat_t":"old/t","avty_t":"old/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.9"}}`,
			`homeassistant/sensor/new/config={"uniq_id":"u2","stat_t":"new/t","avty_t":"new/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.10"}}`,
			"old/t=1", "new/t=1", "new/st=online"}, "old/t", "p", generic, Unknown, true, "renamed strong"},
		{"the new name of a rename stays", []string{
			`homeassistant/sensor/old/config={"uniq_id":"u1","stat_t":"old/t","avty_t":"old/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.9"}}`,
			`homeassistant/sensor/new/config={"uniq_id":"u2","stat_t":"new/t","avty_t":"new/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.10"}}`,
			"old/t=1", "old/st=online", "new/t=1", "new/st=online"}, "homeassistant/sensor/new/config", "p", generic, Alive, false, ""},
		{"two probes of one device are no rename", []string{
			`homeassistant/sensor/a/config={"uniq_id":"u1","stat_t":"d/a/t","avty_t":"d/a/st","dev":{"ids":"d"},"o":{"name":"p"}}`,
			`homeassistant/sensor/b/config={"uniq_id":"u2","stat_t":"d/b/t","avty_t":"d/b/st","dev":{"ids":"d"},"o":{"name":"p"}}`,
			"d/a/t=1", "d/b/t=1", "d/a/st=online", "d/b/st=offline"}, "homeassistant/sensor/a/config", "p", generic, Alive, false, "renamed weak"},
	} {
		t.Run(x.name, func(t *testing.T) { ask(t, x.store, x.ask, x.owner, x.conv, x.state, x.left, x.finds) })
	}
}

func TestASilentConfigIsLeftBehindOnlyAfterItsWindow(t *testing.T) {
	const topic = "homeassistant/sensor/x/config"
	for _, x := range []struct {
		payload string
		window  int64
	}{
		{`{"stat_t":"a/s","exp_aft":7200}`, 2 * hour},
		{`{"stat_t":"a/s","exp_aft":60}`, hour},
		{`{"stat_t":"a/s"}`, 24 * hour},
	} {
		r := newReader(t)
		r.Put(fact(topic, x.payload))
		if g, _ := r.Reading([]byte(topic), scanEnd); g.Left || findingNames(g)[0] != "dangling strong" || !strings.Contains(g.Findings[0].Reason, "nobody has been watching") {
			t.Errorf("unwatched: %+v", g)
		}
		r.Watched(scanEnd, scanEnd)
		drain(r, scanEnd)
		if told := drain(r, scanEnd+x.window-second); told[topic] {
			t.Error("told too early")
		}
		if told := drain(r, scanEnd+x.window+second); !told[topic] {
			t.Errorf("%s: the window passed and nobody was told", x.payload)
		}
		if g, _ := r.Reading([]byte(topic), scanEnd+x.window+second); !g.Left || g.Phrase != "left behind: nothing behind it" {
			t.Errorf("%s: %+v", x.payload, g)
		}
		// It speaks at last, though nothing of it is retained.
		r.Heard([]byte("a/s"), scanEnd+x.window+2*second)
		if told := drain(r, scanEnd+x.window+3*second); !told[topic] {
			t.Error("it was heard and nobody was told")
		}
		if g, _ := r.Reading([]byte(topic), scanEnd+x.window+3*second); g.Left || len(g.Findings) != 0 {
			t.Errorf("heard: %+v", g)
		}
	}
}

func TestReferencesGoBothWays(t *testing.T) {
	r := store(t, []string{`homeassistant/switch/x/config={"stat_t":"a/s","cmd_t":"a/c","avty_t":"a/st"}`, "a/s=ON", "a/st=online"})
	g, _ := r.Reading([]byte("homeassistant/switch/x/config"), scanEnd)
	want := []Reference{{"a/c", RefWrites, false}, {"a/s", RefReads, true}, {"a/st", RefAvailability, true}}
	if len(g.Refs) != 3 || g.Refs[0] != want[0] || g.Refs[1] != want[1] || g.Refs[2] != want[2] || g.RefsTotal != 3 {
		t.Errorf("%+v", g.Refs)
	}
	s, _ := r.Reading([]byte("a/s"), scanEnd)
	if len(s.RefBy) != 1 || s.RefBy[0] != (Reference{"homeassistant/switch/x/config", RefReads, true}) {
		t.Errorf("%+v", s.RefBy)
	}
}

func TestTemplatesAreMatchedAndNeverEvaluated(t *testing.T) {
	for text, want := range map[string]form{
		"": formPlain, "{{ value }}": formPlain, "{{value}}": formPlain, "{{ value_json.state }}": formField, "{{- value_json.x -}}": formField,
		"{{ value_json['a b'] }}": formForeign, `{{ value_json["ab"] }}`: formField,
		"{{ value_json.status if value_json is mapping else value }}": formFieldOrPlain, "{{'true' if value_json.value else 'false'}}": formChoice,
		"{{ value_json.a.b }}": formForeign, "{{ value_json.x | upper }}": formForeign, "{% if x %}{{ value }}{% endif %}": formForeign,
		"{{ value_json.x }}{{ value }}": formForeign, "online": formForeign, "{{ value_json. }}": formForeign, "{{": formForeign,
	} {
		if got := parseTemplate(text, "online", "offline"); got.form != want {
			t.Errorf("%q is %d, want %d", text, got.form, want)
		}
	}
}

func TestVersionsAreComparedNumberByNumber(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"0.10.1", "0.3.0", true}, {"0.3.0", "0.10.1", false}, {"1.2", "1.2", false}, {"1.2.1", "1.2", true}, {"2026.10.1", "2024.2.0", true},
		{"v2.0", "1.9", true}, {"", "1", false}, {"1", "", false}, {"1.2-rc1", "1.1", true}, {"dev", "1.0", false},
	} {
		if got := newer(x.a, x.b); got != x.want {
			t.Errorf("newer(%q, %q) = %v", x.a, x.b, got)
		}
	}
}
