package broker

// What this program published itself, or another one on this machine said it would, as it comes back on the live
// connection: no sign of life of anybody.

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// echoFor is how long an echo is waited for after the message was written. What comes later is taken for another's.
const echoFor = 30 * time.Second

// announcedFor is the same of what another program announced: it looks first, connects, and then sends.
const announcedFor = 2 * time.Minute

// Echoes are publications of senders whose copies a watcher has not seen yet. Put the same one into the Config of both;
// the zero value is ready, and a nil one knows none. It may be used from any goroutine.
type Echoes struct {
	waiting atomic.Int32 // len of list, so that a message costs nothing where none is waited for
	mu      sync.Mutex
	list    []echo
}

type echo struct {
	topic       []byte
	fingerprint string // less the expiry, which a broker may count down or set
	// others says that another program announced it: its fingerprint tells whether there was an expiry.
	others bool
	until  int64 // Unix ms
}

// expect says that a message is about to be written at the given time. The returned function takes that back.
func (e *Echoes) expect(out *outgoing, props inventory.Properties, at time.Time) (refused func()) {
	if e == nil {
		return func() {}
	}
	w := echo{topic: []byte(out.topic), fingerprint: inventory.Fingerprint(out.payload, props, expiry.None()), until: at.Add(echoFor).UnixMilli()}
	return e.wait(w)
}

// Announce says that another program on this machine, which leaves a record, said at the given time that it is about to
// publish with RETAIN on topic: a message of this fingerprint (see inventory.Fingerprint), or a tombstone where that is
// empty. Whether it has an expiry does not matter. The returned function takes that back. It may be called on a nil one.
func (e *Echoes) Announce(topic []byte, fingerprint string, at time.Time) (off func()) {
	if e == nil {
		return func() {}
	}
	if fingerprint == "" {
		fingerprint = inventory.Fingerprint(nil, nil, expiry.None())
	}
	return e.wait(echo{topic: bytes.Clone(topic), fingerprint: fingerprint, others: true, until: at.Add(announcedFor).UnixMilli()})
}

// wait notes w. The returned function takes it back.
func (e *Echoes) wait(w echo) (back func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, w)
	e.waiting.Store(int32(len(e.list)))
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.drop(func(x *echo) bool {
			return x.until == w.until && x.others == w.others && x.fingerprint == w.fingerprint && bytes.Equal(x.topic, w.topic)
		})
	}
}

// is reports whether p is what w waits for.
func (w *echo) is(p *inventory.Publication) bool {
	if !bytes.Equal(w.topic, p.Topic) {
		return false
	}
	if w.fingerprint == inventory.Fingerprint(p.Payload, p.Properties, expiry.None()) {
		return true
	}
	return w.others && (w.fingerprint == inventory.Fingerprint(p.Payload, p.Properties, expiry.Seconds(1)) ||
		w.fingerprint == inventory.Fingerprint(p.Payload, p.Properties, expiry.NotKnown()))
}

// claim marks in a batch of the live connection what was waited for, each once.
func (e *Echoes) claim(batch []inventory.Publication) {
	if e == nil || e.waiting.Load() == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range batch {
		p := &batch[i]
		for e.drop(func(x *echo) bool { return x.until < p.ReceivedAt }) {
			continue // each call drops one
		}
		if p.Retain && e.drop(func(x *echo) bool { return x.is(p) }) {
			p.Origin = inventory.Own
		}
	}
}

// drop takes out the first that fits and reports whether there was one. The caller holds mu.
func (e *Echoes) drop(fits func(*echo) bool) bool {
	for i := range e.list {
		if fits(&e.list[i]) {
			e.list = append(e.list[:i], e.list[i+1:]...)
			e.waiting.Store(int32(len(e.list)))
			return true
		}
	}
	return false
}
