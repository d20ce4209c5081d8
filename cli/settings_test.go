package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/charmbracelet/x/exp/golden"
)

// outcome is what a run in this process left behind.
type outcome struct {
	code        int
	out, errout string
}

// run starts the whole program in process. The environment is exactly env, and no configuration file of the machine is
// found.
func run(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	return runIn(t.Context(), append([]string{"HOME=" + t.TempDir()}, env...), args...)
}

func runIn(ctx context.Context, env []string, args ...string) outcome {
	var out, errout bytes.Buffer
	code := Run(ctx, args, strings.NewReader(""), &out, &errout, env)
	return outcome{code, out.String(), errout.String()}
}

// file writes a file of mode 0600 and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// configured returns the line of `retainscope config` for a key, as "value source".
func configured(t *testing.T, o outcome, key string) string {
	t.Helper()
	if o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	for line := range strings.Lines(o.out) {
		if name, rest, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == key {
			v, from, _ := strings.Cut(rest, " # ")
			return strings.TrimSpace(v) + " from " + strings.TrimSpace(from)
		}
	}
	t.Fatalf("no line for %s in:\n%s", key, o.out)
	return ""
}

func TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	path := file(t, "c.toml", "[mqtt]\nbroker = \"mqtt://in.file\"\n\n[profile.home]\nbroker = \"mqtt://in.profile\"\n[profile.home.scan]\nquiet = \"3s\"\n")
	plain, prefixed := "MQTT__BROKER=mqtt://plain.env", "RETAINSCOPE_MQTT__BROKER=mqtt://prefixed.env"
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"nothing", nil, nil, `"mqtt://localhost:1883" from default`},
		{"a file", nil, []string{"--config", path}, `"mqtt://in.file" from ` + path + " line 2"},
		{"the file named by the environment", []string{"RETAINSCOPE_CONFIG=" + path}, nil, `"mqtt://in.file" from ` + path + " line 2"},
		{"a profile", nil, []string{"--config", path, "--profile", "home"}, `"mqtt://in.profile" from ` + path + " line 5, profile home"},
		{"the profile named by the environment", []string{"RETAINSCOPE_PROFILE=home"}, []string{"--config", path}, `"mqtt://in.profile" from ` + path + " line 5, profile home"},
		{"the plain environment", []string{plain}, []string{"--config", path, "--profile", "home"}, `"mqtt://plain.env" from environment MQTT__BROKER`},
		{"the prefixed environment", []string{plain, prefixed}, []string{"--config", path}, `"mqtt://prefixed.env" from environment RETAINSCOPE_MQTT__BROKER`},
		{"a flag", []string{plain, prefixed}, []string{"--config", path, "--broker", "mqtt://flag"}, `"mqtt://flag" from flag --broker`},
		{"the last of two flags", nil, []string{"--broker", "mqtt://one", "--broker", "mqtt://two"}, `"mqtt://two" from flag --broker`},
		{"an address without its beginning", nil, []string{"--broker", "broker.lan:1884"}, `"mqtt://broker.lan:1884" from flag --broker`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := configured(t, run(t, c.env, append(c.args, "config")...), "mqtt.broker"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	o := run(t, nil, "--config", path, "--profile", "home", "config")
	if got := configured(t, o, "scan.quiet"); got != `"3s" from `+path+" line 7, profile home" {
		t.Errorf("a section of the profile gives %s", got)
	}
	if strings.Contains(run(t, nil, "--config", path, "config").out, "3s") {
		t.Error("a profile that was not chosen counts")
	}
}

func TestTheDefaultFileIsFoundInTheConfigurationFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "retainscope"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "retainscope", "config.toml")
	if err := os.WriteFile(path, []byte("mqtt.user = \"me\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := configured(t, run(t, []string{"XDG_CONFIG_HOME=" + dir}, "config"), "mqtt.user"); got != `"me" from `+path+" line 1" {
		t.Error(got)
	}
}

func TestAWrongValueIsNamedWithKeyValueAndSource(t *testing.T) {
	for _, c := range []struct {
		name, toml string
		args       []string
		want       []string
	}{
		{"a duration without a unit", "[mqtt]\n\ntimeout = 5\n", nil, []string{"mqtt.timeout = 5", "line 3", "unit"}},
		{"a duration out of bounds", "", []string{"--keep-alive", "1s"}, []string{`mqtt.keep_alive = "1s"`, "flag --keep-alive", "between 5s and"}},
		{"no duration", "", []string{"--quiet-time", "soon"}, []string{`scan.quiet = "soon"`, "not a duration"}},
		{"a text for yes or no", "[mqtt]\ninsecure = \"yes\"\n", nil, []string{`mqtt.insecure = "yes"`, "line 2", "true or false"}},
		{"a size out of bounds", "", []string{"--payload-total", "1B"}, []string{"store.payload_total", "between 1MiB and"}},
		{"a size that overflows", "", []string{"--payload-total", "99999999999GiB"}, []string{"store.payload_total", "between 1MiB and"}},
		{"a negative size", "[store]\nchanges = -1\n", nil, []string{"store.changes = -1", "line 2"}},
		{"a wildcard inside a level", "", []string{"--filter", "home/a#"}, []string{"scan.filters", `"home/a#"`, "whole last level"}},
		{"a plus inside a level", "", []string{"--filter", "home/a+/b"}, []string{"scan.filters", "whole level"}},
		{"an empty filter", "[scan]\nfilters = [\"\"]\n", nil, []string{"scan.filters", "empty"}},
		{"a shared filter", "", []string{"--filter", "$share/g/#"}, []string{"scan.filters", "shared"}},
		{"a list that is a text", "[scan]\nfilters = \"#\"\n", nil, []string{"scan.filters", "list"}},
		{"a list of numbers", "[scan]\nfilters = [1]\n", nil, []string{"scan.filters", "list"}},
		{"a word that is no choice", "", []string{"--log-level", "loud"}, []string{"log.level", "one of debug, info, warn, error"}},
		{"a number for a name", "[mqtt]\nuser = 7\n", nil, []string{"mqtt.user = 7", "quotes"}},
		{"a client id with a space", "", []string{"--client-id", "a b"}, []string{"mqtt.client_id", "visible ASCII"}},
		{"an unknown scheme", "", []string{"--broker", "http://h"}, []string{"mqtt.broker", "mqtt:// mqtts://"}},
		{"no address at all", "", []string{"--broker", ""}, []string{"mqtt.broker (flag --broker) is empty"}},
		{"a port that is none", "", []string{"--broker", "mqtt://127.0.0.1:99999"}, []string{"mqtt.broker", "1 to 65535", "flag --broker"}},
		{"port nought", "[mqtt]\nbroker = \"wss://h:0/mqtt\"\n", nil, []string{"mqtt.broker", "1 to 65535", "line 2"}},
		{"a path that would be ignored", "", []string{"--broker", "mqtt://h:1883/home"}, []string{"mqtt.broker", "only ws:// and wss:// take a path"}},
		{"a query that would be ignored", "", []string{"--broker", "mqtts://h?x=1"}, []string{"mqtt.broker", "only ws:// and wss:// take a path"}},
		{"a password of nobody for 3.1.1", "[mqtt]\npassword = \"x\"\nprotocol_version = \"3.1.1\"\n", nil, []string{"mqtt.user is empty", "line 2", "--user"}},
		{"an address without a host", "", []string{"--broker", "mqtt://"}, []string{"mqtt.broker", "not an address"}},
		{"a socket without a path", "", []string{"--broker", "unix://"}, []string{"mqtt.broker", "socket"}},
		{"a certificate without its key", "[mqtt]\ncert_file = \"x\"\n", nil, []string{"cert_file", "key_file", "belong together"}},
		{"escape sequences in a value", "", []string{"--log-level", "\x1b[31m"}, []string{`\u001B[31m`}},
		{"a pattern that protects nothing", "[clear]\n\nprotect = [\"a/#\", \"b/#/c\"]\n", nil, []string{"clear.protect", "line 3", `"b/#/c"`, "alone at the end"}},
		{"a shared filter that protects nothing", "", []string{"--protect", "$share/g/a"}, []string{"clear.protect", "--protect", "protects nothing"}},
		{"a password of nobody", "[observer]\npassword = \"x\"\n", nil, []string{"observer.password", "without observer.user"}},
		{"a certificate of the observer without its key", "[observer]\nkey_file = \"x\"\n", nil, []string{"observer.cert_file", "belong together"}},
		{"a negative window", "", []string{"--window", "-1s"}, []string{"clear.window", "between 0s"}},
		{"an unknown profile", "[profile.home]\n", []string{"--profile", "hose"}, []string{`no profile "hose"`, `"home"`}},
		{"a profile without a file", "", []string{"--profile", "x"}, []string{"profile", "no configuration file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if c.toml != "" {
				args = append([]string{"--config", file(t, "c.toml", c.toml)}, args...)
			}
			o := run(t, nil, append(args, "config")...)
			if o.code != ExitUsage || strings.Count(o.errout, "\n") != 1 || strings.Contains(o.errout, "\x1b") {
				t.Fatalf("exit %d, stderr %q", o.code, o.errout)
			}
			for _, w := range c.want {
				if !strings.Contains(o.errout, w) {
					t.Errorf("%q is not in %q", w, o.errout)
				}
			}
		})
	}
}

func TestAnUnknownKeyIsNamedWithItsLine(t *testing.T) {
	for _, c := range []struct{ name, toml, want string }{
		{"a key", "[mqtt]\nbroker = \"mqtt://h\"\nuzer = \"x\"\n", "line 3: mqtt.uzer is no setting"},
		{"a near miss", "[mqtt]\nbrokr = \"x\"\n", "is mqtt.broker meant?"},
		{"a section", "[mqtt]\n[screens]\nrefresh = \"1s\"\n", "line 2: screens is no setting"},
		{"a key outside", "broker = \"x\"\n", "line 1: broker is no setting"},
		{"a dotted key", "# one\nmqtt.uzer = 1\n", "line 2: mqtt.uzer is no setting"},
		{"a quoted key", "[mqtt]\n\"u z\" = 1\n", "line 2: mqtt.u z is no setting"},
		{"an inline table", "\nmqtt = { uzer = 1 }\n", "line 2: mqtt.uzer is no setting"},
		{"a key of a profile", "[profile.home]\nuzer = 1\n", "line 2: profile.home.uzer is no setting"},
		{"a section of a profile", "[profile.home.scn]\nquiet = \"1s\"\n", "line 1: profile.home.scn is no setting"},
		{"a key in a section of a profile", "[profile.home.scan]\n\nquit = \"1s\"\n", "line 3: profile.home.scan.quit is no setting"},
		{"a profile that is no table", "[profile]\nhome = 1\n", "line 2: profile.home is no setting"},
		{"the first of two", "[mqtt]\nb = 1\na = 1\n", "line 2: mqtt.b is no setting"},
		{"broken TOML", "[mqtt]\nbroker = \n", "line 2"},
		{"the same key twice", "[mqtt]\nuser = \"a\"\nuser = \"b\"\n", "line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, "c.toml", c.toml)
			o := run(t, nil, "--config", path, "config")
			if o.code != ExitUsage || !strings.Contains(o.errout, c.want) || !strings.Contains(o.errout, path) || strings.Count(o.errout, "\n") != 1 {
				t.Errorf("exit %d: %s", o.code, o.errout)
			}
		})
	}
	o := run(t, []string{"RETAINSCOPE_MQTT__UZER=x", "MQTT__UZER=not ours"}, "config")
	if o.code != ExitUsage || !strings.Contains(o.errout, "RETAINSCOPE_MQTT__UZER is no setting") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	if o := run(t, []string{"MQTT__UZER=not ours", "RETAINSCOPE_REQUIRE_BROKERS=1"}, "config"); o.code != ExitOK {
		t.Errorf("a name of another program is refused: %s", o.errout)
	}
}

func TestAPlainNameThatLooksLikeATypoIsWarnedOf(t *testing.T) {
	told := func(env ...string) string {
		t.Helper()
		r, err := merge(sources{env: environ(env)})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(r.warnings, "\n")
	}
	if got := told("MQTT__BROKR=mqtt://x:pw@h", "MQTT__PASWORD=geheim"); !strings.Contains(got, "MQTT__BROKR is no setting") || !strings.Contains(got, "is MQTT__BROKER meant?") ||
		!strings.Contains(got, "is MQTT__PASSWORD meant?") || strings.Contains(got, "geheim") || strings.Contains(got, "pw") {
		t.Errorf("it says %s", got)
	}
	if got := told("MQTT__TOPIC_PREFIX=x", "MQTT__BROKER=mqtt://h", "MQTT__USER=me", "MQTT_BROKR=x", "APP__BROKR=x", "MQTT__QOS=1"); got != "" {
		t.Errorf("what is some other program's is warned of: %s", got)
	}
}

func TestAMissingFileIsAnErrorOnlyWhenItWasNamed(t *testing.T) {
	if o := run(t, nil, "config"); o.code != ExitOK || !strings.Contains(o.out, "none (looked for") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	o := run(t, nil, "--config", filepath.Join(t.TempDir(), "no.toml"), "config")
	if o.code != ExitUsage || !strings.Contains(o.errout, "no.toml") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
}

func TestThePasswordIsTakenFromWhereItIsMeantAndNeverShown(t *testing.T) {
	const secret = "hunter2"
	pass := file(t, "pass", secret+"\r\nsecond line\n")
	inFile := file(t, "c.toml", "[mqtt]\npassword = \""+secret+"\"\n")
	fileOfFile := file(t, "f.toml", "[mqtt]\npassword_file = \""+pass+"\"\n")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		from string
	}{
		{"environment", []string{"MQTT__PASSWORD=" + secret}, nil, "environment MQTT__PASSWORD"},
		{"file", nil, []string{"--config", inFile}, inFile + " line 2"},
		{"password file", nil, []string{"--password-file", pass}, "flag --password-file"},
		{"a password file wins over a lower password", []string{"MQTT__PASSWORD=other"}, []string{"--password-file", pass}, "flag --password-file"},
		{"a password wins over a lower password file", []string{"MQTT__PASSWORD=" + secret}, []string{"--config", fileOfFile}, "environment MQTT__PASSWORD"},
		{"address in the environment", []string{"MQTT__BROKER=mqtt://me:" + secret + "@h"}, nil, "environment MQTT__BROKER"},
		{"address in a file", nil, []string{"--config", file(t, "u.toml", "mqtt.broker = \"mqtt://me:"+secret+"@h\"\n")}, "line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, c.env, append(c.args, "config")...)
			if got := configured(t, o, "mqtt.password"); !strings.HasPrefix(got, `"********" from `) || !strings.Contains(got, c.from) {
				t.Error(got)
			}
			if strings.Contains(o.out+o.errout, secret) {
				t.Errorf("the password is shown: %s%s", o.out, o.errout)
			}
			p := &program{env: environ(c.env), given: map[string]*flagText{}}
			root := p.root()
			if err := root.ParseFlags(c.args); err != nil {
				t.Fatal(err)
			}
			r, err := p.merge()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.settle(); err != nil {
				t.Fatal(err)
			}
			if string(r.MQTT.Password) != secret || strings.Contains(r.MQTT.Broker, "@") {
				t.Errorf("the rooms get %q for %s", string(r.MQTT.Password), r.MQTT.Broker)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v %s", r.MQTT, r.MQTT, r.MQTT, r.MQTT.Password), secret) {
				t.Error("formatting the settings shows the password")
			}
		})
	}
}

func TestAPasswordThatCannotBeTakenIsRefusedWithoutShowingIt(t *testing.T) {
	const secret = "hunter2"
	pass, empty := file(t, "pass", secret+"\n"), file(t, "empty", "\n")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"on the command line", nil, []string{"--broker", "mqtt://me:" + secret + "@h"}, "command line"},
		{"on the command line, address wrong as well", nil, []string{"--broker", "mqtt://me:" + secret + "@"}, "command line"},
		{"twice in one source", []string{"MQTT__PASSWORD=" + secret, "MQTT__PASSWORD_FILE=" + pass}, nil, "keep one"},
		{"an empty file", nil, []string{"--password-file", empty}, "no password on its first line"},
		{"a file that is not there", nil, []string{"--password-file", empty + ".no"}, "flag --password-file"},
		{"a prompt without a terminal", nil, []string{"--ask-password"}, "needs a terminal"},
		{"a wrong address with a password", []string{"MQTT__BROKER=http://me:" + secret + "@h"}, nil, "unknown beginning"},
		{"two users", nil, []string{"--broker", "mqtt://me@h", "--user", "you"}, "another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := run(t, c.env, append(c.args, "config")...)
			if o.code == ExitOK || !strings.Contains(o.errout, c.want) {
				t.Errorf("exit %d: %s", o.code, o.errout)
			}
			if strings.Contains(o.out+o.errout, secret) {
				t.Errorf("the password is shown: %s", o.errout)
			}
		})
	}
	if got := configured(t, run(t, nil, "--broker", "mqtt://m%65@h", "config"), "mqtt.user"); got != `"me" from flag --broker` {
		t.Errorf("the user of an address is %s", got)
	}
}

func TestASecretThatOthersCanReadIsWarnedAboutOnce(t *testing.T) {
	open := func(name, text string) string {
		path := file(t, name, text)
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := open("c.toml", "[profile.home]\npassword = \"x\"\n")
	harmless := open("d.toml", "[mqtt]\nuser = \"x\"\n")
	pass := open("pass", "secret\n")
	for _, c := range []struct {
		args  []string
		warns string
	}{
		{[]string{"--config", config}, config},
		{[]string{"--config", open("u.toml", "mqtt.broker = \"mqtt://a:b@h\"\n")}, "u.toml"},
		{[]string{"--password-file", pass}, pass},
		{[]string{"--config", harmless}, ""},
		{[]string{"--config", file(t, "mine.toml", "mqtt.password = \"x\"\n")}, ""},
	} {
		o := run(t, nil, append(c.args, "config")...)
		n := strings.Count(o.errout, "warning: ")
		if c.warns == "" && n != 0 || c.warns != "" && (n != 1 || !strings.Contains(o.errout, c.warns)) {
			t.Errorf("%v warns %d times: %s", c.args, n, o.errout)
		}
	}
}

func TestTheExampleFileNamesEveryKeyWithItsDefault(t *testing.T) {
	raw, err := os.ReadFile("../config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != exampleFile() {
		t.Error("config.toml.example is not what `retainscope config --example` prints")
	}
	whole := string(raw)
	for _, s := range settings() {
		if s.dependent() {
			whole = strings.Replace(whole, "\n# "+s.name+" = ", "\n"+s.name+" = ", 1)
		}
	}
	var doc map[string]map[string]any
	if _, err := toml.Decode(whole, &doc); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, s := range settings() {
		v, ok := doc[s.section][s.name]
		if !ok {
			t.Errorf("%s is not in the example", s.id())
			continue
		}
		named++
		var got, want Settings
		if err := s.bind(&got).take(v, false); err != nil {
			t.Errorf("%s: %v", s.id(), err)
		}
		if err := s.bind(&want).take(s.preset, false); err != nil {
			t.Fatal(err)
		}
		if s.bind(&got).show() != s.bind(&want).show() {
			t.Errorf("%s is %s in the example, %s by default", s.id(), s.bind(&got).show(), s.bind(&want).show())
		}
	}
	keys := 0
	for _, section := range doc {
		keys += len(section)
	}
	if keys != named {
		t.Errorf("the example has %d keys, %d of them are settings", keys, named)
	}
	// It is a file as any other, so everything shows where it came from.
	o := run(t, nil, "--config", file(t, "whole.toml", whole), "config")
	if o.code != ExitOK || strings.Contains(o.out, "# default") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	// With the one line changed that a person with an old broker changes, it still is one.
	old := strings.Replace(string(raw), `protocol_version = "5"`, `protocol_version = "3.1.1"`, 1)
	if o := run(t, nil, "--config", file(t, "old.toml", old), "config"); o.code != ExitOK {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
	if o := run(t, nil, "config", "--example"); o.out != string(raw) {
		t.Error("`retainscope config --example` prints something else")
	}
}

func TestEverySettingCanBeGivenByEverySource(t *testing.T) {
	other := map[string]string{ // a value that is not the default, as text
		"mqtt.broker": "mqtt://h", "mqtt.user": "u", "mqtt.password": "p", "mqtt.password_file": file(t, "p", "x\n"),
		"mqtt.ca_file": "c", "mqtt.cert_file": "c", "mqtt.key_file": "k", "mqtt.server_name": "s", "mqtt.insecure": "true",
		"mqtt.client_id": "c", "mqtt.keep_alive": "9s", "mqtt.timeout": "9s", "mqtt.protocol_version": "3.1.1",
		"mqtt.message_expiry_interval": "3600",
		"scan.filters":                 "a/#,b", "scan.extra_filters": "[\"$SYS/#\", \"a,b\"]", "scan.quiet": "1s", "scan.sys_wait": "1s", "scan.slices": "false",
		"store.payload_per_topic": "1KiB", "store.payload_per_document": "2KiB", "store.payload_total": "2MiB", "store.changes": "1MiB",
		"screen.refresh": "1s", "screen.ascii": "true", "screen.export_dir": "d",
		"readings.enabled": "false", "readings.ignore": "a/#,b",
		"clear.manifest": "m", "clear.protect": "a/#,b", "clear.window": "5s", "clear.undo_payload": "1KiB",
		"observer.user": "u", "observer.password": "p", "observer.password_file": file(t, "o", "x\n"), "observer.cert_file": "c", "observer.key_file": "k",
		"journal.enabled": "false", "journal.file": "j", "journal.group": "true", "journal.flush": "9s", "journal.max_topics": "500", "journal.max_size": "2MiB",
		"watch.publish": "false", "watch.prefix": "p/q", "watch.instance": "i", "watch.discovery_prefix": "d",
		"log.file": "l", "log.level": "debug", "log.format": "json",
	}
	want := map[string]string{"mqtt.password": `"********"`, "mqtt.message_expiry_interval": "3600", "scan.filters": `["a/#", "b"]`, "scan.extra_filters": `["$SYS/#", "a,b"]`, "mqtt.insecure": "true", "scan.slices": "false", "readings.enabled": "false", "readings.ignore": `["a/#", "b"]`,
		"observer.password": `"********"`, "clear.protect": `["a/#", "b"]`,
		"journal.enabled": "false", "journal.group": "true", "journal.max_topics": "500", "watch.publish": "false"}
	for _, s := range settings() {
		text, ok := other[s.id()]
		if !ok {
			t.Errorf("no other value for %s in this test", s.id())
			continue
		}
		// What belongs together is given together.
		var along []string
		switch s.name {
		case "cert_file":
			along = []string{strings.ToUpper(s.section) + "__KEY_FILE=k"}
		case "key_file":
			along = []string{strings.ToUpper(s.section) + "__CERT_FILE=k"}
		case "password", "password_file":
			if s.section == "observer" {
				along = []string{"OBSERVER__USER=u"}
			}
		}
		shown := want[s.id()]
		if shown == "" {
			shown = quote(text)
		}
		if s.tls() {
			along = append(along, "MQTT__BROKER=mqtts://h")
		}
		for _, name := range []string{s.env(), envPrefix + s.env()} {
			if got := configured(t, run(t, append(along, name+"="+text), "config"), s.id()); got != shown+" from environment "+name {
				t.Errorf("%s=%s gives %s", name, text, got)
			}
		}
		if s.flag == "" {
			continue
		}
		args := []string{"config", "--" + s.flag + "=" + text}
		if _, list := s.preset.([]any); list {
			args = []string{"config", "--" + s.flag, "a,b", "--" + s.flag, "c"}
			shown = `["a,b", "c"]`
		}
		if got := configured(t, run(t, along, args...), s.id()); got != shown+" from flag --"+s.flag {
			t.Errorf("%v gives %s", args, got)
		}
	}
}

func TestTheHelp(t *testing.T) {
	for _, name := range []string{"", "list", "watch", "draft", "check", "clear", "restore", "record", "record show", "record verify", "record export", "record recheck", "demo", "config"} {
		t.Run("help "+name, func(t *testing.T) {
			o := run(t, nil, append(strings.Fields(name), "--help")...)
			if o.code != ExitOK || o.errout != "" || !strings.Contains(o.out, "Examples:") {
				t.Errorf("exit %d: %s", o.code, o.errout)
			}
			own, _, _ := strings.Cut(o.out, "\nGlobal Flags:") // those are in the help without a command
			golden.RequireEqual(t, strings.ReplaceAll(own, Version(), "VERSION"))
		})
	}
}

func TestWrongUsageExitsWith2InOneLine(t *testing.T) {
	for _, args := range [][]string{
		{"lst"}, {"list", "extra"}, {"list", "--fliter", "a"}, {"--timeout", "3s"}, {"list", "--timeout", "soon"}, {"list", "--timeout", "-1s"},
		{"list", "--sort", "colour"}, {"list", "--where", "is:nonsense"}, {"list", "--where", "re:("}, {"list", "--filter", ""},
		{"demo", "--into", "mqtt://192.0.2.1"}, {"demo", "--into", "mqtts://127.0.0.1"}, {"demo", "--into", "mqtt://a:b@127.0.0.1"},
		{"demo", "--into", "mqtt://127.0.0.1", "--serve"}, {"demo", "--into", "mqtt://127.0.0.1/path"}, {"demo", "--into", "mqtt://broker.example"},
	} {
		o := run(t, nil, args...)
		if o.code != ExitUsage || strings.Count(o.errout, "\n") != 1 || o.out != "" || !strings.HasPrefix(o.errout, "retainscope: ") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, o.code, o.out, o.errout)
		}
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if o := run(t, nil, "version"); o.code != ExitOK || o.out != "retainscope "+Version()+"\n" {
		t.Errorf("exit %d: %q", o.code, o.out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := run(t, nil, "completion", shell); o.code != ExitOK || !strings.Contains(o.out, "retainscope") {
			t.Errorf("%s: exit %d %s", shell, o.code, o.errout)
		}
	}
}

// FuzzConfig merges arbitrary files: whatever stands in one, the outcome is settings or an error, in printable text.
func FuzzConfig(f *testing.F) {
	f.Add(exampleFile())
	f.Add("[mqtt]\nuzer = 1\n[profile.p]\nbroker = \"mqtt://a:b@h\"\n[profile.p.scan]\nfilters = [\"#\"]\n")
	f.Add("profile.p.mqtt = { timeout = 5 }\n\"\" = 1\n[[a]]\n")
	f.Add("mqtt = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("c.toml", text)
		if err == nil {
			var r *resolved
			if r, err = merge(sources{file: c, profile: "p"}); err == nil {
				r.MQTT.PasswordFile = "" // no file of this machine is read
				if err = r.settle(); err == nil {
					_ = r.listing()
				}
			}
			_ = c.holdsSecret(settings())
			if _, err := merge(sources{file: c}); err != nil && strings.ContainsAny(err.Error(), "\x1b\x00\r") {
				t.Errorf("raw bytes in %q", err)
			}
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00\r") {
			t.Errorf("raw bytes in %q", err)
		}
	})
}
