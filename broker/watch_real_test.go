package broker

import (
	"context"
	"fmt"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// watch starts a watcher that is closed with the test.
func watch(t testing.TB, cfg WatchConfig) (*Watcher, *inventory.Inventory) {
	t.Helper()
	inv := inventory.New(inventory.Options{})
	w, err := Watch(context.Background(), cfg, inv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(within(t)); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return w, inv
}

// scanned waits for the end of the first scan and returns what it claims.
func scanned(t testing.TB, w *Watcher, limit time.Duration) inventory.Coverage {
	t.Helper()
	select {
	case <-w.Scanned():
	case <-time.After(limit):
		link, cov := w.Status()
		t.Fatalf("no end of the scan within %s: %+v %+v", limit, link, cov)
	}
	_, cov := w.Status()
	return cov
}

func deep(i int) string { return fmt.Sprintf("load/%03d/%03d", i/1000, i%1000) }

func TestADefaultMosquittoIsSeenWhole(t *testing.T) {
	for _, c := range []struct{ n, size int }{{5000, 32}, {20000, 1000}, {100000, 100}} {
		t.Run(fmt.Sprintf("%dx%d", c.n, c.size), func(t *testing.T) {
			t.Parallel()
			b := testbroker.Start(t, testbroker.Config{})
			load(t, b.URL(), c.n, c.size, deep)
			start := time.Now()
			w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Once: true, Slices: true})
			cov := scanned(t, w, time.Minute)
			t.Logf("%s: %+v", time.Since(start), cov)
			if n := inv.Counts().Topics; n != int64(c.n) {
				t.Errorf("%d of %d topics, %s: %s", n, c.n, cov.Claim, cov.Rule)
			}
		})
	}
}

func TestAReaderSlowedByAProxySeesAllAfterSlicing(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	load(t, b.URL(), 20000, 1000, deep)
	start := time.Now()
	w, inv := watch(t, WatchConfig{Config: Config{URL: slowProxy(t, b.URL(), 8<<10, 2*time.Millisecond)}, Once: true, Slices: true})
	cov := scanned(t, w, 2*time.Minute)
	t.Logf("%s: %+v", time.Since(start), cov)
	if n := inv.Counts().Topics; n != 20000 || cov.Claim != inventory.Verified {
		t.Errorf("%d of 20000 topics, %s: %s", n, cov.Claim, cov.Rule)
	}
}

func TestLayoutsThatSlicesDivideAndOneThatTheyCannot(t *testing.T) {
	for name, topic := range map[string]func(int) string{
		"deep": deep,
		"wide": func(i int) string { return fmt.Sprintf("load/device%05d/%d", i/20, i%20) },
		"flat": func(i int) string { return fmt.Sprintf("load/%06d", i) },
		"home": func(i int) string {
			return fmt.Sprintf("homeassistant/%s/dev%04d/%s/config", []string{"sensor", "light", "switch"}[i%3], i/60, []string{"a", "b", "c", "d"}[i%4]+fmt.Sprint(i%60))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 2"}})
			load(t, b.URL(), 10000, 1000, topic)
			start := time.Now()
			w, inv := watch(t, WatchConfig{Config: Config{URL: slowProxy(t, b.URL(), 8<<10, 2*time.Millisecond)}, Once: true, Slices: true})
			cov := scanned(t, w, 2*time.Minute)
			t.Logf("%s: %+v", time.Since(start), cov)
			n := inv.Counts().Topics
			if name == "flat" {
				if n != 10000 && (cov.Claim != inventory.Incomplete || cov.Missing() != 10000-n) {
					t.Errorf("%d of 10000 topics, %d said to be missing, %s: %s", n, cov.Missing(), cov.Claim, cov.Rule)
				}
				return
			}
			if n != 10000 || cov.Claim != inventory.Verified {
				t.Errorf("%d of 10000 topics, %s: %s", n, cov.Claim, cov.Rule)
			}
		})
	}
}
