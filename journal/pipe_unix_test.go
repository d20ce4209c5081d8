//go:build unix

package journal

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestANamedPipeInPlaceOfAJournalHungForEver(t *testing.T) {
	for _, end := range []string{"", ".lock"} {
		path := filepath.Join(t.TempDir(), "j.db")
		must(t, syscall.Mkfifo(path+end, 0o600))
		_, err := Open(path, Options{Broker: "x", Now: func() int64 { return 0 }, Holder: "x"})
		if err == nil || !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("open, with %q: %v", end, err)
		}
	}
	path := filepath.Join(t.TempDir(), "j.db")
	must(t, syscall.Mkfifo(path, 0o600))
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "is no regular file") {
		t.Errorf("read: %v", err)
	}
}
