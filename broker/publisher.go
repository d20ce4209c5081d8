package broker

// The publisher of a refresh ledger: every retained message of ours carries an expiry and is repeated before it runs out.
// One connection without subscriptions; who holds the lane decides what goes on the wire next.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// The bounds of PublisherConfig.Interval, in seconds. Below 3 a refresh, due every third of it, would find no room for a
// round trip.
const (
	LeastInterval   = 3
	DefaultInterval = 86400
)

// PublisherConfig says what a Publisher is. All of it is fixed by StartPublisher: what the caller changes later has no
// effect. Subscriptions are never made.
type PublisherConfig struct {
	Config
	// Identity is the Client Identifier of every connection of this publisher. A server ends an older connection with
	// the same one, publishes its will and reads nothing more from it before it accepts the newer: so neither a will that is
	// late nor a message still under way can overwrite what the newer connection says. Two publishers that run at the same
	// time must have different ones; one that is started again should have the same. Empty means Config.ClientID with a
	// random suffix, made once.
	Identity string
	// Interval is the Message Expiry Interval of every retained publish and of the last will, in seconds: LeastInterval to
	// 4 294 967 295; 0 means DefaultInterval. With a limited version, which has none, it must be 0.
	Interval uint32
	// Will is the last will, nil for none. It is published by the server when a connection ends without our DISCONNECT.
	Will *Message
	// Steps run in order after every connect, before the older entries of the ledger are repeated.
	Steps []Step
}

// Step is what an application does after every connect, usually publishing what is true now.
type Step struct {
	Name string // for the log
	// Run may call Publish. ctx ends with the connection and with Stop; Run must return then. An error or a panic is
	// logged and the next step runs.
	Run func(ctx context.Context, p *Publisher) error
}

var (
	// ErrNotConnected is wrapped by the error of a publish that was not handed to a connection, because there is none
	// that stands. Nothing was recorded.
	ErrNotConnected = errors.New("not connected")
	// ErrStopped is returned by Publish after Stop was called.
	ErrStopped = errors.New("the publisher was stopped")
)

// Publisher publishes with an expiry and repeats what is retained every third of it, so that nothing of it outlives the
// process by more than one interval. Its methods may be called from any goroutine.
//
// Every refresh is an ordinary message for whoever subscribes: automations run on it. That is the reason for a long
// interval.
//
// With a limited version, MQTT 3.1.1, it only publishes: nothing is stamped, recorded or repeated, whatever is retained
// stays at the broker for ever, content type and user properties are left out, and a refusal looks like a success.
//
// Goroutines: one that connects, one that refreshes, one that runs connect steps, and those of the connection.
//
// Source: ADR rows A3 to A10 and A12.
type Publisher struct {
	cfg   PublisherConfig
	plain bool          // the version has no expiry: no ledger is kept
	every time.Duration // the cadence of the refresh; 0 where there is none
	start time.Time     // which the cadence counts from

	ctx    context.Context
	cancel context.CancelFunc
	ended  sync.WaitGroup
	done   chan struct{} // closed when run has ended: no connection, no dialling
	stop   sync.Once
	left   error // of Stop

	// lane is THE order lock: a channel, so that waiting ends with a context. Its holder alone may change link, write a
	// PUBLISH, and record it in the ledger, in one step. So the order of the ledger is the order of the wire.
	lane chan struct{}

	link     atomic.Pointer[publishLink]
	reassert chan *publishLink // of capacity 1: repeat what is older than this connection
	changed  chan struct{}

	mu       sync.Mutex // for what follows; never held while something is waited for
	ledger   expiry.Ledger
	newest   time.Time       // the last instant given out
	refused  map[string]byte // refreshes that were refused and reported, by topic
	status   PublisherStatus
	stopping bool
	goodbye  context.Context // that Stop was given
	departed error           // of the last connection; of run until it has ended

	recorded func(topic string, payload []byte) // a test's eye on the lane; nil otherwise
}

// StartPublisher checks cfg, fixes it, and starts to connect, again and again until Stop. It returns an error that names
// what is wrong with cfg; that no broker can be reached is not one.
func StartPublisher(cfg PublisherConfig) (*Publisher, error) {
	p, err := newPublisher(cfg)
	if err != nil {
		return nil, err
	}
	p.begin()
	return p, nil
}

func newPublisher(cfg PublisherConfig) (*Publisher, error) {
	cfg.Config = cfg.filled()
	plain := cfg.Version.Limited()
	switch {
	case plain && cfg.Interval != 0:
		return nil, fmt.Errorf("start the publisher: an expiry interval of %d s, and MQTT %s has none", cfg.Interval, cfg.Version)
	case !plain && cfg.Interval == 0:
		cfg.Interval = DefaultInterval
	case !plain && cfg.Interval < LeastInterval:
		return nil, fmt.Errorf("start the publisher: an expiry interval of %d s, the least is %d s", cfg.Interval, LeastInterval)
	}
	if cfg.Identity == "" {
		cfg.Identity = clientID(cfg.ClientID)
	}
	if cfg.Will != nil {
		if err := checkWill(cfg.Will); err != nil {
			return nil, fmt.Errorf("start the publisher: %w", err)
		}
		will := *cfg.Will
		will.Payload = bytes.Clone(will.Payload)
		will.User = slices.Clone(will.User)
		for i, u := range will.User {
			will.User[i] = inventory.UserProperty{Key: bytes.Clone(u.Key), Value: bytes.Clone(u.Value)}
		}
		cfg.Will = &will
	}
	cfg.Steps = slices.Clone(cfg.Steps)
	p := &Publisher{
		cfg: cfg, plain: plain, every: time.Duration(cfg.Interval) * time.Second / 3, start: time.Now(),
		lane: make(chan struct{}, 1), reassert: make(chan *publishLink, 1), changed: make(chan struct{}, 1),
		done: make(chan struct{}), refused: make(map[string]byte),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.status.Since = p.instant()
	return p, nil
}

func (p *Publisher) begin() {
	p.ended.Add(1)
	go p.run()
	if !p.plain {
		p.ended.Add(1)
		go p.refresh()
	}
}

// Outcome is what became of one publish.
type Outcome struct {
	// Handed tells that the message was handed to the connection: a retained one is in the ledger then, also where an
	// error follows, and will be repeated.
	Handed   bool
	Answered bool   // by a PUBACK; never at QoS 0
	Code     byte   // of the PUBACK; 0x80 and above is a refusal
	Reason   string // the server's own words, safe for a terminal; often empty
	PacketID uint16 // 0 at QoS 0
}

// Refused reports whether the server refused the message. A refused retained message stays in the ledger.
func (o Outcome) Refused() bool { return o.Answered && o.Code >= 0x80 }

// Publish sends m and waits for its PUBACK, outside of every lock. A retained message is stamped with the interval and
// recorded in the ledger in the moment in which it is handed to the connection; a retained empty one takes the entry out
// and is repeated until the server has answered it or something newer is published on the topic. A message that is not
// retained carries no interval and leaves the ledger alone.
//
// A refusal is an outcome, not an error. Errors, with nothing sent and nothing recorded: what is wrong with m, a
// *expiry.BoundError, a limit that the server has announced, ErrNotConnected, ErrStopped, ctx's error. With Handed: one that
// wraps ErrNoAnswer when the connection ended, ctx ended, or Config.Timeout passed before the PUBACK, and that of a
// write that broke.
//
// Source: MQTT 5, 3.3 and 3.4; ADR rows A3, A7 to A9.
func (p *Publisher) Publish(ctx context.Context, m Message) (Outcome, error) {
	if err := m.check(); err != nil {
		return Outcome{}, fmt.Errorf("publish: %w", err)
	}
	entry := expiry.Entry{Topic: m.Topic, Payload: m.Payload, QoS: m.QoS}
	if !p.plain {
		entry.Properties = m.properties()
	}
	o := p.outgoing(entry, m.Retain)
	l, f, published, err := p.put(ctx, &o, entry)
	if l == nil {
		return Outcome{}, fmt.Errorf("publish to %s: %w", quoted(m.Topic), err)
	}
	out := Outcome{Handed: true}
	if f == nil || err != nil {
		if err != nil {
			err = fmt.Errorf("publish to %s: %w", quoted(m.Topic), err)
		}
		return out, err
	}
	out.PacketID = f.id
	a, err := l.await(ctx, f, p.cfg.Timeout)
	if err != nil {
		return out, fmt.Errorf("publish to %s: %w", quoted(m.Topic), err)
	}
	p.measured(a.took)
	out.Answered, out.Code, out.Reason = true, a.code, plain(a.reason)
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.Retain && len(m.Payload) == 0 {
		p.ledger.Answered(m.Topic, published)
	}
	if m.Retain && !out.Refused() {
		delete(p.refused, m.Topic)
	}
	return out, nil
}
