package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/expiry"
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

func BenchmarkInsertExpected(b *testing.B) {
	eachSize(b, func(b *testing.B, c *corpus) {
		cpu := cpuTime()
		for b.Loop() {
			c.load(Options{Expected: len(c.pubs)})
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

// percentiles reports the middle, the 99th and the largest of some durations.
func percentiles(b *testing.B, name string, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), name+"-p50-us")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), name+"-p99-us")
	b.ReportMetric(float64(all[len(all)-1].Microseconds()), name+"-max-us")
}

// BenchmarkFrame builds 36 rows at a random place while 50 000 updates a second come in.
func BenchmarkFrame(b *testing.B) {
	for _, kind := range []string{"tree", "flat", "filtered", "filteredtree", "expiry"} {
		b.Run(kind, func(b *testing.B) {
			eachSize(b, func(b *testing.B, c *corpus) {
				inv := c.load(Options{})
				spec := Spec{}
				switch kind {
				case "tree":
					spec.Tree = true
				case "filtered":
					spec.Filter = mustFilter("e")
				case "filteredtree":
					spec.Filter, spec.Tree = mustFilter("e"), true
				case "expiry":
					spec.Sort = ByExpiry
				}
				l := mustList(b, inv, spec)
				l.OpenAll(true)
				for _, q := range c.pubs[:64] { // so that wide levels are met before the clock runs
					l.Find(q.Topic)
				}
				for l.Work(context.Background()) {
				}
				stop, stalls := stream(inv, c)
				r := rand.New(rand.NewPCG(9, 9))
				var times []time.Duration
				var rows []Row
				tick := time.NewTicker(2 * time.Millisecond)
				defer tick.Stop()
				for b.Loop() {
					topic := c.pubs[r.IntN(len(c.pubs))].Topic
					start := time.Now()
					rows = l.Rows(Pos{path: string(topic), set: true}, 36, rows[:0])
					times = append(times, time.Since(start))
					<-tick.C
				}
				b.StopTimer()
				stop()
				percentiles(b, "frame", times)
				percentiles(b, "apply", stalls())
			})
		})
	}
}

// stream applies 50 000 updates a second until stop is called; stalls are how long each call of Apply took.
func stream(inv *Inventory, c *corpus) (stop func(), stalls func() []time.Duration) {
	batches := updates(c, 3)
	var done atomic.Bool
	var wg sync.WaitGroup
	var took []time.Duration
	wg.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for i := 0; !done.Load(); i++ {
			<-tick.C
			start := time.Now()
			inv.Apply(batches[i%len(batches)][:50])
			took = append(took, time.Since(start))
		}
	})
	return func() { done.Store(true); wg.Wait() }, func() []time.Duration { return took }
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

// BenchmarkFilter is from the text to the finished listing, sorted by topic.
func BenchmarkFilter(b *testing.B) {
	for _, text := range []string{
		"lund/assembly", "temperature", "absentword", "*welding*temp*", "acme/+/welding/#", "+/+/+/+/+/+/temperature-1",
		"re:welding.*temp", "re:(weld|paint)ing/line-[0-9]+/", "is:never", "is:due", "size>800", "expiry<2h", "payload:absent",
	} {
		b.Run(text, func(b *testing.B) {
			eachSize(b, func(b *testing.B, c *corpus) {
				inv := c.load(Options{})
				mustList(b, inv, Spec{})
				n := 0
				for b.Loop() {
					n = mustList(b, inv, Spec{Filter: mustFilter(text)}).Len()
				}
				b.ReportMetric(float64(n), "matches")
			})
		})
	}
}

// BenchmarkSort is from asking to the first 36 rows, and then to the whole order.
func BenchmarkSort(b *testing.B) {
	for _, key := range []SortKey{ByExpiry, BySize, ByLive, ByReceived} {
		for _, desc := range []bool{false, true} {
			b.Run(fmt.Sprintf("%v/desc=%v", key, desc), func(b *testing.B) {
				eachSize(b, func(b *testing.B, c *corpus) {
					inv := c.load(Options{})
					for _, batch := range updates(c, 1) {
						inv.Apply(batch)
					}
					mustList(b, inv, Spec{})
					var whole time.Duration
					for b.Loop() {
						l := mustList(b, inv, Spec{Sort: key, Desc: desc})
						if len(l.Rows(Pos{}, 36, nil)) != 36 {
							b.Fatal("no rows")
						}
						b.StopTimer()
						start := time.Now()
						for l.Work(context.Background()) {
						}
						whole += time.Since(start)
						b.StartTimer()
					}
					b.ReportMetric(float64(whole.Milliseconds())/float64(b.N), "whole-ms")
				})
			})
		}
	}
}

// BenchmarkFirstTree is the first screen of a tree, and of a flat order, after the store was filled.
func BenchmarkFirst(b *testing.B) {
	for _, kind := range []string{"tree", "flat", "wide"} {
		b.Run(kind, func(b *testing.B) {
			eachSize(b, func(b *testing.B, c *corpus) {
				for b.Loop() {
					b.StopTimer()
					inv := c.load(Options{})
					b.StartTimer()
					l := mustList(b, inv, Spec{Tree: kind != "flat"})
					if kind == "wide" {
						l.SetOpen(posOf([]byte("zigbee2mqtt")), true)
						l.Rows(posOf([]byte("zigbee2mqtt")), 36, nil)
						for l.Work(context.Background()) {
						}
					}
					l.Rows(Pos{}, 36, nil)
				}
			})
		})
	}
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

func TestAKnownTopicCostsNoAllocation(t *testing.T) {
	for name, change := range map[string]func(q *Publication, i int){
		"same content":    func(*Publication, int) {},
		"other content":   func(q *Publication, i int) { q.Payload[0] = byte(i) },
		"other length":    func(q *Publication, i int) { q.Payload = q.Payload[:40+i%200] },
		"replayed":        func(q *Publication, i int) { q.Origin, q.Payload[0] = Replay, byte(i) },
		"without retain":  func(q *Publication, i int) { q.Retain, q.Payload[0] = false, byte(i) },
		"other interval":  func(q *Publication, i int) { q.Interval = expiry.Seconds(uint32(i)) },
		"falls and gains": func(q *Publication, i int) { q.Interval = [2]expiry.Interval{expiry.None(), expiry.Seconds(60)}[i%2] },
	} {
		t.Run(name, func(t *testing.T) {
			inv := New(Options{MaxChanges: 64 << 10})
			batch := make([]Publication, 200)
			for i := range batch {
				batch[i] = Publication{Topic: fmt.Appendf(nil, "house/room/%d", i), Payload: make([]byte, 240), Retain: true, Origin: Live, ReceivedAt: 1000}
			}
			i := 0
			run := func() {
				for k := range batch {
					change(&batch[k], i)
				}
				inv.Apply(batch)
				i++
			}
			for range 300 { // rings and free lists reach their size
				run()
			}
			if n := testing.AllocsPerRun(100, run); n != 0 {
				t.Fatalf("%v allocations for %d publications", n, len(batch))
			}
		})
	}
}
