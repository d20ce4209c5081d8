package broker

// One topic asked for at QoS 1: the only way to learn anything about the QoS of what is stored.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"retainscope/inventory"
)

// ErrNotAskable is returned for a topic that no topic filter can name: not UTF-8, or with a wildcard in it.
var ErrNotAskable = errors.New("no topic filter can name this topic")

// Ask asks the broker for one topic by its exact name, at QoS 1 on a connection of its own, and applies the answer to
// the inventory. found is false when the broker sent nothing after its PINGRESP and a quiet time: then it has nothing
// that this login may see. qos is the smaller of the stored QoS and 1: 1 means "1 or 2". QoS 2 is not asked for, since
// the library cannot be trusted with it; a broker that grants less than QoS 1 makes the answer's QoS unknown in the
// inventory, and qos is 0 then.
//
// Errors: ErrNotAskable; a *ConnectError; the refusal of the filter; ctx's error; the connection's. Any goroutine may
// call it; it takes about as long as a connect.
//
// Source: MQTT 5, 3.8.4 and 4.6.
func (w *Watcher) Ask(ctx context.Context, topic []byte) (qos byte, found bool, err error) {
	if len(topic) == 0 || !askable(topic) || bytes.HasPrefix(topic, []byte("$share/")) {
		return 0, false, ErrNotAskable
	}
	ctx, cancel := context.WithTimeout(ctx, 2*w.cfg.Timeout)
	defer cancel()
	stop := context.AfterFunc(w.ctx, cancel)
	defer stop()
	a := answer{topic: topic}
	conn, err := Dial(ctx, w.cfg.Config, a.take, inventory.Answer)
	if err != nil {
		return 0, false, err
	}
	defer shut(conn)
	grants, err := conn.Subscribe(ctx, []Subscription{{Filter: string(topic), QoS: 1}})
	if err != nil {
		return 0, false, err
	}
	if grants[0].Refused() {
		return 0, false, fmt.Errorf("ask for the topic: %s", reasonText(grants[0].Code))
	}
	if err := conn.Fence(ctx); err != nil {
		return 0, false, err
	}
	if !a.came() {
		if err := settle(ctx, conn, func() int64 { return conn.Stats().Publications }, queryQuiet); err != nil {
			return 0, false, err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.found {
		return 0, false, nil
	}
	a.copy.QoSKnown = grants[0].Code >= 1
	w.inv.Apply([]inventory.Publication{a.copy})
	return a.copy.QoS, true, nil
}

// answer keeps the retained copy of one topic until it is known at which QoS it was granted.
type answer struct {
	topic []byte

	mu    sync.Mutex
	found bool
	copy  inventory.Publication
}

func (a *answer) take(batch []inventory.Publication) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range batch {
		if !p.Retain || !bytes.Equal(p.Topic, a.topic) {
			continue
		}
		a.found, a.copy = true, p
		a.copy.Topic = a.topic
		a.copy.Payload, a.copy.Properties = bytes.Clone(p.Payload), bytes.Clone(p.Properties)
	}
}

func (a *answer) came() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found
}
