//go:build hand

package broker

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// TestHandLargeStores fills a default mosquitto with 100 000 topics of 400 bytes, 40 MB, in three layouts and scans each
// ten times, or RETAINSCOPE_RUNS times. It takes minutes and is run by hand: make complete.
func TestHandLargeStores(t *testing.T) {
	runs := 10
	if n, err := strconv.Atoi(os.Getenv("RETAINSCOPE_RUNS")); err == nil {
		runs = n
	}
	layouts := []struct {
		name  string
		topic func(int) string
	}{
		{"deep", deep},
		{"wide", func(i int) string { return fmt.Sprintf("load/device%05d/%d", i/20, i%20) }},
		{"flat", func(i int) string { return fmt.Sprintf("load/%06d", i) }},
	}
	for _, l := range layouts {
		b := testbroker.Start(t, testbroker.Config{})
		load(t, b.URL(), 100_000, 400, l.topic)
		for run := range runs {
			inv := inventory.New(inventory.Options{})
			w, err := Watch(t.Context(), WatchConfig{Config: Config{URL: b.URL()}, Once: true, Slices: true}, inv)
			if err != nil {
				t.Fatal(err)
			}
			cov := scanned(t, w, 10*time.Minute)
			n := inv.Counts().Topics
			t.Logf("%s %2d: %6d of 100000 in %5.1f s, %d slices, dropped %d: %s", l.name, run+1, n,
				cov.EndedAt.Sub(cov.StartedAt).Seconds(), cov.Slices, cov.Dropped, cov.Claim)
			if told := cov.Claim == inventory.Incomplete || cov.Claim == inventory.Unverified; n != 100_000 && !told {
				t.Errorf("%s: %d of 100000 and yet %s: %s", l.name, n, cov.Claim, cov.Rule)
			}
			if err := w.Close(within(t)); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
		}
		b.Stop()
	}
}
