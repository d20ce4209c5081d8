package broker

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// countingConn keeps each write.
type countingConn struct {
	net.Conn
	writes [][]byte
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes = append(c.writes, bytes.Clone(p))
	return c.Conn.Write(p)
}

func TestEachPacketIsOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			w := server.accept()
			w.connect()
			w.subscribe()
			w.send(publish(message{topic: "t", qos: 1, id: 3}), publish(message{topic: "t", qos: 2, id: 4}))
			w.expect(typePuback)
			w.expect(typePubrec)
			w.send(control(typePubrel<<4|2, []byte{0, 4}))
			w.expect(typePubcomp)
			w.pong()
			w.unsubscribe()
			w.over()
			_ = w.Close()
		}()
		cfg := server.config()
		nc, err := cfg.wire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counting := &countingConn{Conn: nc}
		c, err := dialOver(t.Context(), cfg, counting, new(sink).deliver, inventory.Answer)
		if err != nil {
			t.Fatal(err)
		}
		many := make([]Subscription, 400) // a SUBSCRIBE of several kilobytes
		for i := range many {
			many[i] = Subscription{Filter: strings.Repeat("f", 20), QoS: 1}
		}
		if _, err := c.Subscribe(t.Context(), many); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // the exchange of QoS 2 takes its turns
		if err := c.Fence(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.Unsubscribe(t.Context(), []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-done
		var types []byte
		for _, w := range counting.writes {
			if size, ok := packetSize(w); !ok || size != len(w) {
				t.Errorf("a write of %d bytes is not one packet of %d", len(w), size)
			}
			types = append(types, w[0]>>4)
		}
		want := []byte{typeConnect, typeSubscribe, typePuback, typePubrec, typePubcomp, typePingreq, typeUnsubscribe, typeDisconnect}
		if !bytes.Equal(types, want) {
			t.Errorf("packets %v, want %v", types, want)
		}
	})
}

func TestConnectAsksForNothingThatHidesMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		bodies := make(chan []byte, 2)
		go func() {
			for range 2 {
				w := server.accept()
				bodies <- w.connect()
				w.over()
				_ = w.Close()
			}
		}()
		var ids []string
		for range 2 {
			cfg := server.config()
			cfg.User, cfg.Password = "bob", "secret"
			c, err := Dial(t.Context(), cfg, new(sink).deliver, inventory.Replay)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			body := <-bodies
			if string(body[:7]) != "\x00\x04MQTT\x05" {
				t.Fatalf("CONNECT begins with %x", body[:7])
			}
			// User name, password, clean start; no will.
			if body[7] != 0xC2 {
				t.Errorf("connect flags %08b", body[7])
			}
			if k := binary.BigEndian.Uint16(body[8:]); k != 60 {
				t.Errorf("keep alive %d", k)
			}
			if n, want := int(body[10]), propTwo(0x21, 256); !bytes.Equal(body[11:11+n], want) {
				t.Errorf("properties %x, want Receive Maximum alone", body[11:11+n])
			}
			rest := body[11+int(body[10]):]
			id := string(rest[2 : 2+binary.BigEndian.Uint16(rest)])
			if len(id) > 23 || !strings.HasPrefix(id, "retainscope") || id != c.Server().ClientID {
				t.Errorf("client identifier %q", id)
			}
			ids = append(ids, id)
		}
		if ids[0] == ids[1] {
			t.Error("two connections with one client identifier")
		}
	})
}

func TestAWriteThatHangsEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		server.limit = 2000 // what the server's side buffers
		go func() {
			w := server.accept()
			w.connect()
			// From here on it reads nothing.
		}()
		c, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = c.Subscribe(t.Context(), []Subscription{{Filter: strings.Repeat("x", 5000)}})
		<-c.Done()
		if took := time.Since(start); took != defaultTimeout {
			t.Errorf("it took %s", took)
		}
		for _, err := range []error{err, c.Err()} {
			if err == nil || !strings.Contains(err.Error(), "took no SUBSCRIBE for 10s") {
				t.Errorf("error %v", err)
			}
		}
		oneClearError(t, c.Err())
	})
}

func TestCloseIsBoundedByItsContextWhereTheServerReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		server.limit = 2000
		go func() {
			w := server.accept()
			w.connect()
		}()
		c, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = c.Subscribe(t.Context(), []Subscription{{Filter: strings.Repeat("x", 5000)}}) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_ = c.Close(ctx)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Close took %s", took)
		}
	})
}

func TestAConnectThatHangsEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		server.limit = 3 // not even CONNECT fits
		go server.accept()
		start := time.Now()
		_, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
		if err == nil || !strings.Contains(err.Error(), "did not answer CONNECT within 10s") {
			t.Errorf("Dial = %v", err)
		}
		if took := time.Since(start); took != defaultTimeout {
			t.Errorf("it took %s", took)
		}
	})
}
