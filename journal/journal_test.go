package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/expiry"
)

// clock is a clock that stands still until it is moved.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() int64 { return c.ms.Load() }

// options returns options with a clock of their own and a flush that comes only when it is called for.
func options(at int64) (Options, *clock) {
	c := &clock{}
	c.ms.Store(at)
	return Options{Broker: "mqtt://broker.test", Now: c.now, Flush: time.Hour}, c
}

func open(t testing.TB, path string, o Options) *Journal {
	t.Helper()
	j, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func file(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "journal.db")
}

func topic(t testing.TB, r interface {
	Topic(context.Context, []byte) (Record, bool, error)
}, name string) (Record, bool) {
	t.Helper()
	rec, ok, err := r.Topic(t.Context(), []byte(name))
	if err != nil {
		t.Fatal(err)
	}
	return rec, ok
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasObservedIsThereAgainAfterReopening(t *testing.T) {
	path := file(t)
	o, c := options(day)
	j := open(t, path, o)
	j.Watching(day, []string{"#"})
	j.Observe([]Seen{
		replay("a/b", day+1, expiry.Seconds(60)), live("a/b", day+2, expiry.Seconds(90)),
		replay("never/expires", day+3, expiry.None()), {Topic: []byte("not/kept"), At: day + 4, Live: true},
		replay("odd\x00\xff", day+5, expiry.NotKnown()),
	})
	c.ms.Store(day + hour)
	must(t, j.Flush())
	j.Observe([]Seen{live("a/b", day+2+hour, expiry.Seconds(90)), live("a/b", day+2+2*hour, expiry.Seconds(90))})
	c.ms.Store(day + 3*hour)
	must(t, j.Close())

	j = open(t, path, o)
	got, ok := topic(t, j, "a/b")
	want := Record{Topic: []byte("a/b"), FirstSeen: day + 1, LastSeen: day, LastLive: day + 2 + 2*hour, Times: 3, Largest: 90, HasLargest: true,
		Interval: expiry.Seconds(90), Digest: 7, gap: hour, steady: 1, refreshes: 3}
	if !ok || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, %v\nwant %+v", got, ok, want)
	}
	if cadence, ok := got.Cadence(); !ok || cadence != time.Hour {
		t.Errorf("cadence %v, %v", cadence, ok)
	}
	if _, ok := topic(t, j, "not/kept"); ok {
		t.Error("a topic that the broker does not keep has a row")
	}
	var all []string
	must(t, j.Each(t.Context(), func(r Record) bool { all = append(all, string(r.Topic)); return true }))
	if want := []string{"a/b", "never/expires", "odd\x00\xff"}; !slices.Equal(all, want) {
		t.Errorf("topics %q, want %q", all, want)
	}
	spans, err := j.Spans(t.Context())
	if err != nil || len(spans) != 1 || spans[0].Start != day || spans[0].Stop != day+3*hour || !slices.Equal(spans[0].Filters, []string{"#"}) {
		t.Errorf("spans %+v, %v", spans, err)
	}
	info, err := j.Info(t.Context())
	if err != nil || info != (Info{Broker: "mqtt://broker.test", Topics: 3, Spans: 1}) {
		t.Errorf("info %+v, %v", info, err)
	}
	if got := got.Silence(spans, day+3*hour).String(); got != "not seen live since, in 59 min of watching, without a gap" {
		t.Errorf("%q", got)
	}
}

func TestNothingWaitsLongerThanTheFlushInterval(t *testing.T) {
	path := file(t)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		j, err := Open(path, Options{Broker: "b", Now: func() int64 { return day + time.Since(start).Milliseconds() }, Flush: 10 * time.Second})
		must(t, err)
		defer func() { must(t, j.Close()) }()
		j.Watching(day, []string{"#"})
		<-time.After(3 * time.Second) // the clock of the bubble
		j.Observe([]Seen{live("a", day+3000, expiry.None())})
		if _, ok := topic(t, j, "a"); ok {
			t.Error("it was written at once")
		}
		<-time.After(7*time.Second + time.Millisecond) // the clock of the bubble
		synctest.Wait()
		if _, ok := topic(t, j, "a"); !ok {
			t.Error("it was not written within the flush interval")
		}
		// An idle broker: the span is written once a minute.
		<-time.After(time.Minute + 10*time.Second) // the clock of the bubble
		synctest.Wait()
		spans, err := j.Spans(t.Context())
		must(t, err)
		if len(spans) != 1 || spans[0].Stop < day+60_000 || spans[0].Stop > day+80_000 {
			t.Errorf("spans after an idle minute: %+v", spans)
		}
	})
}

func TestASecondWriterIsToldWhoHoldsTheJournal(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	o.Holder = "retainscope watch"
	j := open(t, path, o)
	_, err := Open(path, o)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("a second writer got %v", err)
	}
	for _, want := range []string{"retainscope watch", fmt.Sprint(os.Getpid()), "since 2026-09-14T00:00:00Z"} {
		if !strings.Contains(held.Error(), want) {
			t.Errorf("%q does not say %q", held, want)
		}
	}
	r, err := Read(path)
	must(t, err)
	must(t, r.Close())
	must(t, j.Close())
	must(t, j.Close())
	open(t, path, o)
}

func TestTheNameOfTheHolderIsSafeForATerminal(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	open(t, path, o)
	must(t, os.WriteFile(path+".lock", []byte("\x1b[2J\u202eevil\n"+strings.Repeat("x", 4000)), 0o600))
	_, err := Open(path, o)
	var held *HeldError
	if !errors.As(err, &held) || len(held.By) > 300 || strings.ContainsFunc(held.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%q", err)
	}
}

func TestTheOldestSpansGoFirst(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	o.MaxSpans = 3
	j := open(t, path, o)
	for i := range int64(6) {
		j.Watching(day+i*hour, []string{"#"})
		j.Blind(day + i*hour + 1000)
	}
	must(t, j.Flush())
	spans, err := j.Spans(t.Context())
	if err != nil || len(spans) != 3 || spans[0].Start != day+3*hour {
		t.Errorf("%+v, %v", spans, err)
	}
}

func TestAConnectionFoundLostEndsItsSpanAtItsLastByte(t *testing.T) {
	path := file(t)
	o, c := options(day)
	j := open(t, path, o)
	j.Watching(day, []string{"#"})
	for range 10 {
		c.ms.Add(20_000)
		must(t, j.Flush()) // the span is in the file up to here
	}
	j.Blind(day + 60_000)
	must(t, j.Flush())
	spans, err := j.Spans(t.Context())
	if err != nil || len(spans) != 1 || spans[0].Stop != day+60_000 {
		t.Errorf("%+v, %v", spans, err)
	}
}

func TestASleepingMachineWatchesNothing(t *testing.T) {
	path := file(t)
	o, c := options(day)
	o.Flush = 10 * time.Hour // never by itself
	j := open(t, path, o)
	j.Watching(day, []string{"#"})
	j.mu.Lock()
	j.late = 10*time.Second + leap // the limit of a leap, without a tick of that length
	j.mu.Unlock()
	for _, step := range []int64{10_000, 10_000, 8 * hour, 10_000, -3 * hour, 10_000} {
		c.ms.Add(step)
		must(t, j.Flush())
	}
	spans, err := j.Spans(t.Context())
	must(t, err)
	var watched int64
	for _, s := range spans {
		watched += s.Stop - s.Start
	}
	if len(spans) != 3 || watched != 40_000 {
		t.Errorf("%d ms in %+v", watched, spans)
	}
}

func TestReadersSeeWholeFlushesWhileTheWriterWrites(t *testing.T) {
	path := file(t)
	o, _ := options(day)
	j := open(t, path, o)
	const topics = 300
	round := func(n int64) {
		for i := range topics {
			j.Observe([]Seen{live(fmt.Sprintf("t/%03d", i), day+n, expiry.None())})
		}
		must(t, j.Flush())
	}
	round(1)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var reads atomic.Int64
	for range 3 {
		readers.Go(func() {
			r, err := Read(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = r.Close() }()
			for ctx.Err() == nil {
				var first uint64
				n := 0
				// All of them are read in one transaction, so they are of one flush.
				err := r.Each(t.Context(), func(rec Record) bool {
					if n++; n == 1 {
						first = rec.Times
					}
					if rec.Times != first {
						t.Errorf("half a flush: %s has %d, others %d", rec.Topic, rec.Times, first)
					}
					return true
				})
				if err != nil || n != topics {
					t.Errorf("%d topics, %v", n, err)
				}
				reads.Add(1)
			}
		})
	}
	for n := int64(2); n < 15 || reads.Load() < 10; n++ {
		round(n)
	}
	cancel()
	readers.Wait()
}
