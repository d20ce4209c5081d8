package broker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestLiveChangesThatARealBrokerDroppedOnASlowLineAreNotCalledVerified(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	load(t, b.URL(), 300, 20, deep)
	url := slowProxy(t, b.URL(), 8<<10, 2*time.Millisecond)
	w, inv := watch(t, WatchConfig{Config: Config{URL: url}, Quiet: 500 * time.Millisecond})
	if cov := scanned(t, w, time.Minute); cov.Claim != inventory.Verified {
		t.Fatalf("%s: %s", cov.Claim, cov.Rule)
	}
	load(t, b.URL(), 15000, 1000, func(i int) string { return fmt.Sprintf("x/%d/%d", i/50, i) })
	said := ""
	eventually(t, time.Minute, func() bool {
		_, cov := w.Status()
		said = cov.Rule
		return cov.Claim != inventory.Verified && strings.Contains(said, "Since the scan the broker dropped")
	})
	eventually(t, 2*time.Minute, func() bool {
		_, cov := w.Status()
		return cov.Claim == inventory.Incomplete || cov.Claim == inventory.Verified && inv.Counts().Topics == 15300
	})
}

func TestTopicsThatComeAndGoWhileARealBrokerCountsDoNotLowerTheClaim(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	load(t, b.URL(), 300, 20, deep)
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Quiet: 300 * time.Millisecond})
	if cov := scanned(t, w, time.Minute); cov.Claim != inventory.Verified {
		t.Fatalf("%s: %s", cov.Claim, cov.Rule)
	}
	told := claims(t, w)
	c := rawConnect(t, b.URL())
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := range 600 {
		<-tick.C
		c.retain(fmt.Sprintf("busy/%d", i), "x")
		if i%3 == 2 {
			c.retain(fmt.Sprintf("busy/%d", i-1), "")
		}
		c.flush()
	}
	waitFor(t, func() bool { return inv.Counts().Topics == 700 })
	for _, text := range told() {
		if !strings.HasPrefix(text, "verified") {
			t.Errorf("told: %s", text)
		}
	}
}
