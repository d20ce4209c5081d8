package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// composed returns the composition that settings give.
func composed(t *testing.T, env []string, args ...string) (*resolved, *retiring) {
	t.Helper()
	p := &program{env: environ(env), given: map[string]*flagText{}}
	if err := p.root().ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	r, err := p.merge()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.settle(); err != nil {
		t.Fatal(err)
	}
	c, err := p.retiring(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, c
}

func TestTheManifestIsOneForEachBrokerAndLogin(t *testing.T) {
	home := t.TempDir()
	config := file(t, "c.toml", "[mqtt]\nbroker = \"mqtt://home\"\n[profile.p.clear]\nmanifest = \"sub/p.toml\"\n")
	beside := filepath.Dir(config)
	folder := filepath.Join(home, ".config", "retainscope")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"the default broker", nil, nil, folder + "/manifest-mqtt-127.0.0.1-1883.toml"},
		{"another name of it", nil, []string{"--broker", "127.0.0.1"}, folder + "/manifest-mqtt-127.0.0.1-1883.toml"},
		{"a login", nil, []string{"--broker", "mqtt://Broker.lan", "--user", "me"}, folder + "/manifest-me@mqtt-broker.lan-1883.toml"},
		{"TLS", nil, []string{"--broker", "mqtts://broker.lan"}, folder + "/manifest-mqtts-broker.lan-8883.toml"},
		{"a file that names its broker", nil, []string{"--config", config}, beside + "/manifest-mqtt-home-1883.toml"},
		{"a file that names it, from there", nil, []string{"--config", config, "--profile", "p"}, beside + "/sub/p.toml"},
		{"a flag", nil, []string{"--manifest", "/x/m.toml"}, "/x/m.toml"},
		{"the environment", []string{"CLEAR__MANIFEST=/y/m.toml"}, nil, "/y/m.toml"},
	} {
		_, got := composed(t, append([]string{"HOME=" + home}, c.env...), c.args...)
		if got.path != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.path, c.want)
		}
		if o := run(t, append([]string{"HOME=" + home}, c.env...), append([]string{"config"}, c.args...)...); !strings.Contains(o.out, "# manifest: "+c.want+"\n") {
			t.Errorf("%s: config does not name it: %s%s", c.name, o.out, o.errout)
		}
	}
	p := &program{env: map[string]string{}, given: map[string]*flagText{}}
	r, err := p.merge()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.retiring(r, nil); err == nil || !strings.Contains(err.Error(), "--manifest FILE") {
		t.Errorf("without a home: %v", err)
	}
}

func TestTheObserverHasItsOwnLoginWhereOneIsConfigured(t *testing.T) {
	pass := file(t, "pass", "r\n")
	config := file(t, "c.toml", `[mqtt]
broker = "mqtt://home"
user = "operator"
password = "o"
[observer]
user = "reader"
password_file = "`+pass+`"
`)
	env := []string{"HOME=" + t.TempDir(), "SUDO_USER=kim"}
	_, c := composed(t, env, "--config", config)
	if c.sends.User != "operator" || string(c.sends.Password) != "o" || c.reads.User != "reader" || string(c.reads.Password) != "r" {
		t.Errorf("sends as %s, reads as %s", c.sends.User, c.reads.User)
	}
	if c.who.Name() != "kim" || c.who.Login == "" || c.broker("x").User != "operator" {
		t.Errorf("%+v", c.who)
	}
	r, c := composed(t, env, "--config", config, "--broker", "mqtt://other")
	if c.sends.User != "" || c.reads.User != "" || c.reads.Password != "" || !strings.Contains(strings.Join(r.warnings, ""), "observer.user") {
		t.Errorf("another broker is offered %q and %q; %v", c.sends.User, c.reads.User, r.warnings)
	}
	_, c = composed(t, append(env, "MQTT__USER=me", "MQTT__PASSWORD=p"), "--broker", "mqtt://other")
	if c.reads.User != "me" || string(c.reads.Password) != "p" {
		t.Errorf("without a login of its own it reads as %q", c.reads.User)
	}
	if _, c = composed(t, append(env, "OBSERVER__CERT_FILE=c", "OBSERVER__KEY_FILE=k", "MQTT__BROKER=mqtts://home")); c.reads.CertFile != "c" || c.sends.CertFile != "" {
		t.Errorf("certificates %q and %q", c.reads.CertFile, c.sends.CertFile)
	}
}

func TestWhatOneSourceProtectsNoOtherFrees(t *testing.T) {
	config := file(t, "c.toml", "[clear]\nprotect = [\"a/#\"]\n[profile.p.clear]\nprotect = [\"b/#\", \"a/#\"]\n")
	env := []string{"HOME=" + t.TempDir(), "CLEAR__PROTECT=c/#"}
	args := []string{"--config", config, "--profile", "p", "--protect", "d/+/e", "--protect", "f,g"}
	_, c := composed(t, env, args...)
	if got, want := c.guard.Filters(), []string{"$SYS/#", "a/#", "b/#", "c/#", "d/+/e", "f,g"}; !slices.Equal(got, want) {
		t.Errorf("protected are %q", got)
	}
	o := run(t, env[1:], append([]string{"config"}, args...)...)
	if got := configured(t, o, "clear.protect"); got != `["a/#", "b/#", "c/#", "d/+/e", "f,g"] from `+config+" line 2 and "+config+
		" line 4, profile p and environment CLEAR__PROTECT and flag --protect" {
		t.Error(got)
	}
}
