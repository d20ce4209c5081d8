package mqtt3

// One session over one wire, spoken by paho.mqtt.golang: handshake, subscriptions, acknowledgements, goodbye.
// Publications of QoS 0 never pass the library; those above it pass for their acknowledgement alone.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"retainscope/broker"
)

// lastReturnCode is the highest return code of a CONNACK. Source: MQTT 3.1.1, 3.2.2.3.
const lastReturnCode = 5

// goodbyeTime bounds a Disconnect. Every write in it has a limit of its own, so that this one is never reached.
const goodbyeTime = 15 * time.Minute

// session is one session.
//
// Goroutines: those of the library, one that keeps the connection alive, one that waits for both. All have ended when
// done is closed.
type session struct {
	wire   *wire
	hello  broker.Hello
	client mqtt.Client
	gone   chan struct{} // closed when the library has stopped
	leave  sync.Once     // closes it
	done   chan struct{}

	mu    sync.Mutex
	asked map[uint16]int // filters of each SUBSCRIBE without an answer, by packet identifier
}

func newSession(w *broker.Wire, h broker.Hello) *session {
	s := &session{hello: h, gone: make(chan struct{}), done: make(chan struct{}), asked: make(map[uint16]int)}
	s.wire = &wire{Wire: w, s: s, bye: errors.New("no DISCONNECT was sent")}
	s.client = mqtt.NewClient(s.options())
	return s
}

// options switches off everything that the library would do by itself. What it has no option for is done by wire.
func (s *session) options() *mqtt.ClientOptions {
	o := mqtt.NewClientOptions()
	o.AddBroker("tcp://broker") // never dialled, see below
	o.SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) { return s.wire, nil })
	o.SetClientID(s.hello.ClientID)
	o.SetUsername(s.hello.User)
	o.SetPassword(string(s.hello.Password))
	o.SetProtocolVersion(4) // and no other: the library would try 3.1 as well
	o.SetCleanSession(true)
	o.SetAutoReconnect(false)
	o.SetConnectRetry(false)
	o.SetResumeSubs(false)
	o.SetKeepAlive(0) // its pinger ends a connection whose PINGRESP waits behind a long burst
	o.SetOrderMatters(true)
	o.SetDefaultPublishHandler(func(mqtt.Client, mqtt.Message) {}) // it was delivered; here it is acknowledged
	o.SetConnectionLostHandler(func(mqtt.Client, error) { s.stopped() })
	if w := s.hello.Will; w != nil {
		o.SetBinaryWill(w.Topic, w.Payload, w.QoS, w.Retain)
	}
	return o
}

func (s *session) stopped() { s.leave.Do(func() { close(s.gone) }) }

// Connect sends CONNECT and waits for CONNACK; ctx is watched by whoever owns the wire.
//
// Source: MQTT 3.1.1, 3.1 and 3.2.
func (s *session) Connect(context.Context) (broker.ServerInfo, error) {
	token := s.client.Connect()
	<-token.Done()
	if err := token.Error(); err != nil {
		if t, ok := token.(*mqtt.ConnectToken); ok && t.ReturnCode() > 0 && t.ReturnCode() <= lastReturnCode {
			return broker.ServerInfo{}, &broker.Refusal{Code: broker.ReasonOf311(t.ReturnCode())}
		}
		return broker.ServerInfo{}, err
	}
	go s.attend()
	return broker.ServerInfo{
		ClientID: s.hello.ClientID, MaximumQoS: 2, ReceiveMaximum: 65535, KeepAlive: s.hello.KeepAlive,
		RetainAvailable: true, WildcardAvailable: true, SharedAvailable: true, SubscriptionIdentifiersAvailable: false,
	}, nil
}

// attend keeps the connection alive until the library has stopped.
func (s *session) attend() {
	defer close(s.done)
	ctx, cancel := context.WithCancel(context.Background())
	var pinger sync.WaitGroup
	pinger.Go(func() {
		if s.wire.KeepAlive(ctx, s.hello.KeepAlive) != nil {
			_ = s.wire.Close()
		}
	})
	<-s.gone
	cancel()
	pinger.Wait()
}

// Subscribe asks for all filters at once. A filter that stands there twice is asked for once, at the QoS that comes last.
//
// Source: MQTT 3.1.1, 3.8 and 3.9.
func (s *session) Subscribe(ctx context.Context, subs []broker.Subscription) ([]byte, error) {
	filters := make(map[string]byte, len(subs))
	for _, sub := range subs {
		filters[sub.Filter] = sub.QoS
	}
	token := s.client.SubscribeMultiple(filters, nil)
	if err := wait(ctx, token); err != nil {
		return nil, err
	}
	answers := token.(*mqtt.SubscribeToken).Result()
	codes := make([]byte, 0, len(subs))
	for _, sub := range subs {
		code, ok := answers[sub.Filter]
		if !ok {
			return nil, fmt.Errorf("no answer to %d filters", len(subs))
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// Unsubscribe returns no codes: an UNSUBACK of this version has none.
//
// Source: MQTT 3.1.1, 3.10 and 3.11.
func (s *session) Unsubscribe(ctx context.Context, filters []string) ([]byte, error) {
	return nil, wait(ctx, s.client.Unsubscribe(filters...))
}

// wait waits for the answer to what token stands for.
func wait(ctx context.Context, token mqtt.Token) error {
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Disconnect leaves in order. It returns net.ErrClosed when the connection had ended before.
//
// Source: MQTT 3.1.1, 3.14.
func (s *session) Disconnect() error {
	s.client.Disconnect(uint(goodbyeTime / time.Millisecond))
	select {
	case <-s.gone: // by itself
		<-s.done
		return net.ErrClosed
	default:
	}
	_ = s.wire.Close()
	s.stopped()
	<-s.done
	return s.wire.said()
}

// Done is closed when the session has ended and every goroutine of it as well.
func (s *session) Done() <-chan struct{} { return s.done }
