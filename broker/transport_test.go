package broker

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

// overTransport reads what fill stored: small messages, one of 300 kB, after a SUBSCRIBE of 60 kB. The large one is
// left out over WebSocket, where mosquitto sends 4 kB each 100 ms.
func overTransport(t *testing.T, cfg Config) {
	t.Helper()
	filter, want := "#", 51
	if strings.HasPrefix(cfg.URL, "ws") {
		filter, want = "small/#", 50
	}
	ctx := within(t)
	var s sink
	c, err := Dial(ctx, cfg, s.deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	var subs []Subscription
	for i := range 300 {
		subs = append(subs, Subscription{Filter: fmt.Sprintf("none/%03d/%s", i, strings.Repeat("x", 190))})
	}
	subs = append(subs, Subscription{Filter: filter})
	grants, err := c.Subscribe(ctx, subs)
	if err != nil || len(grants) != len(subs) {
		t.Fatalf("%d grants, %v", len(grants), err)
	}
	if err := c.Fence(ctx); err != nil {
		t.Fatal(err)
	}
	got := s.all()
	if len(got) != want {
		t.Fatalf("%d publications", len(got))
	}
	for _, k := range got {
		if want := payloadOf(k.topic); k.payload != want || !k.publication.Retain {
			t.Errorf("%s has %d bytes, want %d", k.topic, len(k.payload), len(want))
		}
	}
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func payloadOf(topic string) string {
	if topic == "large" {
		return strings.Repeat("0123456789", 30_000)
	}
	return "payload of " + topic
}

// fill stores the messages that overTransport expects.
func fill(t *testing.T, b *testbroker.Broker) {
	t.Helper()
	c := rawConnect(t, b.URL())
	for i := range 50 {
		topic := fmt.Sprint("small/", i)
		c.retain(topic, payloadOf(topic))
	}
	c.retain("large", payloadOf("large"))
	c.settle()
}

// startEveryTransport returns a broker that listens in every way there is, and how to reach it by each. The last Config
// lacks the client certificate that is asked for there.
func startEveryTransport(t *testing.T) (b *testbroker.Broker, ways map[string]Config, lacking Config) {
	t.Helper()
	ca := newAuthority(t, "test authority")
	leaf := ca.issue(nil)
	client := ca.issue(nil)
	secure := []string{"certfile " + leaf.cert, "keyfile " + leaf.key}
	socket := filepath.Join(t.TempDir(), "mosquitto.sock")
	ws, wss, tls, mutual := testbroker.FreePort(t), testbroker.FreePort(t), testbroker.FreePort(t), testbroker.FreePort(t)
	listener := func(port int) string { return fmt.Sprintf("listener %d 127.0.0.1", port) }
	lines := []string{"listener 0 " + socket, "allow_anonymous true", listener(ws), "protocol websockets"}
	lines = append(append(lines, listener(wss), "protocol websockets"), secure...)
	lines = append(append(lines, listener(tls)), secure...)
	lines = append(append(lines, listener(mutual), "cafile "+ca.file, "require_certificate true"), secure...)
	b = testbroker.Start(t, testbroker.Config{ListenerLines: lines})
	for _, port := range []int{ws, wss, tls, mutual} {
		listening(t, port)
	}
	return b, map[string]Config{
		"tcp":                {URL: fmt.Sprintf("tcp://127.0.0.1:%d", b.Port)},
		"mqtt":               {URL: b.URL()},
		"unix":               {URL: "unix://" + socket},
		"ws":                 {URL: fmt.Sprintf("ws://127.0.0.1:%d/mqtt?any=query", ws)},
		"wss":                {URL: fmt.Sprintf("wss://localhost:%d", wss), CAFile: ca.file},
		"mqtts":              {URL: fmt.Sprintf("mqtts://127.0.0.1:%d", tls), CAFile: ca.file},
		"ssl by server name": {URL: fmt.Sprintf("ssl://127.0.0.1:%d", tls), CAFile: ca.file, ServerName: "localhost"},
		"tls, unchecked":     {URL: fmt.Sprintf("tls://127.0.0.1:%d", tls), Insecure: true},
		"client certificate": {URL: fmt.Sprintf("mqtts://127.0.0.1:%d", mutual), CAFile: ca.file, CertFile: client.cert, KeyFile: client.key},
	}, Config{URL: fmt.Sprintf("mqtts://127.0.0.1:%d", mutual), CAFile: ca.file}
}

func TestEveryTransportReachesARealBroker(t *testing.T) {
	b, ways, lacking := startEveryTransport(t)
	fill(t, b)
	for name, cfg := range ways {
		t.Run(name, func(t *testing.T) { overTransport(t, cfg) })
	}
	t.Run("no client certificate", func(t *testing.T) {
		_, err := Dial(within(t), lacking, new(sink).deliver, inventory.Replay)
		wantFailure(t, err, StageTLS, "client certificate")
	})
}

// listening waits until something listens on a loopback port.
func listening(t *testing.T, port int) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = nc.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("nothing listens on port %d: %v", port, err)
		}
	}
}
