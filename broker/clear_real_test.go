package broker

// Clears on a mosquitto as a house runs it: logins, rights, a second copy of the tool, a whole store around the topic.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"retainscope/actions"
	"retainscope/demo"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// guarded is a mosquitto with a password file and an ACL file. The operator may do everything, the reader only read,
// the writer only write, and half may not read one of the neighbours.
type guarded struct {
	*realBroker
	mosquitto *testbroker.Broker
	acl       string
}

const (
	guardedRights = "user operator\ntopic readwrite #\nuser reader\ntopic read #\ntopic read $SYS/#\nuser writer\ntopic write #\n" +
		"user half\ntopic readwrite #\ntopic deny " + clearParent + "\n"
	guardedReader = "user operator\ntopic readwrite #\nuser reader\ntopic read elsewhere/#\n"
)

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	dir := t.TempDir()
	passwords, acl := filepath.Join(dir, "passwords"), filepath.Join(dir, "acl")
	for path, text := range map[string]string{passwords: "operator:o\nreader:r\nwriter:w\nhalf:h\n", acl: guardedRights} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		testbroker.Missing(t, "mosquitto_passwd is not installed")
	}
	if out, err := exec.Command(hash, "-U", passwords).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v %s", err, out)
	}
	m := testbroker.Start(t, testbroker.Config{NoAnonymous: true, Lines: []string{"allow_anonymous false", "password_file " + passwords, "acl_file " + acl}})
	return &guarded{&realBroker{t: t, url: m.URL(), c: rawConnectAs(t, m.URL(), "operator", "o")}, m, acl}
}

func (b *guarded) config() Config { return b.as("operator", "o") }

func (b *guarded) as(user, password string) Config {
	return Config{URL: b.url, User: user, Password: Secret(password)}
}

// revoke takes the reader's right to read away, and returns when that holds.
func (b *guarded) revoke() {
	b.t.Helper()
	if err := os.WriteFile(b.acl, []byte(guardedReader), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := syscall.Kill(b.mosquitto.Pid(), syscall.SIGHUP); err != nil {
		b.t.Fatal(err)
	}
	waitFor(b.t, func() bool { return len(holdsAs(b.t, b.as("reader", "r"))) == 0 })
}

func TestClearsOverMosquittoWithLoginsAndRights(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(r *retirement, b *guarded)
		want actions.Verdict
		says string
	}{
		{"another login observes", func(*retirement, *guarded) {}, actions.ClearedVerified, `("reader") with a new subscription did not observe`},
		{"the login may not publish", func(r *retirement, b *guarded) {
			r.clearer.Sender = NewSender(r.y.over(b.as("reader", "r")))
		}, actions.Refused, "0x87 not authorized: this login may not publish here; some brokers keep permissions for minutes"},
		{"the observer may not read", func(r *retirement, b *guarded) {
			r.clearer.Observer = NewObserver(r.y.over(b.as("writer", "w")))
		}, actions.Vanished, "this login may not read it"},
		{"the observer may not read a neighbour", func(r *retirement, b *guarded) {
			r.clearer.Observer = NewObserver(r.y.over(b.as("half", "h")))
		}, actions.ClearedVerified, "of 3 controls 3 intact"}, // one of them from further away
		{"the observer's password is wrong", func(r *retirement, b *guarded) {
			r.clearer.Observer = NewObserver(r.y.over(b.as("reader", "no")))
		}, actions.NotSent, `refused the user "reader" or the password: Not authorized (0x87)`},
		{"the sender's password is wrong", func(r *retirement, b *guarded) {
			r.clearer.Sender = NewSender(r.y.over(b.as("operator", "no")))
		}, actions.NotSent, "not connected"},
		{"anonymous is refused", func(r *retirement, b *guarded) {
			r.clearer.Sender = NewSender(r.y.over(b.as("", "")))
		}, actions.NotSent, "refused an anonymous connection"},
		{"the observer loses its right to read meanwhile", func(r *retirement, b *guarded) {
			r.at(actions.StepSent, b.revoke)
		}, actions.Collateral, "nothing at all was observed, so the observer may have lost its right to read"},
		{"the broker is killed after the tombstone", func(r *retirement, b *guarded) {
			r.at(actions.StepSent, b.mosquitto.Kill)
		}, actions.CouldNotVerify, "the observer could not look"},
		{"the broker is killed before the tombstone", func(r *retirement, b *guarded) {
			r.at(actions.StepCompared, b.mosquitto.Kill)
		}, actions.NotSent, "not connected"},
		{"the answer is lost on its way", func(r *retirement, b *guarded) {
			r.clearer.Bounds.Send = 2 * time.Second
			r.clearer.Sender = NewSender(r.y.over(swallowing(b.config())))
		}, actions.NoAnswer, "no acknowledgement came within"},
		{"nothing can be sent to a topic that is not approved", func(r *retirement, b *guarded) {
			m, err := r.desk.Manifest()
			if err != nil {
				r.t.Fatal(err)
			}
			if _, err := m.Withdraw([]byte(clearOwn)); err != nil {
				r.t.Fatal(err)
			}
			if err := r.desk.Save(context.Background(), m); err != nil {
				r.t.Fatal(err)
			}
		}, actions.NotSent, "on hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := startGuarded(t)
			r := newRetirement(t, b)
			r.clearer.Observer = NewObserver(r.y.over(b.as("reader", "r")))
			c.set(r, b)
			if op := r.clear(clearOwn); op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
				t.Errorf("got %s: %s\nwant %s: %s", op.Verdict(), op.Sentence(), c.want, c.says)
			}
		})
	}
}

// byAnyWay is a broker whose tool reaches it by another way than its writers.
type byAnyWay struct {
	*realBroker
	way Config
}

func (b *byAnyWay) config() Config { return b.way }

func TestAClearOverEveryTransport(t *testing.T) {
	t.Parallel()
	b, ways, _ := startEveryTransport(t)
	writer := newRealBroker(t, b.URL())
	for _, name := range []string{"unix", "ws", "wss", "mqtts", "client certificate"} {
		t.Run(name, func(t *testing.T) {
			way := ways[name]
			r := newRetirement(t, &byAnyWay{writer, way})
			// Below TLS and WebSocket there is nothing to read along: what is counted at the transport must do.
			r.clearer.Observer, r.clearer.Sender = NewObserver(way), NewSender(way)
			op, err := r.clearer.Clear(t.Context(), actions.Request{Topic: []byte(clearOwn)})
			if err != nil || op.Verdict() != actions.ClearedVerified || op.Outcome.Receipt.Publishes != 1 {
				t.Errorf("%s (%v)", op.Sentence(), err)
			}
		})
	}
}

// swallowing returns cfg with connections on which nothing comes any more once a PUBLISH was written.
func swallowing(cfg Config) Config {
	address := strings.TrimPrefix(cfg.URL, "mqtt://")
	cfg.wire = func(ctx context.Context) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		return &swallowingConn{Conn: nc, over: make(chan struct{})}, err
	}
	return cfg
}

type swallowingConn struct {
	net.Conn
	once sync.Once
	over chan struct{}
}

func (c *swallowingConn) Write(p []byte) (int, error) {
	if p[0]>>4 == typePublish {
		// A read that was begun before returns what it can get; from now on that is nothing.
		_ = c.Conn.(*net.TCPConn).SetReadDeadline(time.Now())
	}
	return c.Conn.Write(p)
}

func (c *swallowingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		<-c.over
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *swallowingConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (c *swallowingConn) Close() error {
	c.once.Do(func() { close(c.over) })
	return c.Conn.Close()
}

// secondCopy names the environment of the second process of the test below: the folder of the desk and the broker.
const secondCopy = "RETAINSCOPE_TEST_SECOND_COPY"

func TestASecondCopyOfTheToolSendsNothingWhileOneClears(t *testing.T) {
	if where, asked := os.LookupEnv(secondCopy); asked {
		beSecondCopy(t, where)
		return
	}
	t.Parallel()
	b := newRealBroker(t, testbroker.Start(t, testbroker.Config{}).URL())
	r := newRetirement(t, b)
	all, err := NewObserver(b.config()).Watch(within(t), [][]byte{[]byte(clearOwn)}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = all.Close() }()
	told := ""
	r.at(actions.StepCompared, func() {
		cmd := exec.Command(os.Args[0], "-test.run=^TestASecondCopyOfTheToolSendsNothingWhileOneClears$", "-test.v")
		cmd.Env = append(os.Environ(), secondCopy+"="+r.dir+" "+b.url)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("the second copy: %v", err)
		}
		told = string(out)
	})
	op := r.clear(clearOwn)
	if op.Verdict() != actions.ClearedVerified {
		t.Error(op.Sentence())
	}
	if !strings.Contains(told, "SECOND: not sent, locked: 0 PUBLISH") || !strings.Contains(told, fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("the second copy said %s", told)
	}
	tombstones := 0
	for _, p := range all.Drain() {
		if len(p.Payload) == 0 {
			tombstones++
		}
	}
	if tombstones != 1 {
		t.Errorf("the broker was sent %d tombstones", tombstones)
	}
}

// beSecondCopy is another process with the same desk, which wants the same clear.
func beSecondCopy(t *testing.T, where string) {
	dir, url, _ := strings.Cut(where, " ")
	store, err := actions.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	y := &tally{}
	cfg := y.over(Config{URL: url})
	desk := actions.OpenDesk(store, "home.toml", time.Now)
	m, err := desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	c := &actions.Clearer{Desk: desk, Broker: m.Broker(), Observer: NewObserver(cfg), Sender: NewSender(cfg), Now: time.Now}
	op, err := c.Clear(t.Context(), actions.Request{Topic: []byte(clearOwn)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("SECOND: %s, %s: %d PUBLISH; %s", op.Verdict(), op.Outcome.Obstacle, len(y.sent()), op.Sentence())
}

// The two incidents that are in the house: a calendar that was removed from a configuration, and a device that was renamed.
var incidents = map[string][]string{
	"a removed calendar": {
		"caldates2mqtt/birthday/state", "caldates2mqtt/birthday/availability", "homeassistant/sensor/caldates2mqtt/birthday_days/config",
	},
	"a renamed device": {
		"airthings2mqtt-upper/airthings/state", "airthings2mqtt-upper/airthings/availability",
		"homeassistant/sensor/airthings2mqtt/airthings_radon/config", "homeassistant/sensor/airthings2mqtt/airthings_temperature/config",
	},
}

func TestTheIncidentsOfTheHouseAreClearedAndNothingElseMoves(t *testing.T) {
	for name, topics := range incidents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startGuarded(t)
			address := strings.TrimPrefix(b.url, "mqtt://")
			if n, err := demo.LoadAs(t.Context(), address, demo.Login{User: "operator", Password: "o"}); err != nil || n < 300 {
				t.Fatalf("%d topics, %v", n, err)
			}
			r := openRetirement(t, b)
			r.clearer.Observer = NewObserver(r.y.over(b.as("reader", "r")))
			lasting := r.lasting(t)
			before := lasting()
			if len(before) < 300 {
				t.Fatalf("%d topics", len(before))
			}
			first := before
			var ops []actions.Operation
			for _, topic := range topics {
				r.approve(topic, r.fingerprint(topic))
				op := r.clear(topic)
				if op.Verdict() != actions.ClearedVerified {
					t.Fatalf("%s: %s", topic, op.Sentence())
				}
				after := lasting()
				want := without(before, topic)
				if len(want) != len(before)-1 || storeDigest(after) != storeDigest(want) {
					t.Errorf("%s: %d topics before, %d after, and what is beside it is not as it was", topic, len(before), len(after))
				}
				before, ops = after, append(ops, op)
			}
			for i := len(ops) - 1; i >= 0; i-- {
				out, err := r.clearer.Restore(t.Context(), actions.RestoreRequest{Operation: ops[i].ID, By: "kim"})
				if err != nil || out.Result != actions.Restored {
					t.Fatalf("%s (%v)", out.Sentence, err)
				}
			}
			if after := lasting(); storeDigest(after) != storeDigest(first) {
				t.Errorf("after the undo of all of it there are %d topics, before there were %d, and they are not the same", len(after), len(first))
			}
			if n := len(r.y.sent()); n != 2*len(topics) {
				t.Errorf("%d PUBLISH packets for %d clears and their undo", n, len(topics))
			}
		})
	}
}

// lasting returns a function that returns what the broker holds, without what runs out while a test may last.
func (r *retirement) lasting(t *testing.T) func() []string {
	t.Helper()
	house, err := demo.House()
	if err != nil {
		t.Fatal(err)
	}
	short := map[string]bool{}
	for _, m := range house {
		short[m.Topic] = m.Expiry != nil && *m.Expiry < 600
	}
	return func() []string {
		return slices.DeleteFunc(r.holds(), func(s string) bool { topic, _, _ := strings.Cut(s, " = "); return short[topic] })
	}
}

func storeDigest(all []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(all, "\n"))))
}

// fingerprint returns the one of what topic holds now.
func (r *retirement) fingerprint(topic string) string {
	r.t.Helper()
	seen, err := NewObserver(r.b.config()).Observe(within(r.t), question(250*time.Millisecond, 0, topic))
	if err != nil || len(seen.Seen) != 1 {
		r.t.Fatalf("%d copies of %s, %v", len(seen.Seen), topic, err)
	}
	p := seen.Seen[0]
	return inventory.Fingerprint(p.Payload, p.Properties, p.Interval)
}
