package broker

import (
	"strings"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// A broker that was started again without its store was scanned for a minute under a claim, with numbers of the time
// before, and the login was said not to be allowed to read $SYS.
func TestAClaimIsNotMadeWhileWhatABrokerLostIsAskedFor(t *testing.T) {
	t.Parallel()
	const n = unseenFew + 1500
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	load(t, b.URL(), n, 8, deep)
	inv := inventory.New(inventory.Options{})
	w, err := Watch(t.Context(), WatchConfig{Config: Config{URL: b.URL()}, Quiet: 300 * time.Millisecond, SysWait: 3 * time.Second}, inv)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close(within(t)) }()
	if cov := scanned(t, w, time.Minute); cov.Seen != n {
		t.Fatalf("%+v", cov)
	}
	_, before := w.Status()
	b.Kill()
	b.Restart()
	limit := time.After(2 * time.Minute)
	asked := false
	for {
		select {
		case <-w.Changed():
		case <-limit:
			link, cov := w.Status()
			t.Fatalf("no end of the scan: %+v %+v", link, cov)
		}
		link, cov := w.Status()
		if strings.Contains(cov.Rule, "may not read all of $SYS") {
			t.Fatalf("a login that may read everything: %s", cov.Rule)
		}
		if link.Scanning && (cov.Claim != inventory.Scanning || !cov.EndedAt.IsZero()) {
			t.Fatalf("%s while %s: %s", cov.Claim, link.Progress, cov.Rule)
		}
		asked = asked || strings.Contains(cov.Rule, "topics held before did not come: the broker is asked for each of them")
		if link.State == inventory.Watching && !link.Scanning && cov.EndedAt.After(before.EndedAt) {
			if held := inv.Counts().Topics; cov.Seen != held || held != 0 || !asked {
				t.Errorf("seen %d, held %d, said that they are asked for: %t; %s: %s", cov.Seen, held, asked, cov.Claim, cov.Rule)
			}
			return
		}
	}
}

func TestACountBelowTheOwnTopicsOfABrokerIsNoMissingPermission(t *testing.T) {
	for own, permission := range map[int64]bool{-1: true, 50: false} {
		e := evidence{grants: []inventory.Grant{{Filter: "#"}}, fenced: true, quiet: time.Second, now: sysValues{count: 20, own: own, dropped: -1, version: "mosquitto version 2.0.11"}}
		c := e.coverage()
		if strings.Contains(c.Rule, "may not read all of $SYS") != permission {
			t.Errorf("own %d: %s", own, c.Rule)
		}
		if strings.Contains(strings.Join(c.Remedies, " "), "Let this login read $SYS") && !permission {
			t.Errorf("own %d: %q", own, c.Remedies)
		}
	}
}
