package broker

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestDisconnectIsNotLostUnderInboundLoad(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"log_dest file " + log, "log_type all", "max_queued_messages 0"}})
	stop, stopped := make(chan struct{}), make(chan struct{})
	publisher := rawConnect(t, b.URL())
	go func() {
		defer close(stopped)
		packet := publish(message{topic: "load", payload: strings.Repeat("x", 500)})
		for {
			select {
			case <-stop:
				return
			default:
				publisher.write(packet)
			}
		}
	}()
	const rounds = 20
	ctx := within(t)
	ids := map[string]bool{}
	for range rounds {
		came := make(chan struct{}, 1)
		c, err := Dial(ctx, Config{URL: b.URL()}, func([]inventory.Publication) {
			select {
			case came <- struct{}{}:
			default:
			}
		}, inventory.Live)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Subscribe(ctx, []Subscription{{Filter: "#"}}); err != nil {
			t.Fatal(err)
		}
		<-came
		ids[c.Server().ClientID] = true
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-stopped
	b.Stop()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for id := range ids {
		if !strings.Contains(string(text), "Client "+id+" disconnected.") {
			t.Errorf("the broker did not see the DISCONNECT of %s", id)
		}
	}
	if len(ids) != rounds {
		t.Errorf("%d client identifiers in %d connections", len(ids), rounds)
	}
}

func TestAfterCloseNothingIsDeliveredAndNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	synctest.Test(t, func(t *testing.T) {
		closed := false
		server := newWireServer(t)
		go func() {
			w := server.accept()
			w.connect()
			for {
				if _, err := w.Write(retained("t", "x")); err != nil {
					return
				}
				<-time.After(time.Millisecond)
			}
		}()
		c, err := Dial(t.Context(), server.config(), func([]inventory.Publication) {
			if closed {
				t.Error("delivered after Close")
			}
		}, inventory.Live)
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		closed = true
		if err := c.Close(t.Context()); err != nil || c.Err() != nil {
			t.Errorf("a second Close: %v, Err %v", err, c.Err())
		}
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "a"}}); err == nil {
			t.Error("subscribed on a closed connection")
		}
		if err := c.Unsubscribe(t.Context(), []string{"a"}); err == nil {
			t.Error("unsubscribed on a closed connection")
		}
		if err := c.Fence(t.Context()); err == nil {
			t.Error("fenced on a closed connection")
		}
	})
	// The bubble itself would not have ended with one of its goroutines left.
	if n := runtime.NumGoroutine(); n > before+2 {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

func TestTheEndOfAConnectionHasItsCause(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*wire)
		is   error
		word string
	}{
		"closed": {func(w *wire) { _ = w.Close() }, io.EOF, "closed the connection without a reason"},
		"reset":  {func(w *wire) { w.reset() }, errReset, "connection reset by peer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sink
				conn := dialWire(t, nil, s.deliver, func(w *wire) {
					w.connect()
					w.send(retained("last", "x"))
					<-time.After(time.Second)
					c.end(w)
				})
				<-conn.Done()
				if err := conn.Err(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.word) {
					t.Errorf("Err = %v", err)
				}
				oneClearError(t, conn.Err())
				if len(s.all()) != 1 {
					t.Errorf("delivered %v", s.all())
				}
				if err := conn.Close(t.Context()); err != nil {
					t.Errorf("Close after the end: %v", err)
				}
			})
		})
	}
}
