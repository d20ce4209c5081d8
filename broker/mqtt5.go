package broker

// MQTT 5 over one connection, spoken by paho.golang.
// Its publications of QoS 0 never pass the library, see filter.

import (
	"context"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"retainscope/inventory"
)

// mqtt5 is the version that is built in.
type mqtt5 struct{}

func (mqtt5) String() string { return "5" }
func (mqtt5) Limited() bool  { return false }

func (mqtt5) Open(w *Wire, h Hello) Session {
	return &session5{hello: h, client: paho.NewClient(paho.ClientConfig{
		// The waiting for answers is bounded here, not in the library: see request.
		ClientID: h.ClientID, Conn: &libraryConn{w}, PingHandler: w.c.pings, PacketTimeout: 24 * time.Hour,
		// The decoder has delivered what comes here; the library has only to acknowledge it.
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(paho.PublishReceived) (bool, error) { return true, nil },
		},
	})}
}

// libraryConn is the net.Conn that paho.golang works on. It writes a packet in pieces, and holds the lock around them.
type libraryConn struct{ *Wire }

func (l *libraryConn) Lock()                       { l.c.out.Lock() }
func (l *libraryConn) Unlock()                     { l.c.out.Unlock() }
func (l *libraryConn) Write(p []byte) (int, error) { return l.c.out.Write(p) }

// session5 is a session of MQTT 5.
type session5 struct {
	grammar5
	hello  Hello
	client *paho.Client
}

// grammar5 reads packets as MQTT 5 has them.
type grammar5 struct{}

func (grammar5) Publish(first byte, body, scratch []byte, p *inventory.Publication) ([]byte, error) {
	scratch, bad := decodePublish(first, body, scratch, p)
	if bad.code != 0 {
		return scratch, bad.of(typePublish)
	}
	return scratch, nil
}

func (grammar5) Control(first byte, body []byte, opened bool) error {
	if first>>4 == typeConnack && !opened && len(body) == 2 {
		return &v3Connack{code: body[1]}
	}
	if bad := checkControl(first, body, opened); bad.code != 0 {
		return bad.of(first >> 4)
	}
	return nil
}

// Connect sends a CONNECT with a clean start, a session that ends with the connection, no topic alias and no Maximum
// Packet Size, which would make brokers hide larger messages in silence.
func (s *session5) Connect(ctx context.Context) (ServerInfo, error) {
	// The library sizes a queue by it. Its handler never blocks, so that a larger one would gain nothing.
	receiveMaximum := uint16(256)
	h := s.hello
	ca, err := s.client.Connect(ctx, &paho.Connect{
		ClientID: h.ClientID, CleanStart: true, KeepAlive: uint16(h.KeepAlive / time.Second),
		UsernameFlag: h.User != "", Username: h.User,
		PasswordFlag: h.Password != "", Password: []byte(h.Password),
		Properties: &paho.ConnectProperties{ReceiveMaximum: &receiveMaximum, RequestProblemInfo: true},
	})
	switch {
	case ca != nil && ca.ReasonCode >= 0x80:
		return ServerInfo{}, &Refusal{Code: ca.ReasonCode, Reason: ca.Properties.ReasonString, Reference: ca.Properties.ServerReference}
	case err != nil:
		return ServerInfo{}, err
	}
	return serverInfo(h.ClientID, h.KeepAlive, ca), nil
}

func (s *session5) Subscribe(ctx context.Context, subs []Subscription) ([]byte, error) {
	packet := &paho.Subscribe{}
	for _, sub := range subs {
		packet.Subscriptions = append(packet.Subscriptions, paho.SubscribeOptions{
			Topic: sub.Filter, QoS: sub.QoS, RetainHandling: sub.RetainHandling, NoLocal: sub.NoLocal, RetainAsPublished: sub.RetainAsPublished,
		})
	}
	ack, err := s.client.Subscribe(ctx, packet)
	if ack == nil {
		return nil, err
	}
	return ack.Reasons, err
}

func (s *session5) Unsubscribe(ctx context.Context, filters []string) ([]byte, error) {
	ack, err := s.client.Unsubscribe(ctx, &paho.Unsubscribe{Topics: filters})
	if ack == nil {
		return nil, err
	}
	return ack.Reasons, nil
}

func (s *session5) Disconnect() error     { return s.client.Disconnect(&paho.Disconnect{}) }
func (s *session5) Done() <-chan struct{} { return s.client.Done() }
