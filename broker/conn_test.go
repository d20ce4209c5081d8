package broker

import (
	"context"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

// kept is a copy of a publication that a test holds on to.
type kept struct {
	topic, payload, properties string
	publication                inventory.Publication
}

// sink keeps what is delivered.
type sink struct {
	mu   sync.Mutex
	got  []kept
	size []int // lengths of the batches
}

func (s *sink) deliver(batch []inventory.Publication) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = append(s.size, len(batch))
	for _, p := range batch {
		k := kept{topic: string(p.Topic), payload: string(p.Payload), properties: string(p.Properties), publication: p}
		k.publication.Topic, k.publication.Payload, k.publication.Properties = nil, nil, nil
		s.got = append(s.got, k)
	}
}

func (s *sink) all() []kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]kept(nil), s.got...)
}

// within returns a context that ends the test's waiting after a generous time.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func mosquittoPub(t testing.TB, b *testbroker.Broker, args ...string) {
	t.Helper()
	path, err := exec.LookPath("mosquitto_pub")
	if err != nil {
		testbroker.Missing(t, "mosquitto_pub is not installed")
	}
	args = append([]string{"-V", "mqttv5", "-h", "127.0.0.1", "-p", strconv.Itoa(b.Port)}, args...)
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_pub %v: %v: %s", args, err, out)
	}
}

func TestARetainedMessageOfARealBrokerIsDeliveredBeforeTheFence(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{})
	mosquittoPub(t, b, "-t", "a/b", "-m", "hello", "-r", "-q", "1")
	var s sink
	ctx := within(t)
	c, err := Dial(ctx, Config{URL: b.URL()}, s.deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	grants, err := c.Subscribe(ctx, []Subscription{{Filter: "#"}})
	if err != nil || len(grants) != 1 || grants[0].Refused() {
		t.Fatalf("Subscribe = %v, %v", grants, err)
	}
	if err := c.Fence(ctx); err != nil {
		t.Fatal(err)
	}
	got := s.all()
	if len(got) != 1 || got[0].topic != "a/b" || got[0].payload != "hello" || !got[0].publication.Retain {
		t.Fatalf("delivered %+v", got)
	}
	if err := c.Unsubscribe(ctx, []string{"#"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil {
		t.Fatalf("Err after Close = %v", err)
	}
}

func TestAScriptedServerIsTalkedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		go func() {
			w := server.accept()
			w.connect()
			w.subscribe()
			w.send(retained("a", "1"), publish(message{topic: "b", payload: "2", retain: true, props: propExpiry(60)}))
			w.pong()
			w.send(retained("late", "3"))
			w.over()
			_ = w.Close()
		}()
		var s sink
		c, err := Dial(t.Context(), server.config(), s.deliver, inventory.Replay)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.Fence(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.all(); len(got) < 2 || got[0].topic != "a" || got[1].publication.Interval != expiry.Seconds(60) {
			t.Fatalf("delivered %+v", got)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
