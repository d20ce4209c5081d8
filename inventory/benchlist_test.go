package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// percentiles reports the middle, the 99th and the largest of some durations.
func percentiles(b *testing.B, name string, all []time.Duration) {
	if len(all) == 0 {
		return // a run too short for the first of them
	}
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

// BenchmarkNarrow is one more letter in the filter: from a listing of 125 000 topics of a million, and of few.
func BenchmarkNarrow(b *testing.B) {
	for _, words := range [][2]string{{"temperatur", "temperature"}, {"lund/assemb", "lund/assembly"}} {
		b.Run(words[1], func(b *testing.B) {
			eachSize(b, func(b *testing.B, c *corpus) {
				inv := c.load(Options{})
				mustList(b, inv, Spec{})
				before := mustList(b, inv, Spec{Filter: mustFilter(words[0])})
				n := 0
				for b.Loop() {
					n = mustList(b, inv, Spec{Filter: mustFilter(words[1]), Within: before}).Len()
				}
				b.ReportMetric(float64(n), "matches")
			})
		})
	}
}
