package broker

// Filling a broker as fast as it takes it: retained PUBLISH of QoS 0 written raw over one connection, then a ping.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// rawClient is an MQTT 5 connection without a library, for what a library would be too slow or too strict for.
type rawClient struct {
	t  testing.TB
	nc net.Conn
	r  *bufio.Reader
	w  *bufio.Writer
}

func rawConnect(t testing.TB, url string) *rawClient { return rawConnectAs(t, url, "", "") }

// rawConnectAs connects with a login, where user is not empty.
func rawConnectAs(t testing.TB, url, user, password string) *rawClient {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "mqtt://"))
	if err != nil {
		t.Fatal(err)
	}
	c := &rawClient{t: t, nc: nc, r: bufio.NewReader(nc), w: bufio.NewWriterSize(nc, 64<<10)}
	t.Cleanup(func() { _ = nc.Close() })
	flags, login := byte(2), []byte(nil)
	if user != "" {
		flags, login = 0xC2, join(text(user), text(password))
	}
	c.write(control(typeConnect<<4, text("MQTT"), []byte{5, flags}, []byte{0, 0}, properties(), text(clientID("load")), login))
	c.flush()
	c.until(typeConnack)
	return c
}

func (c *rawClient) write(packet []byte) {
	if _, err := c.w.Write(packet); err != nil {
		c.t.Fatalf("write to the broker: %v", err)
	}
}

func (c *rawClient) flush() {
	if err := c.w.Flush(); err != nil {
		c.t.Fatalf("write to the broker: %v", err)
	}
}

// until reads packets until one of type want has come.
func (c *rawClient) until(want byte) {
	c.t.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(30 * time.Second))
	for {
		first, err := c.r.ReadByte()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", packetName(want), err)
		}
		n, err := binary.ReadUvarint(c.r)
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", packetName(want), err)
		}
		if _, err := io.CopyN(io.Discard, c.r, int64(n)); err != nil {
			c.t.Fatalf("waiting for %s: %v", packetName(want), err)
		}
		if first>>4 == want {
			return
		}
	}
}

// settle returns when the broker has taken everything written so far.
func (c *rawClient) settle() {
	c.t.Helper()
	c.write([]byte{typePingreq << 4, 0})
	c.flush()
	c.until(typePingresp)
}

// retain publishes one retained message.
func (c *rawClient) retain(topic, payload string, props ...[]byte) {
	c.write(publish(message{topic: topic, payload: payload, retain: true, props: join(props...)}))
}

// load stores n retained messages whose topics name returns, each with a payload of size bytes.
func load(t testing.TB, url string, n, size int, name func(i int) string) {
	t.Helper()
	c := rawConnect(t, url)
	payload := string(bytes.Repeat([]byte("x"), size))
	for i := range n {
		c.retain(name(i), payload)
		if i%5000 == 4999 {
			c.settle()
		}
	}
	c.settle()
	_ = c.nc.Close()
}
