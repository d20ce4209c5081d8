package broker

// Looks at single topics for an action: each on a fresh connection that publishes nothing, fenced, and quiet at its end.
// What a look saw is evidence, so nothing of it is guessed: no grant, no fence, no quiet means that it says nothing.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"retainscope/actions"
	"retainscope/inventory"
)

// Observer reads what the broker serves to its login. It satisfies actions.Observer, and may be used from any
// goroutine.
type Observer struct{ cfg Config }

var _ actions.Observer = (*Observer)(nil)

// NewObserver returns an observer with the login of cfg. It connects only when it is used, for every look anew.
func NewObserver(cfg Config) *Observer { return &Observer{cfg.filled()} }

// lookFilters is how many filters one look may have: a topic and its controls.
const lookFilters = 1 + actions.MaxControls

// Observe makes one look, as actions.Observer has it. Filters go out in SUBSCRIBEs of at most eight, fewer where the
// broker's Maximum Packet Size asks for it. The quiet time is fenced at its end as well, so that time in which this program stood
// still does not count as silence of the broker. QoS 2 is not asked for. It returns up to two seconds after ctx ended:
// the connection is left in order. A broker that says nothing for Config.Timeout ends the look.
//
// Source: MQTT 5, 3.8.3.1, 3.9.3 and 3.12.
func (o *Observer) Observe(ctx context.Context, q actions.Question) (seen actions.Observation, err error) {
	seen = actions.Observation{User: o.cfg.User, From: o.cfg.Clock()}
	subs, err := subscriptionsFor(q.Filters, Subscription{QoS: q.QoS})
	if err != nil {
		return seen, fmt.Errorf("look: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &look{max: q.Max, full: func() { cancel(errFull) }}
	conn, err := Dial(ctx, o.cfg, l.take, inventory.Answer)
	if err != nil {
		return seen, err
	}
	seen.ClientID = conn.Server().ClientID
	err = l.run(ctx, conn, subs, q.Quiet, &seen)
	seen.To = o.cfg.Clock()
	shut(conn) // nothing is delivered any more
	seen.Seen, seen.Cut = l.seen, l.cut
	tellQoS(seen.Seen, seen.Grants, q.QoS)
	if seen.Cut {
		err = nil
	}
	return seen, err
}

// errFull ends a look that got more than it takes.
var errFull = errors.New("more came than was asked for")

// subscriptionsFor returns like for each filter, or why that cannot be asked.
func subscriptionsFor(filters [][]byte, like Subscription) ([]Subscription, error) {
	switch {
	case len(filters) == 0:
		return nil, errors.New("nothing is asked for")
	case len(filters) > lookFilters:
		return nil, fmt.Errorf("%d topic filters; %d are possible", len(filters), lookFilters)
	case like.QoS > 1:
		return nil, fmt.Errorf("QoS %d; 0 and 1 are possible", like.QoS)
	}
	subs := make([]Subscription, len(filters))
	for i, f := range filters {
		like.Filter = string(f)
		if !utf8.Valid(f) {
			return nil, fmt.Errorf("the topic filter %s is not UTF-8", quoted(like.Filter)) // [MQTT-3.8.3-1]
		}
		if strings.HasPrefix(like.Filter, "$share/") { // 4.8.2: it would be sent no retained copies
			return nil, fmt.Errorf("the topic filter %s is a shared subscription", quoted(like.Filter))
		}
		subs[i] = like
	}
	return subs, nil
}

// look collects what one connection was sent.
type look struct {
	max  int
	full func()

	mu   sync.Mutex
	seen []inventory.Publication
	cut  bool
	last time.Time // when the last replay was taken
}

// take keeps copies. It is called on the connection's decode goroutine.
func (l *look) take(batch []inventory.Publication) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range batch {
		if l.max > 0 && len(l.seen) >= l.max {
			l.cut = true
			l.full()
			return
		}
		if batch[i].Retain {
			l.last = time.Now()
		}
		l.seen = append(l.seen, ownCopy(batch[i]))
	}
}

// ownCopy returns p with bytes of its own.
func ownCopy(p inventory.Publication) inventory.Publication {
	topic, properties := len(p.Topic), len(p.Topic)+len(p.Properties)
	b := make([]byte, 0, properties+len(p.Payload))
	b = append(append(append(b, p.Topic...), p.Properties...), p.Payload...)
	p.Topic, p.Properties, p.Payload = b[:topic:topic], b[topic:properties:properties], b[properties:]
	return p
}

func (l *look) lastReplay() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// run asks and waits, and notes in seen what it learns on the way.
func (l *look) run(ctx context.Context, conn *Conn, subs []Subscription, quiet time.Duration, seen *actions.Observation) error {
	var err error
	if seen.Grants, err = conn.subscribeIn(ctx, subs, fewFilters); err != nil {
		return err
	}
	if err := conn.fenceHeard(ctx); err != nil {
		return err
	}
	seen.Fenced = true
	fenced, ended := time.Now(), false
	for {
		since := fenced
		if last := l.lastReplay(); last.After(since) {
			since = last
		}
		seen.Quiet = time.Since(since)
		if left := quiet - seen.Quiet; left > 0 {
			ended = false
			if err := pause(ctx, conn, left); err != nil {
				return err
			}
			continue
		}
		if ended {
			return nil
		}
		if err := conn.fenceHeard(ctx); err != nil {
			return err
		}
		ended = true
	}
}

// fenceHeard is Fence for as long as the server is heard: it ends also when nothing came for Config.Timeout.
func (c *Conn) fenceHeard(ctx context.Context) error {
	return c.request(ctx, "fence: no PINGRESP", c.Fence)
}

// pause waits for d, and returns an error when ctx or the connection ends before.
func pause(ctx context.Context, conn *Conn, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-conn.Done():
		return conn.ended("wait for copies", nil)
	case <-ctx.Done():
		return fmt.Errorf("wait for copies: %w", ctx.Err())
	}
}

// tellQoS corrects which copies tell the QoS that is stored: a delivery at QoS 0 does so only where every filter was
// granted above that.
func tellQoS(seen []inventory.Publication, grants []inventory.Grant, asked byte) {
	known := asked > 0 && len(grants) > 0
	for _, g := range grants {
		known = known && (g.Refused() || g.Code > 0)
	}
	for i := range seen {
		seen[i].QoSKnown = seen[i].QoSKnown && (known || seen[i].QoS > 0)
	}
}
