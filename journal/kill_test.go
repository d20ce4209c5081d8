package journal

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/expiry"
)

// The environment that makes the test binary a writer to be killed, or a reader of another account.
const (
	writerEnv = "RETAINSCOPE_JOURNAL_WRITER"
	readerEnv = "RETAINSCOPE_JOURNAL_READER"
	killsEnv  = "RETAINSCOPE_JOURNAL_KILLS" // how often the writer is killed; for a longer run by hand
)

const killFlush = 50 * time.Millisecond

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		writeUntilKilled(path)
	}
	if path := os.Getenv(readerEnv); path != "" {
		readOnce(path)
	}
	os.Exit(m.Run())
}

// writeUntilKilled observes every topic once a round, says on standard output which round is observed, and which one was
// observed before a flush began that has ended since.
func writeUntilKilled(path string) {
	var now atomic.Int64
	now.Store(day)
	j, err := Open(path, Options{Broker: "b", Now: now.Load, Flush: killFlush})
	if err != nil {
		fmt.Fprintln(os.Stdout, "open:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "open")
	j.Watching(day, []string{"#"})
	batch := make([]Seen, killTopics)
	var ended int64
	var told [2]int64 // the rounds observed when the last flush, and the one before, was found ended
	for round := int64(1); ; round++ {
		for i := range batch {
			batch[i] = live(fmt.Sprintf("topic/%03d/%d", i, os.Getpid()), now.Add(1), expiry.Seconds(60))
		}
		j.Observe(batch)
		fmt.Fprintln(os.Stdout, "observed", round, time.Now().UnixMilli(), os.Getpid())
		if at := j.Stats().Flushed; at != ended {
			// This one began after the one that ended between told[0] and told[1].
			if told[0] > 0 {
				fmt.Fprintln(os.Stdout, "flushed", told[0])
			}
			ended, told = at, [2]int64{told[1], round}
		}
		if round%2048 == 0 {
			if err := j.Flush(); err != nil {
				fmt.Fprintln(os.Stdout, "flush:", err)
				os.Exit(1)
			}
			fmt.Fprintln(os.Stdout, "flushed", round)
		}
	}
}

const killTopics = 200

// TestAKillAtAnyMomentLosesNoMoreThanAFlushInterval kills a writer again and again, and looks at what it left.
func TestAKillAtAnyMomentLosesNoMoreThanAFlushInterval(t *testing.T) {
	kills := 12
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	path := file(t)
	worst := time.Duration(0)
	rows := 0
	for kill := range kills {
		lag, made := killOnce(t, path, time.Duration(100+rand.IntN(250))*time.Millisecond)
		worst, rows = max(worst, lag), rows+made
		check(t, path)
		o := Options{Broker: "b", Now: func() int64 { return day + hour }, Flush: time.Hour}
		j, err := Open(path, o) // the lock went with the process
		if err != nil {
			t.Fatalf("kill %d: %v", kill, err)
		}
		info, err := j.Info(t.Context())
		if err != nil || info.Topics != int64(rows) {
			t.Fatalf("kill %d: %d topics are counted, %d should be there, %v", kill, info.Topics, rows, err)
		}
		must(t, j.Close())
	}
	if left, err := filepath.Glob(path + ".damaged*"); err != nil || len(left) > 0 {
		t.Errorf("moved aside: %q, %v", left, err)
	}
	t.Logf("%d kills, at most %v of observations lost with a flush interval of %v", kills, worst, killFlush)
}

// killOnce runs a writer for a while, kills it, and returns for how long before the kill its observations are missing, and how many
// topics it made.
func killOnce(t *testing.T, path string, after time.Duration) (time.Duration, int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerEnv+"="+path)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil || first != "open\n" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("the writer says %q, %v", first, err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	said, _ := io.ReadAll(lines) // until it is dead
	_ = cmd.Wait()

	var flushed int64
	observed := map[int64]int64{} // round: instant
	last := int64(0)
	for line := range strings.Lines(string(said)) {
		var round, ms, pid int64
		if n, _ := fmt.Sscanf(line, "observed %d %d %d", &round, &ms, &pid); n == 3 && strings.HasSuffix(line, "\n") {
			observed[round], last = ms, round
		} else if n, _ := fmt.Sscanf(line, "flushed %d", &round); n == 1 && strings.HasSuffix(line, "\n") {
			flushed = max(flushed, round)
		} else if strings.HasSuffix(line, "\n") {
			t.Fatalf("the writer says %q", line)
		}
	}
	r, err := Read(path)
	must(t, err)
	defer func() { _ = r.Close() }()
	kept, made := int64(-1), 0
	must(t, r.Each(t.Context(), func(rec Record) bool {
		if !bytes.HasSuffix(rec.Topic, []byte("/"+strconv.Itoa(cmd.Process.Pid))) {
			return true
		}
		if made++; kept >= 0 && int64(rec.Times) != kept {
			t.Errorf("half a flush is there: %s has %d, others %d", rec.Topic, rec.Times, kept)
		}
		kept = int64(rec.Times)
		return true
	}))
	kept = max(kept, 0)
	if kept < flushed {
		t.Errorf("round %d was flushed and round %d is there", flushed, kept)
	}
	if kept >= last {
		return 0, made
	}
	// How long that is depends on the disk, which others use too; that whole flushes are there does not.
	return time.Duration(observed[last]-observed[kept+1]) * time.Millisecond, made
}

// check asks SQLite itself whether the file is whole.
func check(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", source(path, "rw"))
	must(t, err)
	defer func() { _ = db.Close() }()
	var found string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
		t.Fatalf("integrity check: %q, %v", found, err)
	}
}

// readOnce is the reader of another account.
func readOnce(path string) {
	r, err := Read(path)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	n := 0
	if err := r.Each(context.Background(), func(Record) bool { n++; return true }); err != nil {
		fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, n, "topics")
	_ = r.Close()
	os.Exit(0)
}
