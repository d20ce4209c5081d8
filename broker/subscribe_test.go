package broker

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

func TestSubscribeReturnsTheCodeOfEachFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan []byte, 1)
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			_, options := w.subscribe(0, 0x87, 1)
			sent <- options
			w.subscribe(0x8F)
		})
		grants, err := c.Subscribe(t.Context(), []Subscription{
			{Filter: "a/#", RetainHandling: 2, RetainAsPublished: true},
			{Filter: "secret/#", NoLocal: true, RetainHandling: 1},
			{Filter: "b", QoS: 1},
		})
		want := []inventory.Grant{{Filter: "a/#"}, {Filter: "secret/#", Code: 0x87}, {Filter: "b", Code: 1}}
		if err != nil || !reflect.DeepEqual(grants, want) {
			t.Fatalf("%v, %v", grants, err)
		}
		// Retain Handling in bits 4 and 5, Retain As Published 3, No Local 2, QoS 0 and 1. MQTT 5, 3.8.3.1.
		if got := <-sent; !reflect.DeepEqual(got, []byte{0x28, 0x14, 0x01}) {
			t.Errorf("options %x", got)
		}
		grants, err = c.Subscribe(t.Context(), []Subscription{{Filter: "x"}})
		if err != nil || len(grants) != 1 || !grants[0].Refused() {
			t.Errorf("a refusal: %v, %v", grants, err)
		}
		if grants, err := c.Subscribe(t.Context(), nil); grants != nil || err != nil {
			t.Errorf("no filter: %v, %v", grants, err)
		}
	})
}

func TestASubackOfTheWrongLengthIsAnErrorWithItsCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.subscribe(0x87)
			w.subscribe(0, 0, 0)
		})
		two := []Subscription{{Filter: "a"}, {Filter: "b"}}
		grants, err := c.Subscribe(t.Context(), two)
		if err == nil || len(grants) != 1 || grants[0].Code != 0x87 {
			t.Errorf("%v, %v", grants, err)
		}
		grants, err = c.Subscribe(t.Context(), two)
		if err == nil || len(grants) != 2 {
			t.Errorf("%v, %v", grants, err)
		}
	})
}

func TestSubscribeReturnsAtOnceWhenTheConnectionDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.expect(typeSubscribe)
			w.send(disconnect(0x8F, ""))
		})
		start := time.Now()
		_, err := c.Subscribe(t.Context(), []Subscription{{Filter: "a"}})
		var goodbye *ServerDisconnect
		if !errors.As(err, &goodbye) || goodbye.Code != 0x8F {
			t.Errorf("Subscribe = %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestASubackMayComeLateWhileBytesArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		c := dialWire(t, nil, s.deliver, func(w *wire) {
			w.connect()
			id, _, _ := w.subscribeOnly()
			for range 29 { // a burst of nearly a minute before SUBACK
				w.send(retained("t", "x"))
				<-time.After(2 * time.Second)
			}
			w.send(suback(id, 0))
			w.expect(typeSubscribe)
		})
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}}); err != nil {
			t.Fatal(err)
		}
		if got := len(s.all()); got != 29 {
			t.Errorf("%d delivered before SUBACK", got)
		}
		start := time.Now()
		_, err := c.Subscribe(t.Context(), []Subscription{{Filter: "b"}})
		if err == nil || !strings.Contains(err.Error(), "no answer from the broker for 10s") || time.Since(start) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Subscribe(ctx, []Subscription{{Filter: "c"}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Subscribe = %v", err)
		}
	})
}

func TestAnAnswerThatNeverComesIsGivenUpInASteadyStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			w.expect(typeSubscribe)
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
					w.send(retained("t", "x"))
				}
			}
		})
		start := time.Now()
		_, err := c.Subscribe(t.Context(), []Subscription{{Filter: "a"}})
		close(stop)
		if err == nil || !strings.Contains(err.Error(), "no answer from the broker for 5m") {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestUnsubscribeNamesTheRefusedFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) {
			w.connect()
			for _, codes := range [][]byte{{0, 0x11}, {0, 0x87}} {
				body := w.expect(typeUnsubscribe)
				w.send(control(typeUnsuback<<4, body[:2], properties(), codes))
			}
		})
		if err := c.Unsubscribe(t.Context(), []string{"a", "b"}); err != nil {
			t.Errorf("Unsubscribe = %v", err)
		}
		err := c.Unsubscribe(t.Context(), []string{"a", "b/\x1b"})
		if err == nil || !strings.Contains(err.Error(), `"b/\x1b": Not authorized (0x87)`) {
			t.Errorf("Unsubscribe = %v", err)
		}
	})
}

func TestTheStoredQoSIsKnownOnlyWhereTheSubscriptionAllowsIt(t *testing.T) {
	for name, c := range map[string]struct {
		subs []Subscription
		want bool
	}{
		"at QoS 0":           {[]Subscription{{Filter: "a"}}, false},
		"at QoS 1":           {[]Subscription{{Filter: "a", QoS: 1}}, true},
		"at QoS 0 and QoS 1": {[]Subscription{{Filter: "a", QoS: 1}, {Filter: "b"}}, false},
		"at QoS 2 and at 1":  {[]Subscription{{Filter: "a", QoS: 2}, {Filter: "b", QoS: 1}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sink
				conn := dialWire(t, nil, s.deliver, func(w *wire) {
					w.connect()
					w.subscribe()
					w.send(retained("a", "0"), publish(message{topic: "a", qos: 1, id: 5, payload: "1"}), publish(message{topic: "a", qos: 2, id: 6, payload: "2"}))
					w.expect(typePuback)
					w.expect(typePubrec)
					w.pong()
				})
				if _, err := conn.Subscribe(t.Context(), c.subs); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Second)
				if err := conn.Fence(t.Context()); err != nil {
					t.Fatal(err)
				}
				got := s.all()
				if len(got) != 3 {
					t.Fatalf("%d delivered", len(got))
				}
				for i, k := range got {
					known := c.want || i > 0
					if p := k.publication; int(p.QoS) != i || p.QoSKnown != known {
						t.Errorf("publication %d: QoS %d, known %t", i, p.QoS, p.QoSKnown)
					}
				}
			})
		})
	}
}

func TestAServerWithoutWildcardsIsNotAskedForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialWire(t, nil, new(sink).deliver, func(w *wire) { w.connect(propByte(0x28, 0), propByte(0x25, 0), propByte(0x24, 0), propFour(0x27, 100)) })
		s := c.Server()
		if s.WildcardAvailable || s.RetainAvailable || s.MaximumQoS != 0 || s.MaximumPacketSize != 100 || !s.SharedAvailable || s.ReceiveMaximum != 65535 {
			t.Errorf("%+v", s)
		}
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}}); err == nil || !strings.Contains(err.Error(), "wildcard") {
			t.Errorf("Subscribe = %v", err)
		}
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: strings.Repeat("x", 200)}}); err == nil || !strings.Contains(err.Error(), "takes 100 bytes at most") {
			t.Errorf("Subscribe = %v", err)
		}
	})
}
