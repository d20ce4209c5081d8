package cli

import (
	"strings"
	"testing"

	"retainscope/inventory"
)

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
