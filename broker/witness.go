package broker

// A subscription that stands while an action happens, and after it: what is published, as it is published.

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"retainscope/actions"
	"retainscope/inventory"
)

// witnessBytes is how much a witness keeps that nobody takes. Beyond it the witness ends: one that left out something
// would not be one.
const witnessBytes = 64 << 20

// witness is one subscribed connection.
type witness struct {
	conn  *Conn
	about actions.Observation
	came  chan struct{} // capacity 1: something is in the queue
	limit int

	mu    sync.Mutex
	queue []inventory.Publication
	bytes int
	ended bool // something was left out
}

// Watch opens a witness, as actions.Observer has it. A witness of which nothing is taken ends when more than 64 MiB wait.
//
// Source: MQTT 5, 3.8.3.1.
func (o *Observer) Watch(ctx context.Context, filters [][]byte, replay bool) (actions.Witness, error) {
	like := Subscription{RetainHandling: 2, RetainAsPublished: true}
	if replay {
		like.RetainHandling = 0
	}
	subs, err := subscriptionsFor(filters, like)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	w := &witness{came: make(chan struct{}, 1), limit: witnessBytes, about: actions.Observation{User: o.cfg.User}}
	conn, err := Dial(ctx, o.cfg, w.take, inventory.Live)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
	w.about.ClientID, w.about.From = conn.Server().ClientID, o.cfg.Clock()
	w.about.Grants, err = conn.subscribeIn(ctx, subs, fewFilters)
	for _, g := range w.about.Grants {
		if err == nil && g.Refused() {
			err = fmt.Errorf("the broker refused the subscription to %s: %s", quoted(g.Filter), reasonText(g.Code))
		}
	}
	if err != nil {
		shut(conn)
		return nil, err
	}
	return w, nil
}

// take keeps copies. It is called on the connection's decode goroutine.
func (w *witness) take(batch []inventory.Publication) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range batch {
		if w.ended || w.bytes > w.limit {
			w.ended = true
			if w.conn != nil { // Dial has returned; before that there is nothing that could be watched
				w.conn.fail(fmt.Errorf("more than %d MiB were published on the topics watched", w.limit>>20))
				_ = w.conn.t.socket.Close()
			}
			break
		}
		p := ownCopy(batch[i])
		w.queue = append(w.queue, p)
		w.bytes += len(p.Topic) + len(p.Payload) + len(p.Properties)
	}
	w.signal()
}

func (w *witness) signal() {
	select {
	case w.came <- struct{}{}:
	default:
	}
}

// About returns client id, login, grants and since when it stands.
func (w *witness) About() actions.Observation { return w.about }

// Fence waits until everything that the broker had sent before is here, for as long as the broker is heard.
func (w *witness) Fence(ctx context.Context) error { return w.conn.fenceHeard(ctx) }

// Drain returns what came since the last call, without waiting.
func (w *witness) Drain() []inventory.Publication {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.queue
	w.queue, w.bytes = nil, 0
	return all
}

// first takes the oldest publication.
func (w *witness) first() (inventory.Publication, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return inventory.Publication{}, false
	}
	p := w.queue[0]
	w.queue[0] = inventory.Publication{}
	w.queue = w.queue[1:]
	w.bytes -= len(p.Topic) + len(p.Payload) + len(p.Properties)
	if len(w.queue) > 0 {
		w.signal() // for another who waits
	}
	return p, true
}

// Next waits for the next publication.
func (w *witness) Next(ctx context.Context) (inventory.Publication, error) {
	for {
		if p, ok := w.first(); ok {
			return p, nil
		}
		select {
		case <-w.came:
		case <-ctx.Done():
			return inventory.Publication{}, ctx.Err()
		case <-w.conn.Done():
			if p, ok := w.first(); ok { // it came before the end
				return p, nil
			}
			return inventory.Publication{}, w.Err()
		}
	}
}

// Err returns nil while the connection stands.
func (w *witness) Err() error {
	if err := w.conn.Err(); err != nil {
		return err
	}
	select {
	case <-w.conn.Done():
		return errors.New("the watch was closed")
	default:
		return nil
	}
}

// Close leaves in order, within two seconds. It always returns nil: what was seen is kept, however the end goes.
func (w *witness) Close() error {
	shut(w.conn)
	return nil
}
