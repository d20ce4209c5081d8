package actions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestEveryVerdictHasItsCase(t *testing.T) {
	echoless := func(b *bench) { // a broker whose live copies do not come
		b.onSend = func() { b.seen[0].Drain() }
	}
	cases := []struct {
		name string
		set  func(*bench)
		want Verdict
		says string
		sent int
	}{
		{"the tombstone is accepted and nothing is observed", func(*bench) {}, ClearedVerified, "did not observe", 1},
		{"nobody is subscribed", func(b *bench) { b.code = 0x10 }, ClearedVerified, "nobody was subscribed; this is a success", 1},
		{"a code of our own below 0x80", func(b *bench) { b.code = 0x01 }, ClearedVerified, "acknowledged 0x01", 1},
		{"the broker acknowledges and keeps it", func(b *bench) { b.keep = true }, StillPresent, "the broker keeps it", 1},
		{"a writer republishes the same value 200 ms later", func(b *bench) {
			b.onSend = func() { b.pass(200 * time.Millisecond); b.publish(retained(own, ownPayload)) }
		}, CameBack, "came back after 200 ms with the same value", 1},
		{"a writer republishes another value", func(b *bench) {
			b.onSend = func() { b.pass(time.Second); b.publish(retained(own, "new")) }
		}, CameBack, "came back after 1.0 s with another value", 1},
		{"another value is there and nobody saw it come", func(b *bench) {
			b.onSend = func() { b.publish(retained(own, "new")); b.seen[0].Drain() }
		}, CameBack, "came back with another value within", 1},
		{"a writer whose RETAIN the broker does not show", func(b *bench) {
			b.onSend = func() {
				p := retained(own, ownPayload)
				p.Retain = false
				b.publish(p)
				b.lab.store[own] = retained(own, ownPayload)
			}
		}, CameBack, "with the same value", 1},
		{"a writer publishes without RETAIN", func(b *bench) {
			b.onSend = func() { p := retained(own, "live"); p.Retain = false; b.publish(p) }
		}, ClearedVerified, "did not observe", 1},
		{"it came back and somebody emptied it again", func(b *bench) {
			b.onSend = func() { b.publish(retained(own, "x")); b.publish(retained(own, "")) }
		}, ClearedVerified, "did not observe", 1},
		{"it came back and was not observed afterwards", func(b *bench) {
			b.onSend = func() { b.publish(retained(own, "x")); delete(b.lab.store, own) }
		}, CameBack, "came back", 1},
		{"the login may not publish", func(b *bench) { b.code = 0x87 }, Refused, "0x87 not authorized", 1},
		{"the quota is exceeded", func(b *bench) { b.code = 0x97 }, Refused, "0x97 quota exceeded", 1},
		{"a refusal with words that would move a cursor", func(b *bench) {
			b.code, b.send = 0x80, func(r *Receipt) error { r.Reason = "\x1b[2Jno"; return nil }
		}, Refused, `\x1b[2Jno`, 1},
		{"the observer is refused afterwards", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					o.Grants[0].Code = 0x87
				}
				return nil
			}
		}, CouldNotVerify, "refused the observer's subscription: 0x87", 1},
		{"the broker answers for fewer filters than were asked", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					o.Grants = o.Grants[1:]
				}
				return nil
			}
		}, CouldNotVerify, "did not answer for the observer's filter", 1},
		{"the observer is lost afterwards", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					return errors.New("the connection ended")
				}
				return nil
			}
		}, CouldNotVerify, "could not look: the connection ended", 1},
		{"PINGRESP never comes", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error { o.Fenced = n != 3; return nil }
		}, CouldNotVerify, "did not answer the observer's PINGREQ", 1},
		{"the quiet is too short", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					o.Quiet = 15 * time.Millisecond
				}
				return nil
			}
		}, CouldNotVerify, "quiet for 15ms only", 1},
		{"there is no control", func(b *bench) {
			for _, topic := range []string{parent, ownToo, neighbour} {
				delete(b.lab.store, topic)
			}
		}, CouldNotVerify, "no control was seen again", 1},
		{"another login reads back", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					o.User = ""
				}
				return nil
			}
		}, CouldNotVerify, "login was \"reader\" before and anonymous after", 1},
		{"the sender reads back itself", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error { o.ClientID = "sender"; return nil }
		}, CouldNotVerify, "no separate observer", 1},
		{"no acknowledgement comes, and it is gone", func(b *bench) {
			b.send = func(r *Receipt) error { r.Answered = false; return errors.New("no PUBACK within 10s") }
		}, NoAnswer, "neither success nor failure", 1},
		{"no acknowledgement comes, and it is there", func(b *bench) {
			b.keep, b.send = true, func(r *Receipt) error { r.Answered = false; return errors.New("no PUBACK within 10s") }
		}, NoAnswer, "was served", 1},
		{"the broker cuts the connection on it", func(b *bench) {
			b.send = func(r *Receipt) error { r.Answered, r.Disconnected, r.DisconnectCode = false, true, 0x9A; return nil }
		}, NoAnswer, "0x9A retain not supported", 1},
		{"a quiet neighbour is gone", func(b *bench) {
			b.onSend = func() { delete(b.lab.store, parent) }
		}, Collateral, `alarm: of 3 controls 2 intact, 1 lost ("lab/retire/device07")`, 1},
		{"every neighbour is gone", func(b *bench) {
			b.onSend = func() { clear(b.lab.store) }
		}, Collateral, "may have lost its right to read", 1},
		{"a neighbour is gone and the topic is still there", func(b *bench) {
			b.keep, b.onSend = true, func() { delete(b.lab.store, parent) }
		}, Collateral, "was served", 1},
		{"a neighbour was missing in one look only", func(b *bench) {
			b.onObserve = func(n int, o *Observation) error {
				if n == 3 {
					o.Seen = o.Seen[:0]
				}
				return nil
			}
		}, ClearedVerified, "3 intact", 1},
		{"a neighbour is cleared by somebody meanwhile", func(b *bench) {
			b.onSend = func() { b.publish(retained(neighbour, "")) }
		}, ClearedVerified, "2 intact, 1 cleared by someone", 1},
		{"a neighbour is published meanwhile", func(b *bench) {
			b.onSend = func() { b.publish(retained(neighbour, "moved")) }
		}, ClearedVerified, "2 intact, 1 changed live", 1},
		{"a neighbour runs out meanwhile", func(b *bench) {
			p := retained(neighbour, "short")
			p.Interval = expiry.Seconds(3)
			b.publish(p)
			b.onSend = func() { b.pass(2 * time.Second); delete(b.lab.store, neighbour) }
		}, ClearedVerified, "1 expired", 1},
		{"the broker replays a message without payload", func(b *bench) {
			b.onSend = func() { b.lab.store[own] = retained(own, "") }
		}, EmptyReplay, "without payload", 1},
		{"the value is another one", func(b *bench) { b.publish(retained(own, "new")) }, Changed, "does not hold the value that was approved", 0},
		{"the value gained an expiry", func(b *bench) {
			p := retained(own, ownPayload)
			p.Interval = expiry.Seconds(100)
			b.publish(p)
		}, Changed, "does not hold the value", 0},
		{"the value changes at the last moment", func(b *bench) {
			b.clearer.Progress = func(p Progress) {
				if p.Step == StepRead {
					b.publish(retained(own, "late"))
				}
			}
		}, Changed, "does not hold the value", 0},
		{"somebody clears it at the last moment", func(b *bench) {
			b.clearer.Progress = func(p Progress) {
				if p.Step == StepRead {
					b.publish(retained(own, ""))
				}
			}
		}, Vanished, "somebody else cleared it just now", 0},
		{"the same value is published at the last moment", func(b *bench) {
			b.clearer.Progress = func(p Progress) {
				if p.Step == StepRead {
					b.publish(retained(own, ownPayload))
				}
			}
		}, ClearedVerified, "did not observe", 1},
		{"the topic is not there", func(b *bench) { delete(b.lab.store, own) }, Vanished, "may be gone already, or this login may not read it", 0},
		{"the packet has a payload", func(b *bench) {
			b.send = func(r *Receipt) error { r.Packet = append(r.Packet, 'x'); r.Packet[1]++; return nil }
		}, Unknown, "payload of 1 bytes", 1},
		{"two packets were counted at the socket", func(b *bench) {
			b.send = func(r *Receipt) error { r.Publishes = 2; return nil }
		}, Unknown, "2 PUBLISH packets were counted", 1},
		{"the acknowledgement is for another packet", func(b *bench) {
			b.send = func(r *Receipt) error { r.AnswerID = 9; return nil }
		}, Unknown, "for the packet 9, not 7", 1},
		{"the echo never comes", echoless, ClearedVerified, "did not observe", 1},
		{"no connection for the tombstone", func(b *bench) {
			b.send = func(r *Receipt) error { *r = Receipt{}; return errors.New("connection refused") }
		}, NotSent, "nothing was sent (not connected): connection refused", 1},
		{"the observer has no connection", func(b *bench) { b.observeErr = errors.New("connection refused") }, NotSent, "(observer failed)", 0},
		{"the witness is lost before anything was sent", func(b *bench) {
			b.clearer.Progress = func(p Progress) {
				if p.Step == StepRead {
					b.seen[0].lost = true
				}
			}
		}, NotSent, "(observer failed): the witness was lost: the connection ended", 0},
		{"the witness has no connection", func(b *bench) { b.watchErr = errors.New("refused") }, NotSent, "the witness could not watch", 0},
		{"the observer is refused before", func(b *bench) {
			b.onObserve = func(_ int, o *Observation) error { o.Grants[0].Code = 0x87; return nil }
		}, NotSent, "0x87 not authorized", 0},
	}
	seen := map[Verdict]bool{}
	for _, c := range cases {
		seen[c.want] = true
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.set(b)
			op := b.clear()
			if op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
				t.Errorf("got %s: %s\nwant %s: %s", op.Verdict(), op.Sentence(), c.want, c.says)
			}
			if b.sends != c.sent {
				t.Errorf("%d publications, want %d", b.sends, c.sent)
			}
			mustVerify(t, b.desk)
			kept, err := b.desk.Operation(t.Context(), op.ID)
			if err != nil || kept.Verdict() != c.want || kept.Sentence() != op.Sentence() {
				t.Errorf("the record says %s: %s (%v)", kept.Verdict(), kept.Sentence(), err)
			}
			for _, bad := range []string{"deleted", "absent", "does not exist", "\x1b"} {
				if strings.Contains(op.Report(nil), bad) {
					t.Errorf("the report says %q", bad)
				}
			}
			if v, err := b.desk.Manifest(); err != nil || len(v.Entries()) != 1 {
				t.Error("the manifest is not as it was")
			}
		})
	}
	for v := Unknown; int(v) < len(verdictNames); v++ {
		if !seen[v] {
			t.Errorf("no case for the verdict %s", v)
		}
	}
}

func TestAWitnessThatWasLostAfterTheTombstoneIsNoted(t *testing.T) {
	b := newBench(t)
	b.onSend = func() { b.seen[0].lost = true }
	op := b.clear()
	if op.Verdict() != ClearedVerified || !strings.Contains(op.Report(nil), "the witness was lost (the connection ended)") {
		t.Errorf("%s\n%s", op.Verdict(), op.Report(nil))
	}
	b = newBench(t)
	if op := b.clear(); strings.Contains(op.Report(nil), "witness was lost") {
		t.Errorf("one that stood: %s", op.Report(nil))
	}
}

func TestPreconditionsSendNothingAndWriteNothing(t *testing.T) {
	resave := func(b *bench, change func(m *Manifest)) {
		m, err := b.desk.Manifest()
		if err != nil {
			b.t.Fatal(err)
		}
		change(m)
		if err := b.desk.Save(context.Background(), m); err != nil {
			b.t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		set  func(*bench)
		want Obstacle
		says string
	}{
		{"a wildcard", func(b *bench) { b.request.Topic = []byte("lab/#") }, BadTopic, "wildcard"},
		{"an empty name", func(b *bench) { b.request.Topic = nil }, BadTopic, "empty"},
		{"a topic that is not listed", func(b *bench) { b.request.Topic = []byte(similar) }, NotApproved, "not in the manifest"},
		{"an entry on hold", func(b *bench) {
			resave(b, func(m *Manifest) { _, _ = m.Withdraw(b.topic) })
		}, NotApproved, "on hold"},
		{"an entry to preserve", func(b *bench) {
			resave(b, func(m *Manifest) { e, _ := m.Find(b.topic); e.Disposition = Preserve; _ = m.Put(e) })
		}, NotApproved, "preserved"},
		{"a topic the configuration protects", func(b *bench) { b.clearer.Protection = Protection{filters: []string{"lab/+/device07/#"}} }, Protected, "protected by"},
		{"a topic the manifest protects", func(b *bench) {
			resave(b, func(m *Manifest) {
				*m = *mustParse(b.t, strings.Replace(string(m.Text()), "protect = []", "protect = ['lab/#']", 1))
				text, _ := readAll(b.store, "home.toml")
				m.source = digest(text)
			})
		}, Protected, `protected by "lab/#"`},
		{"another broker", func(b *bench) { b.clearer.Broker.URL = "mqtt://other.lan" }, AnotherBroker, "another broker"},
		{"another login", func(b *bench) { b.clearer.Broker.User = "guest" }, AnotherBroker, "another login"},
		{"another fingerprint was shown", func(b *bench) { b.request.Fingerprint = somePrint }, ApprovalMoved, "shown was"},
		{"no manifest", func(b *bench) { b.clearer.Desk = OpenDesk(b.store, "none.toml", b.clock) }, ManifestUnreadable, "there is no manifest"},
		{"a broken manifest", func(b *bench) {
			if err := b.store.Replace("home.toml", []byte("nope")); err != nil {
				b.t.Fatal(err)
			}
		}, ManifestUnreadable, "line 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.set(b)
			before := b.holds()
			op := b.clear()
			if op.Verdict() != NotSent || op.Outcome.Obstacle != c.want || !strings.Contains(op.Sentence(), c.says) {
				t.Errorf("got %s, %s: %s", op.Verdict(), op.Outcome.Obstacle, op.Sentence())
			}
			if b.sends != 0 || b.looks != 0 || b.holds() != before {
				t.Errorf("%d publications, %d looks", b.sends, b.looks)
			}
			if v := mustVerify(t, b.desk); v.Lines != 0 {
				t.Errorf("%d lines were written", v.Lines)
			}
		})
	}
}

func TestLeavingIsNoAnswerAndNothingIsSentTwice(t *testing.T) {
	for _, c := range []struct {
		step Step
		want Verdict
		says string
		sent int
	}{
		{StepIntended, NotSent, "(left)", 0},
		{StepRead, NotSent, "(left)", 0},
		{StepCompared, NotSent, "(left)", 0},
		{StepSent, CouldNotVerify, "left before the topic was read back", 1},
	} {
		t.Run(c.step.String(), func(t *testing.T) {
			b := newBench(t)
			ctx, leave := context.WithCancel(t.Context())
			b.clearer.Progress = func(p Progress) {
				if p.Step == c.step {
					leave()
				}
			}
			b.clearer.Sender = ctxSender{b.lab}
			op, err := b.clearer.Clear(ctx, b.request)
			if err != nil || op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
				t.Errorf("got %s: %s (%v)", op.Verdict(), op.Sentence(), err)
			}
			if b.sends != c.sent {
				t.Errorf("%d publications, want %d", b.sends, c.sent)
			}
			mustVerify(t, b.desk)
		})
	}
}

// ctxSender sends nothing once the person has left, as a sender that dials does.
type ctxSender struct{ *lab }

func (s ctxSender) Send(ctx context.Context, o Outgoing, ready func() error) (Receipt, error) {
	if ctx.Err() != nil {
		return Receipt{}, ctx.Err()
	}
	return s.lab.Send(ctx, o, ready)
}

// silentSender writes and then hears nothing until ctx ends.
type silentSender struct{ *lab }

func (s silentSender) Send(ctx context.Context, o Outgoing, ready func() error) (Receipt, error) {
	r, _ := s.lab.Send(ctx, o, ready)
	r.Answered = false
	<-ctx.Done()
	return r, errors.New("no PUBACK came")
}

func TestAnAnswerIsWaitedForNoLongerThanStated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.clearer.Sender = silentSender{b.lab}
		start := time.Now()
		op := b.clear()
		if op.Verdict() != NoAnswer || op.Outcome.Found != NotObserved {
			t.Errorf("got %s: %s", op.Verdict(), op.Sentence())
		}
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("waited %v", d)
		}
	})
}

func TestLeavingDuringTheTombstoneIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, leave := context.WithCancel(t.Context())
		b.clearer.Sender = silentSender{b.lab}
		b.onSend = leave
		op, err := b.clearer.Clear(ctx, b.request)
		if err != nil || op.Verdict() != NoAnswer || !strings.Contains(op.Sentence(), "the program was left before an answer came") {
			t.Errorf("got %s: %s (%v)", op.Verdict(), op.Sentence(), err)
		}
		if kept, err := b.desk.Operation(t.Context(), op.ID); err != nil || kept.Open() {
			t.Errorf("the outcome is not in the record: %v", err)
		}
	})
}

func TestOneClearAtATime(t *testing.T) {
	t.Run("in this process", func(t *testing.T) {
		b := newBench(t)
		var second Operation
		b.clearer.Progress = func(p Progress) {
			if p.Step == StepCompared {
				b.clearer.Progress = nil
				second = b.clear()
			}
		}
		first := b.clear()
		if first.Verdict() != ClearedVerified || second.Outcome.Obstacle != Busy || !strings.Contains(second.Sentence(), "device07/state") {
			t.Errorf("first %s, second %s: %s", first.Verdict(), second.Verdict(), second.Sentence())
		}
		if b.sends != 1 {
			t.Errorf("%d publications", b.sends)
		}
	})
	t.Run("in another process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			other, err := OpenDir(b.store.(*Dir).path)
			if err != nil {
				t.Fatal(err)
			}
			lock, err := other.TryLock("home.lock")
			if err != nil {
				t.Fatal(err)
			}
			op := b.clear()
			if op.Outcome.Obstacle != Busy || !strings.Contains(op.Sentence(), "process ") {
				t.Errorf("got %s", op.Sentence())
			}
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
			if op := b.clear(); op.Verdict() != ClearedVerified {
				t.Errorf("after it: %s", op.Sentence())
			}
		})
	})
}

func TestAManifestIsSavedWhileAClearRuns(t *testing.T) {
	b := newBench(t)
	b.clearer.Progress = func(p Progress) {
		if p.Step != StepCompared {
			return
		}
		m, err := b.desk.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		b.approve(m, neighbour)
		if err := b.desk.Save(t.Context(), m); err != nil {
			t.Error(err)
		}
		if what, running := b.desk.Running(); !running || !strings.Contains(what, "device07/state") {
			t.Errorf("running %q", what)
		}
	}
	if op := b.clear(); op.Verdict() != ClearedVerified {
		t.Error(op.Sentence())
	}
}

func TestControlsComeFromABoundedScanWithoutAnInventory(t *testing.T) {
	b := newBench(t)
	b.publish(retained(parent+"/version", "1"))
	b.request.Controls = nil
	var asked []string
	b.onObserve = func(n int, o *Observation) error {
		if n == 1 {
			for _, g := range o.Grants {
				asked = append(asked, g.Filter)
			}
		}
		return nil
	}
	op := b.clear()
	if op.Verdict() != ClearedVerified || len(op.Baseline.Controls) != 3 {
		t.Errorf("%s with %d controls", op.Sentence(), len(op.Baseline.Controls))
	}
	if strings.Join(asked, " ") != "lab/retire/device07/#" {
		t.Errorf("asked for %v", asked)
	}
}

func TestAScanForControlsThatIsCutShortHidesNothing(t *testing.T) {
	b := newBench(t)
	b.request.Controls = nil
	b.onObserve = func(n int, o *Observation) error {
		if n == 1 { // the topic itself is not among the few that were taken
			o.Cut = true
			o.Seen = slices.DeleteFunc(o.Seen, func(p inventory.Publication) bool { return string(p.Topic) != ownToo })
		}
		return nil
	}
	if op := b.clear(); op.Verdict() != ClearedVerified || len(op.Baseline.Controls) != 3 {
		t.Error(op.Sentence())
	}
	b = newBench(t)
	b.request.Controls = nil
	b.onObserve = func(n int, o *Observation) error {
		if n == 1 {
			*o = Observation{}
			return errors.New("refused")
		}
		return nil
	}
	if op := b.clear(); op.Verdict() != CouldNotVerify || !strings.Contains(op.Sentence(), "no control") {
		t.Error(op.Sentence())
	}
}

func TestTheRowIsToldEveryStep(t *testing.T) {
	b := newBench(t)
	var steps []string
	b.clearer.Progress = func(p Progress) { steps = append(steps, p.Step.String()+": "+p.Text) }
	b.clear()
	want := []string{"checked: checked", "intent recorded: intent recorded", "baseline read: baseline read, 3 controls", "value as approved: value as approved",
		"sent: acknowledged 0x00: the broker accepted the publication; this does not say that anything was there",
		"read back: of 3 controls 3 intact", "outcome recorded: cleared and verified"}
	if strings.Join(steps, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(steps, "\n"))
	}
}

func TestWhereTheBrokerStampsExpiryTheFingerprintIsComparedWithoutIt(t *testing.T) {
	const flash = 2147483600 // counting down from what FlashMQ adds
	for _, c := range []struct {
		name     string
		stamps   bool
		approved expiry.Interval
		held     uint32
		want     Verdict
	}{
		{"approved as not known", true, expiry.NotKnown(), 86400, ClearedVerified},
		{"approved as its own", true, expiry.Seconds(60), 3600, ClearedVerified},
		{"approved before anybody knew", true, expiry.None(), flash, ClearedVerified},
		{"an interval that only a broker adds, though nobody said that it does", false, expiry.NotKnown(), flash, ClearedVerified},
		{"the same, approved before it was stamped", false, expiry.None(), flash, ClearedVerified},
		{"an expiry where none was approved", false, expiry.None(), 86400, Changed},
		{"a known one where it was not known", false, expiry.NotKnown(), 86400, Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.clearer.Stamps = c.stamps
			m, err := b.desk.Manifest()
			if err != nil {
				t.Fatal(err)
			}
			e, _ := m.Find(b.topic)
			e.Fingerprint = inventory.Fingerprint([]byte(ownPayload), nil, c.approved)
			if err := m.Put(e); err != nil {
				t.Fatal(err)
			}
			if err := b.desk.Save(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			p := retained(own, ownPayload)
			p.Interval = expiry.Seconds(c.held)
			b.publish(p)
			op := b.clear()
			if op.Verdict() != c.want || c.want == ClearedVerified && op.Baseline.Topic.Seconds != c.held {
				t.Errorf("%s", op.Sentence())
			}
			if p.Payload = []byte("other"); c.want == ClearedVerified {
				b.publish(p)
				if op := b.clear(); op.Verdict() != Changed {
					t.Errorf("with another value: %s", op.Sentence())
				}
			}
		})
	}
}

func TestARefreshOfAnExpiringTopicIsSeenByItsInterval(t *testing.T) {
	b := newBench(t)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	p := retained(own, ownPayload)
	p.Interval = expiry.Seconds(100)
	b.publish(p)
	b.approve(m, own, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	b.pass(50 * time.Second)
	b.onSend = func() {
		b.publish(p) // the owner's ledger; the witness misses it
		b.seen[0].Drain()
	}
	if op := b.clear(); op.Verdict() != CameBack || !op.Outcome.Return.Same {
		t.Errorf("got %s: %s", op.Verdict(), op.Sentence())
	}
}

func TestAPeekTellsWhatTheTopicHoldsAndSendsNothing(t *testing.T) {
	b := newBench(t)
	c, there, err := b.clearer.Peek(t.Context(), b.topic)
	if err != nil || !there || c.Size != len(ownPayload) || c.Payload != nil || c.Fingerprint != inventory.Fingerprint([]byte(ownPayload), nil, expiry.None()) {
		t.Errorf("%+v %v %v", c, there, err)
	}
	if _, there, err := b.clearer.Peek(t.Context(), []byte("lab/retire/device0")); there || err != nil {
		t.Errorf("the beginning of a name is a topic: %v", err)
	}
	if _, _, err := b.clearer.Peek(t.Context(), []byte("lab/#")); err == nil {
		t.Error("a filter is read")
	}
	b.observeErr = errors.New("no connection")
	if _, _, err := b.clearer.Peek(t.Context(), b.topic); err == nil || !strings.Contains(err.Error(), "no connection") {
		t.Errorf("a look that failed: %v", err)
	}
	if b.sends != 0 {
		t.Errorf("%d were sent", b.sends)
	}
}
