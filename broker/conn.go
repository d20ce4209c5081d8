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

	"retainscope/inventory"
)

// drainTime is how long we go on reading after our DISCONNECT. Closing a socket with unread bytes resets it, and the
// reset overtakes the DISCONNECT.
const drainTime = time.Second

// Conn is one connection to a broker: one socket, one session, clean from the start, over when it ends. Its methods
// may be called from any goroutine but the one that delivers, where only Stats, Server, Done and Err may be called.
//
// Goroutines: one that only reads, one that decodes and delivers, and those of the library. All have ended when Done is
// closed.
type Conn struct {
	cfg     Config
	at      address
	t       *transport
	session Session
	ahead   *readAhead
	pace    pace
	filter  filter
	rest    *handoff
	out     *packetWriter
	pings   *pings
	server  ServerInfo
	sink    Deliver

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
	if err := cfg.fitting(); err != nil {
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

// fitting returns an error when a text of the CONNECT has no place on the wire.
func (c Config) fitting() error {
	if c.Version.Limited() && c.Password != "" && c.User == "" {
		return failed(StageMQTT, nil, "MQTT %s has no password without a user name", c.Version) // [MQTT-3.1.2-22]
	}
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
	c.pace.limit, c.pace.burst = shortNap, burstRead
	if origin == inventory.Live {
		c.pace.limit, c.pace.burst = longNap, liveBurst
	}
	c.filter = filter{
		maxPacket: cfg.MaxPacket, origin: origin, deliver: c.deliver, control: c.control, plain: cfg.Version.Limited(),
		qosKnown: func() bool { return c.asked.Load() == askedAbove0 },
	}
	c.out = newPacketWriter(t, cfg.Timeout, c.fail)
	c.pings = &pings{c: c}
	hello := Hello{ClientID: cfg.identity, User: cfg.User, Password: cfg.Password, KeepAlive: cfg.KeepAlive, Will: cfg.will}
	if hello.ClientID == "" {
		hello.ClientID = clientID(cfg.ClientID)
	}
	c.session = cfg.Version.Open(&Wire{c}, hello)
	c.filter.grammar = c.session
	go c.readLoop()
	go c.decodeLoop()
	stop := context.AfterFunc(ctx, func() { _ = t.socket.Close() })
	server, err := c.session.Connect(ctx)
	if err == nil && stop() {
		c.server = server
		cfg.Logger.Debug("connected", "broker", c.at.String(), "client", c.server.ClientID)
		go c.finish()
		return c, nil
	}
	stop()
	if err == nil { // the time was over in the very moment of the success
		err = ctx.Err()
		go c.finish()
		_ = t.socket.Close()
		<-c.done
	}
	c.ahead.drop(net.ErrClosed)
	_ = t.socket.Close()
	<-c.decoded
	<-c.readEnded
	var no *Refusal
	if cause := c.Err(); cause != nil && !errors.As(err, &no) {
		err = cause
	}
	return nil, connectFailed(ctx, cfg, c.at, err, !c.filter.fed, t.asked.Load())
}

// finish waits for every goroutine of the connection.
func (c *Conn) finish() {
	<-c.session.Done()
	<-c.decoded
	<-c.readEnded
	c.cfg.Logger.Debug("connection ended", "broker", c.at.String(), "cause", c.Err())
	close(c.done)
}

// fail records why the connection ended; the first cause stays.
func (c *Conn) fail(err error) {
	var violation *ProtocolError
	if errors.As(err, &violation) {
		violation.Version = c.cfg.Version.String()
	}
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
		if err := c.session.Disconnect(); err != nil && !errors.Is(err, net.ErrClosed) {
			c.closeErr = fmt.Errorf("disconnect: %w", err)
		}
	})
	<-c.done
	return c.closeErr
}
