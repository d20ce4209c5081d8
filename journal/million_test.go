package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"retainscope/expiry"
)

// BenchmarkAMillionTopics tells what the journal costs where the broker holds a million topics: their first scan,
// another scan without news, live traffic on topics all over the tree, and reading everything. It is for a quiet
// machine: go test -run '^$' -bench Million -benchtime 1x ./journal
func BenchmarkAMillionTopics(b *testing.B) {
	const topics = 1_000_000
	for range b.N {
		path := filepath.Join(b.TempDir(), "journal.db")
		began := time.Now()
		now := func() int64 { return day + time.Since(began).Milliseconds() }
		j, err := Open(path, Options{Broker: "b", Now: now})
		must(b, err)
		j.Watching(day, []string{"#"})
		name := func(i int) string {
			return fmt.Sprintf("site%d/building%02d/device%05d/sensor%d/state", i%3, i/3%20, i/60%4000, i/60/4000)
		}
		scan := func(what string) {
			start := time.Now()
			batch := make([]Seen, 0, 1000)
			for i := range topics {
				seen := replay(name(i), now(), expiry.Seconds(86400))
				seen.Digest = Digest(seen.Topic)
				if batch = append(batch, seen); len(batch) == cap(batch) {
					must(b, j.Enroll(context.Background(), batch))
					batch = batch[:0]
				}
			}
			must(b, j.Enroll(context.Background(), batch))
			must(b, j.Flush())
			b.ReportMetric(time.Since(start).Seconds(), what+"-s")
		}
		scan("first-scan")
		b.ReportMetric(float64(size(b, path))/topics, "B/topic")
		b.ReportMetric(float64(size(b, path+"-wal"))/(1<<20), "wal-MiB")
		scan("scan-without-news")

		// Ten seconds of 1000 live publications a second, first on any topic, then on the same hundred.
		for what, among := range map[string]int{"flush-10k-any": topics, "flush-10k-of-100": 100} {
			for range 10_000 {
				j.Observe([]Seen{live(name(rand.IntN(among)), now(), expiry.Seconds(86400))})
			}
			start, before := time.Now(), written()
			must(b, j.Flush())
			b.ReportMetric(float64(time.Since(start).Milliseconds()), what+"-ms")
			if after := written(); after > before {
				b.ReportMetric(float64(after-before)/(1<<20), what+"-MiB-written")
			}
		}
		start := time.Now()
		n := 0
		must(b, j.Each(context.Background(), func(Record) bool { n++; return true }))
		b.ReportMetric(time.Since(start).Seconds(), "read-all-s")
		if n != topics {
			b.Fatalf("%d topics", n)
		}
		start = time.Now()
		for range 1000 {
			if _, ok, err := j.Topic(context.Background(), []byte(name(rand.IntN(topics)))); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "read-one-us")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "go-MiB")
		must(b, j.Close())
		b.ReportMetric(float64(size(b, path))/(1<<20), "file-MiB")
	}
}

func size(t testing.TB, path string) int64 {
	t.Helper()
	s, err := os.Stat(path)
	must(t, err)
	return s.Size()
}

// written returns how many bytes this process has handed to the kernel for writing so far, 0 where that is not told.
func written() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var rchar, wchar int64
	if n, _ := fmt.Sscanf(string(text), "rchar: %d\nwchar: %d", &rchar, &wchar); n != 2 {
		return 0
	}
	return wchar
}
