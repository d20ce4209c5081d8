package cli

import (
	"strings"
	"testing"
)

func TestALoginIsNotOfferedToABrokerItWasNotWrittenFor(t *testing.T) {
	pass := file(t, "pass", "homesecret\n")
	config := file(t, "c.toml", `[mqtt]
broker = "mqtt://home"
user = "me"
password_file = "`+pass+`"
[profile.other]
broker = "mqtt://other"
[profile.same]
broker = "home"
[profile.named]
broker = "mqtt://other"
user = "you"
password = "p"
[profile.user]
broker = "mqtt://other"
user = "you"
`)
	for _, c := range []struct {
		name           string
		env            []string
		args           []string
		user, password string
		says           string
	}{
		{"the file's own broker", nil, nil, "me", "homesecret", ""},
		{"a profile with another broker", nil, []string{"--profile", "other"}, "", "", "mqtt.user"},
		{"a profile with the same broker", nil, []string{"--profile", "same"}, "me", "homesecret", ""},
		{"a profile with its own login", nil, []string{"--profile", "named"}, "you", "p", ""},
		{"a profile with its own user only", nil, []string{"--profile", "user"}, "you", "", "mqtt.password_file"},
		{"a flag with another broker", nil, []string{"--broker", "mqtt://other"}, "", "", "mqtt://home"},
		{"a flag with another broker and user", nil, []string{"--broker", "mqtt://you@other"}, "you", "", "mqtt.password_file"},
		{"a flag with the same broker", nil, []string{"--broker", "mqtt://home"}, "me", "homesecret", ""},
		{"a flag with the same broker, written out", nil, []string{"--broker", "tcp://HOME:1883/"}, "me", "homesecret", ""},
		{"a flag with another port", nil, []string{"--broker", "mqtt://home:1884"}, "", "", "mqtt.user"},
		{"a flag with TLS on the same port", nil, []string{"--broker", "mqtts://home:1883"}, "", "", "mqtt.user"},
		{"the environment with another broker", []string{"MQTT__BROKER=other"}, nil, "", "", "MQTT__BROKER"},
		{"a password in the environment is for whatever is asked", []string{"MQTT__USER=u", "MQTT__PASSWORD=p"}, []string{"--broker", "mqtt://other"}, "u", "p", ""},
		{"an environment that names its broker too", []string{"MQTT__BROKER=mqtt://shared", "MQTT__USER=u", "MQTT__PASSWORD=p"}, []string{"--broker", "mqtt://other"}, "", "", "MQTT__PASSWORD"},
		{"the prefixed name changes the shared broker", []string{"MQTT__BROKER=shared", "MQTT__USER=u", "RETAINSCOPE_MQTT__BROKER=other"}, nil, "", "", "MQTT__USER"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &program{env: environ(c.env), given: map[string]*flagText{}}
			if err := p.root().ParseFlags(append([]string{"--config", config}, c.args...)); err != nil {
				t.Fatal(err)
			}
			r, err := p.merge()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.settle(); err != nil {
				t.Fatal(err)
			}
			if r.MQTT.User != c.user || string(r.MQTT.Password) != c.password {
				t.Errorf("%s is offered %q and %q, want %q and %q", r.MQTT.Broker, r.MQTT.User, string(r.MQTT.Password), c.user, c.password)
			}
			told := strings.Join(r.warnings, "\n")
			if (c.says == "") != (told == "") || !strings.Contains(told, c.says) || strings.Contains(told, "homesecret") {
				t.Errorf("it says %q, want %q in it", told, c.says)
			}
		})
	}
}
