package broker

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// claims collects every claim and rule that Status shows until the test ends.
func claims(t testing.TB, w *Watcher) func() []string {
	var mu sync.Mutex
	var all []string
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-w.Changed():
				_, cov := w.Status()
				text := cov.Claim.String() + ": " + cov.Rule
				mu.Lock()
				if len(all) == 0 || all[len(all)-1] != text {
					all = append(all, text)
				}
				mu.Unlock()
			case <-stop:
				return
			}
		}
	})
	t.Cleanup(func() { close(stop); running.Wait() })
	return func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), all...) }
}

func snapshots(b *scriptBroker) (n int) {
	for _, f := range b.asked() {
		if f == "#" {
			n++
		}
	}
	return n - 1 // the live one
}

func TestADropWhileOnlyWatchingLowersTheClaimAndIsScannedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.mu.Lock()
		b.dropped += 77
		b.mu.Unlock()
		eventually(t, 15*time.Second, func() bool {
			_, cov := w.Status()
			return cov.Claim != inventory.Verified && strings.Contains(cov.Rule, "dropped 77 messages for some client")
		})
		eventually(t, 30*time.Second, func() bool { _, cov := w.Status(); return cov.Claim == inventory.Verified && snapshots(b) == 2 })
	})
}

func TestAListThatTheCountMovedAwayFromIsNotVerifiedAndIsScannedFor(t *testing.T) {
	for name, change := range map[string]func(b *scriptBroker){
		"changes that never came": func(b *scriptBroker) {
			for i := range 30 {
				b.keep(fmt.Sprintf("lost/%d", i), "x", 0)
			}
		},
		"removals that never came": func(b *scriptBroker) {
			for i := range 30 {
				b.keep(fmt.Sprintf("house/000/%03d", i), "", 0)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newScriptBroker(t)
				b.fill(50)
				b.tickEvery(10 * time.Second)
				w, inv := watch(t, WatchConfig{Config: b.config()})
				scanned(t, w, time.Hour)
				change(b)
				eventually(t, 40*time.Second, func() bool {
					_, cov := w.Status()
					return cov.Claim != inventory.Verified && strings.Contains(cov.Rule, "moved apart")
				})
				eventually(t, time.Minute, func() bool {
					_, cov := w.Status()
					return cov.Claim == inventory.Verified && cov.Seen == inv.Counts().Topics && cov.Known == cov.Seen && cov.Seen != 50
				})
			})
		})
	}
}

func TestACountOfNowStoodUnderTheTimeOfTheScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		_, first := w.Status()
		if first.Seen != 50 || !first.CountedAt.Equal(first.EndedAt) || first.EndedAt.IsZero() {
			t.Fatalf("%d topics, counted %v, ended %v", first.Seen, first.CountedAt, first.EndedAt)
		}
		b.retain("late", "x", 0)
		eventually(t, time.Minute, func() bool { _, cov := w.Status(); return cov.Seen == 51 })
		_, cov := w.Status()
		if !cov.EndedAt.Equal(first.EndedAt) || !cov.CountedAt.After(cov.EndedAt) || cov.Claim != inventory.Verified || !strings.Contains(cov.Rule, "(51)") {
			t.Errorf("%d topics, counted %v, ended %v: %s, %s", cov.Seen, cov.CountedAt, cov.EndedAt, cov.Claim, cov.Rule)
		}
	})
}

func TestAChangeThatIsCountedBeforeItComesDoesNotLowerTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		w, inv := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		told := claims(t, w)
		for i := range 40 { // most are counted by a tick before they are forwarded
			topic := fmt.Sprintf("late/%d", i)
			b.keep(topic, "x", 0)
			<-time.After(7 * time.Second)
			b.retain(topic, "x", 0)
			<-time.After(4 * time.Second)
		}
		if n := inv.Counts().Topics; n != 90 || snapshots(b) != 1 {
			t.Errorf("%d topics, %d scans", n, snapshots(b))
		}
		for _, text := range told() {
			if !strings.HasPrefix(text, "verified") {
				t.Errorf("told: %s", text)
			}
		}
	})
}

func TestABrokerThatDropsForOthersAllTheTimeIsScannedEverMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		for range 720 {
			b.mu.Lock()
			b.dropped++
			b.mu.Unlock()
			<-time.After(5 * time.Second)
		}
		if n := snapshots(b); n < 5 || n > 14 {
			t.Errorf("%d scans in an hour", n)
		}
	})
}

func TestALiveBurstBeyondWhatABrokerQueuesLowersTheClaimWhereNoFigureTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		if cov := scanned(t, w, time.Hour); cov.Claim != inventory.NoSignOfLoss {
			t.Fatalf("%s: %s", cov.Claim, cov.Rule)
		}
		payload := strings.Repeat("x", 1000)
		for i := range 5000 {
			b.retain(fmt.Sprintf("x/%d", i), payload, 0)
		}
		eventually(t, 5*time.Second, func() bool {
			_, cov := w.Status()
			return cov.Claim != inventory.NoSignOfLoss && strings.Contains(cov.Rule, "more live changes came at once")
		})
		eventually(t, time.Minute, func() bool { return snapshots(b) == 2 })
	})
}

func TestATimeInWhichThisProgramStoodStillLowersTheClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		w, _ := watch(t, WatchConfig{Config: b.config(), Once: true}) // nobody else looks
		scanned(t, w, time.Hour)
		conn, err := Dial(t.Context(), b.config(), func([]inventory.Publication) {}, inventory.Live)
		if err != nil {
			t.Fatal(err)
		}
		defer shut(conn)
		var helpers sync.WaitGroup
		l := liveLapse{conn: conn, helpers: &helpers}
		l.look(t.Context(), false)
		l.rest()
		<-time.After(time.Second)
		if l.look(t.Context(), false); w.noteLapses(&l) {
			t.Error("a second is no lapse")
		}
		l.rest()
		<-time.After(90 * time.Second)
		if l.look(t.Context(), false); !w.noteLapses(&l) {
			t.Error("a minute and a half went by unseen")
		}
		w.doubted(time.Now())
		if _, cov := w.Status(); cov.Claim != inventory.Unverified || !strings.Contains(cov.Rule, "stood still for 1m30s") {
			t.Errorf("%s: %s", cov.Claim, cov.Rule)
		}
	})
}

func TestADoubtIsSaidWithFiguresOfOneInstant(t *testing.T) {
	e := good()
	e.after = e.now
	v := e.now
	v.count, v.live = v.count+200, v.live+9
	late := e.later(v, 1000)
	late.since = sinceScan{differs: true, count: 1200, here: 1000, again: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	c := late.coverage()
	if c.Claim != inventory.Unverified || c.Seen != 1000 || c.Known != 1200 || !strings.Contains(c.Rule, "it counts 1 200, and 1 000 are here; the next scan starts at 15:04:05.") {
		t.Errorf("seen %d of %d, %s: %s", c.Seen, c.Known, c.Claim, c.Rule)
	}
	if len(c.Remedies) == 0 || len(c.Gaps) == 0 || !strings.HasPrefix(askText(&late), "The store is being asked for again. Since the scan") {
		t.Errorf("gaps %v, remedies %v, %s", c.Gaps, c.Remedies, askText(&late))
	}
}

func TestDropsAfterTheScanAreNotThoseOfTheScan(t *testing.T) {
	e := good()
	e.after = e.now
	v := e.now
	v.dropped, v.dropLive, v.live = 107, 2, v.live+9
	late := e.later(v, 1000)
	late.since = sinceScan{drops: true, dropped: 100}
	if c := late.coverage(); c.Claim != inventory.Unverified || c.Dropped != 0 || len(c.Gaps) != 1 || c.Gaps[0].Count != 100 {
		t.Errorf("%s: %s, dropped %d, gaps %v", c.Claim, c.Rule, c.Dropped, c.Gaps)
	}
}

func TestABrokerThatStandsStillIsSaidNotToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		b.keep("a/expires", "x", 20)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.freeze(true)
		eventually(t, 40*time.Second, func() bool {
			l, cov := w.Status()
			return strings.HasPrefix(l.Err, "no answer since") && cov.Claim == inventory.Unverified && strings.Contains(cov.Rule, "has not answered since")
		})
		b.freeze(false)
		eventually(t, time.Minute, func() bool { l, cov := w.Status(); return l.Err == "" && cov.Claim == inventory.NoSignOfLoss })
	})
}

func TestAScanAfterWhichNothingIsAnsweredIsNotWithoutASignOfLoss(t *testing.T) {
	e := good()
	e.now.version, e.now.dropped, e.now.count, e.ticked = "", -1, -1, false
	e.mute, e.waited = true, 15*time.Second
	if claim, rule := e.claim(); claim != inventory.Unverified || !strings.Contains(rule, "answered nothing for 15s") {
		t.Errorf("%s: %s", claim, rule)
	}
}

func TestAFloodThatTheBrokersFiguresSettleNeedsNoScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.fill(50)
		b.tickEvery(10 * time.Second)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		payload := strings.Repeat("x", 1000)
		for i := range 5000 {
			b.retain(fmt.Sprintf("x/%d", i), payload, 0)
		}
		eventually(t, 5*time.Second, func() bool { _, cov := w.Status(); return strings.Contains(cov.Rule, "its next figures tell") })
		eventually(t, 30*time.Second, func() bool { _, cov := w.Status(); return cov.Claim == inventory.Verified && cov.Seen == 5050 })
		if n := snapshots(b); n != 1 {
			t.Errorf("%d scans", n)
		}
	})
}

func TestASnapshotThatIsNotAnsweredSaysHowLongItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		go func() {
			w := server.accept()
			w.expect(typeConnect) // and no answer
		}()
		w := &Watcher{cfg: WatchConfig{Config: server.config()}.filled()}
		start := time.Now()
		_, err := w.dialPatient(t.Context(), func([]inventory.Publication) {}, inventory.Replay)
		if took := time.Since(start); err == nil || !strings.Contains(err.Error(), "within "+took.String()) {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestAQuestionThatCannotEvenConnectHasTheLiveConnectionPinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.keep("a/stays", "y", 0)
		b.keep("a/expires", "x", 30)
		w, _ := watch(t, WatchConfig{Config: b.config()})
		scanned(t, w, time.Hour)
		b.deafen(true)
		b.freeze(true)
		defer b.freeze(false)
		eventually(t, 45*time.Second, func() bool { _, cov := w.Status(); return strings.Contains(cov.Rule, "has not answered since") })
	})
}
