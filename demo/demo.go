// Package demo is a broker in this process with a made-up house in it: for a first look, for screenshots and for tests.
//
// Only cli and tests import it. It listens on loopback unless told otherwise, and it keeps nothing.
package demo

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// Options says what the demo is to be. The zero value is the house without writers on a free loopback port.
type Options struct {
	Listen  string        // host:port to listen on; empty means 127.0.0.1 and a free port
	Empty   bool          // no house
	Writers bool          // the small writers run until Close
	Window  time.Duration // Message Expiry Interval of the writers, at least 3 s; 0 means 30 s
}

// Demo is a running broker. Its methods may be called from any goroutine.
type Demo struct {
	addr    string
	server  *mochi.Server
	net     *tracked
	cancel  context.CancelFunc
	writers sync.WaitGroup
	close   sync.Once
}

// Start returns a broker that listens and holds the house. The error is not nil when the address cannot be listened on
// or the house could not be loaded; nothing runs then. When ctx ends the writers end; the broker runs until Close.
func Start(ctx context.Context, o Options) (*Demo, error) {
	listen := o.Listen
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("start the demo broker: %w", err)
	}
	d := &Demo{addr: l.Addr().String(), net: track(l)}
	d.server = mochi.New(brokerOptions())
	if err := serve(d.server, d.net); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("start the demo broker: %w", err)
	}
	ctx, d.cancel = context.WithCancel(ctx)
	if !o.Empty {
		if _, err := Load(ctx, d.local()); err != nil {
			d.Close()
			return nil, err
		}
	}
	if o.Writers {
		window := max(o.Window, 3*time.Second)
		if o.Window == 0 {
			window = 30 * time.Second
		}
		startWriters(ctx, d.local(), window, &d.writers)
	}
	return d, nil
}

func serve(s *mochi.Server, l net.Listener) error {
	if err := s.AddHook(new(everyone), nil); err != nil {
		return err
	}
	if err := s.AddListener(listeners.NewNet("demo", l)); err != nil {
		return err
	}
	return s.Serve()
}

// brokerOptions are the settings under which the embedded broker adds no expiry of its own, loses nothing of a burst,
// and answers a PUBLISH with the reason code of the specification.
func brokerOptions() *mochi.Options {
	c := mochi.NewDefaultServerCapabilities()
	c.MaximumMessageExpiryInterval = 0
	c.MaximumClientWritesPending = 1 << 20
	c.Compatibilities.NoInheritedPropertiesOnAck = true
	return &mochi.Options{Capabilities: c, Logger: slog.New(slog.DiscardHandler)}
}

// everyone lets every client in and every topic through: the broker holds nothing but a made-up house.
type everyone struct{ mochi.HookBase }

func (*everyone) ID() string { return "everyone" }

func (*everyone) Provides(b byte) bool {
	return b == mochi.OnConnectAuthenticate || b == mochi.OnACLCheck
}

func (*everyone) OnConnectAuthenticate(*mochi.Client, packets.Packet) bool { return true }

func (*everyone) OnACLCheck(*mochi.Client, string, bool) bool { return true }

// URL returns the address as retainscope takes it, mqtt://HOST:PORT.
func (d *Demo) URL() string { return "mqtt://" + d.local() }

// local returns an address that this machine reaches, also where the broker listens on all of them.
func (d *Demo) local() string {
	host, port, err := net.SplitHostPort(d.addr)
	if err != nil {
		return d.addr
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}

// Close ends the writers, tells every client goodbye, and returns when all of it has ended. A second call does nothing.
func (d *Demo) Close() {
	d.close.Do(func() {
		d.cancel()
		d.writers.Wait()
		// The server waits for each client it has accepted, also for one that never said CONNECT.
		force := time.AfterFunc(time.Second, d.net.closeAll)
		_ = d.server.Close()
		force.Stop()
	})
}

// tracked is a listener that knows its connections, so that none of them can hold up the end.
type tracked struct {
	net.Listener
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func track(l net.Listener) *tracked {
	return &tracked{Listener: l, conns: map[net.Conn]struct{}{}}
}

func (t *tracked) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[c] = struct{}{}
	return &trackedConn{Conn: c, of: t}, nil
}

func (t *tracked) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.Close()
	}
}

type trackedConn struct {
	net.Conn
	of *tracked
}

func (c *trackedConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
