package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// lapses returns what ran out at the broker although the publisher holds it.
func lapses(k *keeper, topics []string) (lost []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lost = append(lost, k.lapsed...)
	for _, topic := range topics {
		if s, ok := k.store[topic]; !ok || time.Now().After(s.end) {
			lost = append(lost, topic)
		}
	}
	return lost
}

// TestEveryEntryIsRepeatedInsideItsWindow runs what can go wrong with a pass, for five windows, and asks whether
// anything ran out. Where it has to, the case says why.
func TestEveryEntryIsRepeatedInsideItsWindow(t *testing.T) {
	topics := numbered("t/%02d", 20)
	for _, c := range []struct {
		name   string
		change func(*PublisherConfig, *keeper)
		during func(t *testing.T, p *Publisher, k *keeper)
		lapse  string // why entries run out, where they must
		log    string
	}{
		{name: "nothing goes wrong"},
		{name: "one tick finds no connection", during: func(t *testing.T, p *Publisher, k *keeper) {
			wait(9 * time.Second)
			k.with(func() { k.refuse = 0x88 })
			k.cut()
			wait(4 * time.Second) // the tick at 10 s
			if s := p.Status(); s.Away != 1 || s.Connected {
				t.Errorf("%+v", s)
			}
			k.with(func() { k.refuse = 0 })
		}},
		{name: "one pass is cut short by a lost connection", log: "cut short", during: func(t *testing.T, p *Publisher, k *keeper) {
			dropped := false
			k.with(func() {
				k.before = func(a arrived, _ int) bool {
					drop := !dropped && a.topic == "t/07"
					dropped = dropped || drop
					return drop
				}
			})
			wait(12 * time.Second)
			if s := p.Status(); s.Failed != 1 || !dropped {
				t.Errorf("%+v", s)
			}
		}},
		{name: "one pass is cut short by a missing answer", log: "cut short", during: func(t *testing.T, p *Publisher, k *keeper) {
			muted := false
			k.with(func() {
				k.mute = func(a arrived) bool {
					mute := !muted && a.topic == "t/07"
					muted = muted || mute
					return mute
				}
			})
			wait(22 * time.Second)
			if s := p.Status(); s.Failed != 1 || s.Connections != 1 {
				t.Errorf("%+v", s)
			}
		}},
		{name: "every answer takes 400 ms, so that one at a time would take 8 s of a period of 10 s", during: func(t *testing.T, p *Publisher, k *keeper) {
			k.with(func() { k.roundTrip = 400 * time.Millisecond })
			wait(29 * time.Second)
			if s := p.Status(); s.Last.Window < 2 || s.Last.Window > 4 || s.Last.Took > p.every/2+time.Second || s.Last.Slow || s.Overruns != 0 {
				t.Errorf("%+v", s)
			}
		}},
		{name: "one pass takes 15 s of a period of 10 s", log: "ticks were skipped", change: func(cfg *PublisherConfig, k *keeper) {
			k.connack = [][]byte{propTwo(0x21, 2)} // one in flight at a time
			cfg.Timeout = time.Hour
		}, during: func(t *testing.T, p *Publisher, k *keeper) {
			k.with(func() { k.roundTrip = 750 * time.Millisecond })
			wait(26 * time.Second)
			k.with(func() { k.roundTrip = 0 })
			wait(time.Second)
			if s := p.Status(); s.Overruns != 1 || s.Passes != 2 || s.Last.Slow || s.Last.Window != 1 {
				t.Errorf("%+v", s)
			}
			wait(4 * time.Second) // the next one starts on the cadence, at 30 s
			if s := p.Status(); s.Passes != 3 || s.Last.At.Sub(p.start)%p.every != 0 {
				t.Errorf("%+v started at %v", s, s.Last.At.Sub(p.start))
			}
		}},
		{name: "no pass can end in time", log: "cannot end within two thirds", change: func(cfg *PublisherConfig, k *keeper) {
			k.connack = [][]byte{propTwo(0x21, 2)}
			cfg.Timeout = time.Hour
		}, during: func(t *testing.T, p *Publisher, k *keeper) {
			k.with(func() { k.roundTrip = 3 * time.Second })
			wait(90 * time.Second)
			if s := p.Status(); !s.Last.Slow || s.RoundTrip < 2*time.Second {
				t.Errorf("%+v", s)
			}
		}, lapse: "20 entries at 3 s each take 60 s, and the interval is 30 s"},
		{name: "a connect step never returns", log: "the connect steps have not ended", change: func(cfg *PublisherConfig, _ *keeper) {
			n := 0
			cfg.Steps = []Step{{Name: "stuck", Run: func(ctx context.Context, _ *Publisher) error {
				if n++; n > 1 {
					<-ctx.Done()
				}
				return nil
			}}}
		}, during: func(t *testing.T, p *Publisher, k *keeper) {
			k.cut()
			wait(15 * time.Second)
			say(t, p, "t/03", "younger than the connection")
		}},
		{name: "the connection is lost every 7 s", during: func(_ *testing.T, _ *Publisher, k *keeper) {
			for range 12 {
				wait(7 * time.Second)
				k.with(func() {
					if n := len(k.conns); n > 0 {
						k.conns[n-1].reset()
					}
				})
			}
		}},
		{name: "the broker is away for half a window", during: func(_ *testing.T, _ *Publisher, k *keeper) {
			k.with(func() { k.refuse = 0x88 })
			k.cut()
			wait(15 * time.Second)
			k.with(func() { k.refuse = 0 })
		}},
		{name: "the broker is away for a whole window", during: func(_ *testing.T, _ *Publisher, k *keeper) {
			k.with(func() { k.refuse = 0x88 })
			k.cut()
			wait(40 * time.Second)
			k.with(func() { k.refuse = 0 })
		}, lapse: "nobody could repeat anything for longer than two thirds of the interval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inMemory(t, c.change, func(t *testing.T, p *Publisher, k *keeper, n *notes) {
				for _, topic := range topics {
					say(t, p, topic, "1")
				}
				if c.during != nil {
					c.during(t, p, k)
				}
				if c.lapse == "" {
					for time.Since(p.start) < 150*time.Second {
						wait(time.Second)
						if lost := lapses(k, topics); len(lost) > 0 {
							t.Fatalf("after %v %q ran out", time.Since(p.start), lost)
						}
					}
				} else if len(lapses(k, topics)) == 0 {
					t.Errorf("nothing ran out, although %s", c.lapse)
				}
				if c.log != "" && n.count(c.log) == 0 {
					t.Errorf("nothing in the log says %q:\n%s", c.log, n)
				}
				if c.log == "cut short" && n.count(c.log) != 1 {
					t.Errorf("one warning was wanted:\n%s", n)
				}
			})
		})
	}
}

func TestAfterAReconnectTheStepsComeFirstAndThenOnlyWhatIsOlder(t *testing.T) {
	boots := 0
	change := func(cfg *PublisherConfig, _ *keeper) {
		cfg.Steps = []Step{
			{Name: "birth", Run: func(ctx context.Context, p *Publisher) error {
				boots++
				wait := time.NewTimer(time.Second)
				defer wait.Stop()
				<-wait.C
				_, err := p.Publish(ctx, Message{Topic: "status", Payload: fmt.Appendf(nil, "online %d", boots), QoS: 1, Retain: true})
				return err
			}},
			{Name: "fails", Run: func(context.Context, *Publisher) error { return errors.New("no luck") }},
			{Name: "panics", Run: func(context.Context, *Publisher) error { panic("oh") }},
			{Name: "last", Run: func(ctx context.Context, p *Publisher) error {
				_, err := p.Publish(ctx, Message{Topic: "last", Payload: []byte("1"), QoS: 1, Retain: true})
				return err
			}},
		}
	}
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, n *notes) {
		wait(2 * time.Second)
		say(t, p, "b", "1")
		say(t, p, "a", "1")
		k.forget()
		k.cut()
		wait(5 * time.Second)
		if got, want := k.took(), []string{"status=online 2", "last=1", "b=1", "a=1"}; !slices.Equal(got, want) {
			t.Errorf("after the reconnect %q, want %q", got, want)
		}
		if n.count("a connect step failed") != 4 || n.count("no luck") != 2 || n.count("panic: oh") != 2 {
			t.Errorf("the log:\n%s", n)
		}
		if s := p.Status(); !s.Settled || !s.Last.Reconnect || s.Last.Sent != 2 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAFresherValueOfAConnectStepIsNeverOverwritten(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		say(t, p, "a", "old")
		say(t, p, "b", "old")
		k.forget()
		// The refresh is stopped in the middle of its write of a, and the application has a newer value of both.
		p.lane <- struct{}{}
		passed := make(chan Pass)
		go func() { passed <- p.pass(p.link.Load(), p.instant(), false) }()
		synctest.Wait()
		done := make(chan struct{})
		go func() {
			say(t, p, "a", "new")
			say(t, p, "b", "new")
			close(done)
		}()
		synctest.Wait()
		p.leave()
		<-done
		<-passed
		last := map[string]string{}
		for _, a := range k.got {
			last[a.topic] = a.payload
		}
		if last["a"] != "new" || last["b"] != "new" {
			t.Errorf("the wire ended with %v: %q", last, k.took())
		}
	})
}

func TestATombstoneThatWasLostIsRepeatedUntilItIsAnswered(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		say(t, p, "a", "1")
		say(t, p, "b", "1")
		lose := true
		k.with(func() { k.before = func(a arrived, _ int) bool { return lose && a.payload == "" } })
		out, err := p.Publish(t.Context(), Message{Topic: "a", QoS: 1, Retain: true})
		if !errors.Is(err, ErrNoAnswer) || !out.Handed {
			t.Errorf("%+v, %v", out, err)
		}
		if got := k.alive(); !slices.Equal(got, []string{"a=1", "b=1"}) {
			t.Fatalf("the broker has %q", got)
		}
		if s := p.Status(); s.Pending != 1 || s.Topics != 1 {
			t.Errorf("%+v", s)
		}
		k.with(func() { lose = false; k.got = nil })
		wait(5 * time.Second)
		if got := k.took(); !slices.Equal(got, []string{"b=1", "a="}) {
			t.Errorf("after the reconnect %q", got)
		}
		if s := p.Status(); s.Pending != 0 {
			t.Errorf("%+v", s)
		}
		if got := k.alive(); !slices.Equal(got, []string{"b=1"}) {
			t.Errorf("the broker has %q", got)
		}
		k.forget()
		wait(time.Minute)
		if slices.Contains(k.took(), "a=") {
			t.Error("an answered tombstone was repeated")
		}
	})
}

func TestANewerValueEndsALostTombstone(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		k.with(func() { k.before = func(a arrived, _ int) bool { return a.payload == "" } })
		if _, err := p.Publish(t.Context(), Message{Topic: "a", QoS: 1, Retain: true}); !errors.Is(err, ErrNoAnswer) {
			t.Error(err)
		}
		k.with(func() { k.before, k.refuse = nil, 0 })
		for s := p.Status(); !s.Connected || s.Connections < 2; s = p.Status() {
			wait(100 * time.Millisecond)
		}
		say(t, p, "a", "2")
		wait(time.Minute)
		if got := k.alive(); !slices.Equal(got, []string{"a=2"}) {
			t.Errorf("the broker has %q", got)
		}
	})
}

func TestATombstoneWithoutAnAnswerIsRepeatedOnAConnectionThatStands(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		muted := true
		k.with(func() { k.mute = func(arrived) bool { return muted } })
		if _, err := p.Publish(t.Context(), Message{Topic: "a", QoS: 1, Retain: true}); !errors.Is(err, ErrNoAnswer) {
			t.Error(err)
		}
		k.with(func() { muted = false })
		// At QoS 0 nothing ever answers: it is sent once more, and that is all.
		if _, err := p.Publish(t.Context(), Message{Topic: "b", Retain: true}); err != nil {
			t.Error(err)
		}
		wait(time.Minute)
		count := map[string]int{}
		for _, s := range k.took() {
			count[s]++
		}
		if count["a="] != 2 || count["b="] != 2 || p.Status().Pending != 0 {
			t.Errorf("sent %v, %d pending", count, p.Status().Pending)
		}
	})
}

func TestAPublishLostWithItsConnectionIsRepeated(t *testing.T) {
	inMemory(t, nil, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		say(t, p, "gone", "1")
		say(t, p, "gone", "")
		k.with(func() { k.before = func(a arrived, _ int) bool { return a.payload == "lost" } })
		start := time.Now()
		out, err := p.Publish(t.Context(), Message{Topic: "a", Payload: []byte("lost"), QoS: 1, Retain: true})
		if !errors.Is(err, ErrNoAnswer) || !out.Handed || time.Since(start) > time.Second {
			t.Errorf("%+v, %v after %v", out, err, time.Since(start))
		}
		k.with(func() { k.before = nil })
		wait(5 * time.Second)
		if got := k.alive(); !slices.Equal(got, []string{"a=lost"}) {
			t.Errorf("the broker has %q", got)
		}
	})
}

func TestTheReceiveMaximumIsKeptAndLeavesRoomForTheApplication(t *testing.T) {
	change := func(_ *PublisherConfig, k *keeper) {
		k.connack = [][]byte{propTwo(0x21, 10)}
		k.roundTrip = 200 * time.Millisecond
	}
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, _ *notes) {
		for _, topic := range numbered("t/%03d", 200) {
			say(t, p, topic, "1") // 40 s, four passes
		}
		for range 200 {
			wait(500 * time.Millisecond)
			start := time.Now()
			say(t, p, "app", "1")
			if took := time.Since(start); took > 300*time.Millisecond {
				t.Fatalf("the application waited %v", took)
			}
		}
		k.with(func() {
			if k.most > 10 || k.most < 5 {
				t.Errorf("%d messages were in flight at once", k.most)
			}
		})
		if s := p.Status(); s.Last.Window != 5 || s.Last.Entries != 201 || s.Last.Slow || s.Overruns > 0 {
			t.Errorf("%+v", s)
		}
		// In ledger order, whatever the width.
		k.with(func() {
			var pass []string
			for _, a := range k.got[len(k.got)-150:] {
				if strings.HasPrefix(a.topic, "t/") {
					pass = append(pass, a.topic)
				}
			}
			for i := 1; i < len(pass); i++ {
				if pass[i] < pass[i-1] && pass[i] != "t/000" {
					t.Fatalf("%s after %s", pass[i], pass[i-1])
				}
			}
		})
	})
}

func TestABrokerThatAcknowledgesNothingIsLeft(t *testing.T) {
	change := func(_ *PublisherConfig, k *keeper) { k.connack = [][]byte{propTwo(0x21, 4)} }
	inMemory(t, change, func(t *testing.T, p *Publisher, k *keeper, n *notes) {
		say(t, p, "a", "1")
		k.with(func() { k.mute = func(a arrived) bool { return a.conn == 1 } })
		wait(2 * time.Minute)
		if s := p.Status(); s.Connections != 2 || !s.Connected || len(lapses(k, []string{"a"})) > 0 {
			t.Errorf("%+v\n%s", s, n)
		}
	})
}
