package cli

// What `retainscope watch` publishes, through a publisher whose every message expires unless it is repeated.
// A refusal is told once; what cannot be sent now is sent when it can be.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"retainscope/broker"
)

// farewellTime bounds how long a last word to the broker may take.
const farewellTime = 3 * time.Second

// reporter publishes for one watcher. One goroutine uses it, beside the publisher's own.
type reporter struct {
	pub    *broker.Publisher
	topics watchTopics
	stays  bool // nothing of it expires: what is published is taken back in the end
	log    *slog.Logger

	said   figures // as published last
	saidAt time.Time
	up     bool  // connected, as far as it was told
	made   int64 // connections, as of madeAt
	madeAt time.Time
	// refused is the topic state having been refused when it was published last.
	refused bool
}

// report starts to publish: status and, where one is wanted, the discovery config with every connection. The error is
// that of a configuration which no broker could take.
func (r *resolved) report(readings bool, log *slog.Logger) (*reporter, error) {
	t, instance := r.topics()
	x := &reporter{topics: t, stays: r.MQTT.ProtocolVersion == version311, log: log}
	steps := []broker.Step{{Name: "say that it is online", Run: func(ctx context.Context, p *broker.Publisher) error {
		return put(ctx, p, t.status, []byte(online))
	}}}
	if t.config != "" {
		config := announce(t, instance, readings)
		steps = append(steps, broker.Step{Name: "announce the device", Run: func(ctx context.Context, p *broker.Publisher) error {
			return put(ctx, p, t.config, config)
		}})
	}
	var err error
	x.pub, err = broker.StartPublisher(broker.PublisherConfig{
		Config: r.connection(log), Identity: r.MQTT.ClientID + "-watch-" + instance, Interval: r.publishInterval(),
		Will:  &broker.Message{Topic: t.status, Payload: []byte(offline), QoS: 1, Retain: true},
		Steps: steps,
	})
	return x, err
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
	x.suspect(s.Connections, f, now)
	if s.Connected != x.up {
		x.up = s.Connected
		if x.up { // the publisher tells of a loss itself
			x.log.Info("publishing", "status", x.topics.status, "state", x.topics.state, "discovery", x.topics.config,
				"interval", s.Interval, "refresh", s.Every)
		}
	}
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
	// somebody else's doing where the watcher's own connection stands meanwhile.
	duelTime  = 2 * time.Minute
	duelCount = 5
)

// suspect warns of a second publisher with the same name: a broker lets in the newer and throws the older one out, in
// turn, for ever.
func (x *reporter) suspect(made int64, f figures, now time.Time) {
	if x.madeAt.IsZero() || f.Coverage == disconnected || now.Sub(x.madeAt) >= duelTime {
		x.made, x.madeAt = made, now
		return
	}
	if made-x.made >= duelCount {
		x.log.Warn("the broker ends the publisher's connection again and again while the watcher's stands: is there a second watcher of the same instance?",
			"status", x.topics.status)
		x.made, x.madeAt = made, now
	}
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
