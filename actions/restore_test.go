package actions

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// richProperties are a content type, a payload format, a response topic, correlation data and user properties whose
// order matters.
func richProperties() inventory.Properties {
	str := func(b []byte, s string) []byte { return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...) }
	b := []byte{0x01, 1}
	b = str(append(b, 0x03), "application/json")
	b = str(append(b, 0x08), "reply/to")
	b = str(append(b, 0x09), "\x00\x01")
	for _, kv := range [][2]string{{"b", "2"}, {"a", "1"}, {"b", "3"}} {
		b = str(str(append(b, 0x26), kv[0]), kv[1])
	}
	return b
}

// rich puts a message with everything on the topic, approves it and clears it.
func rich(t *testing.T, b *bench, seconds uint32, qos byte) Operation {
	t.Helper()
	p := retained(own, ownPayload)
	p.Properties, p.QoS = richProperties(), qos
	if seconds > 0 {
		p.Interval = expiry.Seconds(seconds)
	}
	b.publish(p)
	m, err := b.desk.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	b.approve(m, own, silent)
	if err := b.desk.Save(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	op := b.clear()
	if op.Verdict() != ClearedVerified {
		t.Fatal(op.Sentence())
	}
	return op
}

func TestUndoPutsBackBytesQoSPropertiesAndWhatRemainsOfTheExpiry(t *testing.T) {
	for _, qos := range []byte{0, 1, 2} {
		b := newBench(t)
		b.clearer.Bounds.QoS = 2
		before := b.holds()
		op := rich(t, b, 100, qos)
		b.pass(30 * time.Second)
		out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"})
		if err != nil || out.Result != Restored {
			t.Fatalf("QoS %d: %s (%v)", qos, out.Sentence, err)
		}
		got := b.lab.store[own]
		if string(got.Payload) != ownPayload || !bytes.Equal(got.Properties, richProperties()) || got.QoS != min(qos, 1) || got.Interval != expiry.Seconds(70) {
			t.Errorf("QoS %d: put back %+v", qos, got)
		}
		if b.holds() != before || b.sends != 2 {
			t.Errorf("QoS %d: the store holds\n%s", qos, b.holds())
		}
		if (qos == 2) != strings.Contains(strings.Join(out.Notes, " "), "stored at QoS 2") {
			t.Errorf("QoS %d: notes %v", qos, out.Notes)
		}
		op, err = b.desk.Operation(t.Context(), op.ID)
		if err != nil || len(op.Undos) != 1 || op.Undos[0].Outcome.Result != Restored || op.Undos[0].Intent.By != "kim" {
			t.Errorf("QoS %d: the record says %+v (%v)", qos, op.Undos, err)
		}
		// What was restored by us has not come back.
		if later, err := b.clearer.Recheck(t.Context(), op.ID, ""); err != nil || later.Found != Present || later.Return != nil {
			t.Errorf("%s (%v)", later.Sentence, err)
		}
		if l, err := b.desk.List(t.Context()); err != nil || !l.Operations[0].Restored || l.Operations[0].Verdict != ClearedVerified {
			t.Errorf("the list says %+v (%v)", l.Operations, err)
		}
		mustVerify(t, b.desk)
	}
}

func TestUndoIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*bench, *Operation, *RestoreRequest)
		want Obstacle
		says string
	}{
		{"when less than a second is left", func(b *bench, _ *Operation, _ *RestoreRequest) { b.pass(99*time.Second + 1*time.Millisecond) }, NothingToRestore, "has run out"},
		{"when the topic holds something", func(b *bench, _ *Operation, _ *RestoreRequest) { b.publish(retained(own, "new")) }, Occupied, "holds 3 bytes"},
		{"when it holds something else than was confirmed", func(b *bench, _ *Operation, r *RestoreRequest) {
			b.publish(retained(own, "new"))
			r.Overwrite = somePrint
		}, Occupied, "holds 3 bytes"},
		{"on another broker", func(b *bench, _ *Operation, _ *RestoreRequest) { b.clearer.Broker.URL = "mqtt://other" }, AnotherBroker, "another broker"},
		{"for a topic that is protected now", func(b *bench, _ *Operation, _ *RestoreRequest) {
			b.clearer.Protection = Protection{filters: []string{"lab/#"}}
		}, Protected, "protected"},
		{"for an operation that is not in the record", func(_ *bench, _ *Operation, r *RestoreRequest) { r.Operation = "x" }, NothingToRestore, "no such operation"},
		{"for a topic that was no part of it", func(_ *bench, _ *Operation, r *RestoreRequest) { r.Topic = []byte(similar) }, NothingToRestore, "holds nothing of topic"},
		{"when the observer cannot look", func(b *bench, _ *Operation, _ *RestoreRequest) { b.observeErr = errors.New("gone") }, ObserverFailed, "gone"},
		{"when there is no connection", func(b *bench, _ *Operation, _ *RestoreRequest) {
			b.send = func(r *Receipt) error { *r = Receipt{}; return errors.New("refused") }
		}, NotConnected, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			op := rich(t, b, 100, 1)
			req := RestoreRequest{Operation: op.ID, By: "kim"}
			c.set(b, &op, &req)
			before := b.holds()
			out, err := b.clearer.Restore(t.Context(), req)
			if err != nil || out.Result != RestoreNotSent || out.Obstacle != c.want || !strings.Contains(out.Sentence, c.says) {
				t.Errorf("got %s, %s: %s (%v)", out.Result, out.Obstacle, out.Sentence, err)
			}
			if c.want != NotConnected && (b.sends != 1 || b.holds() != before) {
				t.Errorf("%d sends", b.sends)
			}
			mustVerify(t, b.desk)
		})
	}
}

func TestUndoOverwritesExactlyWhatWasConfirmed(t *testing.T) {
	b := newBench(t)
	op := rich(t, b, 0, 1)
	b.publish(retained(own, "new"))
	req := RestoreRequest{Operation: op.ID, Overwrite: inventory.Fingerprint([]byte("new"), nil, expiry.None())}
	out, err := b.clearer.Restore(t.Context(), req)
	if err != nil || out.Result != Restored || string(b.lab.store[own].Payload) != ownPayload {
		t.Errorf("%s (%v)", out.Sentence, err)
	}
}

func TestUndoReadsBackAndCompares(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*bench)
		want UndoResult
		says string
	}{
		{"the broker drops the properties", func(b *bench) {
			b.onSend = func() { p := b.lab.store[own]; p.Properties = nil; b.lab.store[own] = p }
		}, RestoredOtherwise, "properties:"},
		{"the broker changes the payload", func(b *bench) {
			b.onSend = func() { p := b.lab.store[own]; p.Payload = []byte("?"); b.lab.store[own] = p }
		}, RestoredOtherwise, "payload: 20 bytes put back, 1 byte read"},
		{"the broker drops the expiry", func(b *bench) {
			b.onSend = func() { p := b.lab.store[own]; p.Interval = expiry.None(); b.lab.store[own] = p }
		}, RestoredOtherwise, "expiry: put back 100s, read never"},
		{"the broker stores nothing", func(b *bench) { b.keep = true }, RestoredOtherwise, "it was not observed"},
		{"the login may not publish", func(b *bench) { b.code = 0x87 }, RestoreRefused, "0x87 not authorized"},
		{"no answer comes", func(b *bench) {
			b.send = func(r *Receipt) error { r.Answered = false; return errors.New("no PUBACK") }
		}, RestoreNoAnswer, "neither success nor failure"},
		{"the observer is lost", func(b *bench) {
			b.onObserve = func(n int, _ *Observation) error {
				if n == 5 {
					return errors.New("gone")
				}
				return nil
			}
		}, RestoreUnverified, "could not be verified"},
		{"other bytes were on the wire", func(b *bench) {
			b.send = func(r *Receipt) error { r.Packet[0] &^= 1; return nil }
		}, UndoUnknown, "RETAIN 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			op := rich(t, b, 100, 1)
			c.set(b)
			out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID})
			if err != nil || out.Result != c.want || !strings.Contains(out.Sentence, c.says) {
				t.Errorf("got %s: %s (%v)", out.Result, out.Sentence, err)
			}
			if b.sends != 2 {
				t.Errorf("%d sends", b.sends)
			}
			mustVerify(t, b.desk)
		})
	}
}

func TestUndoOfANeighbourThatWentWithTheClear(t *testing.T) {
	b := newBench(t)
	b.onSend = func() { delete(b.lab.store, parent) }
	op := b.clear()
	if op.Verdict() != Collateral {
		t.Fatal(op.Sentence())
	}
	b.onSend = nil
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, Topic: []byte(parent)})
	if err != nil || out.Result != Restored || string(b.lab.store[parent].Payload) != "here" {
		t.Errorf("%s (%v)", out.Sentence, err)
	}
	if _, still := b.lab.store[own]; still {
		t.Error("the cleared topic came back with it")
	}
}

func TestUndoIsOffAboveTheLimitAndSaysSoBefore(t *testing.T) {
	b := newBench(t)
	b.clearer.Bounds.Payload = 10
	op := b.clear()
	if op.Verdict() != ClearedVerified || !strings.Contains(strings.Join(op.Baseline.Limits, " "), "larger than the limit for undo") {
		t.Errorf("%s, %v", op.Sentence(), op.Baseline.Limits)
	}
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID})
	if err != nil || out.Obstacle != NothingToRestore || !strings.Contains(out.Sentence, "was not saved") {
		t.Errorf("%s (%v)", out.Sentence, err)
	}
}

func TestUndoAfterAStopWithoutAnOutcome(t *testing.T) {
	b, m := memoryBench(t)
	b.clearer.Progress = func(p Progress) {
		if p.Step == StepSent {
			panic(killed{})
		}
	}
	func() {
		defer func() { _ = recover() }()
		b.clear()
	}()
	m.locked = false
	b.clearer.Desk, b.clearer.Progress = OpenDesk(m, "home.toml", b.clock), nil
	l, err := b.clearer.Desk.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.clearer.Restore(t.Context(), RestoreRequest{Operation: l.Operations[0].ID})
	if err != nil || out.Result != Restored {
		t.Errorf("%s (%v)", out.Sentence, err)
	}
}

func TestAnUndoThatWasStoppedIsTold(t *testing.T) {
	b := newBench(t)
	op := rich(t, b, 0, 1)
	b.clearer.Progress = func(p Progress) {
		if p.Step == StepSent {
			panic(killed{})
		}
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = b.clearer.Restore(t.Context(), RestoreRequest{Operation: op.ID, By: "kim"})
	}()
	kept, err := OpenDesk(b.store, "home.toml", b.clock).Operation(t.Context(), op.ID)
	if err != nil || len(kept.Undos) != 1 || kept.Undos[0].Outcome != nil || !strings.Contains(kept.Sentence(), "its end was not written down") {
		t.Errorf("%s (%v)", kept.Sentence(), err)
	}
}
