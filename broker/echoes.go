package broker

// What this program published itself, as it comes back on the live connection: no sign of life of anybody.

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
	until       int64  // Unix ms
}

// expect says that a message is about to be written at the given time. The returned function takes that back.
func (e *Echoes) expect(out *outgoing, props inventory.Properties, at time.Time) (refused func()) {
	if e == nil {
		return func() {}
	}
	w := echo{topic: []byte(out.topic), fingerprint: inventory.Fingerprint(out.payload, props, expiry.None()), until: at.Add(echoFor).UnixMilli()}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, w)
	e.waiting.Store(int32(len(e.list)))
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.drop(func(x *echo) bool {
			return x.until == w.until && x.fingerprint == w.fingerprint && bytes.Equal(x.topic, w.topic)
		})
	}
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
		e.drop(func(x *echo) bool { return x.until < p.ReceivedAt })
		if p.Retain && e.drop(func(x *echo) bool {
			return bytes.Equal(x.topic, p.Topic) && x.fingerprint == inventory.Fingerprint(p.Payload, p.Properties, expiry.None())
		}) {
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
