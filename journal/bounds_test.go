package journal

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"retainscope/expiry"
)

func TestTheLeastUsefulGoFirstWhereTheJournalIsFull(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	o.MaxTopics = 100
	j := open(t, path, o)
	for i := range 60 {
		j.Observe([]Seen{live(fmt.Sprintf("live/%03d", i), day+int64(i), expiry.None())})
		j.Observe([]Seen{replay(fmt.Sprintf("old/%03d", i), day, expiry.None())})
	}
	must(t, j.Flush())
	for i := range 30 {
		j.Observe([]Seen{replay(fmt.Sprintf("young/%03d", i), day+48*hour, expiry.None())})
	}
	must(t, j.Flush())
	count := map[string]int{}
	must(t, j.Each(t.Context(), func(r Record) bool {
		kind, _, _ := strings.Cut(string(r.Topic), "/")
		count[kind]++
		return true
	}))
	if count["live"] != 60 || count["young"] != 30 || count["old"] > 10 || count["old"] < 5 {
		t.Errorf("kept %v", count)
	}
	info, err := j.Info(t.Context())
	if err != nil || info.Topics != int64(count["live"]+count["young"]+count["old"]) || info.Dropped != 150-info.Topics {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestTheFileStaysWithinItsBytes(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	o.MaxBytes = 1 << 18
	j := open(t, path, o)
	largest := int64(0)
	for round := range 12 {
		for i := range 400 {
			j.Observe([]Seen{live(fmt.Sprintf("a/rather/long/topic/name/for/its/purpose/%d/%d", round, i), day+int64(round), expiry.None())})
		}
		must(t, j.Flush())
		s, err := os.Stat(path)
		must(t, err)
		largest = max(largest, s.Size())
	}
	info, err := j.Info(t.Context())
	if must(t, err); info.Dropped == 0 || info.Topics < 500 || largest > 3<<17 {
		t.Errorf("%+v, largest size %d", info, largest)
	}
	if _, ok := topic(t, j, "a/rather/long/topic/name/for/its/purpose/11/399"); !ok {
		t.Error("the youngest topic was dropped")
	}
}

func TestTooManyTopicsAtOnceAreCountedAndAnEnrolledListWaits(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	o.MaxPending = 100
	j := open(t, path, o)
	many := make([]Seen, 5000)
	for i := range many {
		many[i] = replay(fmt.Sprintf("t/%04d", i), day, expiry.None())
	}
	must(t, j.Enroll(t.Context(), many))
	must(t, j.Flush())
	if info, err := j.Info(t.Context()); err != nil || info.Topics != 5000 || j.Stats().Overflow != 0 {
		t.Errorf("%+v, %v, %+v", info, err, j.Stats())
	}
	j.flushing.Lock() // a slow disk
	for i := range many {
		many[i].Live = true
		many[i].At++
	}
	j.Observe(many)
	s := j.Stats()
	j.flushing.Unlock()
	if s.Overflow < 4800 || s.Overflow > 4900 || s.Pending > 100 {
		t.Errorf("%+v", s)
	}
	must(t, j.Close())
	if err := j.Enroll(t.Context(), many); !errors.Is(err, ErrClosed) {
		t.Errorf("Enroll after Close = %v", err)
	}
	if err := j.Flush(); !errors.Is(err, ErrClosed) {
		t.Errorf("Flush after Close = %v", err)
	}
}

func TestAFullDiskLosesNothing(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	j := open(t, path, o)
	j.Watching(day, []string{"#"})
	must(t, j.Flush())
	must(t, j.w.exec("PRAGMA max_page_count=10")) // SQLite then fails as on a full disk
	batch := make([]Seen, 2000)
	for i := range batch {
		batch[i] = live(fmt.Sprintf("topic/%04d", i), day+1, expiry.None())
	}
	j.Observe(batch)
	if err := j.Flush(); err == nil || j.Stats().Err == nil || j.Stats().Pending != 2000 {
		t.Fatalf("a full disk: %v, %+v", err, j.Stats())
	}
	for i := range batch {
		batch[i].At++
	}
	j.Observe(batch[:1000])
	if err := j.Flush(); err == nil {
		t.Fatal("the disk is not full")
	}
	must(t, j.w.exec("PRAGMA max_page_count=1000000"))
	must(t, j.Flush())
	if j.Stats().Err != nil || j.Stats().Pending != 0 {
		t.Errorf("%+v", j.Stats())
	}
	for name, times := range map[string]uint64{"topic/0000": 2, "topic/1999": 1} {
		if r, ok := topic(t, j, name); !ok || r.Times != times {
			t.Errorf("%s: %+v, %v", name, r, ok)
		}
	}
	if info, err := j.Info(t.Context()); err != nil || info.Topics != 2000 {
		t.Errorf("%+v, %v", info, err)
	}
}
