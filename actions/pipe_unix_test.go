//go:build unix

package actions

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestANamedPipeAmongTheFilesHungForEver(t *testing.T) {
	for _, name := range []string{"home.toml", "home.record.jsonl", "home.record.head", "home.lock"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store, err := OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
			_, read := store.Open(name)
			_, appended := store.Append(name)
			_, locked := store.TryLock(name)
			for does, err := range map[string]error{"read": read, "append": appended, "lock": locked, "replace": store.Replace(name, nil)} {
				if err == nil || !strings.Contains(err.Error(), name+"\" is no regular file") {
					t.Errorf("%s: %v", does, err)
				}
			}
		})
	}
}
