package actions

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// wire is an Observer and a Sender on a socket, just enough of MQTT 5 to try the steps on a real broker.
type wire struct {
	addr         string
	user, secret string
	mu           sync.Mutex
	made         int
	published    int // PUBLISH packets of every sender
}

type wireConn struct {
	net.Conn
	id      string
	mu      sync.Mutex
	seen    []inventory.Publication
	came    chan struct{}
	answers chan []byte // every other packet: its first byte and its body
	ended   chan struct{}
}

func str(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func packetOf(first byte, body []byte) []byte {
	return append(appendLength([]byte{first}, len(body)), body...)
}

func (w *wire) dial(ctx context.Context, role string) (*wireConn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", w.addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.made++
	conn := &wireConn{Conn: c, id: fmt.Sprintf("%s-%d", role, w.made), came: make(chan struct{}, 1), answers: make(chan []byte, 16), ended: make(chan struct{})}
	w.mu.Unlock()
	flags := byte(0x02)
	if w.user != "" {
		flags |= 0xC0
	}
	body := append(str(nil, "MQTT"), 5, flags, 0, 60, 0)
	body = str(body, conn.id)
	if w.user != "" {
		body = str(str(body, w.user), w.secret)
	}
	if _, err := c.Write(packetOf(0x10, body)); err != nil {
		return nil, err
	}
	go conn.read()
	ack, err := conn.answer(ctx)
	if err != nil || ack[0] != 0x20 || ack[2] != 0 {
		_ = c.Close()
		return nil, fmt.Errorf("connect: %x %w", ack, err)
	}
	return conn, nil
}

func (c *wireConn) read() {
	defer close(c.ended)
	r := bufio.NewReader(c.Conn)
	for {
		first, err := r.ReadByte()
		if err != nil {
			return
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		if first>>4 != 3 {
			c.answers <- append([]byte{first}, body...)
			continue
		}
		f, topic, props, payload, err := readPublish(packetOf(first, body))
		if err != nil {
			return
		}
		if f.QoS == 1 {
			_, _ = c.Write([]byte{0x40, 2, byte(f.ID >> 8), byte(f.ID)})
		}
		p := inventory.Publication{Topic: topic, Payload: payload, Interval: expiry.None(), QoS: f.QoS, Retain: f.Retain, ReceivedAt: time.Now().UnixMilli()}
		p.Interval, p.Properties = splitExpiry(props)
		c.mu.Lock()
		c.seen = append(c.seen, p)
		c.mu.Unlock()
		select {
		case c.came <- struct{}{}:
		default:
		}
	}
}

// splitExpiry takes the interval out; mosquitto writes the rest in its own order.
func splitExpiry(p inventory.Properties) (expiry.Interval, inventory.Properties) {
	for i := 0; i < len(p); {
		var n int
		switch p[i] {
		case 0x01:
			n = 2
		case 0x02:
			s := binary.BigEndian.Uint32(p[i+1:])
			return expiry.Seconds(s), append(append(inventory.Properties{}, p[:i]...), p[i+5:]...)
		case 0x03, 0x08, 0x09:
			n = 3 + int(binary.BigEndian.Uint16(p[i+1:]))
		case 0x26:
			n = 3 + int(binary.BigEndian.Uint16(p[i+1:]))
			n += 2 + int(binary.BigEndian.Uint16(p[i+n:]))
		default:
			return expiry.None(), p
		}
		i += n
	}
	return expiry.None(), p
}

func (c *wireConn) answer(ctx context.Context) ([]byte, error) {
	select {
	case a := <-c.answers:
		return a, nil
	case <-c.ended:
		return nil, errors.New("the connection ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *wireConn) subscribe(ctx context.Context, filters [][]byte, options byte) ([]inventory.Grant, error) {
	body := []byte{0, 9, 0}
	for _, f := range filters {
		body = append(str(body, string(f)), options)
	}
	if _, err := c.Write(packetOf(0x82, body)); err != nil {
		return nil, err
	}
	a, err := c.answer(ctx)
	if err != nil {
		return nil, err
	}
	var grants []inventory.Grant
	for i, f := range filters {
		grants = append(grants, inventory.Grant{Filter: string(f), Code: a[len(a)-len(filters)+i]})
	}
	return grants, nil
}

func (c *wireConn) Fence(ctx context.Context) error {
	if _, err := c.Write([]byte{0xC0, 0}); err != nil {
		return err
	}
	_, err := c.answer(ctx)
	return err
}

func (c *wireConn) replays() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, p := range c.seen {
		if p.Retain {
			n++
		}
	}
	return n
}

func (w *wire) Observe(ctx context.Context, q Question) (Observation, error) {
	o := Observation{User: w.user, From: time.Now()}
	c, err := w.dial(ctx, "observer")
	if err != nil {
		return o, err
	}
	defer func() { _ = c.Close() }()
	o.ClientID = c.id
	if o.Grants, err = c.subscribe(ctx, q.Filters, q.QoS); err != nil {
		return o, err
	}
	if err := c.Fence(ctx); err != nil {
		return o, err
	}
	o.Fenced = true
	for before := -1; ; {
		now := c.replays()
		if now == before {
			break
		}
		before = now
		quiet := time.NewTimer(q.Quiet)
		select {
		case <-quiet.C:
		case <-ctx.Done():
			return o, ctx.Err()
		}
		o.Quiet = q.Quiet
	}
	o.To = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	o.Seen = c.seen
	for i := range o.Seen {
		o.Seen[i].QoSKnown = q.QoS > 0
	}
	return o, nil
}

type wireWitness struct {
	*wireConn
	about Observation
}

func (w *wire) Watch(ctx context.Context, filters [][]byte, replay bool) (Witness, error) {
	c, err := w.dial(ctx, "witness")
	if err != nil {
		return nil, err
	}
	options := byte(0x28) // Retain As Published 1, Retain Handling 2
	if replay {
		options = 0x08
	}
	grants, err := c.subscribe(ctx, filters, options)
	return &wireWitness{c, Observation{ClientID: c.id, User: w.user, Grants: grants, From: time.Now()}}, err
}

func (w *wireWitness) About() Observation { return w.about }

func (w *wireWitness) Drain() []inventory.Publication {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen
	w.seen = nil
	return s
}

func (w *wireWitness) Next(ctx context.Context) (inventory.Publication, error) {
	for {
		w.mu.Lock()
		if len(w.seen) > 0 {
			p := w.seen[0]
			w.seen = w.seen[1:]
			w.mu.Unlock()
			return p, nil
		}
		w.mu.Unlock()
		select {
		case <-w.came:
		case <-w.ended:
			return inventory.Publication{}, errors.New("the connection ended")
		case <-ctx.Done():
			return inventory.Publication{}, ctx.Err()
		}
	}
}

func (w *wireWitness) Err() error {
	select {
	case <-w.ended:
		return errors.New("the connection ended")
	default:
		return nil
	}
}

func (w *wire) Send(ctx context.Context, o Outgoing, ready func() error) (Receipt, error) {
	c, err := w.dial(ctx, "sender")
	if err != nil {
		return Receipt{}, err
	}
	defer func() { _ = c.Close() }()
	r := Receipt{ClientID: c.id, User: w.user, SentAt: time.Now()}
	packet := encodePublish(o, 21)
	if _, err := o.Check(packet); err != nil {
		return r, err
	}
	if err := ready(); err != nil {
		return r, err
	}
	r.Packet, r.Publishes = packet, 1
	w.mu.Lock()
	w.published++
	w.mu.Unlock()
	if _, err := c.Write(packet); err != nil || o.QoS() == 0 {
		return r, err
	}
	a, err := c.answer(ctx)
	if err != nil {
		return r, err
	}
	if a[0]>>4 == 14 {
		r.Disconnected, r.DisconnectCode = true, a[1]
		return r, nil
	}
	r.Answered, r.AnswerID, r.AnsweredAt = true, binary.BigEndian.Uint16(a[1:]), time.Now()
	if len(a) > 3 {
		r.Code = a[3]
	}
	return r, nil
}

// put publishes a fixture as any client would.
func (w *wire) put(ctx context.Context, p inventory.Publication) error {
	c, err := w.dial(ctx, "writer")
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	packet := encodePublish(Outgoing{topic: p.Topic, payload: p.Payload, properties: p.Properties, interval: p.Interval, qos: p.QoS}, 3)
	if !p.Retain {
		packet[0] &^= 1
	}
	if _, err := c.Write(packet); err != nil {
		return err
	}
	if p.QoS == 0 {
		if _, err := c.Write([]byte{0xC0, 0}); err != nil {
			return err
		}
	}
	_, err = c.answer(ctx)
	return err
}
