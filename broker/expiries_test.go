package broker

import (
	"strconv"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestOnlyWhatExpiredSinceTheCountExplainsThatItIsHigher(t *testing.T) {
	for _, c := range []struct{ counted, held, expired, known, missing int64 }{
		{100, 97, 3, 97, 0},
		{100, 97, 0, 100, 3},
		{100, 95, 3, 97, 2}, // two more are a real shortfall
		{100, 98, 3, 98, 0}, // one came since
		{100, 103, 3, -1, 0},
	} {
		e := evidence{grants: []inventory.Grant{{Filter: "#"}}, fenced: true, quiet: time.Second, held: c.held, copies: c.held, expired: c.expired, ticked: true,
			now: sysValues{count: c.counted + 50, own: 50, countFrom: sysCount, dropped: -1, version: "mosquitto version 2.0.11", beside: true}}
		cov := e.coverage()
		if cov.Known != c.known || cov.Missing() != c.missing || cov.Claim != inventory.Verified {
			t.Errorf("%+v: known %d, missing %d, %s: %s", c, cov.Known, cov.Missing(), cov.Claim, cov.Rule)
		}
	}
}

func TestWhatExpiredBeforeTheFiguresExplainsNothing(t *testing.T) {
	var x expiries
	for _, at := range []int64{1000, 2000, 2000, 3000} {
		x.add(at)
	}
	for at, want := range map[int64]int64{0: 0, 1: 4, 1999: 3, 2000: 1, 3000: 0} {
		if got := x.since(at); got != want {
			t.Errorf("%d since %d, want %d", got, at, want)
		}
	}
	if x.add(3000 + expiriesTime + 1); x.since(1) != 1 || len(x.all) != 1 {
		t.Errorf("kept %v", x.all)
	}
}

// While topics expired one after the other, the count of the broker ran behind and a few were called not seen.
func TestTopicsThatExpireAreNotCalledNotSeen(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	const n = 300
	c := rawConnect(t, b.URL())
	var all []byte
	for i := range n {
		all = append(all, publish(message{topic: "short/" + strconv.Itoa(i), payload: "x", retain: true, props: propExpiry(uint32(5 + i/30))})...)
	}
	c.write(all)
	c.settle()
	load(t, b.URL(), 50, 8, deep)
	w, inv := watch(t, WatchConfig{Config: Config{URL: b.URL()}, Quiet: 300 * time.Millisecond})
	scanned(t, w, time.Minute)
	limit := time.After(90 * time.Second)
	for {
		select {
		case <-w.Changed():
		case <-limit:
			t.Fatalf("%d topics are held", inv.Counts().Topics)
		}
		link, cov := w.Status()
		if cov.Missing() > 0 {
			t.Fatalf("%d of %d not seen: %s", cov.Missing(), cov.Known, cov.Rule)
		}
		if cov.Seen == 50 && cov.Known == 50 && cov.Claim == inventory.Verified && !link.Scanning {
			return
		}
	}
}
