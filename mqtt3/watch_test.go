package mqtt3

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// user publishes to a real broker with MQTT 3.1.1, as somebody else.
type user struct {
	t testing.TB
	net.Conn
}

func newUser(t testing.TB, address string) *user {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	me := &user{t, nc}
	me.ask(packet(0x10, text("MQTT"), []byte{4, 2, 0, 0}, text(fmt.Sprintf("user%d", time.Now().UnixNano()%1e12))), 4)
	return me
}

// ask sends b and waits for an answer of n bytes.
func (u *user) ask(b []byte, n int) []byte {
	u.t.Helper()
	if _, err := u.Write(b); err != nil {
		u.t.Fatal(err)
	}
	answer := make([]byte, n)
	_ = u.SetReadDeadline(time.Now().Add(20 * time.Second))
	for at := 0; at < n; {
		m, err := u.Read(answer[at:])
		if err != nil {
			u.t.Fatal(err)
		}
		at += m
	}
	return answer
}

// publish returns when the broker has taken the message.
func (u *user) publish(topic, payload string, retain bool) {
	u.t.Helper()
	if a := u.ask(publication(topic, payload, 1, retain, 1), 4); a[0] != 0x40 {
		u.t.Fatalf("the broker answered % x", a)
	}
}

func watch(t testing.TB, cfg broker.WatchConfig) (*broker.Watcher, *inventory.Inventory) {
	t.Helper()
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(context.Background(), cfg, inv)
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

func scanned(t testing.TB, w *broker.Watcher) inventory.Coverage {
	t.Helper()
	select {
	case <-w.Scanned():
	case <-time.After(2 * time.Minute):
		t.Fatal("the scan did not end")
	}
	_, cov := w.Status()
	return cov
}

func held(inv *inventory.Inventory, topic string) *inventory.Slot {
	ref, ok := inv.Find([]byte(topic))
	if !ok {
		return nil
	}
	s, ok := inv.Slot(ref)
	if !ok {
		return nil
	}
	return &s
}

func value(inv *inventory.Inventory, topic string) string {
	if s := held(inv, topic); s != nil {
		return string(s.Head)
	}
	return "(none)"
}

// overBoth runs a test on a broker that speaks nothing else and on one that speaks everything.
func overBoth(t *testing.T, run func(t *testing.T, address string)) {
	t.Run("aedes", func(t *testing.T) {
		t.Parallel()
		run(t, testbroker.StartAedes(t))
	})
	t.Run("mosquitto", func(t *testing.T) {
		t.Parallel()
		run(t, testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}}).URL())
	})
}

func TestTheStoreIsListedAndFollowedAMomentBehind(t *testing.T) {
	overBoth(t, func(t *testing.T, address string) {
		me := newUser(t, address)
		for i := range 300 {
			me.publish(fmt.Sprintf("house/%d/state", i), fmt.Sprint(i), true)
		}
		me.publish("house/old", "kept", true)
		w, inv := watch(t, broker.WatchConfig{Config: settings(address), Quiet: 300 * time.Millisecond})
		cov := scanned(t, w)
		link, _ := w.Status()
		if !link.Limited() || link.Protocol != "3.1.1" || inv.Counts().Topics != 301 || inv.Counts().Unknown != 301 {
			t.Errorf("%+v, %+v", link, inv.Counts())
		}
		if cov.Claim != inventory.Verified && cov.Claim != inventory.NoSignOfLoss || len(cov.Notes) == 0 || cov.Notes[0] != inventory.LimitedView {
			t.Errorf("%s: %s %q", cov.Claim, cov.Rule, cov.Notes)
		}
		if s := held(inv, "house/7/state"); s == nil || s.LastLive != 0 || s.LiveCount != 0 || !s.Flags.Has(inventory.FlagUnknown) {
			t.Errorf("a replayed topic: %+v", s)
		}

		me.publish("house/7/state", "new", true)    // overwritten
		me.publish("house/old", "passing", false)   // leaves what is kept
		me.publish("house/9/state", "", true)       // cleared
		me.publish("house/born", "1", true)         // kept from now on
		me.publish("house/event", "pressed", false) // never kept
		waitFor(t, func() bool {
			return value(inv, "house/7/state") == "new" && held(inv, "house/9/state") == nil && value(inv, "house/born") == "1"
		})
		s := held(inv, "house/old")
		if s == nil || string(s.Head) != "kept" || s.LiveCount != 1 || s.Flags.Has(inventory.FlagLiveDiffers) || s.Flags.Has(inventory.FlagChanged) {
			t.Errorf("a topic with a message that was not retained: %+v", s)
		}
		if held(inv, "house/event") != nil || inv.Counts().Topics != 301 {
			t.Errorf("%d topics; an event is held: %v", inv.Counts().Topics, held(inv, "house/event") != nil)
		}

		w.Rescan()
		waitFor(t, func() bool { l, _ := w.Status(); return l.Scanning })
		waitFor(t, func() bool { l, _ := w.Status(); return !l.Scanning })
		if s := held(inv, "house/7/state"); s.LiveCount != 1 || inv.Counts().Topics != 301 {
			t.Errorf("after a second scan: %d topics, %+v", inv.Counts().Topics, s)
		}
	})
}

func TestOneScanGoesWithoutASecondReplay(t *testing.T) {
	var asked atomic.Int32
	address := listen(t, func(p *peer) {
		p.welcome()
		for _, b := range p.drain() {
			if b[0]>>4 == typeSubscribe && bytes.Contains(b, text("#")) {
				asked.Add(1)
			}
		}
	})
	before := runtime.NumGoroutine()
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(context.Background(), broker.WatchConfig{Config: settings(address), Quiet: 50 * time.Millisecond, SysWait: 100 * time.Millisecond, Once: true}, inv)
	if err != nil {
		t.Fatal(err)
	}
	scanned(t, w)
	if err := w.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return asked.Load() > 0 })
	if n := asked.Load(); n != 1 {
		t.Errorf("the whole store was asked for %d times", n)
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before })
}

func TestASingleTopicIsAskedForWithItsQoS(t *testing.T) {
	overBoth(t, func(t *testing.T, address string) {
		me := newUser(t, address)
		me.publish("a/one", "1", true)
		me.publish("a/two", "2", true)
		w, inv := watch(t, broker.WatchConfig{Config: settings(address), Quiet: 300 * time.Millisecond})
		scanned(t, w)
		if qos, found, err := w.Ask(within(t), []byte("a/one")); err != nil || !found || qos != 1 {
			t.Errorf("QoS %d, found %t, %v", qos, found, err)
		}
		if s := held(inv, "a/one"); s.QoS != 1 {
			t.Errorf("the stored QoS is said to be %d", s.QoS)
		}
		if _, found, err := w.Ask(within(t), []byte("a/none")); found || err != nil {
			t.Errorf("a topic that is not there: found %t, %v", found, err)
		}
	})
}

func TestALargeStoreOfMosquittoIsSeenWhole(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1"}})
	const n = 40_000
	var all []byte
	for i := range n {
		all = append(all, publication(fmt.Sprintf("load/%03d/%03d", i/1000, i%1000), strings.Repeat("v", 50+i%100), 0, true, 0)...)
	}
	me := newUser(t, b.URL())
	if a := me.ask(append(all, 0xC0, 0), 2); a[0] != 0xD0 {
		t.Fatalf("% x", a)
	}
	w, inv := watch(t, broker.WatchConfig{Config: settings(b.URL()), Quiet: 500 * time.Millisecond, Slices: true})
	if cov := scanned(t, w); cov.Claim != inventory.Verified || inv.Counts().Topics != n {
		t.Errorf("%d of %d, %s: %s %+v", inv.Counts().Topics, n, cov.Claim, cov.Rule, cov.Gaps)
	}
}

func TestAWatcherComesBackAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"sys_interval 1", "persistence true", "persistence_location " + dir + "/"}})
	newUser(t, b.URL()).publish("a/kept", "1", true)
	inv := inventory.New(inventory.Options{})
	w, err := broker.Watch(context.Background(), broker.WatchConfig{Config: settings(b.URL()), Quiet: 200 * time.Millisecond}, inv)
	if err != nil {
		t.Fatal(err)
	}
	scanned(t, w)
	for round := range 3 {
		b.Stop()
		waitFor(t, func() bool { l, _ := w.Status(); return l.State == inventory.Lost && l.Err != "" })
		b.Restart()
		waitFor(t, func() bool { l, _ := w.Status(); return l.State == inventory.Watching })
		me := newUser(t, b.URL())
		me.publish("a/kept", fmt.Sprint("again ", round), true)
		waitFor(t, func() bool { return value(inv, "a/kept") == fmt.Sprint("again ", round) })
	}
	_, cov := w.Status()
	if len(cov.Away) != 3 || held(inv, "a/kept").LiveCount < 3 {
		t.Errorf("away %v, live %d times", cov.Away, held(inv, "a/kept").LiveCount)
	}
	if err := w.Close(within(t)); err != nil {
		t.Fatal(err)
	}
}

func TestARightlessLoginIsToldApart(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		testbroker.Missing(t, "mosquitto_passwd is not installed")
	}
	passwords := filepath.Join(t.TempDir(), "passwords")
	if out, err := exec.Command(path, "-c", "-b", passwords, "me", "right").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"password_file " + passwords}, NoAnonymous: true})
	cfg := settings(b.URL())
	for _, c := range []struct{ user, password, text string }{{"", "", "an anonymous connection"}, {"me", "wrong", `the user "me" or the password`}} {
		cfg.User, cfg.Password = c.user, broker.Secret(c.password)
		if _, err := broker.Dial(within(t), cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%v", err)
		}
	}
	cfg.User, cfg.Password = "me", "right"
	if err := dial(t, cfg, nothing, inventory.Live).Fence(within(t)); err != nil {
		t.Error(err)
	}
}

func TestEveryTransportCarriesIt(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "m")
	ca, cert, key := certificate(t)
	wsPort := testbroker.FreePort(t)
	for name, c := range map[string]struct {
		conf  testbroker.Config
		setup func(b *testbroker.Broker, cfg *broker.Config)
	}{
		"a unix socket": {testbroker.Config{Socket: socket}, func(_ *testbroker.Broker, cfg *broker.Config) { cfg.URL = "unix://" + socket }},
		"TLS": {testbroker.Config{ListenerLines: []string{"certfile " + cert, "keyfile " + key}}, func(b *testbroker.Broker, cfg *broker.Config) {
			cfg.URL, cfg.CAFile = fmt.Sprintf("mqtts://127.0.0.1:%d", b.Port), ca
		}},
		"WebSocket": {testbroker.Config{ListenerLines: []string{fmt.Sprintf("listener %d 127.0.0.1", wsPort), "protocol websockets", "allow_anonymous true"}}, func(_ *testbroker.Broker, cfg *broker.Config) {
			cfg.URL = fmt.Sprintf("ws://127.0.0.1:%d/mqtt", wsPort)
			waitFor(t, func() bool { // it opens after the other one
				nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", wsPort))
				if err == nil {
					_ = nc.Close()
				}
				return err == nil
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := testbroker.Start(t, c.conf)
			cfg := settings("")
			c.setup(b, &cfg)
			var s sink
			conn := dial(t, cfg, s.take, inventory.Replay)
			if _, err := conn.Subscribe(within(t), []broker.Subscription{{Filter: "$SYS/broker/version"}}); err != nil {
				t.Fatal(err)
			}
			waitFor(t, func() bool { return len(s.all()) == 1 })
			if err := conn.Fence(within(t)); err != nil {
				t.Error(err)
			}
			if err := conn.Close(within(t)); err != nil {
				t.Error(err)
			}
		})
	}
	// The sentences of a failed connect are those of MQTT 5.
	tlsBroker := testbroker.Start(t, testbroker.Config{ListenerLines: []string{"certfile " + cert, "keyfile " + key}})
	cfg := settings(fmt.Sprintf("mqtts://127.0.0.1:%d", tlsBroker.Port))
	if _, err := broker.Dial(within(t), cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), "is signed by itself; to trust it") {
		t.Errorf("%v", err)
	}
	cfg.URL = tlsBroker.URL()
	if _, err := broker.Dial(within(t), cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), "speaks TLS") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(socket); err == nil {
		cfg.URL = "unix://" + socket
		if _, err := broker.Dial(within(t), cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), "there is no socket") {
			t.Errorf("%v", err)
		}
	}
}
