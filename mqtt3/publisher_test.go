package mqtt3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"retainscope/broker"
	"retainscope/inventory"
)

// captured serves one connection that takes everything, and sends its packets to out when it has ended.
func captured(out chan<- [][]byte) func(p *peer) {
	return func(p *peer) {
		came := [][]byte{p.welcome()}
		for b := p.next(); b != nil; b = p.next() {
			came = append(came, b)
			if b[0]>>4 == typePublish && b[0]&6 != 0 {
				p.acknowledge(b)
			}
		}
		out <- came
	}
}

// acknowledge answers a PUBLISH of QoS 1.
func (p *peer) acknowledge(publish []byte) {
	b := body(publish)
	n := 2 + int(b[0])<<8 + int(b[1])
	p.say(append([]byte{0x40, 2}, b[n:n+2]...))
}

func publisher(t testing.TB, cfg broker.PublisherConfig) *broker.Publisher {
	t.Helper()
	p, err := broker.StartPublisher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop(within(t)) })
	return p
}

func TestTheBytesOnTheWireAreThoseOfAClientWithoutALedger(t *testing.T) {
	will := &broker.Message{Topic: "probe/status", Payload: []byte("offline"), QoS: 1, Retain: true, ContentType: "text/plain"}
	messages := []broker.Message{
		{Topic: "probe/status", Payload: []byte("online"), QoS: 1, Retain: true},
		{Topic: "probe/state", Payload: bytes.Repeat([]byte("x"), 300), QoS: 1, Retain: true, ContentType: "application/json", User: []inventory.UserProperty{{Key: []byte("k"), Value: []byte("v")}}},
		{Topic: "probe/status", Payload: []byte("passing"), QoS: 1},
		{Topic: "probe/none", Payload: []byte("0"), Retain: true},
		{Topic: "probe/state", QoS: 1, Retain: true},
		{Topic: "probe/last", Payload: []byte("1"), QoS: 1, Retain: true},
	}
	ours, plain := make(chan [][]byte, 1), make(chan [][]byte, 1)
	cfg := settings(listen(t, captured(ours)))
	cfg.User, cfg.Password, cfg.KeepAlive = "me", "secret", 60*time.Second
	p := publisher(t, broker.PublisherConfig{Config: cfg, Identity: "probe-1", Will: will})
	waitFor(t, func() bool { return p.Status().Settled })
	for _, m := range messages {
		if out, err := p.Publish(within(t), m); err != nil || !out.Handed || out.Answered != (m.QoS == 1) || out.Refused() {
			t.Errorf("%s: %+v, %v", m.Topic, out, err)
		}
	}
	if s := p.Status(); !s.Connected || s.Topics != 0 || s.Bytes != 0 || s.Pending != 0 || s.Interval != 0 || s.Every != 0 || s.Passes != 0 {
		t.Errorf("the publisher says of itself %+v", s)
	}
	if err := p.Stop(within(t)); err != nil {
		t.Error(err)
	}

	address, err := url.Parse(listen(t, captured(plain)))
	if err != nil {
		t.Fatal(err)
	}
	o := mqtt.NewClientOptions().AddBroker("tcp://"+address.Host).SetClientID("probe-1").SetUsername("me").SetPassword("secret").
		SetProtocolVersion(4).SetKeepAlive(60*time.Second).SetAutoReconnect(false).SetBinaryWill(will.Topic, will.Payload, will.QoS, will.Retain)
	o.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) { return net.Dial("tcp", address.Host) })
	c := mqtt.NewClient(o)
	if token := c.Connect(); token.Wait() && token.Error() != nil {
		t.Fatal(token.Error())
	}
	for _, m := range messages {
		if token := c.Publish(m.Topic, m.QoS, m.Retain, m.Payload); token.Wait() && token.Error() != nil {
			t.Fatal(token.Error())
		}
	}
	c.Disconnect(1000)

	got, want := <-ours, <-plain
	if len(got) != len(want) || len(got) != len(messages)+2 {
		t.Fatalf("%d packets and %d of a plain client:\n%x\n%x", len(got), len(want), got, want)
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("packet %d is\n% x, of a plain client\n% x", i, got[i], want[i])
		}
	}
}

func TestAReconnectRunsTheStepsAndRepeatsNothing(t *testing.T) {
	var connections atomic.Int32
	second := make(chan [][]byte, 1)
	address := listen(t, func(p *peer) {
		if connections.Add(1) == 1 {
			p.welcome()
			p.acknowledge(p.next())
			p.acknowledge(p.next())
			return // the connection is lost
		}
		captured(second)(p)
	})
	steps := 0
	cfg := broker.PublisherConfig{Config: settings(address), Identity: "frozen", Steps: []broker.Step{{Name: "birth", Run: func(ctx context.Context, p *broker.Publisher) error {
		steps++
		_, err := p.Publish(ctx, broker.Message{Topic: "status", Payload: []byte("online"), QoS: 1, Retain: true})
		return err
	}}}}
	p := publisher(t, cfg)
	cfg.Version, cfg.Identity, cfg.KeepAlive = nil, "other", time.Hour // too late
	waitFor(t, func() bool { return p.Status().Settled })
	if _, err := p.Publish(within(t), broker.Message{Topic: "state", Payload: []byte("1"), QoS: 1, Retain: true}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { s := p.Status(); return s.Connections == 2 && s.Settled })
	if err := p.Stop(within(t)); err != nil {
		t.Error(err)
	}
	var topics []string
	came := <-second
	if want := bytes.Join([][]byte{text("MQTT"), {4, 2, 0, 60}, text("frozen")}, nil); !bytes.Equal(body(came[0]), want) {
		t.Errorf("the second CONNECT is % x", came[0])
	}
	for _, b := range came {
		if b[0]>>4 == typePublish {
			topics = append(topics, string(body(b)[2:2+int(body(b)[1])]))
		}
	}
	if steps != 2 || strings.Join(topics, " ") != "status" {
		t.Errorf("%d steps; published again: %q", steps, topics)
	}
	if _, err := p.Publish(within(t), broker.Message{Topic: "state", QoS: 1}); !errors.Is(err, broker.ErrStopped) {
		t.Errorf("after Stop: %v", err)
	}
}

func TestAPublishWithoutAnAnswerIsNoSuccess(t *testing.T) {
	cfg := settings(listen(t, func(p *peer) { p.welcome(); p.drain() }))
	cfg.Timeout = 3 * time.Second // far more than the connect takes
	p := publisher(t, broker.PublisherConfig{Config: cfg})
	waitFor(t, func() bool { return p.Status().Connected })
	if out, err := p.Publish(within(t), broker.Message{Topic: "a", Payload: []byte("1"), QoS: 1, Retain: true}); !out.Handed || out.Answered || !errors.Is(err, broker.ErrNoAnswer) {
		t.Errorf("%+v, %v", out, err)
	}
	cfg.URL = listen(t, func(p *peer) { p.welcome(); p.next(); p.say([]byte{0x40, 3, 0, 1, 0x87}); p.drain() })
	p = publisher(t, broker.PublisherConfig{Config: cfg})
	waitFor(t, func() bool { return p.Status().Connected })
	if out, err := p.Publish(within(t), broker.Message{Topic: "a", Payload: []byte("1"), QoS: 1, Retain: true}); out.Answered || err == nil {
		t.Errorf("a PUBACK of another version: %+v, %v", out, err)
	}
}

func TestAnIntervalIsRefusedWhereThereIsNone(t *testing.T) {
	for _, seconds := range []uint32{3, broker.DefaultInterval} {
		if _, err := broker.StartPublisher(broker.PublisherConfig{Config: settings("mqtt://127.0.0.1:1"), Interval: seconds}); err == nil || !strings.Contains(err.Error(), "MQTT 3.1.1 has none") {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
}

func TestABrokerThatRefusesTheVersionIsHintedAtOnce(t *testing.T) {
	var log bytes.Buffer
	var attempts atomic.Int32
	cfg := settings(listen(t, func(p *peer) {
		p.next()
		p.say([]byte{0x20, 2, 0, 1})
		attempts.Add(1)
	}))
	cfg.Logger = logger(&log)
	p, err := broker.StartPublisher(broker.PublisherConfig{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return attempts.Load() >= 3 })
	if err := p.Stop(within(t)); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "hint="); n != 1 || !strings.Contains(log.String(), "mqtt.protocol_version") {
		t.Errorf("%d hints: %s", n, log.String())
	}
}

func TestTheWillIsThatOfTheVersion(t *testing.T) {
	overBoth(t, func(t *testing.T, address string) {
		road, cut := through(t, address)
		start := func(name string) *broker.Publisher {
			p := publisher(t, broker.PublisherConfig{Config: settings(road), Identity: name,
				Will: &broker.Message{Topic: name + "/status", Payload: []byte("offline"), QoS: 1, Retain: true}})
			waitFor(t, func() bool { return p.Status().Settled })
			for _, topic := range []string{"/status", "/state"} {
				if _, err := p.Publish(within(t), broker.Message{Topic: name + topic, Payload: []byte("online"), QoS: 1, Retain: true}); err != nil {
					t.Fatal(err)
				}
			}
			return p
		}
		if err := start("left").Stop(within(t)); err != nil {
			t.Error(err)
		}
		p := start("cut")
		cut()
		waitFor(t, func() bool { return !p.Status().Connected })
		if err := p.Stop(within(t)); err != nil {
			t.Error(err)
		}
		w, inv := watch(t, broker.WatchConfig{Config: settings(address), Quiet: 300 * time.Millisecond})
		scanned(t, w)
		waitFor(t, func() bool { return value(inv, "cut/status") == "offline" })
		if got := fmt.Sprint(value(inv, "left/status"), value(inv, "left/state"), value(inv, "cut/state")); got != "onlineonlineonline" {
			t.Errorf("what stays is %s", got)
		}
	})
}
