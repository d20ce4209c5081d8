package cli

import (
	"fmt"
	"strings"
	"testing"
)

// The fault: at 80 columns help had lines of over 120 characters, broken in the middle of words by the terminal.
func TestHelpFitsTheWidthAndLosesNoWord(t *testing.T) {
	for _, name := range []string{"", "list", "watch", "draft", "check", "clear", "restore", "record", "record show", "record verify", "record export", "record recheck", "demo", "config"} {
		args := append(strings.Fields(name), "--help")
		whole := run(t, nil, args...)
		for _, width := range []int{40, 80, 200} {
			o := run(t, []string{fmt.Sprint("COLUMNS=", width)}, args...)
			if o.code != ExitOK {
				t.Fatalf("exit %d: %s", o.code, o.errout)
			}
			if got, want := strings.Join(strings.Fields(o.out), " "), strings.Join(strings.Fields(whole.out), " "); got != want {
				t.Errorf("%s at %d has other words:\n%s", name, width, o.out)
			}
			before, examples, _ := strings.Cut(o.out, "\nExamples:\n")
			_, after, _ := strings.Cut(examples, "\n\n")
			for line := range strings.Lines(before + "\n" + after) {
				line = strings.TrimRight(line, "\n")
				if textWidth(line) > width && strings.Contains(strings.TrimSpace(line), " ") && width >= 80 {
					t.Errorf("%s at %d: %q", name, width, line)
				}
			}
		}
		if o := run(t, []string{"COLUMNS=0"}, args...); o.out != whole.out {
			t.Errorf("%s is wrapped where no width is known", name)
		}
	}
}

func TestASentenceIsBrokenBetweenWordsAndNeverInACommandLine(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, hang int
		want        string
	}{
		{"one two three", 0, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 9, 2, "one two\n  three"},
		{"one unbreakable", 5, 0, "one\nunbreakable"},
		{"see `retainscope check --offline` for more", 12, 2, "see\n  `retainscope check --offline`\n  for more"},
		{"a lone ` is a letter", 8, 0, "a lone `\nis a\nletter"},
	} {
		if got := wrapped(c.text, c.width, c.hang); got != c.want {
			t.Errorf("%q at %d is %q", c.text, c.width, got)
		}
	}
	o := run(t, []string{"COLUMNS=40"}, "config", "--profile", "nosuch")
	if lines := strings.Split(strings.TrimSpace(o.errout), "\n"); len(lines) < 2 || !strings.HasPrefix(lines[1], "  ") {
		t.Errorf("an error is not wrapped: %q", o.errout)
	}
}
