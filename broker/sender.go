package broker

// The one publication of an action: a connection for it alone, one PUBLISH, its answer.
// Nothing is repeated here, whatever happens.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"retainscope/actions"
	"retainscope/inventory"
)

// Sender puts the publication of an action on the wire. It satisfies actions.Sender, and may be used from any
// goroutine.
type Sender struct{ cfg Config }

var _ actions.Sender = (*Sender)(nil)

// NewSender returns a sender that publishes with the login of cfg. It connects only when it is used.
func NewSender(cfg Config) *Sender { return &Sender{cfg.filled()} }

// senderID is the Packet Identifier of the only PUBLISH of a connection.
const senderID = 1

// Send makes a connection without subscriptions and with a fresh client id, sends o as one PUBLISH and waits for its
// PUBACK until ctx ends. At QoS 0 it waits for the answer to a PINGREQ instead, so that the broker has read what it was
// sent. Connecting and the write are bounded by Config.Timeout as well. It returns up to two seconds after that: the
// connection is left in order.
//
// The bytes that o.Check saw are those of the receipt, and those that were written. Nothing is written, and
// Receipt.Packet is nil, where the error is a *ConnectError, says which limit of the broker is in the way, what Check
// found, that ctx or the connection ended before, or that the version of MQTT is a limited one. Where the connection ended with a DISCONNECT the receipt has its
// code, and the error, a *ServerDisconnect, its reason.
//
// Source: MQTT 5, 3.3, 3.4 and 3.14.
func (s *Sender) Send(ctx context.Context, o actions.Outgoing, ready func() error) (actions.Receipt, error) {
	if s.cfg.Version.Limited() {
		return actions.Receipt{User: s.cfg.User}, errors.New(inventory.LimitedClears)
	}
	sh := &shot{ctx: ctx, order: o, ready: ready, clock: s.cfg.Clock, acks: make(chan acknowledged, 1), echoes: s.cfg.Echoes}
	sh.receipt.User = s.cfg.User
	sh.wire = &publishWire{guard: sh.guard, acked: sh.acked}
	conn, err := dialPublishing(ctx, s.cfg, sh.wire)
	if err != nil {
		return sh.receipt, err
	}
	defer shut(conn)
	sh.receipt.ClientID = conn.Server().ClientID
	err = sh.fire(ctx, conn)
	var goodbye *ServerDisconnect
	if !sh.receipt.Answered && errors.As(conn.Err(), &goodbye) {
		sh.receipt.Disconnected, sh.receipt.DisconnectCode = true, goodbye.Code
	}
	return sh.receipt, err
}

// shot is one PUBLISH under way.
type shot struct {
	ctx     context.Context
	order   actions.Outgoing
	ready   func() error
	clock   func() time.Time
	wire    *publishWire
	acks    chan acknowledged
	receipt actions.Receipt
	echoes  *Echoes
	refused func() // takes back that an echo is waited for; nil before the write
}

// acknowledged is a PUBACK and when it came.
type acknowledged struct {
	puback
	at time.Time
}

// outgoingOf returns what goes on the wire for o.
func outgoingOf(o actions.Outgoing) outgoing {
	out := outgoing{topic: string(o.Topic()), payload: o.Payload(), props: o.Properties(), qos: o.QoS(), retain: true}
	if seconds, ok := o.Interval().Seconds(); ok {
		out.props = append(expiryProperty(seconds), o.Properties()...)
	}
	return out
}

// fire sends and waits.
func (s *shot) fire(ctx context.Context, conn *Conn) error {
	out := outgoingOf(s.order)
	if len(out.topic) > longestText {
		return fmt.Errorf("publish: a topic of %d bytes; %d are possible", len(out.topic), longestText)
	}
	if limit := conn.server.allowed(&out); limit != nil {
		return fmt.Errorf("publish: %w", limit)
	}
	if err := s.ready(); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.t.socket.Close() })
	conn.out.Lock()
	_, err := conn.out.Write(out.packet(senderID))
	conn.out.Unlock()
	written := stop() // otherwise ctx ended meanwhile, and the connection with it
	s.receipt.Publishes = int(s.wire.handed.Load())
	if s.receipt.Publishes == 0 {
		s.receipt.Packet, s.receipt.SentAt = nil, time.Time{}
		if s.refused != nil {
			s.refused()
		}
	}
	switch {
	case ctx.Err() != nil && (err != nil || !written):
		return fmt.Errorf("publish: %w", ctx.Err())
	case err != nil:
		return conn.ended("publish", err)
	case out.qos == 0:
		return conn.Fence(ctx)
	}
	return s.await(ctx, conn)
}

// guard sees the packet in the moment before it is written, as it is written. The caller holds the writer's lock.
func (s *shot) guard(packet []byte) error {
	if s.receipt.Packet != nil {
		return errors.New("one was sent, and nothing is repeated")
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if len(s.acks) > 0 {
		return errors.New("the broker acknowledged it before it was sent")
	}
	if _, err := s.order.Check(packet); err != nil {
		return err
	}
	s.receipt.Packet, s.receipt.SentAt = bytes.Clone(packet), s.clock()
	out := outgoingOf(s.order)
	s.refused = s.echoes.expect(&out, s.order.Properties(), s.receipt.SentAt)
	return nil
}

// acked takes a PUBACK; the first one counts, whatever it answers. Called on the goroutine that reads.
func (s *shot) acked(a puback) {
	select {
	case s.acks <- acknowledged{a, s.clock()}:
	default:
	}
}

// await waits for the PUBACK.
func (s *shot) await(ctx context.Context, conn *Conn) error {
	var err error
	select {
	case a := <-s.acks:
		s.answer(a)
		return nil
	case <-conn.Done():
		err = conn.ended("no acknowledgement", nil)
	case <-ctx.Done():
		err = ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no acknowledgement came within %s: %w", s.clock().Sub(s.receipt.SentAt).Round(100*time.Millisecond), err)
		} else {
			err = fmt.Errorf("no acknowledgement was waited for any longer: %w", err)
		}
	}
	select {
	case a := <-s.acks: // it came in the same moment
		s.answer(a)
		return nil
	default:
		return err
	}
}

func (s *shot) answer(a acknowledged) {
	r := &s.receipt
	r.Answered, r.AnswerID, r.Code, r.AnsweredAt = true, a.id, a.code, a.at
	r.Reason, r.UserProperties = a.reason, a.user
	if a.code >= 0x80 && s.refused != nil { // 3.4.2.1
		s.refused()
	}
}
