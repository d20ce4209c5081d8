package broker

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// smallAhead is the read-ahead of these tests, two chunks.
const smallAhead = 2 * chunkSize

// heapNow returns the live heap.
func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestAScanThatWeHeldUpOurselvesSaysSoAndIsMadeGood holds the goroutine that decodes until a default mosquitto has walked
// through all of a store that is larger than what the kernel holds for us, so that it had to drop the rest.
func TestAScanThatWeHeldUpOurselvesSaysSoAndIsMadeGood(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	const n = 60_000
	load(t, b.URL(), n, 1000, deep)
	for _, slices := range []bool{false, true} {
		t.Run(fmt.Sprintf("slices %v", slices), func(t *testing.T) {
			var once sync.Once
			held, goOn := make(chan struct{}), make(chan struct{})
			cfg := Config{URL: b.URL(), ReadAhead: smallAhead, hold: func(batch []inventory.Publication) {
				if batch[0].Topic[0] != '$' {
					once.Do(func() { close(held); <-goOn })
				}
			}}
			before := heapNow()
			w, inv := watch(t, WatchConfig{Config: cfg, Once: true, Slices: slices, Quiet: 500 * time.Millisecond})
			<-held
			rawConnect(t, b.URL()).settle() // it serves one client after the other, so it is through with us
			// The read-ahead, a chunk for each of the other connections, and what the store took in before: not the 60 MB.
			if grown := heapNow() - before; grown > smallAhead+8<<20 {
				t.Errorf("%d bytes of heap more while it was held up", grown)
			}
			close(goOn)
			cov := scanned(t, w, 2*time.Minute)
			t.Logf("%d topics, dropped %d: %s: %s %v", inv.Counts().Topics, cov.Dropped, cov.Claim, cov.Rule, cov.Gaps)
			if slices {
				if inv.Counts().Topics != n || cov.Claim != inventory.Verified || !strings.Contains(cov.Rule, "which brought") {
					t.Errorf("%d of %d topics, %s: %s", inv.Counts().Topics, n, cov.Claim, cov.Rule)
				}
				return
			}
			if cov.Claim != inventory.Incomplete || cov.Missing() != n-inv.Counts().Topics || cov.Missing() <= 0 || cov.Dropped < cov.Missing() {
				t.Errorf("%d of %d topics, %d missing, %d dropped, %s: %s", inv.Counts().Topics, n, cov.Missing(), cov.Dropped, cov.Claim, cov.Rule)
			}
			named := strings.Contains(cov.Rule, "our own read-ahead was full")
			if !named || !hasGap(cov, "Our own read-ahead was full") || len(cov.Remedies) == 0 {
				t.Errorf("the cause is not named: %s %v %v", cov.Rule, cov.Gaps, cov.Remedies)
			}
		})
	}
}

func hasGap(c inventory.Coverage, begin string) bool {
	for _, g := range c.Gaps {
		if strings.HasPrefix(g.Text, begin) {
			return true
		}
	}
	return false
}

// heldTap is told what is live, and takes its time while it is held.
type heldTap struct {
	held atomic.Bool
	goOn chan struct{}
}

func (h *heldTap) Live([]inventory.Publication) {
	if h.held.Load() {
		<-h.goOn
	}
}
func (*heldTap) Watching(time.Time, []string) {}
func (*heldTap) Blind(time.Time)              {}
func (*heldTap) Scanned()                     {}

// TestLiveChangesThatWeHeldUpOurselvesLowerTheClaimAndAreMadeGood has whoever is told of live changes stand still while a
// default mosquitto is sent more than the kernel and the read-ahead hold.
func TestLiveChangesThatWeHeldUpOurselvesLowerTheClaimAndAreMadeGood(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	const topics, changes = 1000, 60_000
	name := func(i int) string { return fmt.Sprintf("busy/%03d", i%topics) }
	load(t, b.URL(), topics, 20, name)
	tap := &heldTap{goOn: make(chan struct{})}
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL(), ReadAhead: smallAhead}, Slices: true, Quiet: 300 * time.Millisecond, Tap: tap})
	if cov := scanned(t, w, time.Minute); cov.Claim != inventory.Verified {
		t.Fatalf("%s: %s", cov.Claim, cov.Rule)
	}
	tap.held.Store(true)
	load(t, b.URL(), changes, 1000, name)
	c := rawConnect(t, b.URL())
	for i := range topics {
		c.retain(name(i), fmt.Sprintf("last %d", i))
	}
	c.settle()
	said := inventory.Coverage{}
	eventually(t, time.Minute, func() bool {
		_, said = w.Status()
		return said.Claim == inventory.Unverified && strings.Contains(said.Rule, "its read-ahead was full") && hasGap(said, sinceDropped)
	})
	t.Logf("%s: %s %v", said.Claim, said.Rule, said.Gaps)
	if link, _ := w.Status(); link.State != inventory.Watching || link.Err != "" {
		t.Errorf("the broker is blamed: %+v", link)
	}
	if len(said.Remedies) == 0 || !strings.Contains(said.Remedies[0], "Scan now") {
		t.Errorf("no scan is offered: %v", said.Remedies)
	}
	tap.held.Store(false)
	close(tap.goOn)
	eventually(t, 2*time.Minute, func() bool {
		_, said = w.Status()
		return said.Claim == inventory.Verified && len(said.Gaps) == 0
	})
	for i := range topics {
		ref, ok := inv.Find([]byte(name(i)))
		d, _ := inv.Detail(ref)
		if want := fmt.Sprintf("last %d", i); !ok || string(d.Payload) != want {
			t.Fatalf("%s holds %.20q, want %q", name(i), d.Payload, want)
		}
	}
}
