package actions

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"retainscope/expiry"
	"retainscope/inventory"
)

// lab is a broker in memory: it keeps a retained store, serves observers and takes publications. Its hooks stand for
// what brokers were seen to do wrong. Time passes only when it is told to.
type lab struct {
	t   testing.TB
	mu  sync.Mutex
	now time.Time
	// started makes the clock go from then on, in a bubble of synctest.
	started time.Time
	store   map[string]inventory.Publication
	seen    []*labWitness
	sends   int

	code       byte
	keep       bool                              // acknowledges and keeps
	connecting func()                            // while the sender connects
	racing     func()                            // when the sender looked for the last time
	onSend     func()                            // after the tombstone was taken
	late       bool                              // witnesses get what is published only with the answer to a fence
	send       func(*Receipt) error              // changes the receipt
	onObserve  func(n int, o *Observation) error // n-th look, counted from 1
	observeErr error
	watchErr   error
	looks      int
}

type labWitness struct {
	l      *lab
	topics [][]byte
	queue  []inventory.Publication
	onWay  []inventory.Publication // what it gets with its next fence
	wake   chan struct{}
	lost   bool
}

func newLab(t testing.TB) *lab {
	return &lab{t: t, now: noon, store: map[string]inventory.Publication{}}
}

func (l *lab) clock() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.time()
}

func (l *lab) time() time.Time {
	if l.started.IsZero() {
		return l.now
	}
	return l.now.Add(time.Since(l.started))
}

func (l *lab) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

func retained(topic, payload string) inventory.Publication {
	return inventory.Publication{Topic: []byte(topic), Payload: []byte(payload), Interval: expiry.None(), QoS: 1, Retain: true}
}

// publish is a client's PUBLISH.
func (l *lab) publish(p inventory.Publication) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.ReceivedAt = l.time().UnixMilli()
	if p.Retain && len(p.Payload) == 0 {
		delete(l.store, string(p.Topic))
	} else if p.Retain {
		l.store[string(p.Topic)] = p
	}
	for _, w := range l.seen {
		if slices.ContainsFunc(w.topics, func(t []byte) bool { return matchFilter(string(t), p.Topic) }) {
			if l.late {
				w.onWay = append(w.onWay, p)
				continue
			}
			w.queue = append(w.queue, p)
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}
}

// Observe serves stored copies.
func (l *lab) Observe(ctx context.Context, q Question) (Observation, error) {
	l.mu.Lock()
	l.looks++
	n := l.looks
	o := Observation{ClientID: fmt.Sprintf("observer-%d", n), User: "reader", Fenced: true, Quiet: q.Quiet, From: l.time()}
	for _, f := range q.Filters {
		if !utf8.Valid(f) { // as brokers do
			l.mu.Unlock()
			return Observation{}, errors.New("the broker ended the connection with 0x81")
		}
		o.Grants = append(o.Grants, inventory.Grant{Filter: string(f), Code: q.QoS})
		for _, p := range l.store {
			if matchFilter(string(f), p.Topic) && !slices.ContainsFunc(o.Seen, func(s inventory.Publication) bool { return bytes.Equal(s.Topic, p.Topic) }) {
				if s, ok := p.Interval.Seconds(); ok {
					p.Interval = expiry.Seconds(s - uint32(l.time().Sub(time.UnixMilli(p.ReceivedAt))/time.Second))
				}
				p.ReceivedAt, p.QoSKnown, p.QoS = l.time().UnixMilli(), q.QoS > 0, min(p.QoS, q.QoS)
				o.Seen = append(o.Seen, p)
			}
		}
	}
	o.To = l.time().Add(q.Quiet)
	err := l.observeErr
	hook := l.onObserve
	l.mu.Unlock()
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if hook != nil && err == nil {
		err = hook(n, &o)
	}
	return o, err
}

// Watch opens a witness.
func (l *lab) Watch(_ context.Context, topics [][]byte, replay bool) (Witness, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &labWitness{l: l, topics: topics, wake: make(chan struct{}, 1)}
	for _, t := range topics {
		if p, ok := l.store[string(t)]; ok && replay {
			p.ReceivedAt = l.time().UnixMilli()
			w.queue = append(w.queue, p)
		}
	}
	l.seen = append(l.seen, w)
	return w, l.watchErr
}

func (w *labWitness) About() Observation { return Observation{ClientID: "witness", User: "reader"} }

func (w *labWitness) Fence(context.Context) error {
	w.l.mu.Lock()
	w.queue, w.onWay = append(w.queue, w.onWay...), nil
	w.l.mu.Unlock()
	return w.Err()
}

func (w *labWitness) Drain() []inventory.Publication {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	q := w.queue
	w.queue = nil
	return q
}

func (w *labWitness) Next(ctx context.Context) (inventory.Publication, error) {
	for {
		w.l.mu.Lock()
		if w.lost {
			w.l.mu.Unlock()
			return inventory.Publication{}, errors.New("the connection ended")
		}
		if len(w.queue) > 0 {
			p := w.queue[0]
			w.queue = w.queue[1:]
			w.l.mu.Unlock()
			return p, nil
		}
		w.l.mu.Unlock()
		select {
		case <-w.wake:
		case <-ctx.Done():
			return inventory.Publication{}, ctx.Err()
		}
	}
}

func (w *labWitness) Err() error {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	if w.lost {
		return errors.New("the connection ended")
	}
	return nil
}

func (w *labWitness) Close() error { return nil }

// Send takes one publication as a broker does.
func (l *lab) Send(ctx context.Context, o Outgoing, ready func() error) (Receipt, error) {
	if l.connecting != nil {
		l.connecting()
	}
	if err := ready(); err != nil {
		return Receipt{}, err
	}
	if l.racing != nil {
		l.racing()
	}
	packet := encodePublish(o, 7)
	if _, err := o.Check(packet); err != nil {
		return Receipt{}, err
	}
	l.mu.Lock()
	l.sends++
	r := Receipt{ClientID: "sender", User: "operator", Packet: packet, Publishes: 1, SentAt: l.time(), Answered: o.QoS() > 0, AnswerID: 7, Code: l.code, AnsweredAt: l.time()}
	l.mu.Unlock()
	if l.code < 0x80 && !l.keep {
		l.publish(inventory.Publication{Topic: o.Topic(), Payload: o.Payload(), Properties: o.Properties(), Interval: o.Interval(), QoS: o.QoS(), Retain: true})
	}
	if l.onSend != nil {
		l.onSend()
	}
	if l.send != nil {
		return r, l.send(&r)
	}
	return r, nil
}

// encodePublish writes the PUBLISH that a correct sender writes.
func encodePublish(o Outgoing, id uint16) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(o.Topic())))
	body = append(body, o.Topic()...)
	if o.QoS() > 0 {
		body = binary.BigEndian.AppendUint16(body, id)
	}
	props := slices.Clone([]byte(o.Properties()))
	if s, ok := o.Interval().Seconds(); ok {
		props = binary.BigEndian.AppendUint32(append(props, 0x02), s)
	}
	body = append(appendLength(body, len(props)), props...)
	body = append(body, o.Payload()...)
	return append(appendLength([]byte{0x31 | o.QoS()<<1}, len(body)), body...)
}

func appendLength(b []byte, n int) []byte {
	for n > 0x7F {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

// bench is a desk with a manifest that approves lab/retire/device07/state, on a lab that holds it and its neighbours.
type bench struct {
	*lab
	desk    *Desk
	store   Store
	clearer *Clearer
	topic   []byte
	request Request
	asked   int // how many clears were asked for
}

const (
	own        = "lab/retire/device07/state"
	ownToo     = "lab/retire/device07/availability"
	parent     = "lab/retire/device07"
	similar    = "lab/retire/device070/state"
	neighbour  = "lab/retire/device08/state"
	ownPayload = `{"temperature":21.5}`
)

var silent = Writer{Name: "device07", Kind: Device, State: Stopped, Evidence: "unplugged", EvidenceAt: noon.Add(-time.Hour), Will: WillDiscarded}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newBenchOn(t, dir)
}

func newBenchOn(t testing.TB, store Store) *bench {
	t.Helper()
	b := &bench{lab: newLab(t), store: store, topic: []byte(own)}
	for topic, payload := range map[string]string{own: ownPayload, ownToo: "online", parent: "here", similar: "other", neighbour: "far"} {
		b.publish(retained(topic, payload))
	}
	b.desk = OpenDesk(store, "home.toml", b.clock)
	b.clearer = &Clearer{Desk: b.desk, Broker: home, Observer: b.lab, Sender: b.lab, Now: b.clock, Tool: "test"}
	b.request = Request{Topic: b.topic, Controls: [][]byte{[]byte(parent), []byte(ownToo), []byte(neighbour)}}
	m := NewManifest(home)
	b.approve(m, own, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) approve(m *Manifest, topic string, ws ...Writer) {
	b.t.Helper()
	p := b.lab.store[topic]
	e := Entry{Topic: []byte(topic), Owner: "device 07", Purpose: "state", Writers: ws, Fingerprint: inventory.Fingerprint(p.Payload, p.Properties, p.Interval)}
	if err := m.Approve(e, Protection{}, Person{Login: "kim"}, noon); err != nil {
		b.t.Fatal(err)
	}
}

// clear is one clear; each after the first is approved anew.
func (b *bench) clear() Operation {
	b.t.Helper()
	b.renew()
	op, err := b.clearer.Clear(context.Background(), b.request)
	if err != nil {
		b.t.Fatal(err)
	}
	return op
}

// renew gives every approval a later time where a clear was asked for before.
func (b *bench) renew() {
	b.t.Helper()
	if b.asked++; b.asked == 1 {
		return
	}
	m, err := b.desk.Manifest()
	if err != nil {
		return // a bench whose manifest is wrong or away
	}
	for _, e := range m.Entries() {
		if e.CheckApproval() == nil {
			e.ApprovedAt = noon.Add(time.Duration(b.asked) * time.Second)
			if err := m.Put(e); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	if err := b.desk.Save(b.t.Context(), m); err != nil {
		b.t.Log(err) // a bench whose store cannot be written, or is locked
	}
}

// holds reports which topics hold what, one a line.
func (b *bench) holds() string {
	var lines []string
	for t, p := range b.lab.store {
		lines = append(lines, t+"="+string(p.Payload))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func mustVerify(t testing.TB, d *Desk) Verification {
	t.Helper()
	v, err := d.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() {
		t.Fatalf("the record does not verify: %v, %s", v.Bad, v.Head)
	}
	return v
}
