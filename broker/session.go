package broker

// What a connection leaves to the library that speaks MQTT over it: handshake, subscriptions, acknowledgements.
// MQTT 5 is spoken in this room, see mqtt5.go. Another version lives in a room of its own and comes in through Config.

import (
	"context"
	"net"
	"time"

	"retainscope/inventory"
)

// Version is a version of MQTT.
type Version interface {
	// String returns the version as people write it, for instance "3.1.1".
	String() string
	// Limited reports whether packets of this version have no properties, subscriptions no options and acknowledgements
	// no reason: then no expiry is seen or sent, a live publication does not tell whether it was retained, every
	// subscription brings retained copies, and a refused publication looks like a taken one.
	Limited() bool
	// Open returns a session over w. Nothing is sent before its Connect.
	Open(w *Wire, h Hello) Session
}

// Hello is what a client says of itself in its CONNECT.
type Hello struct {
	ClientID  string
	User      string // empty for none
	Password  Secret // empty for none
	KeepAlive time.Duration
	// Will is the last will of a limited version, nil for none. That of MQTT 5 is written into the packet on its way, see
	// withWill.
	Will *Message
}

// Session speaks one version of MQTT over one Wire, for one connection.
type Session interface {
	// Publish fills p from the PUBLISH with the given first byte and body, but for ReceivedAt, Origin and QoSKnown.
	// Slices are borrowed from body, or from scratch, which is returned with what was appended to it. An error is a
	// *ProtocolError and ends the connection. It is called on the goroutine that decodes.
	Publish(first byte, body, scratch []byte, p *inventory.Publication) ([]byte, error)
	// Control returns what is wrong with a whole packet other than PUBLISH before the library sees it; opened tells
	// whether the CONNACK has passed. An error ends the connection. It is called on the goroutine that decodes.
	Control(first byte, body []byte, opened bool) error
	// Connect sends CONNECT and waits for CONNACK, for as long as the wire stands. A refusal is a *Refusal.
	Connect(ctx context.Context) (ServerInfo, error)
	// Subscribe sends one SUBSCRIBE and returns the codes of its SUBACK in the order of subs, 0x80 and above for a
	// refusal; fewer or more where the SUBACK did not fit. Without a SUBACK it returns nil and an error.
	Subscribe(ctx context.Context, subs []Subscription) ([]byte, error)
	// Unsubscribe sends one UNSUBSCRIBE and returns the codes of its UNSUBACK, none where the version has none. Without
	// an UNSUBACK it returns an error.
	Unsubscribe(ctx context.Context, filters []string) ([]byte, error)
	// Disconnect sends DISCONNECT, closes the wire and returns when every goroutine of the session has ended.
	Disconnect() error
	// Done is closed when the wire has ended after a successful Connect, and every goroutine of the session as well.
	Done() <-chan struct{}
}

// Refusal says that the server answered CONNECT and refused.
type Refusal struct {
	Code      byte   // reason code as MQTT 5 has it
	Reason    string // the server's own words, as received
	Reference string // the server it names instead, as received
}

// Error returns the reason code with its name.
func (r *Refusal) Error() string { return reasonText(r.Code) }

// Wire is the library's end of a connection: what is left of the stream without publications of QoS 0 comes in, whole
// packets go out, each in one Write. It has no deadlines of its own: every packet that goes out has one, and Close of
// the connection ends a Read.
type Wire struct{ c *Conn }

// Read returns what the library is to see of the stream, and io.EOF when that has ended.
func (w *Wire) Read(p []byte) (int, error) { return w.c.rest.Read(p) }

// Write sends p, one whole packet.
func (w *Wire) Write(p []byte) (int, error) {
	w.c.out.Lock()
	defer w.c.out.Unlock()
	return w.c.out.Write(p)
}

// Close ends the connection. After a DISCONNECT it closes our direction first and waits, for a second at most, until the
// server has closed its own.
func (w *Wire) Close() error {
	w.c.libraryClosed()
	return nil
}

// KeepAlive sends a PINGREQ where nothing was sent or received for the keep-alive. It returns nil when ctx has ended, and
// an error when the server has been silent for one and a half of it: the caller closes the wire then.
func (w *Wire) KeepAlive(ctx context.Context, keepAlive time.Duration) error {
	return w.c.pings.Run(ctx, nil, uint16(keepAlive/time.Second))
}

// LocalAddr returns the address of our end.
func (w *Wire) LocalAddr() net.Addr { return w.c.t.LocalAddr() }

// RemoteAddr returns the address of the server's end.
func (w *Wire) RemoteAddr() net.Addr { return w.c.t.RemoteAddr() }

// SetDeadline does nothing.
func (w *Wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (w *Wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (w *Wire) SetWriteDeadline(time.Time) error { return nil }
