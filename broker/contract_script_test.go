package broker

// A broker in memory that follows the standard, or leaves it in ways that real brokers were seen to.

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"retainscope/inventory"
)

// scriptBroker serves any number of connections. Its fields are set before the first one is made.
type scriptBroker struct {
	t      testing.TB
	server *wireServer
	stop   context.CancelFunc
	served sync.WaitGroup

	ackLast     bool                      // SUBACK comes after the copies
	earlyPing   bool                      // PINGRESP overtakes what is queued
	losePings   int                       // so many PINGRESP are dropped
	noWildcards bool                      // retained copies for exact filters only
	refuse      map[string]byte           // SUBACK codes of filters
	before      func(i int) []byte        // what is sent before copy i of a SUBSCRIBE, if anything
	pause       func(i int) time.Duration // before copy i
	queueLimit  int                       // copies of one SUBSCRIBE beyond it are dropped and counted; 0 has no limit
	limitFor    int                       // so many times # is asked for before queueLimit holds no longer; 0 for always
	version     string                    // told under $SYS
	hide        func(topic string) bool   // topics that the login may not read
	connack     [][]byte                  // properties of the CONNACK
	greeting    []byte                    // follows the CONNACK in the same write
	mostFilters int                       // in one SUBSCRIBE or UNSUBSCRIBE; more end the connection; 0 has no limit
	mostSubs    int                       // on one connection; more end it; 0 has no limit
	endsOver    func(filter string) bool  // filters that end the connection
	lastWord    []byte                    // is sent before the connection is ended over filters
	// onPublish may take a PUBLISH in place of the broker; it returns false where the broker does what it should. Called
	// without the lock.
	onPublish func(c *scriptClient, m message) bool

	mu      sync.Mutex
	store   map[string]stored
	order   []string
	placed  map[string]bool
	clients map[*scriptClient]struct{}
	dropped int
	history []string // filters of every SUBSCRIBE, a line each
	ended   []string // filters of every SUBSCRIBE and UNSUBSCRIBE that the connection was ended over, a line each
	taken   []message
	down    bool
	deaf    bool
	frozen  chan struct{} // while it is open nothing is written
}

type stored struct {
	message
	end time.Time // zero without an expiry
}

type scriptClient struct {
	w      *wire
	queue  chan queued
	mu     sync.Mutex
	subs   map[string]byte // filter and its options
	closed bool
}

type queued struct {
	packet []byte
	wait   time.Duration
}

// newScriptBroker returns a broker that serves until the test ends.
func newScriptBroker(t testing.TB) *scriptBroker {
	ctx, cancel := context.WithCancel(context.Background())
	b := &scriptBroker{t: t, version: "scripted 1.0", server: newWireServer(t), stop: cancel, store: map[string]stored{}, placed: map[string]bool{}, clients: map[*scriptClient]struct{}{}}
	b.served.Go(func() {
		for {
			select {
			case w := <-b.server.incoming:
				b.served.Go(func() { b.serve(w) })
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		b.cut(nil)
		b.served.Wait()
	})
	return b
}

func (b *scriptBroker) config() Config { return b.server.config() }

// cut ends every connection, with packet as the last word.
func (b *scriptBroker) cut(packet []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.clients {
		if packet != nil {
			c.w.send(packet)
		}
		_ = c.w.Close()
	}
}

// setDown has every further CONNECT refused, or accepted again.
func (b *scriptBroker) setDown(down bool) {
	b.mu.Lock()
	b.down = down
	b.mu.Unlock()
}

// freeze has the broker write nothing that is queued, or go on.
func (b *scriptBroker) freeze(frozen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if frozen {
		b.frozen = make(chan struct{})
		return
	}
	close(b.frozen)
	b.frozen = nil
}

func (b *scriptBroker) thawed() {
	b.mu.Lock()
	frozen := b.frozen
	b.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// deafen has every further CONNECT left without an answer.
func (b *scriptBroker) deafen(deaf bool) {
	b.mu.Lock()
	b.deaf = deaf
	b.mu.Unlock()
}

func (b *scriptBroker) serve(w *wire) {
	defer func() { _ = w.Close() }()
	if first, _, err := w.next(); err != nil || first>>4 != typeConnect {
		return
	}
	c := &scriptClient{w: w, queue: make(chan queued, 1<<16), subs: map[string]byte{}}
	b.mu.Lock()
	if b.down {
		b.mu.Unlock()
		_, _ = w.Write(connack(0x88))
		return
	}
	b.clients[c] = struct{}{}
	deaf, hello := b.deaf, join(connack(0, b.connack...), b.greeting)
	b.mu.Unlock()
	if !deaf {
		_, _ = w.Write(hello)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		for q := range c.queue {
			if q.wait > 0 {
				<-time.After(q.wait)
			}
			b.thawed()
			if _, err := w.Write(q.packet); err != nil {
				_ = w.Close()
			}
		}
	})
	defer func() {
		b.mu.Lock()
		delete(b.clients, c)
		b.mu.Unlock()
		c.mu.Lock()
		c.closed = true
		close(c.queue)
		c.mu.Unlock()
		_ = w.Close()
		writing.Wait()
	}()
	for {
		first, body, err := w.next()
		if err != nil {
			return
		}
		switch first >> 4 {
		case typePingreq:
			b.ping(c)
		case typeSubscribe:
			b.subscribe(c, body)
		case typeUnsubscribe:
			b.unsubscribe(c, body)
		case typePublish:
			b.take(c, first, body)
		case typeDisconnect:
			return
		}
	}
}

func (c *scriptClient) put(packet []byte, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.queue <- queued{packet, wait}
	}
}

func (b *scriptBroker) ping(c *scriptClient) {
	b.mu.Lock()
	lose := b.losePings > 0 && !c.readsSys()
	if lose {
		b.losePings--
	}
	b.mu.Unlock()
	switch {
	case lose:
	case b.earlyPing:
		_, _ = c.w.Write(pingresp())
	default:
		c.put(pingresp(), 0)
	}
}

func (c *scriptClient) readsSys() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.subs[sysAll]
	return ok
}

func (b *scriptBroker) subscribe(c *scriptClient, body []byte) {
	id, rest := binary.BigEndian.Uint16(body), body[2:]
	n, size := binary.Uvarint(rest)
	var codes []byte
	var filters []string
	for rest = rest[size+int(n):]; len(rest) > 0; {
		l := int(binary.BigEndian.Uint16(rest))
		filter, options := string(rest[2:2+l]), rest[2+l]
		rest = rest[3+l:]
		filters = append(filters, filter)
		b.mu.Lock()
		code, refused := b.refuse[filter]
		b.mu.Unlock()
		codes = append(codes, code)
		if refused {
			continue
		}
		codes[len(codes)-1] = options & 3
		c.mu.Lock()
		c.subs[filter] = options
		c.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.history = append(b.history, strings.Join(filters, " "))
	if b.over(c, filters) {
		return
	}
	ack := suback(id, codes...)
	if !b.ackLast {
		c.put(ack, 0)
	}
	sent := 0
	for _, filter := range filters {
		options, ok := c.subs[filter]
		if !ok || options>>4&3 == 2 {
			continue
		}
		if filter == "#" && b.limitFor > 0 {
			if b.limitFor--; b.limitFor == 0 {
				defer func() { b.queueLimit = 0 }()
			}
		}
		s := parseSlice(filter)
		topics := b.order
		if !s.hash && !hasAny(s) {
			topics = []string{filter}
		}
		for _, topic := range topics {
			m, held := b.store[topic]
			if !held || b.hide != nil && b.hide(topic) || !s.match(topicLevels(nil, []byte(topic))) || b.noWildcards && (s.hash || hasAny(s)) {
				continue
			}
			if !m.end.IsZero() {
				left := time.Until(m.end)
				if left <= 0 {
					delete(b.store, topic)
					continue
				}
				m.props = join(propExpiry(uint32((left+time.Second-1)/time.Second)), m.props)
			}
			if b.queueLimit > 0 && sent >= b.queueLimit {
				b.dropped++
				continue
			}
			var wait time.Duration
			if b.pause != nil && filter != sysAll {
				wait = b.pause(sent)
			}
			if b.before != nil {
				if extra := b.before(sent); extra != nil {
					c.put(extra, 0)
				}
			}
			m.retain = true
			if m.qos = min(m.qos, options&3); m.qos > 0 {
				m.id = uint16(sent + 1)
			}
			c.put(publish(m.message), wait)
			sent++
		}
	}
	if b.ackLast {
		c.put(ack, 0)
	}
}

// over ends the connection where the filters of one packet are more than the broker takes. The caller holds mu.
func (b *scriptBroker) over(c *scriptClient, filters []string) bool {
	c.mu.Lock()
	subs := len(c.subs)
	c.mu.Unlock()
	if !(b.mostFilters > 0 && len(filters) > b.mostFilters || b.mostSubs > 0 && subs > b.mostSubs ||
		b.endsOver != nil && slices.ContainsFunc(filters, b.endsOver)) {
		return false
	}
	b.ended = append(b.ended, strings.Join(filters, " "))
	if b.lastWord != nil {
		_, _ = c.w.Write(b.lastWord)
	}
	_ = c.w.Close()
	return true
}

func (b *scriptBroker) unsubscribe(c *scriptClient, body []byte) {
	n, size := binary.Uvarint(body[2:])
	var codes []byte
	var filters []string
	c.mu.Lock()
	for rest := body[2+size+int(n):]; len(rest) > 0; {
		l := int(binary.BigEndian.Uint16(rest))
		delete(c.subs, string(rest[2:2+l]))
		filters = append(filters, string(rest[2:2+l]))
		codes, rest = append(codes, 0), rest[2+l:]
	}
	c.mu.Unlock()
	b.mu.Lock()
	over := b.over(c, filters)
	b.mu.Unlock()
	if over {
		return
	}
	c.put(control(typeUnsuback<<4, body[:2], []byte{0}, codes), 0)
}

// take does with a PUBLISH what a broker does: it is stored where RETAIN is 1, forwarded, and acknowledged.
func (b *scriptBroker) take(c *scriptClient, first byte, body []byte) {
	var p inventory.Publication
	if _, bad := decodePublish(first, body, nil, &p); bad.code != 0 {
		b.t.Errorf("a PUBLISH that is none: %s", bad.what)
		return
	}
	m := message{topic: string(p.Topic), payload: string(p.Payload), qos: p.QoS, retain: p.Retain, dup: first&8 != 0, props: bytes.Clone(p.Properties)}
	if m.qos > 0 {
		m.id = binary.BigEndian.Uint16(body[2+len(p.Topic):])
	}
	b.mu.Lock()
	b.taken = append(b.taken, m)
	b.mu.Unlock()
	if b.onPublish != nil && b.onPublish(c, m) {
		return
	}
	seconds, _ := p.Interval.Seconds()
	b.obey(m, seconds)
	c.ack(m, 0x10)
}

// obey stores and forwards m.
func (b *scriptBroker) obey(m message, expires uint32) {
	if m.retain {
		b.keep(m.topic, m.payload, expires)
		b.mu.Lock()
		if s, ok := b.store[m.topic]; ok {
			s.qos, s.props = m.qos, m.props
			b.store[m.topic] = s
		}
		b.mu.Unlock()
	}
	if expires > 0 {
		m.props = join(propExpiry(expires), m.props)
	}
	m.qos, m.id = 0, 0
	b.forward(m)
}

// ack answers m where it is at QoS 1.
func (c *scriptClient) ack(m message, code byte, props ...[]byte) {
	if m.qos > 0 {
		c.put(control(typePuback<<4, binary.BigEndian.AppendUint16(nil, m.id), []byte{code}, properties(props...)), 0)
	}
}

// keep stores a message without telling anybody, as if it had been there before.
func (b *scriptBroker) keep(topic, payload string, expires uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := stored{message: message{topic: topic, payload: payload}}
	if expires > 0 {
		s.end = time.Now().Add(time.Duration(expires) * time.Second)
	}
	if !b.placed[topic] { // its place in the order of insertion is kept after a removal
		b.placed[topic] = true
		b.order = append(b.order, topic)
	}
	if payload == "" {
		delete(b.store, topic)
		return
	}
	b.store[topic] = s
}

// retain publishes with RETAIN: it is stored, or removed when the payload is empty, and forwarded.
func (b *scriptBroker) retain(topic, payload string, expires uint32) {
	b.keep(topic, payload, expires)
	m := message{topic: topic, payload: payload, retain: true}
	if expires > 0 {
		m.props = propExpiry(expires)
	}
	b.forward(m)
}

// publish publishes without RETAIN.
func (b *scriptBroker) publish(topic, payload string) {
	b.forward(message{topic: topic, payload: payload})
}

func (b *scriptBroker) forward(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.clients {
		c.mu.Lock()
		subs := make(map[string]byte, len(c.subs))
		for f, o := range c.subs {
			subs[f] = o
		}
		c.mu.Unlock()
		for f, o := range subs {
			if parseSlice(f).match(topicLevels(nil, []byte(m.topic))) {
				out := m
				out.retain = m.retain && o&8 != 0
				c.put(publish(out), 0)
				break
			}
		}
	}
}

// figures stores and forwards the broker's own figures, as a tick of $SYS does.
func (b *scriptBroker) figures() {
	b.mu.Lock()
	dropped := b.dropped
	b.mu.Unlock()
	b.retain(sysVersion, b.version, 0)
	b.retain(sysUptime, fmt.Sprintf("%d seconds", time.Now().Unix()), 0)
	b.retain(sysDrop, fmt.Sprint(dropped), 0)
	b.mu.Lock()
	n := len(b.store) // the count does not know of itself the first time
	b.mu.Unlock()
	b.retain(sysCount, fmt.Sprint(n), 0)
}

// tickEvery sends figures at once and then every interval until the test ends.
func (b *scriptBroker) tickEvery(interval time.Duration) {
	b.figures()
	b.figures() // now the count knows of itself
	done := make(chan struct{})
	b.served.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.figures()
			case <-done:
				return
			}
		}
	})
	b.t.Cleanup(func() { close(done) })
}

func (b *scriptBroker) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.history)
}
