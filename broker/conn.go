// Package broker is MQTT 5 on the wire: connections to a broker, the scan of its retained store, the live stream.
//
// The only room that knows the library. No screen, no storage of its own; what arrives is delivered in batches.
package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/paho"

	"retainscope/inventory"
)

// drainTime is how long we go on reading after our DISCONNECT. Closing a socket with unread bytes resets it, and the
// reset overtakes the DISCONNECT.
const drainTime = time.Second

// Conn is one connection to a broker: one socket, one session, clean from the start, over when it ends. Its methods
// may be called from any goroutine but the one that delivers, where only Stats, Server, Done and Err may be called.
//
// Goroutines: one that only reads, one that decodes and delivers, three of the library. All have ended when Done is
// closed.
type Conn struct {
	cfg    Config
	at     address
	t      *transport
	client *paho.Client
	ahead  *readAhead
	pace   pace
	filter filter
	rest   *handoff
	out    *packetWriter
	pings  *pings
	server ServerInfo
	sink   Deliver

	closing      atomic.Bool
	asked        atomic.Int32 // what was subscribed to: nothing yet, QoS 1 and above alone, or QoS 0 as well
	publications atomic.Int64
	lastAt       atomic.Int64 // Unix milliseconds of the last publication

	mu    sync.Mutex
	cause error

	readEnded chan struct{}
	decoded   chan struct{}
	done      chan struct{}
	closeOnce sync.Once
	closeErr  error
}

const (
	askedAbove0 = 1
	askedAt0    = 2
)

// Dial makes one connection: transport, TLS where the URL asks for it, CONNECT with a clean start, no will, and a
// client identifier of its own. It returns a *ConnectError when that fails within ctx and Config.Timeout.
//
// deliver may be called before Dial returns, and is never called after Done is closed or Close has returned.
// Publications of every QoS are delivered in the order in which they were decoded, which is the order of the wire;
// those above QoS 0 are acknowledged after they were delivered.
//
// Source: MQTT 5, 3.1.
func Dial(ctx context.Context, cfg Config, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	cfg = cfg.filled()
	if err := cfg.tooLong(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	t, err := dialTransport(limited, cfg)
	if err != nil {
		return nil, err
	}
	return open(limited, cfg, t, deliver, origin)
}

// tooLong returns an error when a text of the CONNECT has no room on the wire.
func (c Config) tooLong() error {
	for _, text := range []string{c.ClientID + "123456789012", c.User, string(c.Password)} {
		if len(text) > longestText {
			return failed(StageMQTT, nil, "the client identifier, the user or the password is longer than %d bytes", longestText)
		}
	}
	return nil
}

// dialOver makes a connection over nc, which it owns from now on.
func dialOver(ctx context.Context, cfg Config, nc net.Conn, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	cfg = cfg.filled()
	limited, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	return open(limited, cfg, over(nc), deliver, origin)
}

// open makes the MQTT connection over t.
func open(ctx context.Context, cfg Config, t *transport, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	c := &Conn{
		cfg: cfg, t: t, ahead: newReadAhead(cfg.ReadAhead), rest: newHandoff(), sink: deliver,
		readEnded: make(chan struct{}), decoded: make(chan struct{}), done: make(chan struct{}),
	}
	c.at, _ = parseAddress(cfg.URL)
	if c.at.dial == "" {
		c.at.dial = t.RemoteAddr().String()
	}
	c.pace.limit = shortNap
	if origin == inventory.Live {
		c.pace.limit = longNap
	}
	c.filter = filter{
		maxPacket: cfg.MaxPacket, origin: origin, deliver: c.deliver, control: c.control,
		qosKnown: func() bool { return c.asked.Load() == askedAbove0 },
	}
	c.out = newPacketWriter(t, cfg.Timeout, c.fail)
	c.pings = &pings{c: c}
	id := clientID(cfg.ClientID)
	c.client = paho.NewClient(paho.ClientConfig{
		// The waiting for answers is bounded here, not in the library: see request.
		ClientID: id, Conn: &libraryConn{c}, PingHandler: c.pings, PacketTimeout: 24 * time.Hour,
		// The decoder has delivered what comes here; the library has only to acknowledge it.
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(paho.PublishReceived) (bool, error) { return true, nil },
		},
	})
	go c.readLoop()
	go c.decodeLoop()
	stop := context.AfterFunc(ctx, func() { _ = t.socket.Close() })
	ca, err := c.client.Connect(ctx, c.connectPacket(id))
	if err == nil && stop() {
		c.server = serverInfo(id, cfg.KeepAlive, ca)
		cfg.Logger.Debug("connected", "broker", c.at.String(), "client", c.server.ClientID)
		go c.finish()
		return c, nil
	}
	stop()
	if err == nil { // the time was over in the very moment of the success
		ca, err = nil, ctx.Err()
		go c.finish()
		_ = t.socket.Close()
		<-c.done
	}
	c.ahead.drop(net.ErrClosed)
	_ = t.socket.Close()
	<-c.decoded
	<-c.readEnded
	if cause := c.Err(); cause != nil {
		err = cause
	}
	return nil, connectFailed(ctx, cfg, c.at, ca, err, !c.filter.fed, t.asked.Load())
}

// connectPacket is the CONNECT: a clean start, a session that ends with the connection, no will, no topic alias and
// no Maximum Packet Size, which would make brokers hide larger messages in silence.
func (c *Conn) connectPacket(id string) *paho.Connect {
	// The library sizes a queue by it. Its handler never blocks, so that a larger one would gain nothing.
	receiveMaximum := uint16(256)
	return &paho.Connect{
		ClientID: id, CleanStart: true, KeepAlive: uint16(c.cfg.KeepAlive / time.Second),
		UsernameFlag: c.cfg.User != "", Username: c.cfg.User,
		PasswordFlag: c.cfg.Password != "", Password: []byte(c.cfg.Password),
		Properties: &paho.ConnectProperties{ReceiveMaximum: &receiveMaximum, RequestProblemInfo: true},
	}
}

// finish waits for every goroutine of the connection.
func (c *Conn) finish() {
	<-c.client.Done()
	<-c.decoded
	<-c.readEnded
	c.cfg.Logger.Debug("connection ended", "broker", c.at.String(), "cause", c.Err())
	close(c.done)
}

// fail records why the connection ended; the first cause stays.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil && !c.closing.Load() {
		c.cause = err
	}
}

// ended returns the error of an operation that the end of the connection cut short.
func (c *Conn) ended(what string, err error) error {
	if cause := c.Err(); cause != nil {
		err = cause
	}
	if err == nil {
		err = net.ErrClosed
	}
	return fmt.Errorf("%s: %w", what, err)
}

// libraryClosed is called when the library closes its connection, once or more. After a DISCONNECT of ours it closes
// our direction and reads on until the server has closed its own.
func (c *Conn) libraryClosed() {
	c.rest.close()
	if c.out.disconnected.Load() {
		c.ahead.drop(net.ErrClosed)
		_ = c.t.closeWrite()
		timer := time.NewTimer(drainTime)
		defer timer.Stop()
		select {
		case <-c.readEnded:
		case <-timer.C:
		}
	}
	_ = c.t.socket.Close()
}

// Done is closed when the connection has ended and every goroutine of it as well.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection stands or after Close, and otherwise why it ended: a *ServerDisconnect, a
// *ProtocolError, an error that is io.EOF when the server closed it without a word, or one of the network. Its text is
// one sentence that is safe for a terminal.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Close sends DISCONNECT, half-closes, drains what is still coming for at most a second or until ctx ends, and returns
// when every goroutine of the connection has ended. What was received and not yet delivered is dropped. It returns nil
// when the DISCONNECT was written or the connection had already ended. A second call waits for the first.
//
// Source: MQTT 5, 3.14.
func (c *Conn) Close(ctx context.Context) error {
	c.closeOnce.Do(func() {
		select {
		case <-c.done:
			return
		default:
		}
		// The read-ahead is dropped after the DISCONNECT: its end would make the library close the socket before.
		c.closing.Store(true)
		stop := context.AfterFunc(ctx, func() { _ = c.t.socket.Close() })
		defer stop()
		if err := c.client.Disconnect(&paho.Disconnect{}); err != nil && !errors.Is(err, net.ErrClosed) {
			c.closeErr = fmt.Errorf("disconnect: %w", err)
		}
	})
	<-c.done
	return c.closeErr
}
