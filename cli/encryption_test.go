package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The fault: a CA file with mqtt:// was ignored without a word, and the password went in the clear.
func TestSettingsOfTLSAreRefusedWhereTheAddressDoesNotEncrypt(t *testing.T) {
	given := map[string]string{
		"mqtt.ca_file": "/nonexistent", "mqtt.cert_file": "c", "mqtt.key_file": "k", "mqtt.server_name": "s", "mqtt.insecure": "true",
		"observer.cert_file": "c", "observer.key_file": "k",
	}
	together := map[string]string{"cert_file": "key_file", "key_file": "cert_file"}
	for _, s := range settings() {
		if !s.tls() {
			if strings.Contains(s.usage, "PEM") {
				t.Errorf("%s is about certificates", s.id())
			}
			continue
		}
		v := given[s.id()]
		if v == "" {
			t.Errorf("no value for %s in this test", s.id())
			continue
		}
		asTOML := quote(v)
		if v == "true" {
			asTOML = v
		}
		lines, along, flags := fmt.Sprintf("%s = %s\n", s.name, asTOML), []string{s.env() + "=" + v}, []string{"--" + s.flag + "=" + v}
		if other := together[s.name]; other != "" {
			lines += other + " = \"x\"\n"
			along = append(along, strings.ToUpper(s.section+"__"+other)+"=x")
			flag := strings.ReplaceAll(other, "_", "-")
			if s.section == "observer" {
				flag = "observer-" + flag
			}
			flags = append(flags, "--"+flag+"=x")
		}
		inFile := file(t, "c.toml", "["+s.section+"]\n"+lines)
		inProfile := file(t, "p.toml", "[profile.p."+s.section+"]\n"+lines)
		for _, address := range []string{"mqtt://127.0.0.1:1", "tcp://h", "ws://h/mqtt", "unix:///run/x", "h"} {
			for _, c := range []struct {
				name, source string
				env, args    []string
			}{
				{"flag", "flag --", nil, flags},
				{"environment", "environment ", along, nil},
				{"file", inFile + " line 2", nil, []string{"--config", inFile}},
				{"profile", inProfile + " line 2, profile p", nil, []string{"--config", inProfile, "--profile", "p"}},
			} {
				o := run(t, append(c.env, "MQTT__USER=me", "MQTT__PASSWORD=secret"), append(append([]string{"config"}, c.args...), "--broker", address)...)
				if o.code != ExitUsage || !strings.Contains(o.errout, "does not encrypt") || !strings.Contains(o.errout, "flag --broker") ||
					!strings.Contains(o.errout, s.section+".") || s.name != "key_file" && !strings.Contains(o.errout, c.source) {
					t.Errorf("%s by %s with %s: exit %d, %q", s.id(), c.name, address, o.code, o.errout)
				}
			}
		}
		encrypted := run(t, along, "config", "--broker", "mqtts://h")
		if encrypted.code != ExitOK {
			t.Errorf("%s with mqtts://: exit %d, %q", s.id(), encrypted.code, encrypted.errout)
		}
	}
	if o := run(t, []string{"MQTT__CA_FILE=x", "MQTT__INSECURE=true"}, "config", "--ca-file=", "--insecure=false", "--broker", "mqtt://h"); o.code != ExitOK {
		t.Errorf("set to nothing: exit %d, %q", o.code, o.errout)
	}
}

func TestARelativePathInTheConfigurationIsRelativeToTheFileAndNotToTheCurrentFolder(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	section, paths := "", 0
	for _, s := range settings() {
		if !s.path() || s.name == "password_file" {
			continue
		}
		if s.section != section {
			section = s.section
			fmt.Fprintf(&text, "[%s]\n", section)
			if section == "mqtt" {
				fmt.Fprintln(&text, "broker = \"mqtts://h\"\nuser = \"me\"\npassword_file = \"sub/pass\"")
			}
		}
		fmt.Fprintf(&text, "%s = \"sub/%s\"\n", s.name, s.name)
		paths++
	}
	if paths < 9 {
		t.Errorf("only %d settings are paths", paths)
	}
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"c.toml": text.String(), "sub/pass": "secret\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := run(t, nil, "config", "--config", filepath.Join(dir, "c.toml"))
	for _, s := range settings() {
		if !s.path() || s.section == "observer" && s.name == "password_file" {
			continue
		}
		name := s.name
		if name == "password_file" {
			name = "pass"
		}
		if got := configured(t, o, s.id()); !strings.HasPrefix(got, quote(filepath.Join(dir, "sub", name))+" from ") {
			t.Errorf("%s is %s", s.id(), got)
		}
	}
	if got := configured(t, o, "mqtt.password"); !strings.HasPrefix(got, `"********"`) {
		t.Errorf("the password is %s: %s", got, o.errout)
	}
	if got := configured(t, run(t, nil, "config", "--log-file", "sub/l"), "log.file"); got != `"sub/l" from flag --log-file` {
		t.Errorf("a flag is relative to the current folder: %s", got)
	}
}
