//go:build unix

package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestANamedPipeAsManifestOrJournalHungForEver(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	o := runBinary(t, "check", "--offline", "--manifest", pipe)
	if o.code <= 0 || !strings.Contains(o.errout, "is no regular file") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.errout)
	}
}

// What a person names as configuration may be a pipe, as a shell makes it, and the other end may never come.
func TestASignalDidNotEndWhatWaitedForAPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t), "list", "--config", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // with whichever code: that it ends is what counts
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	limit := time.After(hang)
	for {
		select {
		case <-ended:
			return
		case <-again.C:
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended meanwhile
		case <-limit:
			_ = cmd.Process.Kill()
			<-ended
			t.Fatal("it does not end")
		}
	}
}
