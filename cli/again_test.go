//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"retainscope/testbroker"
)

// shellWords returns the words that a shell makes of a line.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		testbroker.Missing(t, "bash is not installed")
	}
	out, err := exec.CommandContext(t.Context(), shell, "-c", `retainscope() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// The fault: the undo line that clear prints read another record than the clear had written.
func TestTheUndoLineOfAClearRunsAsItIsPrinted(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"flags", "a profile"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			b := newWorkbench(t, quick(t).URL())
			before := b.holds()
			b.manifest = filepath.Join(t.TempDir(), "it's a manifest; $(here).toml")
			args := []string{"--broker", b.url, "--manifest", b.manifest}
			if by == "a profile" {
				config := filepath.Join(t.TempDir(), "my config.toml")
				if err := os.WriteFile(config, []byte("[profile.'a b']\nbroker = "+quote(b.url)+"\n[profile.'a b'.clear]\nmanifest = "+quote(b.manifest)+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				args = []string{"--config", config, "--profile", "a b"}
			}
			b.write("", approved(benchOwn, benchValue), established)
			o := run(t, b.env, append([]string{"clear", "--topic", benchOwn, "--no-watch"}, args...)...)
			line := regexp.MustCompile(`(?m)^undo: (retainscope restore .*)$`).FindStringSubmatch(o.out)
			if o.code != ExitOK || line == nil {
				t.Fatalf("exit %d: %s%s", o.code, o.out, o.errout)
			}
			if o := run(t, b.env, shellWords(t, line[1])...); o.code != ExitOK || !strings.Contains(o.out, "put back and read back") {
				t.Errorf("%s: exit %d: %s%s", line[1], o.code, o.out, o.errout)
			}
			if got := b.holds(); got != before {
				t.Errorf("after the undo the store is\n%swant\n%s", got, before)
			}
		})
	}
}

func TestACommandLineToBeTypedCarriesWhatSaysWhichBrokerAndNothingElse(t *testing.T) {
	p := &program{given: map[string]*flagText{}}
	root := p.root()
	wipe, _, err := root.Find([]string{"clear"})
	if err != nil {
		t.Fatal(err)
	}
	given := []string{"--config", "c d.toml", "--profile", "-p", "--broker", "mqtts://me@h", "--ca-file", "it's\x1b.pem", "--insecure", "--window", "3s", "--log-level", "debug",
		"--protect", "a/#", "--protect", "b", "--observer-user", "o", "--no-watch", "--ask-password"}
	if err := wipe.ParseFlags(given); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string][]string{
		"restore": {"restore", "--config", "c d.toml", "--profile", "-p", "--broker", "mqtts://me@h", "--ca-file", "it's\x1b.pem", "--insecure=true",
			"--protect", "a/#", "--protect", "b", "--observer-user", "o", "--ask-password", "ID"},
		"record recheck": {"record", "recheck", "--config", "c d.toml", "--profile", "-p", "--broker", "mqtts://me@h", "--ca-file", "it's\x1b.pem", "--insecure=true",
			"--protect", "a/#", "--protect", "b", "--observer-user", "o", "--ask-password", "ID"},
		"list": {"list", "--config", "c d.toml", "--profile", "-p", "--broker", "mqtts://me@h", "--ca-file", "it's\x1b.pem", "--insecure=true", "--ask-password", "ID"},
	} {
		line := p.again(command, "ID")
		if got := shellWords(t, line); !slices.Equal(got, want) || strings.Contains(line, "\x1b") {
			t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
		}
	}
	for topic, want := range map[string][]string{
		"a/b": {"--topic", "a/b"}, "a b/'c'": {"--topic", "a b/'c'"}, "a\x07": {"--topic-hex", "6107"}, "-x": {"--topic", "-x"},
	} {
		if got := shellWords(t, "retainscope "+topicOption([]byte(topic))); !slices.Equal(got, want) {
			t.Errorf("%q is named by %q", topic, got)
		}
	}
}
