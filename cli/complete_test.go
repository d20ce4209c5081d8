package cli

import (
	"strings"
	"testing"

	"retainscope/inventory"
)

func TestTheShellIsOfferedTheTopicsThatAreApproved(t *testing.T) {
	b := emptyWorkbench(t, "mqtt://h")
	complete := func() string {
		o := run(t, b.env, append(b.args("__complete", "clear"), "--topic", "")...)
		return o.out
	}
	if got := complete(); got != ":4\n" {
		t.Errorf("without a manifest %q", got)
	}
	b.write("", approved("a/b", "x"), strings.Replace(approved("c", "x"), `"clear"`, `"hold"`, 1), approved("d e", "x"), approved("f\x1b", "x"), approved("g/#", "x"), approved("h", "x"))
	if got := complete(); got != "a/b\nh\n:4\n" {
		t.Errorf("offered are %q", got)
	}
}

func TestTheShellIsOfferedWhatAFlagTakes(t *testing.T) {
	config := file(t, "c.toml", "[profile.home]\nuser = \"a\"\n[profile.work.scan]\nquiet = \"1s\"\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"list", "--sort", ""}, []string{"topic", "expiry", "size", "live", "received", "reading", "-size"}},
		{[]string{"list", "--log-level", ""}, []string{"debug", "info", "warn", "error"}},
		{[]string{"--log-level", ""}, []string{"debug", "error"}},
		{[]string{"--protocol-version", ""}, []string{"5", "3.1.1"}},
		{[]string{"--ascii", ""}, []string{"auto", "true", "false"}},
		{[]string{"--config", config, "list", "--profile", ""}, []string{"home", "work"}},
		{[]string{"--config", config + ".no", "--profile", ""}, nil},
	} {
		o := run(t, nil, append([]string{"__complete"}, c.args...)...)
		words := strings.Split(strings.TrimSpace(o.out), "\n")
		for _, w := range c.want {
			found := false
			for _, got := range words {
				found = found || got == w
			}
			if !found {
				t.Errorf("%v offers %q, not %q", c.args, words, w)
			}
		}
		if o.code != ExitOK || words[len(words)-1] != ":4" || c.want == nil && len(words) != 1 {
			t.Errorf("%v: exit %d, %q", c.args, o.code, words)
		}
	}
	for _, w := range sortWords() {
		if _, _, err := inventory.ParseSort(w); err != nil {
			t.Errorf("%q is offered and not taken: %v", w, err)
		}
	}
}
