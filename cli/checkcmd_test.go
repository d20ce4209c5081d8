package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retainscope/testbroker"
)

// checkedJSON is one line of `check --json`.
type checkedJSON struct {
	Topic          string              `json:"topic"`
	TopicHex       string              `json:"topic_hex"`
	Line           int                 `json:"line"`
	Decision       string              `json:"decision"`
	Why            string              `json:"why"`
	Provisional    []string            `json:"provisional"`
	Controls       []map[string]string `json:"controls"`
	Fingerprint    string              `json:"fingerprint"`
	FingerprintNow *string             `json:"fingerprint_now"`
	SizeNow        *int                `json:"size_now"`
	Undo           bool                `json:"undo"`

	Summary  bool           `json:"summary"`
	Counts   map[string]int `json:"counts"`
	Unlisted *int           `json:"unlisted"`
	Looked   bool           `json:"looked"`
	Notes    []string       `json:"notes"`
}

// checked decodes the output of `check --json`.
func checked(t *testing.T, o outcome) (map[string]checkedJSON, checkedJSON) {
	t.Helper()
	entries := map[string]checkedJSON{}
	var last checkedJSON
	for line := range strings.Lines(o.out) {
		last = checkedJSON{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if !last.Summary {
			entries[last.Topic] = last
		}
	}
	if !last.Summary {
		t.Fatalf("exit %d, no summary: %s%s", o.code, o.out, o.errout)
	}
	return entries, last
}

// fullManifest has one entry of each kind for the house of a workbench.
func fullManifest(b *workbench) {
	b.write("",
		approved(benchOwn, benchValue), established,
		strings.Replace(approved(benchSister, "x"), `"clear"`, `"preserve"`, 1),
		strings.Replace(approved("wave/state", "x"), `"clear"`, `"hold"`, 1),
		approved("airthings", "another"),
		approved("airthings/state/gone", "x"),
		approved("airthings/#", "x"),
		approved("$SYS/broker/uptime", "x"),
	)
	text, err := os.ReadFile(b.manifest)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.manifest, append([]byte("protect = [\"never/#\"]\n"), append(text, approved("never/this", "x")...)...), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

var fullDecisions = map[string]string{
	benchOwn: "clear", benchSister: "preserve", "wave/state": "hold", "airthings": "changed", "airthings/state/gone": "absent",
	"airthings/#": "refuse", "$SYS/broker/uptime": "refuse", "never/this": "refuse",
}

func TestACheckTellsWhatWouldBecomeOfEveryEntry(t *testing.T) {
	t.Parallel()
	m := quick(t)
	b := newWorkbench(t, m.URL())
	fullManifest(b)
	before := b.holds()
	saved := filepath.Join(t.TempDir(), "store.jsonl")
	list := run(t, b.env, "list", "--json", "--broker", b.url, "--quiet-time", "300ms")
	if err := os.WriteFile(saved, []byte(list.out), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a broker": {"check", "--quiet-time", "300ms"},
		// A narrow scan asks for what the manifest names beside it.
		"a broker under one filter":                 {"check", "--filter", "wave/#", "--quiet-time", "300ms"},
		"a saved list":                              {"check", "--list", saved},
		"a saved list, and its broker is not asked": {"check", "--list", saved, "--broker", "mqtt://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, b.env, append([]string{args[0], "--broker", b.url, "--manifest", b.manifest, "--json"}, args[1:]...)...)
			entries, sum := checked(t, o)
			if o.code != ExitHeldBack || !strings.Contains(o.errout, "5 of 6 entries marked clear would not be cleared") {
				t.Errorf("exit %d: %s", o.code, o.errout)
			}
			for topic, want := range fullDecisions {
				if e := entries[topic]; e.Decision != want || e.Line == 0 || e.Why == "" {
					t.Errorf("%s: %+v, want %s", topic, e, want)
				}
			}
			if e := entries[benchOwn]; len(e.Provisional) != 0 || e.FingerprintNow == nil || *e.FingerprintNow != e.Fingerprint || len(e.Controls) == 0 || !e.Undo {
				t.Errorf("%+v", e)
			}
			if e := entries["airthings"]; e.FingerprintNow == nil || *e.FingerprintNow != fingerprint("v2") || *e.SizeNow != 2 || e.Fingerprint != fingerprint("another") {
				t.Errorf("%+v", e)
			}
			if !sum.Looked || sum.Counts["clear"] != 1 || sum.Counts["refuse"] != 3 || sum.Unlisted == nil {
				t.Errorf("%+v", sum)
			}
		})
	}
	o := b.run("check", "--quiet-time", "300ms")
	for _, want := range []string{"clear     " + benchOwn, "preserve  " + benchSister, "hold      wave/state", "changed   airthings\n", "absent    airthings/state/gone",
		"refuse    airthings/#", `protected by "never/#"`, `protected by "$SYS/#"`, "fingerprint " + fingerprint("v2"), "3 refuse", "1 topics that were seen are not listed"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in\n%s", want, o.out)
		}
	}
	o = b.run("check", "--offline", "--json")
	entries, sum := checked(t, o)
	if sum.Looked || sum.Unlisted != nil || entries["airthings"].Decision != "clear" || entries["airthings"].FingerprintNow != nil || entries["never/this"].Decision != "refuse" {
		t.Errorf("without a look: %+v", entries["airthings"])
	}
	if got := b.holds(); got != before {
		t.Errorf("a check changed the store:\n%s", got)
	}
}

func TestACheckSaysWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	m := quick(t)
	b := newWorkbench(t, m.URL())
	other := emptyWorkbench(t, "mqtt://other.lan")
	other.write("", approved(benchOwn, benchValue))
	b.write("", approved(benchOwn, benchValue))
	list := filepath.Join(t.TempDir(), "list")
	for path, text := range map[string]string{list: "{\"topic\":\"a\"}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"another broker", []string{"check", other.manifest, "--broker", b.url, "--quiet-time", "300ms"}, ExitHeldBack, "another broker"},
		{"a list that is none", []string{"check", b.manifest, "--list", list}, ExitFailed, "line 1"},
		{"a list that is not there", []string{"check", b.manifest, "--list", list + ".no"}, ExitFailed, "the saved list cannot be read: there is no file"},
		{"no manifest", []string{"check", b.manifest + ".no"}, ExitFailed, "retainscope draft"},
		{"no broker", []string{"check", b.manifest, "--broker", "mqtt://127.0.0.1:1", "--connect-timeout", "1s"}, ExitFailed, "refused"},
		{"named twice", []string{"check", b.manifest, "--manifest", "x"}, ExitUsage, "named twice"},
		{"a value that is too large to be kept", []string{"check", b.manifest, "--broker", b.url, "--undo-payload", "3B", "--quiet-time", "300ms"}, ExitOK, "no undo: 7 bytes"},
	} {
		o := run(t, b.env, c.args...)
		if o.code != c.code || !strings.Contains(o.out+o.errout, c.says) {
			t.Errorf("%s: exit %d: %s%s", c.name, o.code, o.out, o.errout)
		}
	}
}

func TestAFaultyManifestIsToldLineByLine(t *testing.T) {
	t.Parallel()
	b := emptyWorkbench(t, "mqtt://h")
	b.write("", "\n[[topic]]\ntopic = \"a\"\nowner = 3\n", "\n[[topic]]\ntopic = \"a\"\ndispositoin = \"clear\"\n", "[[topic]]\nowner = \"x\"\n")
	o := b.run("check", "--offline")
	if o.code != ExitFailed || o.out != "" {
		t.Errorf("exit %d: %s", o.code, o.out)
	}
	for _, want := range []string{
		" line 7: key owner wants a text", " line 9: topic \"a\" has two entries, on lines 5 and 9", " line 11: key dispositoin is not known", " line 12: the entry names no topic",
	} {
		if !strings.Contains(o.errout, "retainscope: "+b.manifest+want) {
			t.Errorf("%q is not in\n%s", want, o.errout)
		}
	}
	if n := strings.Count(o.errout, "\n"); n != 4 {
		t.Errorf("%d lines:\n%s", n, o.errout)
	}
	if o := b.run("draft", "--topic", "b"); o.code != ExitFailed || strings.Count(o.errout, "\n") != 4 {
		t.Errorf("a draft for a faulty manifest: exit %d: %s", o.code, o.errout)
	}
}

func TestADraftBeginsAnEntryAndApprovesNothing(t *testing.T) {
	t.Parallel()
	m := testbroker.Start(t, testbroker.Config{})
	b := newWorkbench(t, m.URL())
	read := func() string {
		text, err := os.ReadFile(b.manifest)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if o := b.run("draft", "--topic", "nothing/here"); o.code != ExitFailed || !strings.Contains(o.errout, "was not observed") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if _, err := os.Stat(b.manifest); err == nil {
		t.Error("a draft of nothing makes a manifest")
	}
	if o := b.run("draft", "--topic", benchOwn, "--protect", "airthings/#"); o.code != ExitFailed || !strings.Contains(o.errout, "protected by") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if o := b.run("draft", "--topic", benchOwn); o.code != ExitOK {
		t.Fatalf("exit %d: %s", o.code, o.errout)
	}
	if info, err := os.Stat(b.manifest); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	edit(t, b.manifest, "disposition = \"hold\"", "disposition = \"preserve\" # mine")
	kept := read()
	place(t, b.url, benchOwn, "online")
	o := b.run("draft", "--topic", benchOwn, "--owner", "somebody else")
	if o.code != ExitOK || !strings.Contains(o.out, "left as it is: preserve, and of another value") || !strings.Contains(o.out, fingerprint("online")) || read() != kept {
		t.Errorf("exit %d: %s%s\n%s", o.code, o.out, o.errout, read())
	}
	b.locked()
	if o := b.run("draft", "--topic", benchSister); o.code != ExitFailed || !strings.Contains(o.errout, "locked by another process") || read() != kept {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	edit(t, b.manifest, b.url, "mqtt://other.lan")
	if o := b.run("draft", "--topic", benchSister); o.code != ExitFailed || !strings.Contains(o.errout, "another broker has another manifest") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
	if !strings.Contains(kept, fmt.Sprintf("url = %q", b.url)) || !strings.Contains(kept, "identity = \"mosquitto version") {
		t.Errorf("the manifest does not name its broker:\n%s", kept)
	}
}
