package broker

// MQTT over WebSocket: a stream of bytes in binary messages.
// Message bounds mean nothing to MQTT; only their size matters, to brokers that stall on large ones.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"
)

// messageLimit is the largest message that we send. One broker in wide use stalls for ever on 60 kB.
const messageLimit = 16 << 10

// webSocket is a stream over the messages of a WebSocket. One goroutine may read and one write at a time.
type webSocket struct {
	*websocket.Conn
	message io.Reader // the message being read, nil between two
}

// refusedUpgrade is what an HTTP server answered that does not switch to WebSocket.
type refusedUpgrade struct{ status int }

func (e *refusedUpgrade) Error() string {
	return fmt.Sprintf("HTTP status %d %s", e.status, http.StatusText(e.status))
}

// startWebSocket asks for the upgrade over what t is so far.
//
// Source: MQTT 5, 6.
func (t *transport) startWebSocket(ctx context.Context, a address) error {
	below := t.Conn
	use := func(context.Context, string, string) (net.Conn, error) { return below, nil }
	d := websocket.Dialer{
		NetDialContext: use, NetDialTLSContext: use, Subprotocols: []string{"mqtt"},
		ReadBufferSize: socketBuffer, WriteBufferSize: messageLimit + 16,
	}
	c, answer, err := d.DialContext(ctx, a.request, nil)
	if answer != nil {
		_ = answer.Body.Close() // what there is of it has been read already
	}
	if err != nil {
		if errors.Is(err, websocket.ErrBadHandshake) && answer != nil {
			return &refusedUpgrade{answer.StatusCode}
		}
		return err
	}
	t.Conn = &webSocket{Conn: c}
	t.closeWrite = func() error {
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		return c.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second))
	}
	return nil
}

// Read returns the next bytes of the stream, and io.EOF when the server has closed it.
func (w *webSocket) Read(p []byte) (int, error) {
	for {
		if w.message == nil {
			kind, r, err := w.NextReader()
			if err != nil {
				var closed *websocket.CloseError
				if errors.As(err, &closed) {
					return 0, io.EOF
				}
				return 0, err
			}
			if kind != websocket.BinaryMessage { // [MQTT-6.0.0-1]
				return 0, &ProtocolError{Code: 0x82, Packet: "WebSocket message", What: "it is not binary"}
			}
			w.message = r
		}
		n, err := w.message.Read(p)
		if errors.Is(err, io.EOF) {
			w.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Write sends p in messages of at most messageLimit bytes.
func (w *webSocket) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n := min(len(p), messageLimit)
		if err := w.WriteMessage(websocket.BinaryMessage, p[:n]); err != nil {
			return written, err
		}
		p, written = p[n:], written+n
	}
	return written, nil
}

// SetDeadline sets both deadlines.
func (w *webSocket) SetDeadline(t time.Time) error {
	return errors.Join(w.SetReadDeadline(t), w.SetWriteDeadline(t))
}
