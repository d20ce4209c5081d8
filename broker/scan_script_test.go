package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// once runs one scan against b and returns its claim and the inventory.
func once(t testing.TB, b *scriptBroker, change func(*WatchConfig)) (inventory.Coverage, *inventory.Inventory) {
	t.Helper()
	cfg := WatchConfig{Config: b.config(), Once: true, Slices: true}
	if change != nil {
		change(&cfg)
	}
	w, inv := watch(t, cfg)
	return scanned(t, w, time.Hour), inv
}

func (b *scriptBroker) fill(n int) {
	for i := range n {
		b.keep(fmt.Sprintf("house/%03d/%03d", i/1000, i%1000), fmt.Sprint(i), 0)
	}
}

func TestABurstThatPausesAndStartsLateIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(3500)
		b.earlyPing = true
		b.pause = func(i int) time.Duration {
			if i > 0 && i%1000 == 0 {
				return time.Second
			}
			return 0
		}
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 3500 || cov.Claim != inventory.NoSignOfLoss {
			t.Errorf("%d of 3500 topics, %s: %s", n, cov.Claim, cov.Rule)
		}
	})
}

func TestCopiesBeforeSubackAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(700)
		b.ackLast = true
		b.pause = func(int) time.Duration { return 100 * time.Millisecond } // 70 s until SUBACK
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 700 || cov.Claim != inventory.NoSignOfLoss {
			t.Errorf("%d of 700 topics, %s: %s", n, cov.Claim, cov.Rule)
		}
	})
}

func TestALostPingrespIsEvidenceOfLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(100)
		b.losePings = 1
		cov, _ := once(t, b, func(c *WatchConfig) { c.Slices = false })
		if cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, "ping") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestABrokerThatNeverAnswersPingsStillEndsTheScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(100)
		b.losePings = 1 << 30
		cov, inv := once(t, b, func(c *WatchConfig) { c.Slices = false })
		if n := inv.Counts().Topics; n != 100 || cov.Claim != inventory.Incomplete {
			t.Errorf("%d of 100 topics, %s: %s", n, cov.Claim, cov.Rule)
		}
	})
}

func TestARefusedWildcardIsNamedWithItsCodeAndARemedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(10)
		b.refuse = map[string]byte{"#": 0x87}
		cov, _ := once(t, b, nil)
		if cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, "Not authorized (0x87)") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
		if len(cov.Grants) != 1 || cov.Grants[0].Code != 0x87 || len(cov.Remedies) == 0 || !strings.Contains(cov.Remedies[0], "--filter") {
			t.Errorf("grants %v, remedies %q", cov.Grants, cov.Remedies)
		}
	})
}

func TestOneRefusedFilterOfTwoIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(10)
		b.refuse = map[string]byte{"secret/#": 0x87}
		cov, inv := once(t, b, func(c *WatchConfig) { c.Filters = []string{"house/#", "secret/#"} })
		if cov.Claim != inventory.Incomplete || inv.Counts().Topics != 10 || len(cov.Gaps) == 0 {
			t.Errorf("%s, %d topics, gaps %v", cov.Claim, inv.Counts().Topics, cov.Gaps)
		}
	})
}

func TestARefusedExtraFilterIsNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(10)
		b.refuse = map[string]byte{sysAll: 0x87}
		cov, _ := once(t, b, func(c *WatchConfig) { c.Extra = []string{sysAll} })
		if cov.Claim != inventory.NoSignOfLoss || len(cov.Grants) != 2 || !cov.Grants[1].Refused() {
			t.Errorf("%s: %s, grants %v", cov.Claim, cov.Rule, cov.Grants)
		}
	})
}

func TestTheBrokersOwnCountLessItsOwnTopicsVerifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(1200)
		b.tickEvery(10 * time.Second)
		cov, inv := once(t, b, nil)
		if cov.Claim != inventory.Verified || cov.Known != 1200 || inv.Counts().Topics != 1200 {
			t.Errorf("%s, known %d, %d topics: %s", cov.Claim, cov.Known, inv.Counts().Topics, cov.Rule)
		}
	})
}

func TestExtraTopicsOfTheBrokerAreShownAndNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(20)
		b.tickEvery(10 * time.Second)
		cov, inv := once(t, b, func(c *WatchConfig) { c.Extra = []string{sysAll} })
		if _, ok := inv.Find([]byte(sysUptime)); !ok {
			t.Error("the extra topics did not reach the inventory")
		}
		if cov.Claim != inventory.Verified || cov.Seen != 20 || cov.Known != 20 {
			t.Errorf("%s, seen %d, known %d: %s", cov.Claim, cov.Seen, cov.Known, cov.Rule)
		}
	})
}

func TestWhatAQueueDropsIsBroughtBySlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(2500)
		b.queueLimit = 1000
		b.losePings = 1
		b.tickEvery(10 * time.Second)
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 2500 || cov.Claim != inventory.Verified || cov.Slices == 0 {
			t.Errorf("%d of 2500 topics after %d slices, %s: %s %v", n, cov.Slices, cov.Claim, cov.Rule, cov.Gaps)
		}
	})
}

func TestWhatAStallLostIsAskedForAsAWholeBeforeItIsDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(2500)
		b.queueLimit = 100 // as where the reader stood still from the first moment: no name of the rest is known
		b.limitFor = 1
		b.losePings = 1
		b.tickEvery(10 * time.Second)
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 2500 || cov.Claim != inventory.Verified || cov.Slices != 0 {
			t.Errorf("%d of 2500 topics after %d slices, %s: %s %v", n, cov.Slices, cov.Claim, cov.Rule, cov.Gaps)
		}
		if !strings.Contains(cov.Rule, "a second time, which brought 2 400 topics") {
			t.Errorf("the rule does not say how: %s", cov.Rule)
		}
	})
}

func TestAStoreWithoutFiguresIsNotAskedForInSlicesForMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.version = ""
		for i := range 60_000 {
			b.keep(fmt.Sprintf("house/%03d/%03d", i/1000, i%1000), strings.Repeat("x", 100), 0)
		}
		cov, inv := once(t, b, nil)
		if n := inv.Counts().Topics; n != 60_000 || cov.Claim != inventory.Unverified || cov.Slices == 0 {
			t.Errorf("%d of 60000 topics after %d slices, %s: %s %v", n, cov.Slices, cov.Claim, cov.Rule, cov.Gaps)
		}
		if took := cov.EndedAt.Sub(cov.StartedAt); took > 2*sampleTime {
			t.Errorf("it took %s", took)
		}
		said := false
		for _, g := range cov.Gaps {
			said = said || strings.Contains(g.Text, "as a sample, and brought nothing new")
		}
		if !said {
			t.Errorf("nothing says that only a part was asked for again: %v", cov.Gaps)
		}
	})
}

func TestTopicsThatCameLiveWereCountedAsBroughtBySlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.version = ""
		for i := range 60_000 {
			b.keep(fmt.Sprintf("house/%03d/%03d", i/1000, i%1000), strings.Repeat("x", 100), 0)
		}
		cfg := WatchConfig{Config: b.config(), Once: true, Slices: true}
		w, inv := watch(t, cfg)
		for i := range 30 { // somebody adds topics all the time
			<-time.After(time.Second)
			inv.Apply([]inventory.Publication{{Topic: fmt.Appendf(nil, "new/%d", i), Payload: []byte("x"), Retain: true, ReceivedAt: time.Now().UnixMilli(), Origin: inventory.Live}})
		}
		if cov := scanned(t, w, time.Hour); cov.Claim != inventory.Unverified || cov.Slices == 0 {
			t.Errorf("%d slices, %s: %s %v", cov.Slices, cov.Claim, cov.Rule, cov.Gaps)
		}
	})
}

func TestAFlatStoreThatWasDroppedIsToldAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		for i := range 3000 {
			b.keep(fmt.Sprintf("flat/%05d", i), "x", 0)
		}
		b.queueLimit = 1000
		b.losePings = 2
		b.tickEvery(10 * time.Second)
		cov, _ := once(t, b, nil)
		if cov.Claim != inventory.Incomplete || cov.Missing() != 2000 {
			t.Errorf("%s, %d missing: %s", cov.Claim, cov.Missing(), cov.Rule)
		}
		said := false
		for _, g := range cov.Gaps {
			said = said || strings.Contains(g.Text, "side by side")
		}
		if !said {
			t.Errorf("nothing says why slices could not help: %v", cov.Gaps)
		}
	})
}

func TestNothingReplayedIsNotCalledEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cov, _ := once(t, newScriptBroker(t), nil)
		if cov.Claim != inventory.Unverified {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
		for _, reason := range []string{"no retained topic", "not be allowed to read", "not replay on wildcards"} {
			if !strings.Contains(cov.Rule, reason) {
				t.Errorf("the rule does not name %q: %s", reason, cov.Rule)
			}
		}
	})
}

func TestNothingReplayedIsEmptyWhereTheBrokersCountSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.tickEvery(10 * time.Second)
		if cov, _ := once(t, b, nil); cov.Claim != inventory.Verified || cov.Known != 0 {
			t.Errorf("%s, known %d: %s", cov.Claim, cov.Known, cov.Rule)
		}
	})
}

func TestABrokerThatDoesNotReplayOnWildcardsIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(5)
		b.noWildcards = true
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.retain("house/000/001", "new", 0)
		eventually(t, time.Hour, func() bool {
			_, cov := w.Status()
			return strings.Contains(cov.Rule, "exact filters only") && cov.Claim == inventory.Incomplete
		})
	})
}

func TestHiddenTopicsAreCountedAndExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(100)
		b.hide = func(topic string) bool { return topic >= "house/000/050" && topic[0] != '$' }
		b.tickEvery(10 * time.Second)
		cov, _ := once(t, b, nil)
		if cov.Missing() != 50 || len(cov.Gaps) != 1 || !strings.Contains(cov.Gaps[0].Text, "permissions") {
			t.Errorf("%s, %d missing, gaps %v", cov.Claim, cov.Missing(), cov.Gaps)
		}
		if !strings.Contains(cov.Rule, "visible to this login") {
			t.Errorf("the rule claims more than this login can see: %s", cov.Rule)
		}
	})
}

func TestABrokerThatStartsSecondsLateIsWaitedForWhereItsCountSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		b.earlyPing = true
		b.pause = func(i int) time.Duration {
			if i == 0 {
				return 4 * time.Second
			}
			return 0
		}
		if cov, inv := once(t, b, nil); inv.Counts().Topics != 50 || cov.Claim != inventory.Verified {
			t.Errorf("%d of 50 topics, %s: %s", inv.Counts().Topics, cov.Claim, cov.Rule)
		}
	})
}

func TestCopiesAfterTheEndAreStillTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.earlyPing = true
		b.pause = func(i int) time.Duration {
			if i == 49 {
				return 3 * time.Second
			}
			return 0
		}
		w, inv := watch(t, WatchConfig{Config: b.config()})
		if scanned(t, w, time.Hour); inv.Counts().Topics != 49 {
			t.Fatalf("%d topics at the end of the rule", inv.Counts().Topics)
		}
		eventually(t, time.Hour, func() bool { _, cov := w.Status(); return cov.Seen == 50 && len(cov.Notes) == 1 })
	})
}

func TestABrokerThatAddsAnExpiryIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(3)
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.retain("a/live", "x", 0) // comes live without an interval
		eventually(t, time.Hour, func() bool { return held(inv, "a/live") != nil })
		b.mu.Lock()
		for topic, s := range b.store {
			s.props = propExpiry(2147483640) // and is replayed with one
			b.store[topic] = s
		}
		b.mu.Unlock()
		w.Rescan()
		eventually(t, time.Hour, func() bool {
			_, cov := w.Status()
			return len(cov.Notes) > 0 && strings.Contains(cov.Notes[0], "adds an expiry of its own")
		})
		if s := held(inv, "house/000/000"); !s.Flags.Has(inventory.FlagUnknown) {
			t.Errorf("its interval is still told: %+v", s)
		}
	})
}

func TestTheClaimIsTheSameWhereTheCountHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.version = "mosquitto version 2.0.11"
		b.fill(50)
		b.retain(sysVersion, b.version, 0)
		b.served.Go(func() {
			for range 3 { // only the clock of the broker moves, and what it counts as sent
				<-time.After(10 * time.Second)
				b.retain(sysBeside+"sent", fmt.Sprint(time.Now().Unix()), 0)
				b.retain(sysUptime, fmt.Sprintf("%d seconds", time.Now().Unix()), 0)
			}
		})
		cov, _ := once(t, b, nil)
		if cov.Claim != inventory.Verified || cov.Known != -1 || !strings.Contains(cov.Rule, "count of retained messages was not told") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestALaterTickOfTheBrokerRaisesTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		if cov := scanned(t, w, time.Hour); cov.Claim != inventory.NoSignOfLoss {
			t.Fatalf("%s: %s", cov.Claim, cov.Rule)
		}
		b.figures() // the broker tells nothing until now
		eventually(t, time.Hour, func() bool { _, cov := w.Status(); return cov.Claim == inventory.Verified && cov.Known == 50 })
	})
}

func TestExtraTopicsDoNotHideThatNothingWasReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(20)
		b.noWildcards = true
		b.keep("$SYS/broker/uptime", "1 seconds", 0)
		cov, _ := once(t, b, func(c *WatchConfig) { c.Extra = []string{"$SYS/broker/uptime"} })
		if cov.Claim != inventory.Unverified || !strings.Contains(cov.Rule, "nothing was replayed") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}
