package broker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	t.Parallel()
	// All brokers first, then all scans: each waits ten seconds for the broker's next figures, and they may wait together.
	type run struct {
		n, size int
		w       *Watcher
		inv     *inventory.Inventory
	}
	runs := []*run{{n: 5000, size: 32}, {n: 20000, size: 1000}, {n: 100000, size: 100}}
	for _, r := range runs {
		b := testbroker.Start(t, testbroker.Config{})
		load(t, b.URL(), r.n, r.size, deep)
		r.w, r.inv = watch(t, WatchConfig{Config: Config{URL: b.URL()}, Once: true, Slices: true})
		waitFor(t, func() bool { l, _ := r.w.Status(); return l.ScanDone > 0 })
	}
	for _, r := range runs {
		cov := scanned(t, r.w, time.Minute)
		t.Logf("%d of %d bytes: %s after %s: %s", r.n, r.size, cov.Claim, cov.EndedAt.Sub(cov.StartedAt), cov.Rule)
		if n := r.inv.Counts().Topics; n != int64(r.n) || cov.Claim != inventory.Verified {
			t.Errorf("%d of %d topics, %s: %s", n, r.n, cov.Claim, cov.Rule)
		}
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
			w, inv := watch(t, WatchConfig{Config: Config{URL: slowProxy(t, b.URL(), 24<<10, 2*time.Millisecond)}, Once: true, Slices: true})
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

// A unix socket holds 0.2 MB, whatever the other side does: what is lost there was called no sign of loss.
func TestAUnixSocketThatLosesIsNotTrustedForItsSize(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := t.TempDir()
	acl := filepath.Join(dir, "acl")
	// No right to read $SYS: nothing tells of the loss.
	if err := os.WriteFile(acl, []byte("topic readwrite load/#\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"acl_file " + acl}, ListenerLines: []string{"listener 0 " + socket, "allow_anonymous true"}})
	c := rawConnect(t, b.URL())
	var all []byte
	for i := range n {
		all = append(all, publish(message{topic: deep(i), payload: strings.Repeat("x", 200), retain: true})...)
	}
	c.write(all)
	c.settle()
	for _, slices := range []bool{false, true} {
		w, inv := watch(t, WatchConfig{Config: Config{URL: "unix://" + socket}, Quiet: 300 * time.Millisecond, SysWait: time.Second, Once: true, Slices: slices})
		cov := scanned(t, w, 2*time.Minute)
		held := inv.Counts().Topics
		t.Logf("slices %t: %d of %d, %s", slices, held, n, cov.Claim)
		if held < n && (cov.Claim == inventory.Verified || cov.Claim == inventory.NoSignOfLoss) {
			t.Errorf("%d of %d, and the claim is %s: %s", held, n, cov.Claim, cov.Rule)
		}
		if held < n && !slices && !strings.Contains(strings.Join(cov.Remedies, " "), "Connect over TCP") {
			t.Errorf("nothing is said of the socket: %q", cov.Remedies)
		}
		if slices && held < n/2 {
			t.Errorf("slices brought %d of %d", held, n)
		}
	}
}
