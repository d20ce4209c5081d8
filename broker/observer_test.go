package broker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/actions"
	"retainscope/inventory"
)

func question(quiet time.Duration, qos byte, filters ...string) actions.Question {
	q := actions.Question{Quiet: quiet, QoS: qos}
	for _, f := range filters {
		q.Filters = append(q.Filters, []byte(f))
	}
	return q
}

// observing runs one look against a script and returns what it saw and how long it took.
func observing(t *testing.T, q actions.Question, script func(w *wire)) (actions.Observation, time.Duration, error) {
	t.Helper()
	s := newWireServer(t)
	done := make(chan struct{})
	go func() { defer close(done); c := s.accept(); script(c); _ = c.Close() }()
	cfg := s.config()
	cfg.User, cfg.Password = "reader", "secret"
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	seen, err := NewObserver(cfg).Observe(ctx, q)
	took := time.Since(start)
	<-done
	return seen, took, err
}

func TestALookIsOneSubscribeAFenceAndQuiet(t *testing.T) {
	for _, qos := range []byte{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			var filters []string
			var options, after []byte
			connect := []byte{}
			seen, took, err := observing(t, question(250*time.Millisecond, qos, "a/b", "a", "c/#"), func(w *wire) {
				connect = w.connect(propText(0x12, "given"))
				filters, options = w.subscribe()
				w.send(publish(message{topic: "a/b", payload: "1", retain: true, qos: qos, id: 1, props: join(propUser("k", "v"), propExpiry(9))}), retained("a", "2"))
				acks := 0
				for pings := 0; pings < 2 || acks < int(qos); { // an acknowledgement may come after a PINGREQ
					switch first, _, err := w.next(); {
					case err != nil:
						t.Errorf("the look ended early: %v", err)
						return
					case first>>4 == typePuback:
						acks++
					case first>>4 == typePingreq:
						pings++
						w.send(pingresp())
					default:
						t.Errorf("first byte 0x%02X", first)
					}
				}
				after = w.over()
			})
			if err != nil || fmt.Sprint(filters) != "[a/b a c/#]" || string(options) != strings.Repeat(string(rune(qos)), 3) {
				t.Errorf("asked for %q with options %v, %v", filters, options, err)
			}
			if connect[7]&0x02 == 0 || !strings.Contains(string(connect), "reader") { // a clean start
				t.Errorf("CONNECT %x", connect)
			}
			if len(after) != 1 || after[0]>>4 != typeDisconnect {
				t.Errorf("after the look came %x", after)
			}
			if !seen.Fenced || seen.Cut || seen.Quiet < 250*time.Millisecond || took < 250*time.Millisecond || took > 300*time.Millisecond || seen.ClientID != "given" || seen.User != "reader" {
				t.Errorf("%+v in %v", seen, took)
			}
			if len(seen.Seen) != 2 || len(seen.Grants) != 3 || seen.To.Sub(seen.From) < 250*time.Millisecond {
				t.Fatalf("%+v", seen)
			}
			p := seen.Seen[0]
			if s, _ := p.Interval.Seconds(); s != 9 || string(p.Payload) != "1" || string(p.Properties) != string(propUser("k", "v")) || p.QoS != qos || p.QoSKnown != (qos > 0) || !p.Retain {
				t.Errorf("%+v", p)
			}
			if got := seen.Seen[1].QoSKnown; got != (qos > 0) {
				t.Errorf("a delivery at QoS 0 to a subscription at QoS %d: stored QoS known %v", qos, got)
			}
		})
	}
}

func TestAGrantBelowWhatWasAskedTellsNoStoredQoS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, _, err := observing(t, question(time.Millisecond, 1, "a"), func(w *wire) {
			w.connect()
			w.subscribe(0)
			w.send(retained("a", "1"))
			w.pong()
			w.pong()
			w.over()
		})
		if err != nil || len(seen.Seen) != 1 || seen.Seen[0].QoSKnown {
			t.Errorf("%+v, %v", seen, err)
		}
	})
}

func TestALateReplayBeginsTheQuietAgainAndLivePublicationsDoNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, took, err := observing(t, question(time.Second, 0, "a/#"), func(w *wire) {
			w.connect()
			w.subscribe()
			w.pong()
			for i := range 3 {
				<-time.After(900 * time.Millisecond)
				w.send(retained(fmt.Sprintf("a/%d", i), "1"))
			}
			for range 9 {
				<-time.After(100 * time.Millisecond)
				w.send(publish(message{topic: "a/live", payload: "1"}))
			}
			w.pong()
			w.over()
		})
		if err != nil || len(seen.Seen) != 12 || took < 3700*time.Millisecond || took > 3800*time.Millisecond || seen.Quiet < time.Second {
			t.Errorf("%d copies in %v, quiet for %v, %v", len(seen.Seen), took, seen.Quiet, err)
		}
	})
}

func TestACopyThatOvertakesTheLastPingrespIsSeen(t *testing.T) {
	// As where this program stood still while the copy waited in the socket: the time was over, the copy was there.
	synctest.Test(t, func(t *testing.T) {
		seen, took, err := observing(t, question(time.Second, 0, "a/#"), func(w *wire) {
			w.connect()
			w.subscribe()
			w.pong()
			w.expect(typePingreq)
			w.send(retained("a/late", "1"), pingresp())
			w.pong()
			w.over()
		})
		if err != nil || len(seen.Seen) != 1 || took < 2*time.Second {
			t.Errorf("%d copies in %v, %v", len(seen.Seen), took, err)
		}
	})
}

func TestALookEndsAfterAsManyCopiesAsItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := question(time.Second, 0, "#")
		q.Max = 500
		seen, took, err := observing(t, q, func(w *wire) {
			w.connect()
			id, _, _ := w.subscribeOnly()
			for i := range 501 {
				w.send(retained(fmt.Sprint("a/", i), "1"))
			}
			_ = id // SUBACK never comes: nothing is waited for any more
			w.over()
		})
		if err != nil || !seen.Cut || len(seen.Seen) != 500 || took > time.Second {
			t.Errorf("%d copies in %v, cut %v, %v", len(seen.Seen), took, seen.Cut, err)
		}
		q.Max = 2
		seen, _, err = observing(t, q, func(w *wire) {
			w.connect()
			w.subscribe()
			w.send(retained("a", "1"), retained("b", "1"))
			w.pong()
			w.pong()
			w.over()
		})
		if err != nil || seen.Cut || len(seen.Seen) != 2 {
			t.Errorf("exactly as many: %d, cut %v, %v", len(seen.Seen), seen.Cut, err)
		}
	})
}

func TestAFailedLookReturnsWhatItKnows(t *testing.T) {
	for _, c := range []struct {
		name, says string
		script     func(w *wire)
		grants     int
		seen       int
		fenced     bool
	}{
		{"refused", "refused the user \"reader\" or the password: Not authorized (0x87)", func(w *wire) { w.expect(typeConnect); w.send(connack(0x87)); _ = w.Close() }, 0, 0, false},
		{"no SUBACK", "subscribe: no answer from the broker", func(w *wire) { w.connect(); w.expect(typeSubscribe); w.over() }, 0, 0, false},
		{"a SUBACK with too few codes", "answers 1 filters, 2 were asked for", func(w *wire) { w.connect(); w.subscribe(0); w.over() }, 1, 0, false},
		{"no PINGRESP", "fence: no PINGRESP", func(w *wire) { w.connect(); w.subscribe(); w.send(retained("a", "1")); w.expect(typePingreq); w.over() }, 2, 1, false},
		{"cut in the quiet", "closed the connection without a reason", func(w *wire) {
			w.connect()
			w.subscribe()
			w.send(retained("a", "1"))
			w.pong()
			_ = w.Close()
		}, 2, 1, true},
		{"ended with a reason", `Session taken over (0x8E): "go\x1b"`, func(w *wire) { w.connect(); w.subscribe(); w.pong(); w.send(disconnect(0x8E, "go\x1b")); w.over() }, 2, 0, true},
		{"no second PINGRESP", "fence: no PINGRESP", func(w *wire) { w.connect(); w.subscribe(); w.pong(); w.expect(typePingreq); w.over() }, 2, 0, true},
		{"replays without end", "wait for copies: context deadline exceeded", func(w *wire) {
			w.connect()
			w.subscribe()
			w.pong()
			for range 300 {
				<-time.After(100 * time.Millisecond)
				if _, err := w.Write(retained("a", "1")); err != nil {
					return
				}
			}
			w.over()
		}, 2, 299, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen, took, err := observing(t, question(time.Second, 0, "a", "b"), c.script)
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "\x1b\n") {
					t.Errorf("error %v, want %q", err, c.says)
				}
				if len(seen.Grants) != c.grants || len(seen.Seen) < c.seen || seen.Fenced != c.fenced || seen.User != "reader" || seen.From.IsZero() {
					t.Errorf("%+v", seen)
				}
				if took > 33*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestALookAtABrokerThatNeverPongsTookThirtySecondsWhateverTheSetting(t *testing.T) {
	for name, pongs := range map[string]int{"the first PINGRESP": 0, "the second PINGRESP": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, took, err := observing(t, question(time.Second, 0, "a"), func(w *wire) {
					w.connect()
					w.subscribe()
					for range pongs {
						w.pong()
					}
					w.expect(typePingreq)
					w.over()
				})
				if err == nil || !strings.Contains(err.Error(), "fence: no PINGRESP: no answer from the broker for ") {
					t.Errorf("got %v", err)
				}
				if took > defaultTimeout+2*time.Second {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestWhatCannotBeAskedIsRefusedBeforeAConnectionIsMade(t *testing.T) {
	o := NewObserver(newWireServer(t).config())
	many := make([]string, lookFilters+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for says, q := range map[string]actions.Question{
		"nothing is asked for":                  question(0, 0),
		"51 topic filters; 50 are possible":     question(0, 0, many...),
		"QoS 2; 0 and 1 are possible":           question(0, 2, "a"),
		`filter "a\xff" is not UTF-8`:           question(0, 0, "a\xff"),
		`"$share/g/a" is a shared subscription`: question(0, 0, "$share/g/a"),
	} {
		if _, err := o.Observe(t.Context(), q); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if q.QoS == 0 {
			if _, err := o.Watch(t.Context(), q.Filters, false); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("watch: %v, want %q", err, says)
			}
		}
	}
}

func TestFiltersGoOutInPacketsThatTheBrokerTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var filters []string
		for i := range 50 {
			filters = append(filters, fmt.Sprintf("%02d%s", i, strings.Repeat("x", i)))
		}
		packets := 0
		seen, _, err := observing(t, question(time.Millisecond, 0, filters...), func(w *wire) {
			w.connect(propFour(0x27, 200))
			for got := 0; got < 50; packets++ {
				f, _ := w.subscribe()
				got += len(f)
			}
			w.pong()
			w.pong()
			w.over()
		})
		if err != nil || len(seen.Grants) != 50 || packets < 7 || packets > 12 {
			t.Errorf("%d grants in %d packets, %v", len(seen.Grants), packets, err)
		}
		for i, g := range seen.Grants {
			if g.Filter != filters[i] {
				t.Errorf("grant %d is for %q", i, g.Filter)
			}
		}
		seen, _, err = observing(t, question(time.Millisecond, 0, "a", strings.Repeat("y", 200)), func(w *wire) {
			w.connect(propFour(0x27, 200))
			w.subscribe()
			w.over()
		})
		if err == nil || !strings.Contains(err.Error(), "the broker takes 200 bytes at most") || len(seen.Grants) != 1 {
			t.Errorf("%+v, %v", seen.Grants, err)
		}
	})
}

// witnessed opens a witness on a script and returns it with the script's end.
func witnessed(t *testing.T, replay bool, script func(w *wire)) (actions.Witness, <-chan struct{}, error) {
	t.Helper()
	s := newWireServer(t)
	done := make(chan struct{})
	go func() { defer close(done); script(s.accept()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	w, err := NewObserver(s.config()).Watch(ctx, [][]byte{[]byte("a"), []byte("b")}, replay)
	cancel() // it bounds the opening alone
	return w, done, err
}

func TestAWitnessIsToldAsPublished(t *testing.T) {
	for _, replay := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var options, after []byte
			more := make(chan struct{})
			w, done, err := witnessed(t, replay, func(w *wire) {
				w.connect()
				_, options = w.subscribe()
				w.send(retained("a", "1"), publish(message{topic: "b", payload: "2"}), retained("a", ""))
				<-more
				w.send(retained("b", "3"))
				after = w.over()
			})
			if err != nil {
				t.Fatal(err)
			}
			want := byte(0x28) // Retain As Published 1, No Local 0, Retain Handling 2, QoS 0
			if replay {
				want = 0x08
			}
			if string(options) != string([]byte{want, want}) {
				t.Errorf("options %x", options)
			}
			if a := w.About(); a.ClientID == "" || len(a.Grants) != 2 || a.From.IsZero() {
				t.Errorf("%+v", a)
			}
			wait(time.Second)
			p, err := w.Next(t.Context())
			if err != nil || string(p.Topic) != "a" || string(p.Payload) != "1" || !p.Retain {
				t.Errorf("%+v, %v", p, err)
			}
			if rest := w.Drain(); len(rest) != 2 || rest[0].Retain || !rest[1].Retain || len(rest[1].Payload) != 0 {
				t.Errorf("%+v", rest)
			}
			if rest := w.Drain(); len(rest) != 0 {
				t.Errorf("again %+v", rest)
			}
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := w.Next(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("nothing came: %v", err)
			}
			cancel()
			close(more)
			if p, err := w.Next(t.Context()); err != nil || string(p.Payload) != "3" {
				t.Errorf("%+v, %v", p, err)
			}
			if err := errors.Join(w.Close(), w.Close()); err != nil {
				t.Error(err)
			}
			<-done
			if len(after) != 1 || after[0]>>4 != typeDisconnect {
				t.Errorf("it left with %x", after)
			}
			if _, err := w.Next(t.Context()); err == nil || err.Error() != "the watch was closed" {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

func TestAWitnessThatIsNotGrantedEverythingIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, done, err := witnessed(t, false, func(w *wire) { w.connect(); w.subscribe(0, 0x87); w.over() })
		if err == nil || w != nil || !strings.Contains(err.Error(), `refused the subscription to "b": Not authorized (0x87)`) {
			t.Errorf("%v", err)
		}
		<-done
		w, done, err = witnessed(t, false, func(w *wire) { w.connect(); w.expect(typeSubscribe); _ = w.Close() })
		if err == nil || w != nil || !strings.Contains(err.Error(), "closed the connection") {
			t.Errorf("%v", err)
		}
		<-done
	})
}

func TestAWitnessThatIsLostSaysWhyAfterWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, done, err := witnessed(t, false, func(w *wire) {
			w.connect()
			w.subscribe()
			w.send(retained("a", "1"), disconnect(0x8B, ""))
			w.over()
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		wait(time.Second)
		if p, err := w.Next(t.Context()); err != nil || string(p.Payload) != "1" {
			t.Errorf("%+v, %v", p, err)
		}
		if _, err := w.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "Server shutting down (0x8B)") {
			t.Errorf("%v", err)
		}
	})
}

func TestAWitnessOfWhichNothingIsTakenEndsBeforeTheMemoryDoes(t *testing.T) {
	w := &witness{came: make(chan struct{}, 1), limit: 1000}
	synctest.Test(t, func(t *testing.T) {
		s := newWireServer(t)
		go func() {
			c := s.accept()
			c.connect()
			c.subscribe()
			for range 100 {
				if _, err := c.Write(retained("a", strings.Repeat("x", 100))); err != nil {
					return
				}
			}
			c.over()
		}()
		conn, err := Dial(t.Context(), s.config(), w.take, inventory.Live)
		if err != nil {
			t.Fatal(err)
		}
		w.conn = conn
		if _, err := conn.Subscribe(t.Context(), []Subscription{{Filter: "a"}}); err != nil {
			t.Fatal(err)
		}
		<-conn.Done()
		if n := len(w.Drain()); n != 10 {
			t.Errorf("%d were kept", n)
		}
		if _, err := w.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "were published on the topics watched") {
			t.Errorf("%v", err)
		}
	})
}

func TestNoGoroutineIsLeftAfterLooksSendsAndWatches(t *testing.T) {
	before := runtime.NumGoroutine()
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		r := newRetirement(t, b)
		op := r.clear(clearOwn)
		if later, err := r.clearer.WatchReturn(t.Context(), op, time.Now().Add(time.Minute)); err != nil || later.Found != actions.NotObserved {
			t.Errorf("%s, %v", later.Sentence, err)
		}
		synctest.Wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.clients) != 0 {
			t.Errorf("%d connections are open", len(b.clients))
		}
		if r.y.types[typeDisconnect] != r.y.conns || r.y.conns < 6 {
			t.Errorf("%d of %d connections were left in order", r.y.types[typeDisconnect], r.y.conns)
		}
	})
	if after := runtime.NumGoroutine(); after > before+2 { // synctest itself would not end with one of its own left
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestABrokerIsKnownByItsVersionElseByItsConnack(t *testing.T) {
	for _, c := range []struct {
		name, want string
		script     func(w *wire)
	}{
		{"its version", "mosquitto version 2.0.11", func(w *wire) {
			w.connect()
			w.subscribe()
			w.send(retained(sysVersion, "mosquitto version 2.0.11"))
			w.pong()
			w.over()
		}},
		{"a version after the PINGRESP", "version 2.7.9", func(w *wire) {
			w.connect()
			w.subscribe()
			w.pong()
			<-time.After(100 * time.Millisecond)
			w.send(retained(sysVersion, "2.7.9"))
			w.over()
		}},
		{"user properties", `node=a, x\x1b=y`, func(w *wire) {
			w.connect(propUser("node", "a"), propUser("x\x1b", "y"))
			w.subscribe(0x87)
			w.over()
		}},
		{"nothing", "", func(w *wire) { w.connect(); w.subscribe(); w.pong(); w.over() }},
		{"a connection that ends", "", func(w *wire) { w.connect(); w.expect(typeSubscribe); _ = w.Close() }},
		{"no answer", "", func(w *wire) { w.connect(); w.expect(typeSubscribe); w.over() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWireServer(t)
				done := make(chan struct{})
				go func() { defer close(done); c.script(s.accept()) }()
				if got, err := Identify(t.Context(), s.config()); got != c.want || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				<-done
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Identify(ctx, newWireServer(t).config()); err == nil {
		t.Error("no error without a connection")
	}
}
