//go:build unix

package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"retainscope/testbroker"
)

// TestAClearWithALargeRecordShowsThatItReadsIt has a record with enough lines for a first word about them.
func TestAClearWithALargeRecordShowsThatItReadsIt(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established)
	if err := os.WriteFile(b.recordFile(), bytes.Repeat([]byte("a line of nobody's\n"), 600), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"clear", "--topic", benchOwn, "--no-watch"}, {"restore", ""}, {"record", "show", "--offline"}, {"check", "--offline"}} {
		if args[0] == "restore" {
			args[1] = b.only().Operation
		}
		s := open(t, 100, 30, b.env, b.args(args...)...)
		code, raw := s.ends()
		if code != ExitOK && args[0] != "check" || !strings.Contains(raw, "\rreading the record, 512 lines so far") {
			t.Errorf("%v: exit %d: %s", args, code, raw)
		}
		if screen := s.screen(); strings.Contains(screen, "lines so far") {
			t.Errorf("%v: the progress stays:\n%s", args, screen)
		}
	}
}

func TestOnATerminalAClearSaysWhatItWillDoAndWhatItDoes(t *testing.T) {
	t.Parallel()
	b := newWorkbench(t, testbroker.Start(t, testbroker.Config{}).URL())
	b.write("", approved(benchOwn, benchValue), established)
	s := open(t, 100, 30, b.env, b.args("clear", "--topic", benchOwn, "--window", "1s")...)
	code, raw := s.ends()
	if code != ExitOK {
		t.Errorf("exit %d: %s", code, raw)
	}
	last := -1
	for _, want := range []string{"clearing " + benchOwn, "that kim approved", "intent recorded", "acknowledged 0x00", "cleared and verified: " + benchOwn, "watching for a return until", "watched: ", "digest of the last"} {
		at := strings.Index(raw, want)
		if at <= last {
			t.Errorf("%q comes at %d, behind %d", want, at, last)
		}
		last = at
	}
	if screen := s.screen(); strings.Contains(screen, "intent recorded") || strings.Contains(screen, "watching for") {
		t.Errorf("the progress stays:\n%s", screen)
	}
}
