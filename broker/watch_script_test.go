package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestALossIsShownAndMadeGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(10)
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.setDown(true)
		b.cut(disconnect(0x8B, "until \x1b[31mten"))
		eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.State == inventory.Lost })
		link, cov := w.Status()
		if !strings.Contains(link.Err, "Server shutting down (0x8B)") || strings.ContainsRune(link.Err, 0x1b) {
			t.Errorf("the loss is told as %q", link.Err)
		}
		if len(cov.Away) != 1 || !cov.Away[0].To.IsZero() || held(inv, "house/000/000").StoppedAt == 0 {
			t.Errorf("away: %v", cov.Away)
		}
		eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.Attempt >= 2 })
		b.keep("house/000/000", "", 0) // removed while nobody watches
		b.keep("house/000/001", "changed", 0)
		b.setDown(false)
		eventually(t, time.Hour, func() bool { return held(inv, "house/000/000") == nil })
		if !happened(inv, "house/000/000", inventory.Gone) {
			t.Error("what was removed while away is not called gone")
		}
		if s := held(inv, "house/000/001"); string(s.Head) != "changed" || s.LiveCount != 0 || s.StoppedAt != 0 {
			t.Errorf("what changed while away: %+v", s)
		}
		if _, cov := w.Status(); len(cov.Away) != 1 || cov.Away[0].To.IsZero() {
			t.Errorf("away: %v", cov.Away)
		}
	})
}

func TestReconnectsDoNotScanInAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(20_000) // twenty seconds between automatic scans
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		scans := func() (n int) {
			for _, f := range b.asked() {
				if f == "#" {
					n++
				}
			}
			return n
		}
		before := scans() // one live and one snapshot SUBSCRIBE
		start := time.Now()
		for i := range 5 {
			b.cut(nil)
			eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.State == inventory.Lost })
			eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.State == inventory.Watching })
			if _, cov := w.Status(); time.Since(start) < 15*time.Second && (cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, "keep a distance of 20s")) {
				t.Errorf("loss %d: %s: %s", i, cov.Claim, cov.Rule)
			}
		}
		// Each reconnect subscribes live once; snapshots come every twenty seconds.
		took := time.Since(start)
		if n := scans() - before - 5; n > int(took/(20*time.Second))+1 {
			t.Errorf("%d scans within %s of reconnects", n, took)
		}
		eventually(t, time.Hour, func() bool { _, cov := w.Status(); return cov.Claim == inventory.NoSignOfLoss })
	})
}

func TestTheBackOffGrowsWhereConnectionsDoNotLast(t *testing.T) {
	var b backoff
	var last time.Duration
	for range 12 {
		d := b.next()
		if d < firstDelay/2 || d > longDelay*3/2 {
			t.Errorf("a delay of %s", d)
		}
		last = b.delay
		b.stood(5 * time.Second)
	}
	if last != longDelay {
		t.Errorf("after twelve short connections the delay is %s", last)
	}
	if b.stood(steadyTime); b.next() > firstDelay*3/2 {
		t.Error("a connection that stood does not start the back-off anew")
	}
}

func TestAScanLacksATopicThatTheBrokerStillHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.mu.Lock()
		b.queueLimit = 40 // the next scan loses ten
		b.mu.Unlock()
		b.keep("house/000/045", "", 0) // and one of them is really gone
		w.Rescan()
		eventually(t, time.Hour, func() bool { return held(inv, "house/000/045") == nil })
		eventually(t, time.Hour, func() bool { l, _ := w.Status(); return !l.Scanning })
		if n := inv.Counts().Topics; n != 49 || !happened(inv, "house/000/045", inventory.Gone) {
			t.Errorf("%d topics held, want 49", n)
		}
		if _, cov := w.Status(); cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, "exact filters brought 9 topics") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestNothingIsConcludedWhereNoControlAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/expires", "x", 5)
		hidden := false
		b.hide = func(string) bool { return hidden }
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.mu.Lock()
		hidden = true // the login loses its rights
		b.mu.Unlock()
		eventually(t, time.Hour, func() bool { return held(inv, "a/expires").Flags.Has(inventory.FlagDue) })
		<-time.After(3 * time.Minute)
		if held(inv, "a/expires") == nil {
			t.Error("a topic was called gone although nothing at all was answered")
		}
	})
}

func TestALoneTopicThatExpiresIsSettledByTheBrokersOwnVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/expires", "x", 5)
		b.tickEvery(10 * time.Second)
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool { return happened(inv, "a/expires", inventory.Expired) })
		if _, ok := inv.Find([]byte(sysVersion)); ok {
			t.Error("the control entered the inventory")
		}
	})
}

func TestATopicServedPastItsEndIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		b.keep("a/expires", "x", 0)
		b.mu.Lock()
		s := b.store["a/expires"]
		s.props = propExpiry(3) // a broker that never counts down
		b.store["a/expires"] = s
		b.mu.Unlock()
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		eventually(t, time.Hour, func() bool {
			s := held(inv, "a/expires")
			return s != nil && s.Flags.Has(inventory.FlagStillServed)
		})
	})
}

func TestAScanThatLosesItsConnectionSaysSoAndIsMadeGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(500)
		b.pause = func(int) time.Duration { return 10 * time.Millisecond }
		w, inv := watch(t, WatchConfig{Config: b.config()})
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics > 100 })
		b.cut(nil)
		eventually(t, time.Hour, func() bool { _, cov := w.Status(); return cov.Claim == inventory.Incomplete })
		eventually(t, time.Hour, func() bool { _, cov := w.Status(); return cov.Claim == inventory.NoSignOfLoss })
		if n := inv.Counts().Topics; n != 500 {
			t.Errorf("%d of 500 topics", n)
		}
	})
}

func TestAMalformedPacketEndsTheScanWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(10)
		b.before = func(i int) []byte {
			if i == 5 {
				return []byte{0x30, 0xff, 0xff, 0xff, 0xff, 0x0f}
			}
			return nil
		}
		cov, inv := once(t, b, nil)
		if cov.Claim != inventory.Incomplete || !strings.Contains(cov.Rule, "did not come to its end") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
		if n := inv.Counts().Topics; n != 5 {
			t.Errorf("%d topics held, 5 came before the fault", n)
		}
	})
}

func TestABrokerThatSpeaksOnlyThreeOneOneIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		go func() {
			w := server.accept()
			w.expect(typeConnect)
			w.send([]byte{0x20, 2, 0, 1})
			_ = w.Close()
		}()
		_, err := Watch(t.Context(), WatchConfig{Config: server.config()}, inventory.New(inventory.Options{}))
		var refused *ConnectError
		if !errors.As(err, &refused) || refused.Hint == "" {
			t.Errorf("Watch = %v", err)
		}
	})
}

func TestOnceEndsWhenTheConnectionIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(500)
		b.pause = func(int) time.Duration { return 10 * time.Millisecond }
		w, inv := watch(t, WatchConfig{Config: b.config(), Once: true})
		eventually(t, time.Hour, func() bool { return inv.Counts().Topics > 100 })
		b.cut(nil)
		cov := scanned(t, w, time.Hour)
		if cov.Claim != inventory.Incomplete {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestATopicThatPublishesAllTheTimeDoesNotHoldUpTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(100)
		stop := make(chan struct{})
		b.served.Go(func() {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for i := 0; ; i++ {
				select {
				case <-tick.C:
					b.retain("live/counter", fmt.Sprint(i), 0)
				case <-stop:
					return
				}
			}
		})
		defer close(stop)
		start := time.Now()
		cov, inv := once(t, b, nil)
		if cov.Claim != inventory.NoSignOfLoss || inv.Counts().Topics != 101 || time.Since(start) > 10*time.Second {
			t.Errorf("%d topics after %s, %s: %s", inv.Counts().Topics, time.Since(start), cov.Claim, cov.Rule)
		}
	})
}

func TestALargeStoreIsAnnouncedWithWhatItCostsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(60_000)
		b.tickEvery(10 * time.Second)
		b.pause = func(i int) time.Duration {
			if i == 0 {
				return time.Second
			}
			return 0
		}
		w, _ := watch(t, WatchConfig{Config: b.config()})
		eventually(t, time.Hour, func() bool {
			l, _ := w.Status()
			return strings.Contains(l.Progress, "serves nobody else for about 180ms") && l.ScanOf == 60_000
		})
		if cov := scanned(t, w, time.Hour); cov.Claim != inventory.Verified {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	load(t, b.URL(), 100, 10, deep)
	before := runtime.NumGoroutine()
	for range 3 {
		w, err := Watch(context.Background(), WatchConfig{Config: Config{URL: b.URL()}, Quiet: 50 * time.Millisecond}, inventory.New(inventory.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		<-w.Scanned()
		if err := w.Close(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 10*time.Second, func() bool { return runtime.NumGoroutine() <= before })
}
