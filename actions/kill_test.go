package actions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// What a person is told after the program ended at each boundary: the verdict, whether something may have been sent,
// and a part of the sentence.
var killedAt = []struct {
	step    Step
	lines   int // of the operation in the record
	open    bool
	verdict Verdict
	nothing bool // the record proves that nothing was sent
	says    string
}{
	{StepChecked, 0, false, Unknown, false, ""},
	{StepIntended, 1, true, Unknown, true, "it sent nothing"},
	{StepRead, 1, true, Unknown, true, "it sent nothing"},
	{StepCompared, 2, true, Unknown, false, "whether the empty message was sent is not known"},
	{StepSent, 2, true, Unknown, false, "whether the empty message was sent is not known"},
	{StepReadBack, 2, true, Unknown, false, "a recheck tells what is there now"},
	{StepRecorded, 3, false, ClearedVerified, false, "did not observe"},
}

type killed struct{}

// tells opens the record anew and compares what it says.
func tells(t *testing.T, d *Desk, want int) {
	t.Helper()
	k := killedAt[want]
	mustVerify(t, d)
	l, err := d.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if k.lines == 0 {
		if len(l.Operations) != 0 {
			t.Errorf("the record holds %v", l.Operations)
		}
		return
	}
	if len(l.Operations) != 1 {
		t.Fatalf("%d operations", len(l.Operations))
	}
	if (len(l.Open()) == 1) != k.open {
		t.Errorf("%d are open", len(l.Open()))
	}
	s := l.Operations[0]
	if s.Open != k.open || s.Verdict != k.verdict || s.SentNothing != k.nothing || !strings.Contains(s.Sentence, k.says) {
		t.Errorf("the list says %+v", s)
	}
	op, err := d.Operation(t.Context(), s.ID)
	if err != nil || op.Open() != k.open || op.Verdict() != k.verdict || !strings.Contains(op.Sentence(), k.says) {
		t.Errorf("the operation says %s: %s (%v)", op.Verdict(), op.Sentence(), err)
	}
	if k.lines == 2 {
		if c, err := op.Undoable(op.Topic); err != nil || string(c.Payload) != ownPayload {
			t.Errorf("the way back is gone: %v", err)
		}
	}
}

func TestStoppedAtAnyBoundaryTheNextStartTellsTheTruth(t *testing.T) {
	for i, k := range killedAt {
		t.Run(k.step.String(), func(t *testing.T) {
			b, m := memoryBench(t)
			b.clearer.Progress = func(p Progress) {
				if p.Step == k.step {
					panic(killed{})
				}
			}
			func() {
				defer func() {
					if r := recover(); r != (killed{}) {
						t.Fatalf("ended with %v", r)
					}
				}()
				b.clear()
			}()
			sends := b.sends
			m.locked = false // the lock goes with the process
			desk := OpenDesk(m, "home.toml", b.clock)
			tells(t, desk, i)
			if b.sends != sends {
				t.Error("opening the record sent something")
			}
			if !k.open {
				return
			}
			// The offer: a recheck looks, is appended, and sends nothing.
			next := *b.clearer
			next.Desk, next.Progress = desk, nil
			l, err := desk.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			later, err := next.Recheck(t.Context(), l.Operations[0].ID, "after the power was back")
			if err != nil || b.sends != sends {
				t.Fatalf("%v, %d sends", err, b.sends)
			}
			want := Present
			if k.step >= StepSent {
				want = NotObserved
			}
			if later.Found != want {
				t.Errorf("the recheck found %s: %s", later.Found, later.Sentence)
			}
			op, err := desk.Operation(t.Context(), l.Operations[0].ID)
			if err != nil || op.Verdict() != Unknown || len(op.Later) != 1 {
				t.Errorf("after the recheck: %s, %v", op.Verdict(), err)
			}
			mustVerify(t, desk)
		})
	}
}

// TestKilledAtAnyBoundaryTheNextStartTellsTheTruth does the same with a process of its own and kill -9.
func TestKilledAtAnyBoundaryTheNextStartTellsTheTruth(t *testing.T) {
	if step := os.Getenv("RETAINSCOPE_TEST_HOLD_AT"); step != "" {
		holdAt(t, step)
		return
	}
	for i, k := range killedAt {
		t.Run(k.step.String(), func(t *testing.T) {
			dir := t.TempDir()
			_, kill := heldAt(t, k.step, dir)
			kill()
			store, err := OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			desk := OpenDesk(store, "home.toml", newLab(t).clock)
			tells(t, desk, i)
			lock, err := store.TryLock("home.lock")
			if err != nil {
				t.Fatalf("the lock outlived its process: %v", err)
			}
			if err := lock.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// heldAt has another process run a clear up to a boundary and stay there, and returns its number and what kills it.
func heldAt(t *testing.T, step Step, dir string) (pid int, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyBoundaryTheNextStartTellsTheTruth$")
	cmd.Env = append(os.Environ(), "RETAINSCOPE_TEST_HOLD_AT="+step.String(), "RETAINSCOPE_TEST_DIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = in.Close()
	})
	t.Cleanup(kill)
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.Contains(s.Text(), "holding") {
			return cmd.Process.Pid, kill
		}
	}
	t.Fatal("the other process never came to the boundary")
	return 0, nil
}

func TestAClearThatRunsInAnotherProcessIsNotUnknown(t *testing.T) {
	for _, step := range []Step{StepIntended, StepCompared, StepSent} {
		t.Run(step.String(), func(t *testing.T) {
			dir := t.TempDir()
			pid, kill := heldAt(t, step, dir)
			store, err := OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			desk := OpenDesk(store, "home.toml", newLab(t).clock)
			who := fmt.Sprintf("process %d", pid)
			l, err := desk.List(t.Context())
			if err != nil || len(l.Operations) != 1 {
				t.Fatalf("%d operations, %v", len(l.Operations), err)
			}
			s, running := l.Running()
			if !running || s.Running != who || !s.Open || s.SentNothing || len(l.Open()) != 0 || !strings.Contains(s.Sentence, who+" is running it") {
				t.Errorf("it says %+v", s)
			}
			op, err := desk.Operation(t.Context(), s.ID)
			if err != nil || op.Running != who || !strings.Contains(op.Report(nil), ": running, by "+who+"\n") {
				t.Errorf("%v, and in full\n%s", err, op.Report(nil))
			}
			var report strings.Builder
			if _, err := desk.Export(t.Context(), &report); err != nil || !strings.Contains(report.String(), "running, by "+who) {
				t.Errorf("%v, and the export says\n%s", err, report.String())
			}
			// Whoever looks does not stand in the way, and is told who has the lock and what for.
			if _, err := store.TryLock("home.lock"); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), who+": clear "+s.ID) {
				t.Errorf("the lock says %v", err)
			}

			kill()
			if l, err = desk.List(t.Context()); err != nil || len(l.Open()) != 1 || l.Operations[0].Running != "" {
				t.Errorf("after its process was killed: %+v, %v", l.Operations, err)
			}
		})
	}
}

// TestALockThatIsHeldForSomethingElseMakesNothingRun has the lock held, as for a line or for a restore of another
// operation, while the record has a clear without an outcome.
func TestALockThatIsHeldForSomethingElseMakesNothingRun(t *testing.T) {
	dir := t.TempDir()
	_, kill := heldAt(t, StepSent, dir)
	kill()
	store, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := store.TryLock("home.lock")
	if err != nil {
		t.Fatal(err)
	}
	desk := OpenDesk(store, "home.toml", newLab(t).clock)
	for _, what := range []string{"", "clear", "restore 20260101-000000-1", "clear \x1b[2J", strings.Repeat("x", 1<<16)} {
		if err := lock.Sign(what); err != nil {
			t.Fatal(err)
		}
		if l, err := desk.List(t.Context()); err != nil || len(l.Open()) != 1 {
			t.Errorf("%.20q: %+v, %v", what, l.Operations, err)
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// holdAt runs a clear up to one boundary and stays there until it is killed.
func holdAt(t *testing.T, step string) {
	store, err := OpenDir(os.Getenv("RETAINSCOPE_TEST_DIR"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOn(t, store)
	b.clearer.Progress = func(p Progress) {
		if p.Step.String() == step {
			_, _ = fmt.Fprintln(os.Stdout, "holding")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // ends when the other side is gone
			os.Exit(3)
		}
	}
	_, _ = b.clearer.Clear(context.Background(), b.request)
}
