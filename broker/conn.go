// Package broker is MQTT 5 on the wire: connections to a broker, the scan of its retained store, the live stream.
//
// The only room that knows the library. No screen, no storage of its own; what arrives is delivered in batches.
package broker

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"retainscope/expiry"
	"retainscope/inventory"
)

// Conn is one connection to a broker: one socket, one session, clean from the start, over when it ends. Its methods
// may be called from any goroutine but the one that delivers, where only Stats, Server, Done and Err may be called.
type Conn struct {
	cfg     Config
	nc      net.Conn
	client  *paho.Client
	rest    *handoff
	out     *packetWriter
	pings   *pings
	server  ServerInfo
	deliver Deliver
	origin  inventory.Origin

	closing atomic.Bool
	heard   atomic.Int64 // Unix nanoseconds of the last byte received

	wireBytes, publications, readCalls, lastPublication atomic.Int64

	mu    sync.Mutex
	cause error

	read chan struct{} // closed when the decoder has ended
	done chan struct{}
}

// Dial makes one connection: transport, TLS where the URL asks for it, CONNECT with a clean start. It returns a
// *ConnectError when that fails, or ctx's error inside one. deliver may be called before Dial returns, and is never
// called after Done is closed or Close has returned.
func Dial(ctx context.Context, cfg Config, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	cfg = cfg.filled()
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	nc, err := dialTransport(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return dialOver(ctx, cfg, nc, deliver, origin)
}

// dialOver makes a connection over nc, which it owns from now on.
func dialOver(ctx context.Context, cfg Config, nc net.Conn, deliver Deliver, origin inventory.Origin) (*Conn, error) {
	cfg = cfg.filled()
	c := &Conn{
		cfg: cfg, nc: nc, rest: newHandoff(), deliver: deliver, origin: origin,
		read: make(chan struct{}), done: make(chan struct{}),
	}
	c.heard.Store(time.Now().UnixNano())
	c.out = &packetWriter{nc: nc, timeout: cfg.Timeout, failed: c.fail}
	c.pings = &pings{c: c}
	id := clientID(cfg.ClientID)
	c.client = paho.NewClient(paho.ClientConfig{
		ClientID: id, Conn: &libraryConn{c}, PingHandler: c.pings, PacketTimeout: time.Hour,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){
			func(paho.PublishReceived) (bool, error) { return true, nil },
		},
	})
	go c.decode()
	stop := context.AfterFunc(ctx, func() { _ = nc.Close() })
	defer stop()
	ca, err := c.client.Connect(ctx, c.connectPacket(id))
	if err != nil {
		_ = nc.Close()
		c.rest.close()
		<-c.read
		close(c.done)
		if ca != nil {
			return nil, &ConnectError{Stage: StageRefused, Code: ca.ReasonCode, Reason: plain(ca.Properties.ReasonString), Err: err}
		}
		return nil, &ConnectError{Stage: StageMQTT, Err: err}
	}
	c.server = serverInfo(id, cfg.KeepAlive, ca)
	go c.finish()
	return c, nil
}

func (c *Conn) connectPacket(id string) *paho.Connect {
	receiveMaximum := uint16(256)
	return &paho.Connect{
		ClientID: id, CleanStart: true, KeepAlive: uint16(c.cfg.KeepAlive / time.Second),
		UsernameFlag: c.cfg.User != "", Username: c.cfg.User,
		PasswordFlag: c.cfg.Password != "", Password: []byte(c.cfg.Password),
		Properties: &paho.ConnectProperties{ReceiveMaximum: &receiveMaximum, RequestProblemInfo: true},
	}
}

func dialTransport(ctx context.Context, cfg Config) (net.Conn, error) {
	if cfg.wire != nil {
		return cfg.wire(ctx)
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", cfg.URL[len("mqtt://"):])
	if err != nil {
		return nil, &ConnectError{Stage: StageDial, Err: err}
	}
	return nc, nil
}

func (c *Conn) decode() {
	defer close(c.read)
	defer c.rest.close()
	r := bufio.NewReaderSize(c.nc, 256<<10)
	var raw bytes.Buffer
	for {
		raw.Reset()
		p, err := packets.ReadPacket(io.TeeReader(r, &raw))
		if err != nil {
			c.fail(err)
			return
		}
		c.heard.Store(time.Now().UnixNano())
		c.wireBytes.Add(int64(raw.Len()))
		switch v := p.Content.(type) {
		case *packets.Publish:
			i := expiry.None()
			if e := v.Properties.MessageExpiry; e != nil {
				i = expiry.Seconds(*e)
			}
			now := c.cfg.Clock().UnixMilli()
			c.lastPublication.Store(now)
			c.publications.Add(1)
			if !c.closing.Load() {
				c.deliver([]inventory.Publication{{Topic: []byte(v.Topic), Payload: v.Payload, Interval: i, ReceivedAt: now,
					QoS: v.QoS, QoSKnown: v.QoS > 0, Retain: v.Retain, Origin: c.origin}})
			}
			if v.QoS > 0 {
				c.rest.put(raw.Bytes())
			}
			continue
		case *packets.Pingresp:
			c.pings.response()
		case *packets.Disconnect:
			c.fail(&ServerDisconnect{Code: v.ReasonCode, Reason: plain(v.Properties.ReasonString)})
		}
		c.rest.put(raw.Bytes())
	}
}

func (c *Conn) finish() {
	<-c.client.Done()
	<-c.read
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

func (c *Conn) lastByte() time.Time { return time.Unix(0, c.heard.Load()) }

// libraryClosed is called when the library closes its connection.
func (c *Conn) libraryClosed() {
	c.rest.close()
	_ = c.nc.Close()
}

// Done is closed when the connection has ended and every goroutine of it as well.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection stands or after Close, and otherwise why it ended: a *ServerDisconnect, a
// *ProtocolError, io.EOF when the server closed it without a word, or an error of the network.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Server returns what the CONNACK said.
func (c *Conn) Server() ServerInfo { return c.server }

// Stats returns what was counted so far. It is cheap.
func (c *Conn) Stats() Stats {
	s := Stats{WireBytes: c.wireBytes.Load(), Publications: c.publications.Load(), ReadCalls: c.readCalls.Load(), LastByte: c.lastByte()}
	s.PingsSent, s.PingsAnswered = c.pings.counts()
	if ms := c.lastPublication.Load(); ms != 0 {
		s.LastPublication = time.UnixMilli(ms)
	}
	return s
}

// Close sends DISCONNECT, half-closes, drains what is still coming for at most a second or until ctx ends, and
// returns when every goroutine of the connection has ended. It returns nil when the DISCONNECT was written or the
// connection had already ended. A second call waits for the first.
func (c *Conn) Close(ctx context.Context) error {
	c.closing.Store(true)
	err := c.client.Disconnect(&paho.Disconnect{})
	<-c.done
	return err
}
