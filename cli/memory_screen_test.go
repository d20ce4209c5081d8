//go:build unix

package cli

import (
	"strings"
	"testing"

	"retainscope/testbroker"
)

func TestTheScreenShowsWhenATopicWasSeenLiveBeforeItWasStarted(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	file := observed(t, b)
	s := open(t, 120, 30, nil, "--broker", b.URL(), "--journal-file", file)
	s.until("who was seen live", func(v string) bool {
		for line := range strings.Lines(v) {
			if strings.Contains(line, " kept ") && strings.Contains(line, " ago ") && strings.Contains(line, "kept alive") {
				return true
			}
		}
		return false
	})
	s.press("/silent\r")
	s.until("how long nobody was heard", func(v string) bool {
		return strings.Contains(v, "not in ") && strings.Contains(v, "of watching, with 1 gap")
	})
	s.press("q")
	s.left()
}
