package broker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// dialWire makes a connection to script, which runs on a goroutine of its own.
func dialWire(t *testing.T, change func(*Config), deliver Deliver, script func(*wire)) *Conn {
	t.Helper()
	server := newWireServer(t)
	go func() {
		w := server.accept()
		script(w)
		w.over()
		_ = w.Close()
	}()
	cfg := server.config()
	if change != nil {
		change(&cfg)
	}
	c, err := Dial(t.Context(), cfg, deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func TestTheFenceIsAnsweredInDecodeOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3000
		release := make(chan struct{})
		var s sink
		slow := func(b []inventory.Publication) {
			<-release
			s.deliver(b)
		}
		c := dialWire(t, nil, slow, func(w *wire) {
			w.connect()
			w.expect(typePingreq)
			for range n {
				w.send(retained("t", "x"))
			}
			w.send(publish(message{topic: "one", qos: 1, id: 9}), pingresp())
			w.send(retained("after", "x"))
		})
		fenced := make(chan error, 1)
		go func() { fenced <- c.Fence(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-fenced:
			t.Fatalf("the fence returned %v before anything was delivered", err)
		default:
		}
		close(release)
		if err := <-fenced; err != nil {
			t.Fatal(err)
		}
		got := s.all()
		if len(got) < n+1 || got[n].topic != "one" || !got[n].publication.QoSKnown {
			t.Fatalf("%d publications before the fence", len(got))
		}
	})
}

func TestFencesAreAnsweredInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			for range 3 {
				w.expect(typePingreq)
			}
			for range 3 {
				<-answer
				w.send(pingresp())
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Fence(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("an unanswered fence returned %v", err)
		}
		if s := c.Stats(); s.PingsSent != 1 || s.PingsAnswered != 0 {
			t.Errorf("sent %d, answered %d", s.PingsSent, s.PingsAnswered)
		}
		second, third := make(chan error, 1), make(chan error, 1)
		go func() { second <- c.Fence(t.Context()) }()
		synctest.Wait()
		go func() { third <- c.Fence(t.Context()) }()
		synctest.Wait()
		answer <- struct{}{} // answers the one that was given up
		synctest.Wait()
		select {
		case err := <-second:
			t.Fatalf("a fence took the answer to an earlier one: %v", err)
		default:
		}
		answer <- struct{}{}
		if err := <-second; err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-third:
			t.Fatalf("one answer ended two fences: %v", err)
		default:
		}
		answer <- struct{}{}
		if err := <-third; err != nil {
			t.Fatal(err)
		}
	})
}

func TestAFenceEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.expect(typePingreq)
			_ = w.Close()
		})
		err := c.Fence(t.Context())
		if err == nil || !strings.Contains(err.Error(), "closed the connection") {
			t.Fatalf("Fence = %v", err)
		}
		<-c.Done()
		if err := c.Fence(t.Context()); err == nil {
			t.Error("a fence on an ended connection succeeded")
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Fence(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("Fence = %v", err)
		}
	})
}

func TestABurstLongerThanTheKeepAliveStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		c := dialWire(t, func(c *Config) { c.KeepAlive = 2 * time.Second }, s.deliver, func(w *wire) {
			w.connect()
			for range 100 { // 50 s in which no PINGREQ is answered
				w.send(retained("t", "x"))
				<-time.After(500 * time.Millisecond)
			}
			w.send(pingresp(), retained("last", "x"))
		})
		<-time.After(50 * time.Second)
		synctest.Wait()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		if got := s.all(); len(got) != 101 {
			t.Errorf("%d publications", len(got))
		}
		// The server drops a client that sends nothing for one and a half keep-alives.
		if n := c.Stats().PingsSent; n < 24 || n > 26 {
			t.Errorf("%d PINGREQ in 50 s at a keep-alive of 2 s", n)
		}
	})
}

func TestASilentServerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked time.Duration
		start := time.Now()
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.expect(typePingreq)
			asked = time.Since(start)
		})
		<-c.Done()
		if err := c.Err(); err == nil || !strings.Contains(err.Error(), "silent") {
			t.Fatalf("Err = %v", err)
		}
		oneClearError(t, c.Err())
		if took := time.Since(start); asked != 60*time.Second || took < 90*time.Second || took > 100*time.Second {
			t.Errorf("asked after %s, dropped after %s", asked, took)
		}
	})
}

func TestASilentServerIsAskedBeforeItIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// We send something at 50 s, so that the keep-alive itself asks for no PINGREQ before 110 s.
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.expect(typeSubscribe)
			w.expect(typePingreq)
			w.send(pingresp())
		})
		<-time.After(50 * time.Second)
		_, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}})
		if err == nil || !strings.Contains(err.Error(), "no answer") {
			t.Fatalf("Subscribe = %v", err)
		}
		<-time.After(30 * time.Second) // 90 s of silence but for the PINGRESP
		synctest.Wait()
		if err := c.Err(); err != nil {
			t.Fatalf("dropped: %v", err)
		}
	})
}

func TestTheServersKeepAliveIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked time.Duration
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect(propTwo(0x13, 5))
			w.pong()
			asked = time.Since(start)
		})
		if k := c.Server().KeepAlive; k != 5*time.Second {
			t.Errorf("KeepAlive = %s", k)
		}
		<-time.After(6 * time.Second)
		synctest.Wait()
		if asked != 5*time.Second {
			t.Errorf("PINGREQ after %s", asked)
		}
	})
}
