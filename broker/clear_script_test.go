package broker

// Clears on brokers that do what they should not, or say no: over the scripted wire.

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/actions"
)

// tombstone reports whether m is one.
func (m message) tombstone() bool { return m.retain && m.payload == "" }

// onTombstone has f take every tombstone.
func (b *scriptBroker) onTombstone(f func(c *scriptClient, m message)) {
	b.onPublish = func(c *scriptClient, m message) bool {
		if m.tombstone() {
			f(c, m)
		}
		return m.tombstone()
	}
}

// lose takes a topic out of the store without a word.
func (b *scriptBroker) lose(topic string) { b.keep(topic, "", 0) }

// with changes the broker while it runs.
func (b *scriptBroker) with(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func TestClearsOnBrokersThatDoOtherwise(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(r *retirement, b *scriptBroker)
		want actions.Verdict
		says string
		sent int // PUBLISH packets that left
	}{
		{"it acknowledges but keeps", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { c.ack(m, 0) })
		}, actions.StillPresent, "the broker keeps it", 1},
		{"it acknowledges, forwards and keeps", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.forward(message{topic: m.topic, retain: true})
				c.ack(m, 0)
			})
		}, actions.StillPresent, "the broker keeps it", 1},
		{"it cuts the connection on the tombstone and keeps", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, _ message) { c.w.reset() })
		}, actions.NoAnswer, "neither success nor failure; observer", 1},
		{"it obeys and cuts the connection", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); _ = c.w.Close() })
		}, actions.NoAnswer, "did not observe", 1},
		{"it ends the connection with a reason", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, _ message) { c.put(disconnect(0x97, "enough\x1b[2J"), 0) })
		}, actions.NoAnswer, "the broker ended the connection with 0x97 quota exceeded", 1},
		{"it never answers and keeps", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(*scriptClient, message) {})
		}, actions.NoAnswer, "no acknowledgement came within 10s", 1},
		{"it never answers and obeys", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(_ *scriptClient, m message) { b.obey(m, 0) })
		}, actions.NoAnswer, "did not observe", 1},
		{"it answers after the timeout", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.obey(m, 0)
				time.AfterFunc(10500*time.Millisecond, func() { c.ack(m, 0) })
			})
		}, actions.NoAnswer, "neither success nor failure", 1},
		{"it answers in the last second", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.obey(m, 0)
				time.AfterFunc(9500*time.Millisecond, func() { c.ack(m, 0) })
			})
		}, actions.ClearedVerified, "did not observe", 1},
		{"it replays zero bytes", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.forward(message{topic: m.topic, retain: true})
				b.with(func() { b.store[m.topic] = stored{message: message{topic: m.topic}} })
				c.ack(m, 0)
			})
		}, actions.EmptyReplay, "without payload", 1},
		{"it loses the parent", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); b.lose(clearParent); c.ack(m, 0) })
		}, actions.Collateral, `1 lost ("lab/retire/device07")`, 1},
		{"it loses everything", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.with(func() { clear(b.store) }); c.ack(m, 0) })
		}, actions.Collateral, "may have lost its right to read", 1},
		{"a writer republishes after 200 ms", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.obey(m, 0)
				c.ack(m, 0)
				time.AfterFunc(200*time.Millisecond, func() { b.retain(clearOwn, clearPayload, 0) })
			})
		}, actions.CameBack, "came back after ", 1},
		{"it refuses with 0x87", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { c.ack(m, 0x87, propReason("no\x1b[2J right")) })
		}, actions.Refused, `0x87 not authorized: this login may not publish here; some brokers keep permissions for minutes after a change (the broker says "no\x1b[2J right")`, 1},
		{"it refuses with 0x97", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { c.ack(m, 0x97) })
		}, actions.Refused, "0x97 quota exceeded", 1},
		{"it refuses and obeys", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); c.ack(m, 0x80) })
		}, actions.Refused, "did not observe", 1},
		{"it answers with a code that does not belong there", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); c.ack(m, 0x01, propUser("k", "v")) })
		}, actions.ClearedVerified, "acknowledged 0x01", 1},
		{"it answers in the short form", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				b.obey(m, 0)
				c.put(control(typePuback<<4, binary.BigEndian.AppendUint16(nil, m.id)), 0)
			})
		}, actions.ClearedVerified, "acknowledged 0x00", 1},
		{"it answers twice", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); c.ack(m, 0x10); c.ack(m, 0x87) })
		}, actions.ClearedVerified, "acknowledged 0x10", 1},
		{"it answers for another packet", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) { b.obey(m, 0); m.id++; c.ack(m, 0) })
		}, actions.Unknown, "the acknowledgement is for the packet 2, not 1", 1},
		{"it answers as to a message at QoS 2", func(_ *retirement, b *scriptBroker) {
			b.onTombstone(func(c *scriptClient, m message) {
				c.put(control(typePubrec<<4, binary.BigEndian.AppendUint16(nil, m.id)), 0)
			})
		}, actions.NoAnswer, "PUBREC: nothing was published at QoS 2", 1},
		{"it answers before anything was sent", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepCompared, func() {
				b.with(func() { b.greeting = control(typePuback<<4, []byte{0, 1}) })
			})
		}, actions.NotSent, "acknowledged it before it was sent", 0},
		{"it keeps no retained messages", func(_ *retirement, b *scriptBroker) {
			b.connack = [][]byte{propByte(0x25, 0)}
		}, actions.NotSent, "the broker keeps no retained messages: Retain not supported (0x9A)", 0},
		{"it takes QoS 0 only", func(_ *retirement, b *scriptBroker) {
			b.connack = [][]byte{propByte(0x24, 0)}
		}, actions.NotSent, "the broker takes QoS 0 at most: QoS not supported (0x9B)", 0},
		{"it takes packets smaller than a SUBSCRIBE", func(_ *retirement, b *scriptBroker) {
			b.connack = [][]byte{propFour(0x27, 31)}
		}, actions.NotSent, "a packet of 33 bytes, and the broker takes 31 bytes at most", 0},
		{"it takes packets smaller than the tombstone", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepCompared, func() { b.with(func() { b.connack = [][]byte{propFour(0x27, 31)} }) })
		}, actions.NotSent, "the packet would have 32 bytes and the broker takes 31: Packet too large (0x95)", 0},
		{"it takes one message at a time and small packets", func(_ *retirement, b *scriptBroker) {
			b.connack = [][]byte{propTwo(0x21, 1), propFour(0x27, 60)}
		}, actions.ClearedVerified, "of 3 controls 3 intact", 1},
		{"it refuses the sender", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepCompared, func() { b.setDown(true) })
		}, actions.NotSent, "not connected): wire.test:1883 refused the connection: Server unavailable (0x88)", 0},
		{"it does not answer the sender's CONNECT", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepCompared, func() { b.deafen(true) })
		}, actions.NotSent, "did not answer CONNECT", 0},
		{"it cuts the witness before anything was sent", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepRead, func() { b.cut(disconnect(0x98, "")); synctest.Wait() })
		}, actions.NotSent, "the witness was lost: the broker ended the connection: Administrative action (0x98)", 0},
		{"it refuses the observer afterwards", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepSent, func() { b.with(func() { b.refuse = map[string]byte{clearOwn: 0x87} }) })
		}, actions.CouldNotVerify, "refused the observer's subscription: 0x87 not authorized", 1},
		{"it refuses the observer before", func(_ *retirement, b *scriptBroker) {
			b.refuse = map[string]byte{clearOwn: 0x87}
		}, actions.NotSent, "refused the observer's subscription: 0x87 not authorized", 0},
		{"it refuses the observer's connection afterwards", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepSent, func() { b.setDown(true) })
		}, actions.CouldNotVerify, "could not look: wire.test:1883 refused the connection", 1},
		{"it leaves the observer's PINGREQ without an answer", func(r *retirement, b *scriptBroker) {
			r.at(actions.StepSent, func() { b.with(func() { b.losePings = 1 }) })
		}, actions.CouldNotVerify, "no PINGRESP", 1},
		{"it shows the observer nothing", func(_ *retirement, b *scriptBroker) {
			b.hide = func(topic string) bool { return true }
		}, actions.Vanished, "this login may not read it", 0},
		{"it shows no neighbour", func(_ *retirement, b *scriptBroker) {
			b.hide = func(topic string) bool { return topic != clearOwn }
		}, actions.CouldNotVerify, "no control was seen again", 1},
		{"it sends copies before SUBACK", func(_ *retirement, b *scriptBroker) { b.ackLast = true }, actions.ClearedVerified, "did not observe", 1},
		{"its PINGRESP overtakes the copies, which come slowly", func(_ *retirement, b *scriptBroker) {
			b.earlyPing = true
			b.pause = func(int) time.Duration { return 200 * time.Millisecond }
		}, actions.ClearedVerified, "3 intact", 1},
		{"a neighbour never rests", func(r *retirement, b *scriptBroker) {
			stop := make(chan struct{})
			b.served.Go(func() {
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						b.retain(clearBeside, "online", 0)
					case <-stop:
						return
					}
				}
			})
			r.t.Cleanup(func() { close(stop) })
		}, actions.ClearedVerified, "3 intact", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newScriptBroker(t)
				r := newRetirement(t, b)
				c.set(r, b)
				before := r.storeOf(b)
				op := r.clear(clearOwn)
				if op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
					t.Errorf("got %s: %s\nwant %s: %s", op.Verdict(), op.Sentence(), c.want, c.says)
				}
				if n := len(r.y.sent()); n != c.sent || len(b.taken) != c.sent {
					t.Errorf("%d PUBLISH packets left and %d came, want %d", n, len(b.taken), c.sent)
				}
				if strings.Contains(op.Report(nil), "\x1b") {
					t.Error("the report moves the cursor")
				}
				if after := r.storeOf(b); c.sent == 0 && !slices.Equal(before, after) {
					t.Errorf("nothing was sent and the store was %q, is %q", before, after)
				}
			})
		})
	}
}

// storeOf returns what the scripted broker holds, for whoever may see everything.
func (r *retirement) storeOf(b *scriptBroker) (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for topic, s := range b.store {
		if !strings.HasPrefix(topic, "$") {
			all = append(all, topic+"="+s.payload)
		}
	}
	slices.Sort(all)
	return all
}

func TestADisconnectInPlaceOfAnAnswerIsRecordedWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		r := newRetirement(t, b)
		b.onTombstone(func(c *scriptClient, _ message) { c.put(disconnect(0x97, "enough\x1b[2J"), 0) })
		o := r.clear(clearOwn).Outcome.Receipt
		if o.Disconnect == nil || *o.Disconnect != 0x97 || o.Answered || !strings.Contains(o.Error, `enough\x1b[2J`) {
			t.Errorf("%+v", o)
		}
	})
}

func TestAnAcknowledgementIsRecordedWithItsUserProperties(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		r := newRetirement(t, b)
		b.onTombstone(func(c *scriptClient, m message) {
			b.obey(m, 0)
			c.ack(m, 0, propUser("node", "a"), propReason("fine"), propUser("node", "\x1b"))
		})
		o := r.clear(clearOwn).Outcome.Receipt
		if want := []string{`"node"="a"`, `"node"="\x1b"`}; !slices.Equal(o.UserProperties, want) || o.Reason != "fine" {
			t.Errorf("%+v", o)
		}
	})
}

func TestWhoLeavesIsNotKeptWaitingAndNothingIsSentAfterwards(t *testing.T) {
	for _, c := range []struct {
		step actions.Step
		want actions.Verdict
		sent int
	}{
		{actions.StepIntended, actions.NotSent, 0}, {actions.StepRead, actions.NotSent, 0}, {actions.StepCompared, actions.NotSent, 0},
		{actions.StepSent, actions.CouldNotVerify, 1},
	} {
		t.Run(c.step.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRetirement(t, newScriptBroker(t))
				ctx, leave := context.WithCancel(t.Context())
				r.at(c.step, leave)
				op, err := r.clearer.Clear(ctx, actions.Request{Topic: []byte(clearOwn)})
				if err != nil || op.Verdict() != c.want || len(r.y.sent()) != c.sent {
					t.Errorf("%s, %v; %d PUBLISH packets", op.Sentence(), err, len(r.y.sent()))
				}
				wait(time.Hour) // whatever still waits would act now
				if len(r.y.sent()) != c.sent {
					t.Errorf("%d PUBLISH packets an hour later", len(r.y.sent()))
				}
			})
		})
	}
}

func TestWhoLeavesWhileTheTombstoneIsOnItsWayHasNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		r := newRetirement(t, b)
		ctx, leave := context.WithCancel(t.Context())
		b.onTombstone(func(*scriptClient, message) { leave() })
		start := time.Now()
		op, err := r.clearer.Clear(ctx, actions.Request{Topic: []byte(clearOwn)})
		if err != nil || op.Verdict() != actions.NoAnswer || !strings.Contains(op.Sentence(), "left before an answer came") {
			t.Errorf("%s, %v", op.Sentence(), err)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("waited %v", d)
		}
	})
}

// tornConn takes so many bytes of a PUBLISH and then breaks.
type tornConn struct {
	net.Conn
	takes int
}

func (c *tornConn) Write(p []byte) (int, error) {
	if p[0]>>4 != typePublish {
		return c.Conn.Write(p)
	}
	n, _ := c.Conn.Write(p[:c.takes])
	return n, errReset
}

func TestATornTombstoneCountsAsSentAndOneThatTheSocketDidNotTakeDoesNot(t *testing.T) {
	for takes, want := range map[int]actions.Verdict{0: actions.NotSent, 1: actions.NoAnswer, 31: actions.NoAnswer} {
		synctest.Test(t, func(t *testing.T) {
			b := newScriptBroker(t)
			r := newRetirement(t, b)
			cfg := b.config()
			dial := cfg.wire
			cfg.wire = func(ctx context.Context) (net.Conn, error) {
				nc, err := dial(ctx)
				return &tornConn{nc, takes}, err
			}
			r.clearer.Sender = NewSender(cfg)
			op, err := r.clearer.Clear(t.Context(), actions.Request{Topic: []byte(clearOwn)})
			if err != nil || op.Verdict() != want || !strings.Contains(op.Sentence(), "could not send PUBLISH") {
				t.Errorf("%d bytes taken: %s: %s (%v)", takes, op.Verdict(), op.Sentence(), err)
			}
			if want == actions.NoAnswer && (op.Outcome.Receipt.Publishes != 1 || op.Outcome.Packet.Length != 32) {
				t.Errorf("%d bytes taken: %+v %+v", takes, op.Outcome.Receipt, op.Outcome.Packet)
			}
			if len(b.taken) != 0 {
				t.Errorf("%d PUBLISH packets came", len(b.taken))
			}
		})
	}
}

func TestNothingIsSentForAnOrderThatNobodyMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		y := &tally{}
		receipt, err := NewSender(y.over(b.config())).Send(t.Context(), actions.Outgoing{}, func() error { return nil })
		if err == nil || !strings.Contains(err.Error(), "no topic was approved") || receipt.Packet != nil || receipt.Publishes != 0 || len(y.sent()) != 0 {
			t.Errorf("%+v, %v; %d PUBLISH packets", receipt, err, len(y.sent()))
		}
	})
}
