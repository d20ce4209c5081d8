package broker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.golang/packets"
)

// arrived is a PUBLISH as it came to the broker in memory.
type arrived struct {
	at             time.Time
	conn           int // number of the connection, from 1
	topic, payload string
	qos            byte
	retain         bool
	expiry         int // -1 without
	contentType    string
}

func (a arrived) String() string { return a.topic + "=" + a.payload }

// keeper is a broker in memory that keeps what is retained and lets it expire. It answers as the fields say, which may be
// set before the first connection, or through with.
type keeper struct {
	t        testing.TB
	incoming chan *wire
	over     chan struct{}
	running  sync.WaitGroup

	mu       sync.Mutex
	got      []arrived
	conns    []*wire
	connects [][]byte // bodies of the CONNECT packets
	clean    int      // connections that ended with DISCONNECT 0
	store    map[string]kept5
	lapsed   []string // what ran out before it was repeated
	most     int      // most PUBLISH at QoS 1 that were unacknowledged at once
	flying   int

	connack   [][]byte                           // properties
	refuse    byte                               // reason code of the CONNACK
	roundTrip time.Duration                      // before a PUBACK
	code      func(arrived) byte                 // of the PUBACK
	mute      func(arrived) bool                 // no PUBACK
	before    func(a arrived, n int) (drop bool) // called with each PUBLISH of a connection and its number; drop ends the connection unanswered
}

// kept5 is a retained message with its end.
type kept5 struct {
	payload string
	end     time.Time // zero: never
}

func newKeeper(t testing.TB) *keeper {
	return &keeper{t: t, incoming: make(chan *wire), over: make(chan struct{}), store: make(map[string]kept5)}
}

// config returns a Config whose connections end at the broker.
func (k *keeper) config() Config {
	k.running.Add(1)
	go k.accept()
	return Config{URL: "mqtt://memory.test:1883", KeepAlive: time.Hour, wire: func(ctx context.Context) (net.Conn, error) {
		client, server := newPair(1 << 20)
		select {
		case k.incoming <- &wire{memConn: server, client: client, t: k.t, r: bufio.NewReader(server)}:
			return client, nil
		case <-k.over:
			return nil, errors.New("connection refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

func (k *keeper) with(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// end takes no more connections and waits for those there are.
func (k *keeper) end() {
	close(k.over)
	k.with(func() {
		for _, w := range k.conns {
			_ = w.Close()
		}
	})
	k.running.Wait()
}

// cut breaks the present connection.
func (k *keeper) cut() {
	k.mu.Lock()
	w := k.conns[len(k.conns)-1]
	k.mu.Unlock()
	w.reset()
}

func (k *keeper) accept() {
	defer k.running.Done()
	for {
		select {
		case w := <-k.incoming:
			k.running.Add(1)
			go k.serve(w)
		case <-k.over:
			return
		}
	}
}

func (k *keeper) serve(w *wire) {
	defer k.running.Done()
	defer func() { _ = w.Close() }()
	first, body, err := w.next()
	if err != nil || first>>4 != typeConnect {
		return
	}
	k.mu.Lock()
	k.conns = append(k.conns, w)
	k.connects = append(k.connects, body)
	number, answer := len(k.conns), connack(k.refuse, k.connack...)
	k.mu.Unlock()
	_, _ = w.Write(answer)
	due := make(chan ackDue, 1<<16)
	k.running.Add(1)
	go k.answer(w, due)
	defer close(due)
	for n := 1; ; n++ {
		first, body, err := w.next()
		if err != nil {
			return
		}
		switch first >> 4 {
		case typePingreq:
			_, _ = w.Write(pingresp())
		case typeDisconnect:
			k.with(func() {
				if len(body) == 0 || body[0] == 0 {
					k.clean++
				}
			})
			return
		case typePublish:
			if !k.publish(w, first, body, number, n, due) {
				return
			}
		}
	}
}

// ackDue is a PUBACK to be sent.
type ackDue struct {
	at     time.Time
	packet []byte
}

// answer sends every PUBACK when it is due, in order.
func (k *keeper) answer(w *wire, due chan ackDue) {
	defer k.running.Done()
	for a := range due {
		if wait := time.Until(a.at); wait > 0 {
			<-time.After(wait)
		}
		k.with(func() { k.flying-- })
		_, _ = w.Write(a.packet)
	}
}

// publish keeps a PUBLISH and answers it. It returns false when the connection is to end.
func (k *keeper) publish(w *wire, first byte, body []byte, conn, n int, due chan ackDue) bool {
	a, id := parsePublish(k.t, first, body)
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	a.at, a.conn = now, conn
	if k.before != nil && k.before(a, n) {
		w.reset()
		return false
	}
	k.got = append(k.got, a)
	code := byte(0)
	if k.code != nil {
		code = k.code(a)
	}
	if a.retain && code < 0x80 {
		k.keep(a, now)
	}
	if a.qos > 0 && (k.mute == nil || !k.mute(a)) {
		k.flying++
		k.most = max(k.most, k.flying)
		packet := control(typePuback<<4, binary.BigEndian.AppendUint16(nil, id))
		if code != 0 {
			packet = control(typePuback<<4, binary.BigEndian.AppendUint16(nil, id), []byte{code}, properties(propReason("no\x1b")))
		}
		due <- ackDue{now.Add(k.roundTrip), packet}
	}
	return true
}

// keep puts a into the store.
func (k *keeper) keep(a arrived, now time.Time) {
	if old, ok := k.store[a.topic]; ok && !old.end.IsZero() && now.After(old.end) {
		k.lapsed = append(k.lapsed, a.topic)
	}
	delete(k.store, a.topic)
	if a.payload == "" {
		return
	}
	s := kept5{payload: a.payload}
	if a.expiry >= 0 {
		s.end = now.Add(time.Duration(a.expiry) * time.Second)
	}
	k.store[a.topic] = s
}

func parsePublish(t testing.TB, first byte, body []byte) (arrived, uint16) {
	p, err := packets.ReadPacket(bytes.NewReader(control(first, body)))
	if err != nil {
		t.Errorf("the publisher sent what is no PUBLISH: %v", err)
		return arrived{}, 0
	}
	v := p.Content.(*packets.Publish)
	a := arrived{topic: v.Topic, payload: string(v.Payload), qos: v.QoS, retain: v.Retain, expiry: -1, contentType: v.Properties.ContentType}
	if e := v.Properties.MessageExpiry; e != nil {
		a.expiry = int(*e)
	}
	if v.Duplicate {
		t.Errorf("%s was sent as a duplicate", v.Topic)
	}
	return a, v.PacketID
}

// took returns what came so far, as topic=payload.
func (k *keeper) took() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]string, 0, len(k.got))
	for _, a := range k.got {
		all = append(all, a.String())
	}
	return all
}

// forget forgets what came so far.
func (k *keeper) forget() { k.with(func() { k.got = nil }) }

// alive returns what has not run out, sorted.
func (k *keeper) alive() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for topic, s := range k.store {
		if s.end.IsZero() || time.Now().Before(s.end) {
			all = append(all, topic+"="+s.payload)
		}
	}
	slices.Sort(all)
	return all
}

// notes is a log that a test reads.
type notes struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notes) logger() *slog.Logger { return slog.New(slog.NewTextHandler(n, nil)) }

// count returns how many lines hold text.
func (n *notes) count(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines := 0
	for line := range strings.Lines(n.b.String()) {
		if strings.Contains(line, text) {
			lines++
		}
	}
	return lines
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}

// wait lets the bubble's time pass.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func started(t testing.TB, cfg PublisherConfig) *Publisher {
	t.Helper()
	p, err := StartPublisher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func halt(t testing.TB, p *Publisher) {
	t.Helper()
	if err := p.Stop(within(t)); err != nil {
		t.Errorf("Stop = %v", err)
	}
}

// say publishes a retained message at QoS 1.
func say(t testing.TB, p *Publisher, topic, payload string) {
	t.Helper()
	out, err := p.Publish(within(t), Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: true})
	if err != nil || !out.Handed || !out.Answered || out.Refused() {
		t.Fatalf("publish %s: %+v, %v", topic, out, err)
	}
}

// inMemory runs f in a bubble with a publisher at a broker in memory, connected.
func inMemory(t *testing.T, change func(*PublisherConfig, *keeper), f func(t *testing.T, p *Publisher, k *keeper, n *notes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k, n := newKeeper(t), &notes{}
		cfg := PublisherConfig{Config: k.config(), Interval: 30}
		cfg.Logger = n.logger()
		if change != nil {
			change(&cfg, k)
		}
		p := started(t, cfg)
		synctest.Wait()
		f(t, p, k, n)
		halt(t, p)
		k.end()
		if t.Failed() {
			t.Log(n)
		}
	})
}

var _ io.Writer = (*notes)(nil)

func numbered(format string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return all
}
