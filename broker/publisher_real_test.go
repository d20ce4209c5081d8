package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// storedNow returns what the broker keeps, as payload by topic, and the interval of each, by a connection of its own.
func storedNow(t testing.TB, url string) (map[string]string, map[string]expiry.Interval) {
	t.Helper()
	var s sink
	c, err := Dial(within(t), Config{URL: url}, s.deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(c)
	if _, err := c.Subscribe(within(t), []Subscription{{Filter: "#"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(within(t)); err != nil {
		t.Fatal(err)
	}
	payloads, intervals := map[string]string{}, map[string]expiry.Interval{}
	for _, k := range s.all() {
		if k.publication.Retain {
			payloads[k.topic], intervals[k.topic] = k.payload, k.publication.Interval
		}
	}
	return payloads, intervals
}

// keepsOnly waits until the broker keeps exactly that, as topic=payload.
func keepsOnly(t testing.TB, url string, want ...string) {
	t.Helper()
	var got map[string]string
	ok := func() bool {
		got, _ = storedNow(t, url)
		if len(got) != len(want) {
			return false
		}
		for _, w := range want {
			topic, payload, _ := strings.Cut(w, "=")
			if got[topic] != payload {
				return false
			}
		}
		return true
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(15 * time.Second); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("the broker keeps %v, want %q", got, want)
		}
	}
}

// keepsFor fails when the broker ceases to keep topic within d.
func keepsFor(t testing.TB, url, topic string, d time.Duration) {
	t.Helper()
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for end := time.After(d); ; {
		select {
		case <-tick.C:
			if got, _ := storedNow(t, url); got[topic] == "" {
				t.Fatalf("%s was gone after %v", topic, time.Since(start))
			}
		case <-end:
			return
		}
	}
}

// publisherAt starts a publisher with seconds-long windows and waits until it is settled.
func publisherAt(t testing.TB, url string, change func(*PublisherConfig)) *Publisher {
	t.Helper()
	cfg := PublisherConfig{Config: Config{URL: url}, Interval: 3}
	if change != nil {
		change(&cfg)
	}
	p := started(t, cfg)
	t.Cleanup(func() { halt(t, p) })
	waitFor(t, func() bool { return p.Status().Settled })
	return p
}

// says returns a step that publishes those, as topic=payload.
func says(all ...string) Step {
	return Step{Name: "says", Run: func(ctx context.Context, p *Publisher) error {
		var errs []error
		for _, s := range all {
			topic, payload, _ := strings.Cut(s, "=")
			_, err := p.Publish(ctx, Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: true})
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}}
}

func TestMosquittoKeepsWhatThePublisherRepeatsAndDropsWhatItLeft(t *testing.T) {
	t.Parallel() // it mostly waits
	b := testbroker.Start(t, testbroker.Config{})
	p := publisherAt(t, b.URL(), nil)
	say(t, p, "a/state", "1")
	say(t, p, "a/cleared", "1")
	if _, intervals := storedNow(t, b.URL()); intervals["a/state"].Kind() != expiry.Finite {
		t.Errorf("the interval of a/state is %v", intervals["a/state"])
	}
	keepsFor(t, b.URL(), "a/state", 7*time.Second)
	// An empty clear stops the refresh of its topic alone.
	say(t, p, "a/cleared", "")
	keepsFor(t, b.URL(), "a/state", 3*time.Second)
	keepsOnly(t, b.URL(), "a/state=1")
	// A topic that somebody else clears comes back with the next refresh.
	mosquittoPub(t, b, "-t", "a/state", "-r", "-n", "-q", "1")
	keepsOnly(t, b.URL(), "a/state=1")
	halt(t, p)
	if got, _ := storedNow(t, b.URL()); got["a/state"] != "1" {
		t.Errorf("right after Stop the broker keeps %v", got)
	}
	keepsOnly(t, b.URL()) // and drops it at the end of its window
}

func TestASubscriberOf311ReadsWhatThePublisherSays(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		testbroker.Missing(t, "mosquitto_sub is not installed")
	}
	b := testbroker.Start(t, testbroker.Config{})
	p := publisherAt(t, b.URL(), nil)
	say(t, p, "a", "retained")
	// The second message it sees is a refresh.
	out, err := exec.Command(path, "-V", "mqttv311", "-p", strconv.Itoa(b.Port), "-t", "#", "-C", "2", "-W", "10", "-F", "%t %r %p").CombinedOutput()
	if err != nil || string(out) != "a 1 retained\na 0 retained\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestARenamedDeviceLeavesNothingBehindForLongerThanAWindow(t *testing.T) {
	t.Parallel() // it mostly waits
	b := testbroker.Start(t, testbroker.Config{})
	// What a 3.1.1 client left behind has no expiry and stays.
	if path, err := exec.LookPath("mosquitto_pub"); err != nil {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	} else if out, err := exec.Command(path, "-V", "mqttv311", "-p", strconv.Itoa(b.Port), "-t", "airthings/old", "-m", "1", "-r", "-q", "1").CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	old := publisherAt(t, b.URL(), func(cfg *PublisherConfig) {
		cfg.Steps = []Step{says("airthings/state=20", "airthings/availability=online")}
	})
	halt(t, old)
	publisherAt(t, b.URL(), func(cfg *PublisherConfig) {
		cfg.Steps = []Step{says("airthings_edge01/state=21", "airthings_edge01/availability=online")}
	})
	if got, _ := storedNow(t, b.URL()); len(got) != 5 {
		t.Errorf("right after the change of name the broker keeps %v", got)
	}
	want := []string{"airthings/old=1", "airthings_edge01/state=21", "airthings_edge01/availability=online"}
	keepsOnly(t, b.URL(), want...)
	keepsFor(t, b.URL(), "airthings_edge01/state", 4*time.Second)
	keepsOnly(t, b.URL(), want...)
}

func TestAfterARestartOnlyWhatIsSaidAgainStays(t *testing.T) {
	t.Parallel() // it mostly waits
	b := testbroker.Start(t, testbroker.Config{})
	config := func(cfg *PublisherConfig) { cfg.Steps = []Step{says("app/status=online")} }
	first := publisherAt(t, b.URL(), config)
	say(t, first, "app/once", "1")
	halt(t, first)
	publisherAt(t, b.URL(), config)
	keepsOnly(t, b.URL(), "app/status=online")
	keepsFor(t, b.URL(), "app/status", 4*time.Second)
}

func TestMosquittoThatRefusesATopicIsReportedOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	acl := filepath.Join(t.TempDir(), "acl")
	if err := os.WriteFile(acl, []byte("topic readwrite open/#\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"acl_file " + acl}})
	var n notes
	p := publisherAt(t, b.URL(), func(cfg *PublisherConfig) { cfg.Logger = n.logger() })
	say(t, p, "open/a", "1")
	out, err := p.Publish(within(t), Message{Topic: "denied", Payload: []byte("1"), QoS: 1, Retain: true})
	if err != nil || !out.Refused() || out.Code != 0x87 {
		t.Errorf("%+v, %v", out, err)
	}
	waitFor(t, func() bool { return p.Status().Passes >= 5 })
	if s := p.Status(); s.Topics != 2 || s.Failed != 0 || n.count("refused") != 1 {
		t.Errorf("%+v\n%s", s, &n)
	}
	keepsOnly(t, b.URL(), "open/a=1")
}

func TestLimitsThatMosquittoAnnouncesAreKept(t *testing.T) {
	t.Parallel() // it mostly waits
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"max_packet_size 2000"}, ListenerLines: []string{"max_qos 0"}})
	p := publisherAt(t, b.URL(), nil)
	var limit *limitError
	if out, err := p.Publish(within(t), Message{Topic: "a", QoS: 1, Retain: true, Payload: []byte("1")}); !errors.As(err, &limit) || limit.code != 0x9B || out.Handed {
		t.Errorf("QoS 1: %+v, %v", out, err)
	}
	if out, err := p.Publish(within(t), Message{Topic: "a", Retain: true, Payload: make([]byte, 2000)}); !errors.As(err, &limit) || limit.code != 0x95 || out.Handed {
		t.Errorf("2000 bytes: %+v, %v", out, err)
	}
	if _, err := p.Publish(within(t), Message{Topic: "a", Retain: true, Payload: []byte("1")}); err != nil {
		t.Error(err)
	}
	keepsFor(t, b.URL(), "a", 5*time.Second)
}

// TestABrokerKilledAgainAndAgainEndsWithWhatTheProcessOwns kills a broker that keeps nothing on disk while eight
// publishers work, and compares in the end.
func TestABrokerKilledAgainAndAgainEndsWithWhatTheProcessOwns(t *testing.T) {
	t.Parallel() // it mostly waits
	const restarts = 20
	b := testbroker.Start(t, testbroker.Config{})
	running := goroutinesOf(t)
	p := started(t, PublisherConfig{Config: Config{URL: b.URL(), Timeout: 2 * time.Second}, Interval: 3,
		Steps: []Step{says("app/status=online")}, Will: &Message{Topic: "app/status", Payload: []byte("offline"), QoS: 1, Retain: true}})
	stop := make(chan struct{})
	var publishing sync.WaitGroup
	var mu sync.Mutex
	counts := map[string]int{}
	for g := range 8 {
		publishing.Go(func() {
			pause := time.NewTicker(2 * time.Millisecond)
			defer pause.Stop()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-pause.C:
				}
				m := Message{Topic: fmt.Sprintf("app/%d", rand.IntN(40)), QoS: byte(rand.IntN(2)), Retain: true}
				if rand.IntN(6) > 0 {
					m.Payload = fmt.Appendf(nil, "g%d-%d", g, i)
				}
				out, err := p.Publish(context.Background(), m)
				mu.Lock()
				switch {
				case err == nil:
					counts["done"]++
				case out.Handed && (errors.Is(err, ErrNoAnswer) || m.QoS == 0 || !out.Answered):
					counts["handed over, no answer"]++
				case errors.Is(err, ErrNotConnected):
					counts["not connected"]++
				default:
					t.Errorf("%+v, %v", out, err)
				}
				mu.Unlock()
			}
		})
	}
	for range restarts {
		connected := p.Status().Connections
		waitFor(t, func() bool { return p.Status().Connections > connected || p.Status().Connected })
		timer := time.NewTimer(time.Duration(50+rand.IntN(400)) * time.Millisecond)
		<-timer.C
		b.Kill()
		b.Restart()
	}
	waitFor(t, func() bool { return p.Status().Connected })
	close(stop)
	publishing.Wait()
	waitFor(t, func() bool { s := p.Status(); return s.Settled && s.Pending == 0 })
	passes := p.Status().Passes
	waitFor(t, func() bool { return p.Status().Passes > passes+1 })

	got, _ := storedNow(t, b.URL())
	p.mu.Lock()
	held := map[string]string{}
	for _, topic := range p.ledger.Older(p.newest.Add(time.Hour)) {
		e, _ := p.ledger.Entry(topic)
		held[topic] = string(e.Payload)
	}
	p.mu.Unlock()
	for topic, payload := range held {
		if got[topic] != payload {
			t.Errorf("%s is %q at the broker and %q in the ledger", topic, got[topic], payload)
		}
	}
	for topic, payload := range got {
		if _, ok := held[topic]; !ok {
			t.Errorf("the broker keeps %s=%s, which was cleared", topic, payload)
		}
	}
	s := p.Status()
	t.Logf("%v; %d connections, %d passes, %d cut short; %d topics", counts, s.Connections, s.Passes, s.Failed, s.Topics)
	if s.Connections < restarts/2 || counts["done"] == 0 || counts["not connected"] == 0 {
		t.Errorf("not much happened: %v, %+v", counts, s)
	}
	halt(t, p)
	b.Stop()
	waitFor(t, func() bool { return running() <= 1 })
}

// goroutinesOf returns a function that counts the goroutines that were started on this one from now on, and by those,
// with this one. Other tests may run meanwhile.
func goroutinesOf(t testing.TB) func() int {
	outside := context.Background()
	pprof.SetGoroutineLabels(pprof.WithLabels(outside, pprof.Labels("test", t.Name())))
	t.Cleanup(func() { pprof.SetGoroutineLabels(outside) })
	label := fmt.Sprintf("%q:%q", "test", t.Name())
	return func() int {
		var all bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
			t.Fatal(err)
		}
		n := 0
		for group := range strings.SplitSeq(all.String(), "\n\n") { // of goroutines at the same place, with the same labels
			if strings.Contains(group, label) {
				count, _, _ := strings.Cut(group, " @")
				here, err := strconv.Atoi(count[strings.LastIndex(count, "\n")+1:])
				if err != nil {
					t.Fatalf("a list of goroutines that cannot be read: %v: %s", err, group)
				}
				n += here
			}
		}
		return n
	}
}

func TestGoroutinesOfOneTestAreCounted(t *testing.T) {
	running := goroutinesOf(t)
	stop := make(chan struct{})
	var started sync.WaitGroup
	for range 3 {
		started.Go(func() {
			var inner sync.WaitGroup
			inner.Go(func() { <-stop })
			inner.Wait()
		})
	}
	waitFor(t, func() bool { return running() == 7 })
	close(stop)
	started.Wait()
	waitFor(t, func() bool { return running() == 1 })
}

// BenchmarkPassOfAFullLedger repeats 1000 entries of 100 bytes at a real broker: with a day's interval, which leaves time
// for one message in flight at a time, and with a period that does not.
func BenchmarkPassOfAFullLedger(b *testing.B) {
	broker := testbroker.Start(b, testbroker.Config{})
	for name, every := range map[string]time.Duration{"one by one": 8 * time.Hour, "pipelined": 100 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			p, err := newPublisher(PublisherConfig{Config: Config{URL: broker.URL()}})
			if err != nil {
				b.Fatal(err)
			}
			p.begin()
			waitFor(b, func() bool { return p.Status().Settled })
			for _, topic := range numbered("bench/%04d", expiry.LedgerTopics) {
				say(b, p, topic, strings.Repeat("x", 100))
			}
			// Only the width of a pass is chosen by it from here on: the first tick is hours away.
			p.every = every
			window := 0
			for b.Loop() {
				pass := p.pass(p.link.Load(), p.instant(), false)
				if pass.Sent != expiry.LedgerTopics {
					b.Fatalf("%+v", pass)
				}
				window = max(window, pass.Window)
			}
			b.ReportMetric(float64(window), "in-flight")
			b.ReportMetric(float64(p.roundTrip().Microseconds()), "round-trip-us")
			halt(b, p)
		})
	}
}
