package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"retainscope/testbroker"
)

// nowOf is what `record show --json` says of the only operation.
func (b *workbench) nowOf(args ...string) (*latestJSON, outcome) {
	b.t.Helper()
	o := b.run(append([]string{"record", "show", "--json"}, args...)...)
	var got struct {
		Now *struct {
			latestJSON
			Found string `json:"found"`
		} `json:"now"`
	}
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		b.t.Fatalf("%v: %s%s", err, o.out, o.errout)
	}
	if got.Now == nil {
		return nil, o
	}
	_ = got.Now.latestJSON.Found.UnmarshalText([]byte(got.Now.Found)) // never fails
	return &got.Now.latestJSON, o
}

func TestAShellIsToldWhenAClearedTopicIsThereAgainAndSinceWhenThatIsKnown(t *testing.T) {
	t.Parallel()
	m := testbroker.Start(t, testbroker.Config{})
	b := newWorkbench(t, m.URL())
	b.write("", approved(benchOwn, benchValue), established)
	if o := b.clear(); o.code != ExitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	id := b.only().Operation
	says := func(what, pattern string, args ...string) {
		t.Helper()
		o := b.run(append([]string{"record", "show"}, args...)...)
		if o.code != ExitOK || o.errout != "" || !regexp.MustCompile(pattern).MatchString(o.out) {
			t.Errorf("%s: exit %d: %q is not in\n%s%s", what, o.code, pattern, o.out, o.errout)
		}
	}
	const when = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`
	says("cleared", `cleared and verified +`+benchOwn)
	says("cleared", `\n  by now           not observed at `+when+`, by a new subscription as anonymous\n`, id)
	says("cleared, not asked", `\n  by now           not observed at `+when+`, as the record has it\n`, id, "--offline")

	// Its owner writes it again, and nobody has looked yet: only the broker tells.
	place(t, b.url, benchOwn, "online")
	says("there again", `cleared and verified, there again `+when+` +`+benchOwn)
	says("there again", `\n  by now           there again: 6 bytes, fingerprint `+fingerprint("online")+`, seen at `+when+`, by a new subscription as anonymous; somebody`, id)
	says("there again, not asked", `cleared and verified +`+benchOwn, "--offline")
	if now, o := b.nowOf(); now == nil || now.By != "broker" || now.Found.String() != "present" || now.Fingerprint == nil || *now.Fingerprint != fingerprint("online") {
		t.Errorf("%+v: %s%s", now, o.out, o.errout)
	}

	// A look that is in the record tells it without a broker as well, and a newer one counts more.
	if o := b.run("record", "recheck", id); o.code != ExitCameBack {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	says("looked again, not asked", `came back, there again `+when+` +`+benchOwn, "--offline")
	place(t, b.url, benchOwn, "")
	says("a stranger cleared it", `came back, not observed `+when+` +`+benchOwn)
	if now, o := b.nowOf("--offline"); now == nil || now.By != "record" || now.Found.String() != "present" || now.Fingerprint != nil {
		t.Errorf("%+v: %s%s", now, o.out, o.errout)
	}

	// What was put back from here is not there again.
	if o := b.run("restore", id); o.code != ExitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	says("put back", `came back, put back +`+benchOwn)
	if now, o := b.nowOf(); now != nil {
		t.Errorf("%+v: %s%s", now, o.out, o.errout)
	}
}

func TestWhereTheBrokerCannotBeAskedTheRecordIsShownAndThatIsSaid(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "topic readwrite #\ntopic read $SYS/#\nuser blind\ntopic write #\n")
	m := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "acl_file " + acl, "password_file " + passwords(t, "blind", "secret")}})
	b := newWorkbench(t, m.URL())
	b.write("", approved(benchOwn, benchValue), established)
	if o := b.clear(); o.code != ExitOK {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	id := b.only().Operation
	place(t, b.url, benchOwn, "online")
	secret := file(t, "secret", "secret")
	for _, c := range []struct {
		name string
		args []string
		says string
		stop bool
	}{
		{"a login that is shown nothing", []string{"--observer-user", "blind", "--observer-password-file", secret}, "may not be allowed to read", false},
		{"another login than the one that cleared", []string{"--user", "blind", "--password-file", secret}, "another login", false},
		{"MQTT 3.1.1", []string{"--protocol-version", "3.1.1"}, "protocol_version", false},
		{"a broker that is off", nil, "refused", true},
	} {
		if c.stop {
			m.Stop()
		}
		o := b.run(append([]string{"record", "show"}, c.args...)...)
		if o.code != ExitOK || !strings.Contains(o.out, "cleared and verified") || strings.Contains(o.out, "there again") || strings.Count(o.errout, "\n") != 1 ||
			!strings.Contains(o.errout, "the broker was not asked whether 1 topic, once cleared, holds something again: ") || !strings.Contains(o.errout, c.says) {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
		o = b.run(append([]string{"record", "show", id}, c.args...)...)
		if o.code != ExitOK || !strings.Contains(o.out, ", as the record has it; the broker was not asked: ") || !strings.Contains(o.out, c.says) || strings.Contains(o.out, "there again") {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
		if now, o := b.nowOf(c.args...); now == nil || now.By != "record" || now.NotAsked == nil || !strings.Contains(*now.NotAsked, c.says) {
			t.Errorf("%s: %+v: %s%s", c.name, now, o.out, o.errout)
		}
	}
	if o := b.run("record", "show", "--offline"); o.code != ExitOK || o.errout != "" {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}
