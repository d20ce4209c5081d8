package broker

// What the live stream is good for beside the inventory: proof that retained messages exist.
// Nothing here costs anything a message unless a scan has come back empty.

import (
	"bytes"
	"sync"
	"sync/atomic"

	"retainscope/inventory"
)

// takeLive is the live connection's road into the inventory.
func (w *Watcher) takeLive(batch []inventory.Publication) {
	w.cfg.Echoes.claim(batch)
	w.inv.Apply(batch)
	if w.cfg.Version.Limited() {
		w.doubts.hear(batch)
	}
	if w.cfg.Tap != nil {
		w.cfg.Tap.Live(batch)
	}
	if w.live.curious.Load() {
		w.live.look(batch)
	}
}

// liveSigns remembers one topic that was published with RETAIN while a scan showed nothing.
type liveSigns struct {
	curious atomic.Bool

	mu    sync.Mutex
	topic []byte
	scan  bool // a scan that began after topic came would decide
}

func (l *liveSigns) look(batch []inventory.Publication) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range batch {
		p := &batch[i]
		switch {
		case !p.Retain:
		case len(p.Payload) == 0:
			if bytes.Equal(l.topic, p.Topic) {
				l.topic = nil // cleared again: it proves nothing
			}
		case l.topic == nil && len(p.Topic) > 0 && p.Topic[0] != '$':
			l.topic = bytes.Clone(p.Topic)
			l.scan = true
		}
	}
}

// wantsScan reports, once, that a topic came that the next scan should show.
func (l *liveSigns) wantsScan() bool {
	if !l.curious.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	wants := l.scan
	l.scan = false
	return wants
}

// seen returns a topic that was published with RETAIN before now, nil when there is none.
func (l *liveSigns) seen() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.topic
}

// settled forgets the topic: wildcards do bring copies here.
func (l *liveSigns) settled() {
	l.curious.Store(false)
	l.mu.Lock()
	l.topic, l.scan = nil, false
	l.mu.Unlock()
}
