package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retainscope/inventory"
)

// The fault: help of what is no command printed the help of another one and exited with 0.
func TestHelpOfWhatIsNoCommandIsAnError(t *testing.T) {
	for _, line := range []string{
		"help nosuch", "nosuch --help", "completion tcsh", "completion tcsh --help", "help record nosuch", "record nosuch --help", "record nosuch", "help list extra",
	} {
		o := run(t, nil, strings.Fields(line)...)
		if o.code != ExitUsage || o.out != "" || strings.Count(o.errout, "\n") != 1 || !strings.Contains(o.errout, "command") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", line, o.code, o.out, o.errout)
		}
	}
	for _, line := range []string{"help", "--help", "help record show", "record --help", "record", "completion", "help completion bash", "list extra --help"} {
		if o := run(t, nil, strings.Fields(line)...); o.code != ExitOK || o.errout != "" || !strings.Contains(o.out, "Usage:") {
			t.Errorf("%s: exit %d, stderr %q", line, o.code, o.errout)
		}
	}
}

func TestTheHelpOfListNamesEverySortAndThePayloadColumn(t *testing.T) {
	o := run(t, nil, "list", "--help")
	_, about, _ := strings.Cut(strings.Join(strings.Fields(o.out), " "), "--sort takes ")
	about, _, _ = strings.Cut(about, ".")
	for _, w := range sortWords() {
		if !strings.Contains(about, strings.TrimPrefix(w, "-")) {
			t.Errorf("--sort takes %s, and help says %q", w, about)
		}
	}
	if !strings.Contains(o.out, "column of the table") {
		t.Error("help does not tell of the column PAYLOAD")
	}
}

// The fault: texts of libraries, such as "dial tcp" and "open /nonexist: no such file or directory".
func TestFaultsOfAPersonAreSaidInWords(t *testing.T) {
	missing, folder := filepath.Join(t.TempDir(), "missing"), t.TempDir()
	manifest := file(t, "m.toml", "[broker]\nurl = \"mqtt://h\"\n\n[[topic]]\ntopic = \"a\"\napproved_at = \"now\"\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"config", "--config", missing}, ExitUsage, "there is no file " + quote(missing)},
		{[]string{"config", "--config", folder}, ExitUsage, quote(folder) + " is a folder"},
		{[]string{"config", "--password-file", missing}, ExitUsage, "mqtt.password_file (flag --password-file): there is no file " + quote(missing)},
		{[]string{"check", manifest, "--list", missing}, ExitFailed, "approved_at wants a time, not a text; write it without quotes, as 2026-11-30T14:00:00Z"},
		{[]string{"check", file(t, "n.toml", "[broker]\nurl = \"mqtt://h\"\n"), "--list", missing}, ExitFailed, "there is no file " + quote(missing)},
		{[]string{"config", "--config", file(t, "c.toml", "[mqtt\nbroker = \"x\"\n")}, ExitUsage, "line 1: the name of a section is not closed: write it as [mqtt]"},
		{[]string{"config", "--config", file(t, "c.toml", "[mqtt]\nbroker \"x\"\n")}, ExitUsage, "line 2: an = is missing"},
		{[]string{"config", "--config", file(t, "c.toml", "[mqtt]\nclient_id = \"x\n")}, ExitUsage, "line 2: mqtt.client_id: a text is not closed with its quote"},
		{[]string{"config", "--config", file(t, "c.toml", "[mqtt]\nkeep_alive =\n")}, ExitUsage, "line 2: mqtt.keep_alive: the value is missing"},
		{[]string{"config", "--config", file(t, "c.toml", "[mqtt]\nkeep_alive = null\n")}, ExitUsage, `line 2: mqtt.keep_alive: "null" is no value`},
		{[]string{"clear", "--topic", "a", "--manifest", missing}, ExitNotSent, "there is no manifest " + quote(missing)},
		{[]string{"demo", "--into", "mqtt://127.0.0.1:1"}, ExitFailed, "127.0.0.1:1 refused the connection: nothing listens there"},
	} {
		o := run(t, nil, c.args...)
		if o.code != c.code || !strings.Contains(o.errout, c.want) || strings.Contains(o.errout, "no such file") || strings.Contains(o.errout, "dial tcp") {
			t.Errorf("%v: exit %d, %s", c.args, o.code, o.errout)
		}
	}
}

// The fault: "interval":86400000000000, which tells no unit.
func TestDurationsInALogOfJSONHaveTheirUnit(t *testing.T) {
	r := &resolved{}
	r.Log.Level, r.Log.Format = "info", "json"
	var b bytes.Buffer
	r.logTo(&b).With("refresh", time.Hour).Info("publishing", "interval", 24*time.Hour, slog.Group("g", "took", 1500*time.Millisecond))
	for _, want := range []string{`"interval":"24h0m0s"`, `"refresh":"1h0m0s"`, `"took":"1.5s"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
}

// The fault: seen=328 and then retained=326, with no word on the two topics of its own.
func TestAWatcherSaysHowManyTopicsOfItsOwnItLeavesOut(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	retain := func(topic string) inventory.Publication {
		return inventory.Publication{Topic: []byte(topic), Payload: []byte("x"), Retain: true, Origin: inventory.Replay, ReceivedAt: time.Now().UnixMilli()}
	}
	inv.Apply([]inventory.Publication{retain("a"), retain("own/status"), retain("own/state")})
	c := &counter{inv: inv, own: []string{"own/status", "own/state", "own/none"}, readings: true}
	f := c.count(inventory.Link{}, inventory.Coverage{})
	if f.Retained != 1 {
		t.Fatalf("%d are counted", f.Retained)
	}
	var b bytes.Buffer
	d := diary{log: slog.New(slog.NewTextHandler(&b, nil))}
	d.found(f)
	if !strings.Contains(b.String(), "retained=1 ") || !strings.Contains(b.String(), "own_topics_left_out=2") {
		t.Error(b.String())
	}
}

// The fault: a lock was left for a broker that was never reached and has no manifest.
func TestNoLockIsLeftWhereThereIsNoManifest(t *testing.T) {
	for _, command := range [][]string{{"clear", "--topic", "a"}, {"check"}, {"record", "show"}, {"record", "verify"}, {"restore", "20261130-140211-5"}, {"record", "recheck", "20261130-140211-5"}, {"draft", "--topic", "a"}} {
		home := t.TempDir()
		o := run(t, []string{"HOME=" + home}, append(command, "--broker", "mqtt://127.0.0.1:1")...)
		if o.code == ExitOK && command[0] != "record" {
			t.Errorf("%v: exit %d", command, o.code)
		}
		_ = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%v leaves %s", command, path)
			}
			return err
		})
	}
}
