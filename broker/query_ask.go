package broker

// One topic asked for at QoS 1: the only way to learn anything about the QoS of what is stored.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"retainscope/inventory"
)

// ErrNotAskable is returned for a topic that no topic filter can name: not UTF-8, or with a wildcard in it.
var ErrNotAskable = errors.New("no topic filter can name this topic")

// ErrNoControl is returned where nothing came for the topic, and nothing either for others that the broker sent this
// login before: its silence says nothing then.
var ErrNoControl = errors.New("the broker sent nothing, not even topics it sent this login before: its silence proves nothing")

// controlWait is how long topics that must answer are waited for after the PINGRESP.
const controlWait = 5 * time.Second

// Ask asks the broker for one topic by its exact name, at QoS 1 on a connection of its own, and applies the answer to
// the inventory. found is false when the broker sent nothing for it to this login: not within the quiet time after its
// PINGRESP, and not by the time it sent other topics that were asked for together with it, where there are some. It may
// still hold one that this login may not see. qos is the smaller of the stored QoS and 1: 1 means "1 or 2". QoS 2 is not
// asked for, since the library cannot be trusted with it; a broker that grants less than QoS 1 makes the answer's QoS
// unknown in the inventory, and qos is 0 then.
//
// Errors: ErrNotAskable; ErrNoControl; a *ConnectError; the refusal of the filter; ctx's error; the connection's. Any
// goroutine may call it; it takes about as long as a connect where there is something, and the quiet time longer where
// there is not.
//
// Source: MQTT 5, 3.8.4 and 4.6.
func (w *Watcher) Ask(ctx context.Context, topic []byte) (qos byte, found bool, err error) {
	if len(topic) == 0 || !askable(topic) || bytes.HasPrefix(topic, []byte("$share/")) {
		return 0, false, ErrNotAskable
	}
	ctx, cancel := context.WithTimeout(ctx, max(2*w.cfg.Timeout, controlWait+2*w.cfg.Quiet))
	defer cancel()
	stop := context.AfterFunc(w.ctx, cancel)
	defer stop()
	w.questions.Add(1)
	defer w.questions.Add(-1)
	a := answer{topic: topic, controls: w.chooseControls(ctx, [][]byte{topic}), moved: make(chan struct{}, 1)}
	conn, err := Dial(ctx, w.cfg.Config, a.take, inventory.Answer)
	if err != nil {
		return 0, false, err
	}
	defer shut(conn)
	subs := []Subscription{{Filter: string(topic), QoS: 1}}
	for _, c := range a.controls {
		subs = append(subs, Subscription{Filter: string(c)})
	}
	grants, err := conn.subscribeIn(ctx, subs, fewFilters)
	if err != nil && len(grants) == 0 {
		return 0, false, err
	}
	if grants[0].Refused() {
		return 0, false, fmt.Errorf("ask for the topic: %s", reasonText(grants[0].Code))
	}
	a.keepGranted(grants[1:])
	if err := conn.Fence(ctx); err != nil {
		return 0, false, err
	}
	if err := a.wait(ctx, conn, w.cfg.Quiet); err != nil {
		return 0, false, err
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
	topic    []byte
	controls [][]byte
	moved    chan struct{} // capacity 1: something came that was asked for

	mu         sync.Mutex
	found      bool
	controlled bool // a control came
	copy       inventory.Publication
}

func (a *answer) take(batch []inventory.Publication) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range batch {
		if !p.Retain {
			continue
		}
		if !bytes.Equal(p.Topic, a.topic) {
			a.controlled = a.controlled || contains(a.controls, p.Topic)
			continue
		}
		a.found, a.copy = true, p
		a.copy.Topic = a.topic
		a.copy.Payload, a.copy.Properties = bytes.Clone(p.Payload), bytes.Clone(p.Properties)
	}
	select {
	case a.moved <- struct{}{}:
	default:
	}
}

// keepGranted leaves out the controls that the broker refuses: they need not answer.
func (a *answer) keepGranted(grants []inventory.Grant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.controls = nil
	for _, g := range grants {
		if !g.Refused() {
			a.controls = append(a.controls, []byte(g.Filter))
		}
	}
}

// wait returns nil when the topic came, or when enough time has gone by to say that it does not: quiet, and controls in
// it where there are some.
func (a *answer) wait(ctx context.Context, conn *Conn, quiet time.Duration) error {
	over := time.NewTimer(quiet)
	defer over.Stop()
	late := time.NewTimer(max(quiet, controlWait))
	defer late.Stop()
	passed := false
	for {
		a.mu.Lock()
		found, controlled := a.found, a.controlled || len(a.controls) == 0
		a.mu.Unlock()
		if found || passed && controlled {
			return nil
		}
		select {
		case <-a.moved:
		case <-over.C:
			passed = true
		case <-late.C:
			return ErrNoControl
		case <-conn.Done():
			return conn.ended("ask for the topic", nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
