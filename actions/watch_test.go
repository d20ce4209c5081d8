package actions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestWatchForAReturn(t *testing.T) {
	live := func(payload string) inventory.Publication {
		p := retained(own, payload)
		p.Retain = false
		return p
	}
	for _, c := range []struct {
		name  string
		after time.Duration
		then  func(*bench)
		want  Verdict
		says  string
		took  time.Duration
	}{
		{"nothing comes", time.Second, func(*bench) {}, ClearedVerified, "was not observed from 2026-03-07 12:00:00Z to 2026-03-07 12:01:00Z; of 3 controls 3 intact", time.Minute},
		{"the owner re-asserts the same value", 20 * time.Second, func(b *bench) { b.publish(retained(own, ownPayload)) }, CameBack, "came back after 20s with the same value", 20 * time.Second},
		{"somebody writes another value", 200 * time.Millisecond, func(b *bench) { b.publish(retained(own, "new")) }, CameBack, "came back after 200 ms with another value", 200 * time.Millisecond},
		{"a message without RETAIN is no return", time.Second, func(b *bench) { b.publish(live("x")) }, ClearedVerified, "was not observed", time.Minute},
		{"a broker that does not show RETAIN", time.Second, func(b *bench) {
			b.publish(live(ownPayload))
			b.mu.Lock()
			b.lab.store[own] = retained(own, ownPayload)
			b.mu.Unlock()
			b.publish(live(ownPayload))
		}, CameBack, "came back after 1.0 s with the same value", time.Second},
		{"somebody sends another empty message", time.Second, func(b *bench) { b.publish(retained(own, "")) }, ClearedVerified, "was not observed", time.Minute},
		{"it comes back and goes again at once", time.Second, func(b *bench) {
			b.publish(retained(own, "x"))
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.lab.store, own)
		}, CameBack, "came back after 1.0 s with another value", time.Second},
		{"nobody saw it come", time.Second, func(b *bench) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.lab.store[own] = retained(own, ownPayload)
		}, CameBack, "came back with the same value within 1m0s", time.Minute},
		{"the observer is lost", time.Second, func(b *bench) {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, w := range b.seen {
				w.lost = true
				close(w.wake)
			}
		}, ClearedVerified, "the observer was lost", time.Second},
		{"a neighbour goes", time.Second, func(b *bench) {
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.lab.store, parent)
		}, Collateral, `1 lost ("lab/retire/device07")`, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.started = time.Now()
				op := b.clear()
				if op.Verdict() != ClearedVerified {
					t.Fatal(op.Sentence())
				}
				start := time.Now()
				time.AfterFunc(c.after, func() { c.then(b) })
				later, err := b.clearer.WatchReturn(t.Context(), op, b.clock().Add(b.clearer.Window()))
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %v", took)
				}
				op, err = b.desk.Operation(t.Context(), op.ID)
				if err != nil || op.Verdict() != c.want || !strings.Contains(op.Sentence(), c.says) {
					t.Errorf("got %s: %s (%v)", op.Verdict(), op.Sentence(), err)
				}
				if later.Sentence != op.Later[0].Sentence || b.sends != 1 {
					t.Errorf("%q, %d sends", later.Sentence, b.sends)
				}
				if l, err := b.desk.List(t.Context()); err != nil || l.Operations[0].Verdict != c.want {
					t.Errorf("the list says %+v (%v)", l.Operations, err)
				}
				mustVerify(t, b.desk)
			})
		})
	}
}

func TestWatchShowsWhatCameBeforeItBegan(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	b.pass(400 * time.Millisecond)
	b.publish(retained(own, ownPayload))
	later, err := b.clearer.WatchReturn(t.Context(), op, b.clock().Add(time.Minute))
	if err != nil || later.Return == nil || !later.Return.Same || later.Return.AfterMS != 400 {
		t.Errorf("%+v %v", later.Return, err)
	}
}

// A tombstone that never arrived leaves the value where it was: its replay is no return and tells of no writer.
func TestWatchTookAValueThatNeverWentForOneThatCameBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*bench)
		want  Verdict
		says  string
		again bool // it came back
	}{
		{"no acknowledgement comes and nothing arrived", func(b *bench) {
			b.keep, b.send = true, func(r *Receipt) error { r.Answered = false; return errors.New("cut") }
		}, NoAnswer, "is still there, as approved, at", false},
		{"the broker acknowledges and keeps it", func(b *bench) { b.keep = true }, StillPresent, "is still there, as approved, at", false},
		{"it is there and a neighbour is not", func(b *bench) {
			b.keep, b.onSend = true, func() { delete(b.lab.store, parent) }
		}, Collateral, "is still there, as approved, at", false},
		{"no acknowledgement comes, it went and came back", func(b *bench) {
			b.send = func(r *Receipt) error { r.Answered = false; return errors.New("cut") }
		}, NoAnswer, "with the same value", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.set(b)
			op := b.clear()
			if op.Verdict() != c.want {
				t.Fatal(op.Sentence())
			}
			if c.again {
				b.pass(time.Second)
				b.publish(retained(own, ownPayload))
			}
			watched, err := b.clearer.WatchReturn(t.Context(), op, b.clock().Add(time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			looked, err := b.clearer.Recheck(t.Context(), op.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []Later{watched, looked} {
				if l.Found != Present || (l.Return != nil) != c.again || !strings.Contains(l.Sentence, c.says) || strings.Contains(l.Sentence, "writes") != c.again {
					t.Errorf("%+v: %s", l.Return, l.Sentence)
				}
			}
		})
	}
}

func TestWatchThatIsLeftIsWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.started = time.Now()
		op := b.clear()
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, leave)
		later, err := b.clearer.WatchReturn(ctx, op, b.clock().Add(time.Minute))
		if err != nil || later.Found != FoundNothingOut || !strings.Contains(later.Sentence, "could not be told from 2026-03-07 12:00:00Z to 2026-03-07 12:00:05Z; the watch was left") {
			t.Errorf("%s (%v)", later.Sentence, err)
		}
		if op, err := b.desk.Operation(t.Context(), op.ID); err != nil || len(op.Later) != 1 || op.Verdict() != ClearedVerified {
			t.Errorf("%+v %v", op.Later, err)
		}
	})
}

func TestWatchRunsBesideTheNextClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.started = time.Now()
		m, err := b.desk.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		b.approve(m, ownToo, silent)
		if err := b.desk.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		first := b.clear()
		done := make(chan Later)
		go func() {
			l, err := b.clearer.WatchReturn(t.Context(), first, b.clock().Add(time.Minute))
			if err != nil {
				t.Error(err)
			}
			done <- l
		}()
		synctest.Wait()
		b.request = Request{Topic: []byte(ownToo), Controls: [][]byte{[]byte(parent)}}
		if second := b.clear(); second.Verdict() != ClearedVerified {
			t.Error(second.Sentence())
		}
		// The approved neighbour went by a clear of ours, with a tombstone that everybody can see.
		if l := <-done; l.Found != NotObserved || count(l.Controls, ClearedHere) != 1 || !strings.Contains(l.Sentence, "cleared from here") || lost(l.Controls) != 0 {
			t.Errorf("%s", l.Sentence)
		}
		mustVerify(t, b.desk)
	})
}

// G7: recheck after a reconnect or restart that could revive an old writer.
func TestG7RecheckAfterARestartNamesAWriterThatRevived(t *testing.T) {
	b := newBench(t)
	op := b.clear()
	later, err := b.clearer.Recheck(t.Context(), op.ID, "after the broker was restarted")
	if err != nil || later.Found != NotObserved || !strings.Contains(later.Sentence, `rechecked ("after the broker was restarted")`) {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
	b.pass(time.Hour)
	b.publish(retained(own, ownPayload))
	if later, err = b.clearer.Recheck(t.Context(), op.ID, ""); err != nil || later.Return == nil || !later.Return.Same {
		t.Errorf("%s (%v)", later.Sentence, err)
	}
	op, err = b.desk.Operation(t.Context(), op.ID)
	if err != nil || op.Verdict() != CameBack || len(op.Later) != 2 || op.Closings()[3].Closed {
		t.Errorf("%s, %+v (%v)", op.Verdict(), op.Closings(), err)
	}
	if l, err := b.desk.List(t.Context()); err != nil || l.Operations[0].Verdict != CameBack {
		t.Errorf("the list says %+v (%v)", l.Operations, err)
	}
	b.clearer.Broker.URL = "mqtt://other"
	if _, err := b.clearer.Recheck(t.Context(), op.ID, ""); err == nil {
		t.Error("a recheck on another broker")
	}
	if _, err := b.clearer.Recheck(t.Context(), "none", ""); !errors.Is(err, ErrNoOperation) {
		t.Errorf("got %v", err)
	}
}

// A23: a ledger re-asserts what it holds; when is predicted.
func TestForecastNamesWhenAReturnMustBeExpected(t *testing.T) {
	var h expiry.History
	if d, s := Forecast(h); d != 0 || s != "" {
		t.Errorf("nothing learned: %v %q", d, s)
	}
	h = h.Live(expiry.Seconds(86400), 0)
	if d, s := Forecast(h); d != 8*time.Hour || !strings.Contains(s, "every third") {
		t.Errorf("one live publication: %v %q", d, s)
	}
	for range 3 {
		h = h.Live(expiry.Seconds(86400), 28800)
	}
	if d, s := Forecast(h); d != 8*time.Hour || !strings.Contains(s, "every 8h0m0s while watched") {
		t.Errorf("a cadence: %v %q", d, s)
	}
	if d, _ := Forecast(expiry.History{}.Replay(expiry.Seconds(60))); d != 0 {
		t.Errorf("a replay is no activity: %v", d)
	}
}
