package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// benchSizes are the numbers of topics; a million only when it is asked for, since it takes its time and 2 GB.
func benchSizes() []int {
	if os.Getenv("BENCH_MILLION") != "" {
		return []int{10_000, 100_000, 1_000_000}
	}
	return []int{10_000, 100_000}
}

func eachSize(b *testing.B, f func(b *testing.B, c *corpus)) {
	for _, n := range benchSizes() {
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, corpusOf(n)) })
	}
}

func BenchmarkInsert(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		var inv *Inventory
		cpu := cpuTime()
		for b.Loop() {
			inv = c.load(Options{})
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N*len(c.pubs)), "cpu-ns/topic")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.pubs)), "ns/topic")
		runtime.KeepAlive(inv)
	})
}

// BenchmarkInsertExpected takes in the store in the order in which brokers send it, level by level, with the indexes
// sized before.
func BenchmarkInsertExpected(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		sent := &corpus{pubs: slices.Clone(c.pubs)}
		slices.SortFunc(sent.pubs, func(a, b Publication) int { return compareTopics(a.Topic, b.Topic) })
		cpu := cpuTime()
		for b.Loop() {
			sent.load(Options{Expected: len(sent.pubs)})
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N*len(c.pubs)), "cpu-ns/topic")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.pubs)), "ns/topic")
	})
}

// BenchmarkUpdate is a live retained publication of other content on a known topic.
func BenchmarkUpdate(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		inv := c.load(Options{})
		batches := updates(c, 0)
		i := 0
		for _, batch := range batches {
			inv.Apply(batch)
		}
		b.ReportAllocs()
		cpu := cpuTime()
		for b.Loop() {
			inv.Apply(batches[i%len(batches)])
			i++
		}
		b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(b.N*batchLimit), "cpu-ns/update")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batchLimit), "ns/update")
	})
}

// updates returns batches of live publications on known topics in random order, with payloads that differ from those
// in the corpus.
func updates(c *corpus, seed uint64) [][]Publication {
	r := rand.New(rand.NewPCG(seed, 5))
	batches := make([][]Publication, 400)
	for i := range batches {
		batch := make([]Publication, batchLimit)
		for k := range batch {
			q := c.pubs[r.IntN(len(c.pubs))]
			q.Origin = Live
			q.ReceivedAt += int64(i) * 10
			other := slices.Clone(q.Payload)
			other[0], other[len(other)/2] = byte(i), byte(k)
			q.Payload = other
			batch[k] = q
		}
		batches[i] = batch
	}
	return batches
}

func BenchmarkHeap(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		for b.Loop() {
			inv, heap := heapOf(func() *Inventory { return c.load(Options{}) })
			b.ReportMetric(float64(heap)/float64(len(c.pubs)), "B/topic")
			b.ReportMetric((float64(heap)-float64(c.raw))/float64(len(c.pubs)), "over-raw-B/topic")
			start := time.Now()
			runtime.GC()
			b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "gc-ms")
			runtime.KeepAlive(inv)
		}
	})
}

func mustFilter(text string) *Filter {
	f, err := ParseFilter(text)
	if err != nil {
		panic(err)
	}
	return f
}

func mustList(b testing.TB, inv *Inventory, s Spec) *Listing {
	b.Helper()
	l, err := inv.List(context.Background(), s)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func BenchmarkTick(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		inv := c.load(Options{})
		for b.Loop() {
			inv.Tick(c.pubs[0].ReceivedAt + 1000)
		}
	})
}

// BenchmarkStall fills a store, and reports the longest time that one Apply took while indexes grew.
func BenchmarkStall(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		var worst time.Duration
		for b.Loop() {
			inv := New(Options{})
			for i := 0; i < len(c.pubs); i += batchLimit {
				start := time.Now()
				inv.Apply(c.pubs[i:min(i+batchLimit, len(c.pubs))])
				worst = max(worst, time.Since(start))
			}
		}
		b.ReportMetric(float64(worst.Microseconds()), "longest-us")
	})
}
