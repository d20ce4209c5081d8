package tui

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"retainscope/expiry"
	"retainscope/inventory"
)

// benchSizes are the stores to measure; TUI_BENCH_TOPICS replaces them by one of another size.
func benchSizes() []int {
	if n, err := strconv.Atoi(os.Getenv("TUI_BENCH_TOPICS")); err == nil && n > 0 {
		return []int{n}
	}
	return []int{1000, 100_000}
}

func plant(b *testing.B, n int) *inventory.Inventory {
	b.Helper()
	inv := inventory.New(inventory.Options{Expected: n})
	batch := make([]inventory.Publication, 0, 256)
	for i := range n {
		iv := expiry.None()
		if i%3 > 0 {
			iv = expiry.Seconds(uint32(3600 + i%80_000))
		}
		batch = append(batch, retained(plantTopic(i), `{"v":1}`, iv))
		if len(batch) == cap(batch) || i == n-1 {
			inv.Apply(batch)
			batch = batch[:0]
		}
	}
	return inv
}

func plantTopic(i int) string {
	return fmt.Sprintf("site/bldg%d/floor%d/dev%05d/state", i%10, i/10%10, i)
}

// BenchmarkFrame is one look at the store and one drawn frame of 120x40 after a key, at a place in the middle.
func BenchmarkFrame(b *testing.B) {
	for _, n := range benchSizes() {
		for _, shape := range []string{"tree", "flat"} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				s := newStage(b, watching(), plant(b, n), 120, 40, nil)
				s.m.pen.pal = sixteen
				if shape == "flat" {
					s.keys("t")
				}
				s.keys("*")
				for range 20 {
					s.keys("pgdown")
				}
				down, up := press("down"), press("up")
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if i%2 == 0 {
						s.m.Update(down)
					} else {
						s.m.Update(up)
					}
					s.m.View()
				}
			})
		}
	}
}

// BenchmarkDraw is drawing alone: the rows were read before.
func BenchmarkDraw(b *testing.B) {
	s := newStage(b, watching(), plant(b, 1000), 120, 40, nil)
	s.m.pen.pal = sixteen
	s.keys("t")
	b.ReportAllocs()
	for b.Loop() {
		s.m.draw(s.now)
	}
}

// BenchmarkKeyUnderLoad is the time from a key to its drawn frame while another goroutine applies as many updates as
// it can up to 50 000 a second; it reports the slowest of a hundred as p99.
func BenchmarkKeyUnderLoad(b *testing.B) {
	for _, n := range benchSizes() {
		for _, shape := range []string{"tree", "flat"} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				inv := plant(b, n)
				s := newStage(b, watching(), inv, 120, 40, nil)
				if shape == "flat" {
					s.keys("t")
				}
				s.keys("*")
				var stop atomic.Bool
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					load(inv, n, &stop)
				}()
				took := make([]time.Duration, 0, 1<<16)
				keys := []string{"down", "down", "pgdown", "up", "pgdown", "down"}
				for i := 0; b.Loop(); i++ {
					begin := time.Now()
					s.m.Update(press(keys[i%len(keys)]))
					s.m.View()
					took = append(took, time.Since(begin))
				}
				stop.Store(true)
				<-ended
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}

// load applies 50 000 updates a second in batches of 250, until it is told to stop.
func load(inv *inventory.Inventory, n int, stop *atomic.Bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	batch := make([]inventory.Publication, 250)
	at := 0
	for !stop.Load() {
		for i := range batch {
			batch[i] = live(plantTopic(at%n), `{"v":2}`, expiry.Seconds(7200), 0)
			at += 7919
		}
		inv.Apply(batch)
		<-tick.C
	}
}

// BenchmarkFilter is the time from the last typed character to rows on the screen.
func BenchmarkFilter(b *testing.B) {
	for _, n := range benchSizes() {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := newStage(b, watching(), plant(b, n), 120, 40, nil)
			s.types("/dev0")
			one, back := tea.KeyPressMsg{Code: '1', Text: "1"}, press("backspace")
			for i := 0; b.Loop(); i++ {
				if i%2 == 0 {
					s.send(one)
				} else {
					s.send(back)
				}
			}
		})
	}
}
