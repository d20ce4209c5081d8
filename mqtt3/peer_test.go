package mqtt3

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
)

// peer is the server's end of one connection, driven by a test.
type peer struct {
	t testing.TB
	net.Conn
	r *bufio.Reader
}

// listen returns an address whose connections are given to serve, each on a goroutine of its own. All have ended when
// the test has.
func listen(t testing.TB, serve func(p *peer)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer func() { _ = nc.Close() }()
				serve(&peer{t: t, Conn: nc, r: bufio.NewReader(nc)})
			})
		}
	})
	return "mqtt://" + l.Addr().String()
}

// next returns the next packet of the client whole, nil when there is none any more.
func (p *peer) next() []byte {
	first, err := p.r.ReadByte()
	if err != nil {
		return nil
	}
	n, err := binary.ReadUvarint(p.r)
	if err != nil {
		return nil
	}
	rest := make([]byte, n)
	if _, err := io.ReadFull(p.r, rest); err != nil {
		return nil
	}
	return append(binary.AppendUvarint([]byte{first}, n), rest...)
}

// say sends packets.
func (p *peer) say(packets ...[]byte) {
	_, _ = p.Write(slices.Concat(packets...))
}

// welcome takes the CONNECT, accepts it and returns it.
func (p *peer) welcome() []byte {
	connect := p.next()
	p.say([]byte{0x20, 2, 0, 0})
	return connect
}

// granted answers a SUBSCRIBE with codes, QoS 0 for each filter where there are none.
func (p *peer) granted(subscribe []byte, codes ...byte) {
	id, n := subscribed(subscribe)
	if len(codes) == 0 {
		codes = make([]byte, n)
	}
	p.say(packet(0x90, binary.BigEndian.AppendUint16(nil, id), codes))
}

// drain reads until the client has gone, answers what asks for an answer, and returns what came.
func (p *peer) drain() (came [][]byte) {
	for b := p.next(); b != nil; b = p.next() {
		came = append(came, b)
		switch b[0] >> 4 {
		case 8:
			p.granted(b)
		case 10:
			p.say(packet(0xB0, body(b)[:2]))
		case 12:
			p.say([]byte{0xD0, 0})
		}
	}
	return came
}

// packet returns a packet of parts.
func packet(first byte, parts ...[]byte) []byte {
	b := slices.Concat(parts...)
	return append(binary.AppendUvarint([]byte{first}, uint64(len(b))), b...)
}

// text returns s with its length in front.
func text(s string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
}

// publication returns a PUBLISH; id counts above QoS 0 only.
func publication(topic, payload string, qos byte, retain bool, id uint16) []byte {
	first := byte(0x30) | qos<<1
	if retain {
		first |= 1
	}
	var n []byte
	if qos > 0 {
		n = binary.BigEndian.AppendUint16(nil, id)
	}
	return packet(first, text(topic), n, []byte(payload))
}

// sink keeps what is delivered.
type sink struct {
	mu  sync.Mutex
	got []inventory.Publication
}

func (s *sink) take(batch []inventory.Publication) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range batch {
		p.Topic, p.Payload = slices.Clone(p.Topic), slices.Clone(p.Payload)
		s.got = append(s.got, p)
	}
}

func (s *sink) all() []inventory.Publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// hang is how long is waited for what a slow machine may take its time for: longer means that it never comes.
const hang = 2 * time.Minute

func nothing([]inventory.Publication) {}

// settings returns a Config that speaks 3.1.1.
func settings(url string) broker.Config {
	return broker.Config{URL: url, Version: Version{}, Timeout: hang}
}

// within returns a context for what ends by itself.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	t.Cleanup(cancel)
	return ctx
}

// dial connects and closes with the test.
func dial(t testing.TB, cfg broker.Config, deliver broker.Deliver, origin inventory.Origin) *broker.Conn {
	t.Helper()
	c, err := broker.Dial(within(t), cfg, deliver, origin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(within(t)) })
	return c
}

// waitFor waits until f holds.
func waitFor(t testing.TB, f func() bool) {
	t.Helper()
	limit := time.After(hang)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-limit:
			t.Fatal("it did not come to pass")
		case <-tick.C:
		}
	}
}

// ended waits for the end of a connection and returns why it ended.
func ended(t testing.TB, c *broker.Conn) error {
	t.Helper()
	select {
	case <-c.Done():
		return c.Err()
	case <-time.After(hang):
		t.Fatal("the connection still stands")
		return nil
	}
}

// logger writes into b.
func logger(b *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(b, nil))
}

// through returns an address that leads to another one, and what cuts every connection over it for good.
func through(t testing.TB, address string) (road string, cut func()) {
	t.Helper()
	over := make(chan struct{})
	return listen(t, func(p *peer) {
		select {
		case <-over:
			return
		default:
		}
		there, err := net.Dial("tcp", strings.TrimPrefix(address, "mqtt://"))
		if err != nil {
			t.Error(err)
			return
		}
		ended := make(chan struct{}, 2)
		go func() { _, _ = io.Copy(there, p); ended <- struct{}{} }()
		go func() { _, _ = io.Copy(p, there); ended <- struct{}{} }()
		select {
		case <-over:
		case <-ended:
		}
		_ = there.Close()
		_ = p.Close()
		<-ended
	}), sync.OnceFunc(func() { close(over) })
}
