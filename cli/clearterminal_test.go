//go:build unix

package cli

import (
	"strings"
	"testing"

	"retainscope/testbroker"
)

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
