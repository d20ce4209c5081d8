package cli

import (
	"strings"
	"testing"
)

func TestEveryLoginAtEveryBrokerHasAFileOfItsOwn(t *testing.T) {
	long := strings.Repeat("x", 300)
	seen := map[string]string{}
	for _, x := range []struct{ address, user, want string }{
		{"mqtt://localhost", "", "mqtt-127.0.0.1-1883"},
		{"mqtt://127.0.0.1:1883", "me", "me@mqtt-127.0.0.1-1883"},
		{"mqtts://Broker.lan", "", "mqtts-broker.lan-8883"},
		{"unix:///run/mosquitto.sock", "", "unix--run-mosquitto.sock"},
		{"ws://broker.lan/mqtt", "", "ws-broker.lan-80-mqtt"},
		{"ws://broker.lan/a/b", "", "ws-broker.lan-80-a-b"},
		{"ws://broker.lan/a-b", "", ""},
		{"unix:///run/a/b", "", "unix--run-a-b"},
		{"unix:///run/a-b", "", ""},
		{"mqtt://broker.lan", "a/../b", ""},
		{"mqtt://broker.lan", "a_.._b", ""},
		{"mqtt://broker.lan", "a@b", ""},
		{"mqtt://b_c.lan", "", ""},
		{"mqtt://b-c.lan", "", "mqtt-b-c.lan-1883"},
		{"mqtt://broker.lan", long + "1", ""},
		{"mqtt://broker.lan", long + "2", ""},
		{"mqtt://[::1]:1883", "", ""},
	} {
		got := brokerFile(x.address, x.user)
		if x.want != "" && got != x.want {
			t.Errorf("%s as %q: %q, want %q", x.address, x.user, got, x.want)
		}
		if strings.ContainsAny(got, "/\\:*?\"<>| ") || len(got) > 120 || strings.HasPrefix(got, ".") {
			t.Errorf("%s as %q: %q is no name for a file", x.address, x.user, got)
		}
		if before, twice := seen[got]; twice {
			t.Errorf("%q is the file of %s and of %s %q", got, before, x.address, x.user)
		}
		seen[got] = x.address + " " + x.user
	}
}
