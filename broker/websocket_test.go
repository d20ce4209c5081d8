package broker

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"retainscope/inventory"
)

// upgraded is what a WebSocket server saw of one connection.
type upgraded struct {
	request  *http.Request
	messages []int // lengths
	stream   bytes.Buffer
	end      error
}

// webSocketServer accepts one connection, answers CONNECT with answer in messages of the kind given, and tells what it
// saw when the connection has ended.
func webSocketServer(t *testing.T, kind int, answer ...[]byte) (string, <-chan *upgraded) {
	t.Helper()
	seen := make(chan *upgraded, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := &upgraded{request: r}
		defer func() { seen <- u }()
		c, err := (&websocket.Upgrader{Subprotocols: []string{"mqtt"}}).Upgrade(w, r, nil)
		if err != nil {
			u.end = err
			return
		}
		defer func() { _ = c.Close() }()
		for {
			_, b, err := c.ReadMessage()
			if err != nil {
				u.end = err
				return
			}
			first := u.stream.Len() == 0
			u.messages = append(u.messages, len(b))
			u.stream.Write(b)
			if first {
				for _, a := range answer {
					if err := c.WriteMessage(kind, a); err != nil {
						u.end = err
						return
					}
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	return "ws://u:" + secret + "@" + strings.TrimPrefix(server.URL, "http://") + "/some/path?a=b", seen
}

func TestOverWebSocketMessagesAreSmallAndTheEndIsClean(t *testing.T) {
	// The answer comes in pieces that have nothing to do with packets: the SUBACK first as if by foresight.
	answer := join(connack(0), suback(1, 0), retained("a", "1"))
	url, seen := webSocketServer(t, websocket.BinaryMessage, answer[:3], answer[3:9], nil, answer[9:])
	ctx := within(t)
	var s sink
	c, err := Dial(ctx, Config{URL: url}, s.deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	connected := c.out.last()
	// The server answers nothing more: what counts is how the SUBSCRIBE is sent.
	go func() { _, _ = c.Subscribe(ctx, []Subscription{{Filter: strings.Repeat("x", 60_000)}}) }()
	until(t, func() bool { return len(s.all()) == 1 && c.out.last().After(connected) })
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	u := <-seen
	if r := u.request; r.URL.Path != "/some/path" || r.URL.RawQuery != "a=b" || r.Header.Get("Authorization") != "" || r.Header.Get("Sec-WebSocket-Protocol") != "mqtt" {
		t.Errorf("asked for %s with %v", r.URL, r.Header)
	}
	for _, n := range u.messages {
		if n > messageLimit {
			t.Errorf("a message of %d bytes", n)
		}
	}
	if !websocket.IsCloseError(u.end, websocket.CloseNormalClosure) {
		t.Errorf("the server saw the end as %v", u.end)
	}
	if b := u.stream.Bytes(); len(b) < 4 || !bytes.Equal(b[len(b)-4:], []byte{0xE0, 2, 0, 0}) {
		t.Error("the last packet is no DISCONNECT")
	}
}

func TestATextMessageIsAProtocolError(t *testing.T) {
	url, _ := webSocketServer(t, websocket.TextMessage, connack(0))
	_, err := Dial(within(t), Config{URL: url}, new(sink).deliver, inventory.Replay)
	wantFailure(t, err, StageProtocol, "WebSocket message: it is not binary")
}

func TestAServerThatClosesTheWebSocketIsTheEndOfTheStream(t *testing.T) {
	var upgrader websocket.Upgrader
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, _, _ = c.ReadMessage()
		_ = c.WriteMessage(websocket.BinaryMessage, connack(0))
		_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "later\x1b"))
		_, _, _ = c.ReadMessage()
	}))
	t.Cleanup(server.Close)
	c, err := Dial(within(t), Config{URL: "ws://" + strings.TrimPrefix(server.URL, "http://")}, new(sink).deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if !errors.Is(c.Err(), io.EOF) {
		t.Errorf("Err = %v", c.Err())
	}
	oneClearError(t, c.Err())
}

func TestAServerWithOldTLSAloneIsNamed(t *testing.T) {
	leaf := newAuthority(t, "a").issue(nil)
	address := serve(t, func(nc net.Conn) {
		_ = tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{leaf.pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).Handshake()
	})
	wantFailure(t, dialFails(t, Config{URL: "mqtts://" + address, Insecure: true}), StageTLS, "TLS 1.2 is the oldest")
}

func TestAlertsAreRecognisedByWhatTheySay(t *testing.T) {
	for code := range 256 {
		alert := tls.AlertError(code)
		got, ok := alertOf(fmt.Errorf("read: %w", &net.OpError{Op: "remote error", Err: alert}))
		if !ok || got.Error() != alert.Error() {
			t.Errorf("alert %d: %v, %t", code, got, ok)
		}
	}
	if _, ok := alertOf(&net.OpError{Op: "read", Err: io.EOF}); ok {
		t.Error("an end is taken for an alert")
	}
	if alertText(io.EOF) != "" {
		t.Error("an end has the text of an alert")
	}
}

// until waits for a condition outside a bubble.
func until(t *testing.T, met func() bool) {
	t.Helper()
	ctx := within(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it did not come to that")
		}
	}
}
