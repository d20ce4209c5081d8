//go:build unix

package journal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"retainscope/expiry"
)

// TestAnotherAccountReadsWithTheRightToReadOnly runs a reader that may write nowhere near the journal: while the writer
// runs, and after it has ended.
func TestAnotherAccountReadsWithTheRightToReadOnly(t *testing.T) {
	base := t.TempDir()
	binary := filepath.Join(base, "reader")
	in, err := os.Open(os.Args[0])
	must(t, err)
	out, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err)
	must(t, out.Close())
	_ = in.Close()
	dir := filepath.Join(base, "journal")
	must(t, os.Mkdir(dir, 0o755))
	for d := base; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
	path := filepath.Join(dir, "journal.db")
	o, _ := options(day)
	j := open(t, path, o)
	for i := range 100 {
		j.Observe([]Seen{live(fmt.Sprint("t/", i), day, expiry.None())})
	}
	must(t, j.Flush())

	read := func(when string) {
		t.Helper()
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if err := os.Chmod(name, 0o444); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		must(t, os.Chmod(dir, 0o555))
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), readerEnv+"="+path)
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		said, err := cmd.CombinedOutput()
		if err != nil || string(said) != "100 topics\n" {
			t.Errorf("%s: %q, %v", when, said, err)
		}
		must(t, os.Chmod(dir, 0o755))
	}
	read("while the writer runs")
	must(t, j.Close())
	read("after the writer has ended")
}

func TestOnlyTheOwnerReadsUnlessTheGroupIsAskedFor(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for group, want := range map[bool]os.FileMode{false: 0o600, true: 0o660} {
		path := file(t)
		o, _ := options(day)
		o.Group = group
		j := open(t, path, o)
		j.Observe([]Seen{live("a", day, expiry.None())})
		must(t, j.Flush())
		for _, end := range []string{"", "-wal", "-shm", ".lock"} {
			s, err := os.Stat(path + end)
			if must(t, err); s.Mode().Perm() != want {
				t.Errorf("group %v: %q has %v, want %v", group, end, s.Mode().Perm(), want)
			}
		}
	}
}
