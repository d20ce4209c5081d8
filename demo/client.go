package demo

// A publisher of one connection: connect, publish at QoS 1 and wait for the acknowledgement.
// It is used by one goroutine and ends with its context.

import (
	"bufio"
	"context"
	"fmt"
	"net"
)

type client struct {
	conn   net.Conn
	in     *bufio.Reader
	level  byte
	window int // publishes that may be unacknowledged at once
	nextID uint16
	open   map[uint16]string // topics waiting for their PUBACK
	stop   func() bool
	// heard takes a PUBLISH that comes in; nil drops it.
	heard func(topic string, payload []byte)
}

// connect is connectAs without a login.
func connect(ctx context.Context, addr string, level byte, clientID string) (*client, error) {
	return connectAs(ctx, addr, level, clientID, Login{})
}

// connectAs dials addr (host:port) and waits for the CONNACK. When ctx ends the connection is closed under whoever uses
// it.
func connectAs(ctx context.Context, addr string, level byte, clientID string, who Login) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	c := &client{conn: conn, in: bufio.NewReader(conn), level: level, open: map[uint16]string{}}
	c.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	if _, err := conn.Write(connectPacket(level, clientID, who)); err != nil {
		c.drop()
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	p, err := readPacket(c.in)
	if err == nil {
		var code byte
		if code, c.window, err = p.connack(level); err == nil && code != 0 {
			err = refused(code, who)
		}
	}
	if err != nil {
		c.drop()
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	// A small window keeps both sides busy on loopback; more only fills buffers.
	c.window = max(1, min(c.window, 32))
	return c, nil
}

// refused names the codes that a login meets, and the login. Source: MQTT 5, 2.4.
func refused(code byte, who Login) error {
	login := "an anonymous connection"
	if who.User != "" {
		login = fmt.Sprintf("the user %q or the password", who.User)
	}
	switch code {
	case 0x86:
		return fmt.Errorf("refused %s: Bad User Name or Password (0x%02X)", login, code)
	case 0x87:
		return fmt.Errorf("refused %s: Not authorized (0x%02X)", login, code)
	}
	return fmt.Errorf("refused the connection (0x%02X)", code)
}

func (c *client) drop() {
	c.stop()
	_ = c.conn.Close()
}

// close says DISCONNECT, so that nothing is published on our behalf, and closes.
func (c *client) close() {
	_, _ = c.conn.Write(disconnectPacket())
	c.drop()
}

// send hands m to the connection and returns at once when the window has room, else after the next acknowledgement.
func (c *client) send(m outgoing) error {
	for len(c.open) >= c.window {
		if err := c.take(); err != nil {
			return err
		}
	}
	c.nextID++
	if c.nextID == 0 {
		c.nextID = 1
	}
	c.open[c.nextID] = m.topic
	if _, err := c.conn.Write(publishPacket(c.level, c.nextID, m)); err != nil {
		return fmt.Errorf("publish %q: %w", m.topic, err)
	}
	return nil
}

// settle waits until every publish was acknowledged.
func (c *client) settle() error {
	for len(c.open) > 0 {
		if err := c.take(); err != nil {
			return err
		}
	}
	return nil
}

// publish is send and settle.
func (c *client) publish(m outgoing) error {
	if err := c.send(m); err != nil {
		return err
	}
	return c.settle()
}

// take reads one packet and does what it asks for.
func (c *client) take() error {
	p, err := readPacket(c.in)
	if err != nil {
		return fmt.Errorf("read from the broker: %w", err)
	}
	switch p.kind() {
	case typePuback:
		id, code, err := p.puback()
		if err != nil {
			return err
		}
		topic := c.open[id]
		delete(c.open, id)
		if code >= 0x80 {
			return fmt.Errorf("publish %q: refused with 0x%02X", topic, code)
		}
	case typePublish:
		topic, payload, err := p.publish(c.level)
		if err != nil {
			return err
		}
		if c.heard != nil {
			c.heard(topic, payload)
		}
	case typeDisconnect:
		code := byte(0)
		if len(p.body) > 0 {
			code = p.body[0]
		}
		return fmt.Errorf("the broker ended the connection with 0x%02x", code)
	}
	return nil
}

// subscribe asks for one exact topic at QoS 0; what comes goes to heard. Source: MQTT 5, 3.9.
func (c *client) subscribe(topic string) error {
	if _, err := c.conn.Write(subscribePacket(c.level, 1, topic)); err != nil {
		return fmt.Errorf("subscribe %q: %w", topic, err)
	}
	for {
		p, err := readPacket(c.in)
		if err != nil {
			return fmt.Errorf("subscribe %q: %w", topic, err)
		}
		if p.kind() != typeSuback {
			continue // a copy may come before the SUBACK; this writer does not need it
		}
		if len(p.body) == 0 {
			return errTruncated
		}
		if code := p.body[len(p.body)-1]; code >= 0x80 {
			return fmt.Errorf("subscribe %q: refused with 0x%02x", topic, code)
		}
		return nil
	}
}
