//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// brokersOf311 are a broker that speaks nothing else and one that speaks everything.
func brokersOf311(t *testing.T) map[string]string {
	return map[string]string{
		"aedes":     testbroker.StartAedes(t),
		"mosquitto": testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}}).URL(),
	}
}

// keep publishes one retained message with MQTT 3.1.1.
func keep(t *testing.T, address, topic, payload string) {
	t.Helper()
	path, err := exec.LookPath("mosquitto_pub")
	if err != nil {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	}
	port := address[strings.LastIndexByte(address, ':')+1:]
	if out, err := exec.Command(path, "-V", "mqttv311", "-p", port, "-t", topic, "-m", payload, "-r", "-q", "1").CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_pub: %v: %s", err, out)
	}
}

func TestAListOver311IsMarkedAsLimitedEverywhere(t *testing.T) {
	for name, address := range brokersOf311(t) {
		t.Run(name, func(t *testing.T) {
			for i := range 5 {
				keep(t, address, fmt.Sprint("home/", i, "/state"), "on")
			}
			args := []string{"list", "--broker", address, "--protocol-version", "3.1.1", "--quiet-time", "300ms"}
			o := run(t, nil, args...)
			if o.code != ExitOK || strings.Count(o.out, "  unknown (3.1.1)  ") != 5 {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			for _, want := range []string{"5 retained, expiry unknown (3.1.1); ", inventory.LimitedView} {
				if !strings.Contains(o.out, want) {
					t.Errorf("%q is not in\n%s", want, o.out)
				}
			}
			if strings.Contains(o.out, "never") {
				t.Errorf("something is said never to expire:\n%s", o.out)
			}
			o = run(t, []string{"MQTT__PROTOCOL_VERSION=3.1.1"}, append(args[:3:3], "--json", "--quiet-time", "300ms")...)
			lines := strings.Split(strings.TrimSpace(o.out), "\n")
			if o.code != ExitOK || len(lines) != 6 {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			for _, line := range lines[:5] {
				var d struct {
					Expiry *int `json:"expiry_seconds"`
					Flags  []string
				}
				if err := json.Unmarshal([]byte(line), &d); err != nil || d.Expiry != nil || strings.Join(d.Flags, " ") != "unknown" {
					t.Errorf("%v: %s", err, line)
				}
			}
			var sum struct {
				Protocol string
				Limited  *string
				Notes    []string
			}
			if err := json.Unmarshal([]byte(lines[5]), &sum); err != nil || sum.Protocol != "3.1.1" || sum.Limited == nil || *sum.Limited != inventory.LimitedView || len(sum.Notes) == 0 {
				t.Errorf("%v: %s", err, lines[5])
			}
		})
	}
}

func TestABrokerThatRefusesTheVersionIsHintedWithTheSettingFromEverySource(t *testing.T) {
	address := scripted(t, map[byte][]byte{1: {0x20, 2, 0, 1}})
	config := file(t, "c.toml", "[mqtt]\nprotocol_version = 5\n")
	for _, c := range []struct{ env, args []string }{
		{nil, nil}, {[]string{"MQTT__PROTOCOL_VERSION=5"}, nil}, {nil, []string{"--protocol-version", "5"}}, {nil, []string{"--config", config}},
	} {
		o := run(t, c.env, append([]string{"list", "--broker", address}, c.args...)...)
		if o.code != ExitFailed || strings.Count(o.errout, `mqtt.protocol_version is "5"`) != 1 || strings.Count(o.errout, "\n") != 1 || o.out != "" {
			t.Errorf("%v %v: exit %d: %s", c.env, c.args, o.code, o.errout)
		}
	}
	// There is no fallback, in neither direction.
	o := run(t, nil, "list", "--broker", scripted(t, map[byte][]byte{1: {0x20, 3, 0, 0x84, 0}}), "--protocol-version", "3.1.1")
	if o.code != ExitFailed || strings.Count(o.errout, `mqtt.protocol_version is "3.1.1"`) != 1 {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	// A wrong password is none of that.
	o = run(t, nil, "list", "--broker", scripted(t, map[byte][]byte{1: {0x20, 2, 0, 4}}))
	if o.code != ExitFailed || strings.Contains(o.errout, "protocol_version") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
}

func TestNothingIsClearedOver311(t *testing.T) {
	address := testbroker.Start(t, testbroker.Config{}).URL()
	keep(t, address, "home/a", "on")
	for _, args := range [][]string{{"clear", "--topic", "home/a"}, {"restore", "abc"}, {"draft", "--topic", "home/a"}} {
		o := run(t, nil, append(args, "--broker", address, "--protocol-version", "3.1.1")...)
		if o.code != ExitUsage || !strings.Contains(o.errout, "3.1.1") || !strings.Contains(o.errout, "invisible") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.errout)
		}
	}
	if o := run(t, nil, "list", "--broker", address, "--quiet-time", "300ms"); !strings.Contains(o.out, "home/a") {
		t.Errorf("the topic is not there any more: %s", o.out)
	}
}

func TestTheScreenOver311FollowsAndClearsNothing(t *testing.T) {
	for name, address := range brokersOf311(t) {
		t.Run(name, func(t *testing.T) {
			keep(t, address, "home/state", "on")
			s := open(t, 120, 30, nil, "--broker", address, "--protocol-version", "3.1.1", "--quiet-time", "300ms")
			s.until("that it is limited, and why", func(v string) bool {
				return strings.Contains(v, "MQTT 3.1.1 (limited)") && strings.Contains(v, "expiry unknown (3.1.1)") && strings.Contains(v, "Note: "+inventory.LimitedView[:40])
			})
			keep(t, address, "home/born", "1")
			s.until("a topic that was born meanwhile", func(v string) bool { return strings.Contains(v, "2 retained") })
			s.press("t")
			s.until("the rows", func(v string) bool {
				return strings.Contains(v, "home/born") && strings.Contains(v, "unknown (3.1.1)  ")
			})
			s.press("a")
			s.until("why it cannot be approved", func(v string) bool { return strings.Contains(v, "would be invisible") })
			s.press("?")
			s.press("G")
			s.until("what is not told", func(v string) bool { return strings.Contains(v, "What MQTT 3.1.1 does not tell") })
			s.press("q")
			s.left()
		})
	}
}
