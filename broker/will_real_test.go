package broker

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/testbroker"
)

func offline() *Message {
	return &Message{Topic: "app/status", Payload: []byte("offline"), QoS: 1, Retain: true}
}

func TestTheWillExpiresAtMosquitto(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	p := publisherAt(t, b.URL(), func(cfg *PublisherConfig) {
		cfg.Will, cfg.Steps = offline(), []Step{says("app/status=online", "app/other=1")}
	})
	// The process dies: its socket closes, and nothing comes back.
	_ = p.link.Load().conn.t.socket.Close()
	halt(t, p)
	died := time.Now()
	waitFor(t, func() bool { got, _ := storedNow(t, b.URL()); return got["app/status"] == "offline" })
	_, intervals := storedNow(t, b.URL())
	if s, ok := intervals["app/status"].Seconds(); !ok || s > 3 {
		t.Errorf("the interval of the will is %v", intervals["app/status"])
	}
	keepsOnly(t, b.URL())
	if gone := time.Since(died); gone < 2*time.Second || gone > 6*time.Second {
		t.Errorf("the last trace was gone after %v", gone)
	}
}

// TestALeaveByTheDoorNeverPublishesTheWill leaves two hundred times while the broker sends as much as it can, and counts
// wills. A plainer way to leave shows that the count can be other than 0.
func TestALeaveByTheDoorNeverPublishesTheWill(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"max_queued_messages 0"}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wills, others atomic.Int64
	seen := func(batch []inventory.Publication) {
		for _, m := range batch {
			if string(m.Payload) == "offline" {
				wills.Add(1)
			} else {
				others.Add(1)
			}
		}
	}
	observer, err := Dial(within(t), Config{URL: b.URL()}, seen, inventory.Live)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(observer)
	if _, err := observer.Subscribe(within(t), []Subscription{{Filter: "app/#"}}); err != nil {
		t.Fatal(err)
	}
	var loading sync.WaitGroup
	loader := rawConnect(t, b.URL())
	loading.Go(func() {
		packet := publish(message{topic: "load", payload: strings.Repeat("x", 100_000)})
		for ctx.Err() == nil {
			for range 50 {
				loader.write(packet)
			}
			loader.settle()
		}
	})
	enter := func() *Publisher {
		p := started(t, PublisherConfig{Config: Config{URL: b.URL()}, Interval: 60, Will: offline()})
		for !p.Status().Connected {
			<-p.Changed()
		}
		c := p.link.Load().conn
		if _, err := c.Subscribe(within(t), []Subscription{{Filter: "load"}}); err != nil {
			t.Fatal(err)
		}
		for c.Stats().Publications < 20 {
			<-time.After(time.Millisecond)
		}
		return p
	}
	for i := range 200 {
		if err := enter().Stop(within(t)); err != nil {
			t.Errorf("leave %d: %v", i, err)
		}
	}
	loader2 := rawConnect(t, b.URL())
	loader2.write(publish(message{topic: "app/marker", payload: "all have left"}))
	loader2.settle()
	waitFor(t, func() bool { return others.Load() == 1 })
	if n := wills.Load(); n != 0 {
		t.Errorf("%d of 200 leaves published the will", n)
	}
	// A socket that is closed right after the DISCONNECT, with bytes unread, is reset: then the will is published now and
	// then. If that were not seen here, the count above would prove nothing.
	for leaves := 0; wills.Load() == 0 && leaves < 400; leaves++ {
		p := enter()
		c := p.link.Load().conn
		c.out.Lock()
		_, _ = c.out.Write([]byte{typeDisconnect << 4, 0})
		c.out.Unlock()
		_ = c.t.socket.Close()
		halt(t, p)
	}
	waitFor(t, func() bool { return wills.Load() > 0 })
	cancel()
	loading.Wait()
}

// deafConn is a connection whose loss the broker does not notice: closing it ends it on our side alone.
type deafConn struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (d *deafConn) Close() error {
	d.once.Do(func() {
		close(d.closed)
		_ = d.SetReadDeadline(time.Unix(1, 0))
	})
	return nil
}

func (d *deafConn) Read(p []byte) (int, error) {
	n, err := d.Conn.Read(p)
	select {
	case <-d.closed:
		return 0, io.EOF
	default:
		return n, err
	}
}

func (d *deafConn) Write(p []byte) (int, error) {
	select {
	case <-d.closed:
		return 0, os.ErrClosed
	default:
		return d.Conn.Write(p)
	}
}

// TestAWillThatIsLateDoesNotOverwriteWhatANewerConnectionSays loses a connection in a way that the broker notices only
// after the publisher is back.
func TestAWillThatIsLateDoesNotOverwriteWhatANewerConnectionSays(t *testing.T) {
	t.Parallel()
	b := testbroker.Start(t, testbroker.Config{})
	var mu sync.Mutex
	var conns []*deafConn
	p := publisherAt(t, b.URL(), func(cfg *PublisherConfig) {
		cfg.Interval, cfg.Will, cfg.Steps = 60, offline(), []Step{says("app/status=online")}
		cfg.wire = func(ctx context.Context) (net.Conn, error) {
			nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(b.URL(), "mqtt://"))
			if err != nil {
				return nil, err
			}
			d := &deafConn{Conn: nc, closed: make(chan struct{})}
			mu.Lock()
			conns = append(conns, d)
			mu.Unlock()
			return d, nil
		}
	})
	_ = p.link.Load().conn.t.socket.Close()
	waitFor(t, func() bool { s := p.Status(); return s.Connections == 2 && s.Settled })
	mu.Lock()
	_ = conns[0].Conn.Close() // now the broker learns of it
	mu.Unlock()
	say(t, p, "app/marker", "1")
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 20 {
		<-tick.C
		got, intervals := storedNow(t, b.URL())
		if got["app/status"] != "online" || intervals["app/status"].Kind() != expiry.Finite {
			t.Fatalf("the status is %q, %v", got["app/status"], intervals["app/status"])
		}
	}
	halt(t, p)
	mu.Lock()
	defer mu.Unlock()
	for _, c := range conns {
		_ = c.Conn.Close()
	}
}
