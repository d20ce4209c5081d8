package demo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/testbroker"
)

// embedded starts a demo; under the race detector the test is skipped, for the broker inside races by itself.
func embedded(t *testing.T, o Options) *Demo {
	t.Helper()
	if underRace {
		t.Skip("the embedded broker has data races of its own")
	}
	d, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func addr(url string) string { return strings.TrimPrefix(url, "mqtt://") }

// reader subscribes to "#" at QoS 0 with Retain As Published and returns a function that waits for a publication.
func reader(t *testing.T, address string) func(match func(received) bool) received {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	c, err := connect(ctx, address, level5, clientID("test"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	if _, err := c.conn.Write(frame(typeSubscribe<<4|2, append(appendString([]byte{0, 1, 0}, "#"), 0x08))); err != nil {
		t.Fatal(err)
	}
	return func(match func(received) bool) received {
		t.Helper()
		for {
			p, err := readPacket(c.in)
			if err != nil {
				t.Fatalf("waiting for a publication: %v", err)
			}
			if p.kind() != typePublish {
				continue
			}
			if r := parse(t, p); match(r) {
				return r
			}
		}
	}
}

type received struct {
	topic   string
	payload []byte
	expiry  int64 // -1 when absent
	retain  bool
}

func parse(t *testing.T, p packet) received {
	t.Helper()
	topic, payload, err := p.publish(level5)
	if err != nil {
		t.Fatal(err)
	}
	r := received{topic: topic, payload: payload, expiry: -1, retain: p.first&1 == 1}
	props, _, err := splitProperties(p.body[2+len(topic):])
	if err != nil {
		t.Fatal(err)
	}
	if len(props) >= 5 && props[0] == propExpiry {
		r.expiry = int64(props[1])<<24 | int64(props[2])<<16 | int64(props[3])<<8 | int64(props[4])
	}
	return r
}

func TestTheHouseHas330Topics(t *testing.T) {
	house, err := House()
	if err != nil {
		t.Fatal(err)
	}
	seen, with := map[string]bool{}, 0
	for _, m := range house {
		if m.Topic == "" || len(m.Payload) == 0 || m.Story == "" {
			t.Errorf("%q has no payload or no story", m.Topic)
		}
		if seen[m.Topic] {
			t.Errorf("%q is there twice", m.Topic)
		}
		seen[m.Topic] = true
		if m.Expiry != nil {
			with++
		}
	}
	if len(house) != 330 || with != 94 {
		t.Errorf("%d topics, %d with an expiry; want 330 and 94", len(house), with)
	}
}

// everything reads the whole store of a broker, which was filled after begun, and compares it with the house.
func everything(t *testing.T, address string, begun time.Time) {
	t.Helper()
	house, err := House()
	if err != nil {
		t.Fatal(err)
	}
	of, want := map[string]Message{}, map[string]bool{}
	for _, m := range house {
		of[m.Topic] = m
		if m.Expiry == nil || *m.Expiry > 300 { // the others may have expired by now
			want[m.Topic] = true
		}
	}
	next := reader(t, address)
	for len(want) > 0 {
		r := next(func(received) bool { return true })
		m, ok := of[r.topic]
		if !ok {
			if strings.HasPrefix(r.topic, "$") {
				continue
			}
			t.Fatalf("%q is not of the house", r.topic)
		}
		delete(want, r.topic)
		if !r.retain {
			t.Errorf("%q came without RETAIN", r.topic)
		}
		// A topic may come twice: the embedded broker acknowledges a message before it hands it to its subscribers.
		if !bytes.Equal(r.payload, m.Payload) {
			t.Errorf("%q came as %.40q", r.topic, r.payload)
		}
		if (m.Expiry == nil) != (r.expiry < 0) {
			t.Errorf("%q came with expiry %d", r.topic, r.expiry)
		}
		if passed := int64(time.Since(begun)/time.Second) + 2; m.Expiry != nil && (r.expiry > int64(*m.Expiry) || r.expiry < int64(*m.Expiry)-passed) {
			t.Errorf("%q came with expiry %d, want %d or a little less", r.topic, r.expiry, *m.Expiry)
		}
	}
}

func TestTheEmbeddedBrokerHoldsTheHouseByteForByte(t *testing.T) {
	begun := time.Now()
	everything(t, addr(embedded(t, Options{}).URL()), begun)
}

func TestTheHouseGoesIntoARealBroker(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{})
	begun := time.Now()
	n, err := Load(t.Context(), addr(b.URL()))
	if err != nil || n != 330 {
		t.Fatalf("loaded %d, %v", n, err)
	}
	everything(t, addr(b.URL()), begun)
}

func TestARefusedTopicEndsTheLoadWithItsName(t *testing.T) {
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"retain_available false"}})
	if _, err := Load(t.Context(), addr(b.URL())); err == nil {
		t.Fatal("a broker without retained messages took the house")
	}
}

func TestALoadEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c, err := l.Accept()
		if err == nil {
			cancel() // it accepts and stays silent
			_, _ = c.Read(make([]byte, 64))
		}
	}()
	if _, err := Load(ctx, l.Addr().String()); err == nil {
		t.Fatal("a silent broker took the house")
	}
}

func TestCloseDoesNotWaitForASilentClient(t *testing.T) {
	d := embedded(t, Options{Empty: true})
	c, err := net.Dial("tcp", addr(d.URL()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	// Half a CONNECT: the broker waits for the rest of it.
	if _, err := c.Write([]byte{typeConnect << 4, 0x7f}); err != nil {
		t.Fatal(err)
	}
	for atomic.LoadInt64(&d.server.Info.BytesReceived) == 0 {
		runtime.Gosched()
	}
	done := make(chan struct{})
	go func() { d.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("Close hangs on a client that never said CONNECT")
	}
}

func TestTheWritersDoWhatTheirNamesSay(t *testing.T) {
	d := embedded(t, Options{Empty: true, Writers: true, Window: 3 * time.Second})
	next := reader(t, addr(d.URL()))
	count := map[string]int{}
	overwritten, cleared, same := false, false, 0
	last := map[string]string{}
	var missing string
	next(func(r received) bool {
		count[r.topic]++
		switch r.topic {
		case TopicRefreshed, TopicStopped:
			if r.expiry < 0 || r.expiry > 3 {
				t.Errorf("%s carries expiry %d, want at most 3", r.topic, r.expiry)
			}
		case Topic311:
			if r.expiry >= 0 {
				t.Errorf("%s carries expiry %d", r.topic, r.expiry)
			}
			if last[r.topic] == string(r.payload) {
				if same++; same > 1 { // once it may come as stored and as published
					t.Errorf("%s did not change its value", r.topic)
				}
			}
		case topicEvents:
			if r.retain {
				t.Errorf("%s is retained", r.topic)
			}
		case TopicOverwritten:
			overwritten = overwritten || r.expiry < 0
		case TopicLate:
			if len(r.payload) == 0 {
				cleared = true
			} else if !cleared && count[r.topic] == 1 {
				clearTopic(t, addr(d.URL()), TopicLate)
			}
		}
		last[r.topic] = string(r.payload)
		missing = ""
		switch {
		case count[TopicRefreshed] < 4:
			missing = "four refreshes"
		case count[TopicStopped] < 4:
			missing = "the stopped app's second start"
		case !overwritten:
			missing = "the overwriting by 3.1.1"
		case !cleared || last[TopicLate] == "":
			missing = "the late writer's return"
		}
		return missing == ""
	})
}

func clearTopic(t *testing.T, address, topic string) {
	t.Helper()
	c, err := connect(t.Context(), address, level5, clientID("clear"))
	if err != nil {
		t.Error(err)
		return
	}
	defer c.close()
	if err := c.publish(outgoing{topic: topic, retain: true}); err != nil {
		t.Error(err)
	}
}

func TestTheAddressOfAnUnspecifiedListenerCanBeReached(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:1883":   "mqtt://127.0.0.1:1883",
		"[::]:1883":      "mqtt://[::1]:1883",
		"127.0.0.1:1884": "mqtt://127.0.0.1:1884",
	} {
		if got := (&Demo{addr: listen}).URL(); got != want {
			t.Errorf("%s gives %s, want %s", listen, got, want)
		}
	}
}

func TestAWrongListenAddressIsAnError(t *testing.T) {
	if d, err := Start(t.Context(), Options{Listen: "127.0.0.1:notaport"}); err == nil {
		d.Close()
		t.Fatal("it started")
	}
}

// FuzzPacket reads arbitrary bytes as packets: nothing may panic or allocate without bound.
func FuzzPacket(f *testing.F) {
	f.Add([]byte{0x20, 0x03, 0, 0, 0})
	f.Add([]byte{0x20, 0x06, 0, 0, 3, 0x21, 0, 20})
	f.Add([]byte{0x30, 0x05, 0, 1, 'a', 0, 'x'})
	f.Add([]byte{0x40, 0x02, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readPacket(bufio.NewReader(bytes.NewReader(b)))
		if err != nil {
			return
		}
		_, _, _ = p.connack(level5)
		_, _, _ = p.puback()
		_, _, _ = p.publish(level5)
		_ = fmt.Sprint(p.kind())
	})
}
