package cli

// What `retainscope watch` publishes, through a publisher whose every message expires unless it is repeated.
// A refusal is told once; what cannot be sent now is sent when it can be.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"retainscope/broker"
)

// farewellTime bounds how long a last word to the broker may take.
const farewellTime = 3 * time.Second

// reporter publishes for one watcher. One goroutine uses it, beside the publisher's own.
type reporter struct {
	pub      *broker.Publisher
	topics   watchTopics
	instance string
	identity string // its client identifier
	stays    bool   // nothing of it expires: what is published is taken back in the end
	log      *slog.Logger

	said   figures // as published last
	saidAt time.Time
	up     bool  // what is published on this connection was told
	made   int64 // connections, as of madeAt
	madeAt time.Time
	lost   error     // the takeover that was told last
	duelAt time.Time // when a duel was told last
	// refused is the topic state having been refused when it was published last.
	refused bool

	mu     sync.Mutex
	denied map[string]bool // by topic: the broker refused it on the last connection
}

// report starts to publish: status and, where one is wanted, the discovery config with every connection. The error is
// that of a configuration which no broker could take.
func (r *resolved) report(readings bool, log *slog.Logger) (*reporter, error) {
	t, instance := r.topics()
	x := &reporter{
		topics: t, instance: instance, identity: r.MQTT.ClientID + "-watch-" + instance, stays: r.MQTT.ProtocolVersion == version311, log: log,
		denied: map[string]bool{},
	}
	steps := []broker.Step{x.step("say that it is online", t.status, []byte(online))}
	if t.config != "" {
		steps = append(steps, x.step("announce the device", t.config, announce(t, instance, readings)))
	}
	var err error
	x.pub, err = broker.StartPublisher(broker.PublisherConfig{
		Config: r.connection(log), Identity: x.identity, Interval: r.publishInterval(),
		Will:  &broker.Message{Topic: t.status, Payload: []byte(offline), QoS: 1, Retain: true},
		Steps: steps,
	})
	return x, err
}

// step returns a connect step that publishes one retained message, and notes whether the broker takes it.
func (x *reporter) step(name, topic string, payload []byte) broker.Step {
	return broker.Step{Name: name, Run: func(ctx context.Context, p *broker.Publisher) error {
		err := put(ctx, p, topic, payload)
		var no *refusal
		x.mu.Lock()
		defer x.mu.Unlock()
		x.denied[topic] = errors.As(err, &no)
		return err
	}}
}

// begun says in the log what is published on a new connection, and what the broker refuses.
func (x *reporter) begun(s broker.PublisherStatus) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.denied[x.topics.state] = x.refused
	var kept []any
	var denied []string
	for _, t := range []struct{ name, topic string }{{"status", x.topics.status}, {"state", x.topics.state}, {"discovery", x.topics.config}} {
		switch {
		case t.topic == "":
		case x.denied[t.topic]:
			denied = append(denied, t.topic)
		default:
			kept = append(kept, t.name, t.topic)
		}
	}
	if len(denied) > 0 {
		text := "some of it is not published: the broker refuses it"
		if kept == nil {
			text = "nothing is published: the broker refuses all of it"
		}
		x.log.Warn(text+"; the login needs the right to write these topics", "topics", denied)
	}
	if kept == nil {
		return
	}
	if x.stays {
		x.log.Warn("with MQTT 3.1.1 nothing of it expires: it is cleared when this watcher leaves, and stays when it is killed")
		x.log.Info("publishing", kept...)
		return
	}
	x.log.Info("publishing", append(kept, "interval", s.Interval, "refresh", s.Every)...)
}

// put publishes one retained message. A refusal is an error here.
func put(ctx context.Context, p *broker.Publisher, topic string, payload []byte) error {
	out, err := p.Publish(ctx, broker.Message{Topic: topic, Payload: payload, QoS: 1, Retain: true})
	if err == nil && out.Refused() {
		err = &refusal{topic, out}
	}
	return err
}

// refusal says that the broker does not take a topic.
type refusal struct {
	topic   string
	outcome broker.Outcome
}

func (e *refusal) Error() string {
	s := fmt.Sprintf("the broker refuses %s: %s (0x%02X)", quote(e.topic), broker.ReasonName(e.outcome.Code), e.outcome.Code)
	if e.outcome.Reason != "" {
		s += ": " + e.outcome.Reason
	}
	return s
}

// tell publishes f where it is news, at most once a second as it is called no more often. It waits for the answer.
func (x *reporter) tell(ctx context.Context, f figures, now time.Time) {
	s := x.pub.Status()
	x.suspect(s, f, now)
	if !s.Connected { // the publisher tells of a loss itself
		x.up = false
	}
	defer func() {
		if s.Connected && s.Settled && !x.up && !x.saidAt.IsZero() {
			x.up = true
			x.begun(s)
		}
	}()
	if !s.Connected || !x.saidAt.IsZero() && !f.news(x.said, now.Sub(x.saidAt)) {
		return
	}
	err := put(ctx, x.pub, x.topics.state, f.payload())
	var no *refusal
	refused := errors.As(err, &no)
	switch {
	case refused && !x.refused:
		x.log.Warn("the figures cannot be published", "error", err)
	case err != nil && !refused:
		x.log.Debug("the figures were not published", "error", err)
	}
	x.refused = refused
	if err == nil || refused {
		x.said, x.saidAt = f, now
	}
}

const (
	// duelTime is how long a look at the number of connections takes, and duelCount how many of them in that time are
	// somebody else's doing where the watcher's own connection stands meanwhile. Both sides wait longer every time.
	duelTime  = 5 * time.Minute
	duelCount = 3
	// duelAgain is how long it is before that is told once more.
	duelAgain = time.Hour
)

// takenOver is the reason with which a broker ends a connection for a newer one of the same name. mosquitto 2.0 ends it
// without a reason.
//
// Source: MQTT 5, 3.14.2.1.
const takenOver = 0x8E

// suspect warns of a second publisher with the same name: a broker lets in the newer and throws the older one out, in
// turn, for ever.
func (x *reporter) suspect(s broker.PublisherStatus, f figures, now time.Time) {
	var end *broker.ServerDisconnect
	switch {
	case s.Lost != nil && !errors.Is(x.lost, s.Lost) && errors.As(s.Lost, &end) && end.Code == takenOver:
		x.lost = s.Lost
		x.log.Warn("another program has taken over the publisher's connection: "+x.rival(), "reason", end.Error(), "identity", x.identity)
	case x.madeAt.IsZero() || f.Coverage == disconnected || now.Sub(x.madeAt) >= duelTime:
	case s.Connections-x.made >= duelCount:
		if !x.duelAt.IsZero() && now.Sub(x.duelAt) < duelAgain {
			break
		}
		x.duelAt = now
		x.log.Warn("the broker ends the publisher's connection again and again while the watcher's stands: "+x.rival(), "identity", x.identity)
	default:
		return
	}
	x.made, x.madeAt = s.Connections, now
}

// rival says who that may be, and what helps.
func (x *reporter) rival() string {
	return "is there a second watcher of the instance " + quote(x.instance) + "? Each needs an --instance of its own, or --publish=false"
}

// leave says offline and leaves without a will. What was published ends when its interval has passed, and Home Assistant
// keeps the device until then. Where nothing expires it is removed instead.
func (x *reporter) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), farewellTime)
	defer cancel()
	if x.pub.Status().Connected {
		last := map[string]string{x.topics.status: offline}
		if x.stays {
			clear(last)
			for _, topic := range x.topics.all() {
				last[topic] = ""
			}
		}
		for topic, payload := range last {
			if err := put(ctx, x.pub, topic, []byte(payload)); err != nil {
				x.log.Warn("the broker was not told that this watcher leaves", "topic", topic, "error", err)
			}
		}
	}
	if err := x.pub.Stop(ctx); err != nil {
		x.log.Warn("the publisher did not leave in order", "error", err)
	}
}
