package mqtt3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"retainscope/broker"
	"retainscope/expiry"
	"retainscope/inventory"
)

func TestPublicationsOfEveryQoSAreDeliveredInOrderAndAcknowledged(t *testing.T) {
	large := strings.Repeat("x", 700<<10)
	answers := make(chan []byte, 16)
	var s sink
	c := dial(t, settings(listen(t, func(p *peer) {
		p.welcome()
		p.say(publication("a", "0", 0, true, 0), publication("b", "1", 1, true, 7), publication("c", large, 1, false, 8),
			publication("d", "", 2, true, 9), publication("e", large, 0, true, 0), []byte{0x62, 2, 0, 9})
		for range 4 {
			answers <- p.next()
		}
		p.drain()
	})), s.take, inventory.Replay)
	waitFor(t, func() bool { return len(s.all()) == 5 })
	for i, want := range []struct {
		topic, payload string
		qos            byte
		retain         bool
	}{{"a", "0", 0, true}, {"b", "1", 1, true}, {"c", large, 1, false}, {"d", "", 2, true}, {"e", large, 0, true}} {
		got := s.all()[i]
		if string(got.Topic) != want.topic || string(got.Payload) != want.payload || got.QoS != want.qos || got.Retain != want.retain {
			t.Errorf("publication %d is %s with %d bytes, QoS %d, RETAIN %t", i, got.Topic, len(got.Payload), got.QoS, got.Retain)
		}
		if got.Interval != expiry.NotKnown() || len(got.Properties) != 0 || got.ReceivedAt == 0 {
			t.Errorf("publication %d tells %s, %d bytes of properties", i, got.Interval, len(got.Properties))
		}
	}
	all := bytes.Join([][]byte{<-answers, <-answers, <-answers, <-answers}, nil)
	for what, want := range map[string][]byte{
		"PUBACK of 7": {0x40, 2, 0, 7}, "PUBACK of 8": {0x40, 2, 0, 8}, "PUBREC of 9": {0x50, 2, 0, 9}, "PUBCOMP of 9": {0x70, 2, 0, 9},
	} {
		if bytes.Count(all, want) != 1 {
			t.Errorf("no %s in % x", what, all)
		}
	}
	if err := c.Fence(within(t)); err != nil {
		t.Error(err)
	}
}

func TestTheLiveConnectionTakesNoReplay(t *testing.T) {
	for origin, want := range map[inventory.Origin]string{inventory.Live: "a1 c3", inventory.Replay: "a1 b2 c3", inventory.Answer: "a1 b2 c3"} {
		var s sink
		c := dial(t, settings(listen(t, func(p *peer) {
			p.welcome()
			p.say(publication("a", "1", 0, false, 0), publication("b", "2", 0, true, 0), publication("c", "3", 1, false, 5), publication("d", "4", 1, true, 6)[:0])
			p.drain()
		})), s.take, origin)
		if err := c.Fence(within(t)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.all() {
			got = append(got, string(p.Topic)+string(p.Payload))
		}
		if strings.Join(got, " ") != want || int(c.Stats().Publications) != len(got) {
			t.Errorf("origin %d: delivered %q, counted %d", origin, got, c.Stats().Publications)
		}
	}
}

func TestABurstBehindASlowSinkIsWholeAndInOrder(t *testing.T) {
	const n = 60_000
	release := make(chan struct{})
	delivered := 0
	c := dial(t, settings(listen(t, func(p *peer) {
		p.welcome()
		p.granted(p.next())
		var burst []byte
		for i := range n {
			qos := byte(0)
			if i%100 == 99 {
				qos = 1
			}
			burst = append(burst, publication(fmt.Sprintf("load/%d", i), strings.Repeat("v", i%300), qos, true, uint16(i%65535)+1)...)
		}
		p.say(burst)
		p.drain()
	})), func(batch []inventory.Publication) {
		<-release // the sink stands still until the whole burst is on its way
		for _, p := range batch {
			if want := fmt.Sprintf("load/%d", delivered); string(p.Topic) != want {
				t.Errorf("%s came where %s was to come", p.Topic, want)
			}
			delivered++
		}
	}, inventory.Replay)
	if _, err := c.Subscribe(within(t), []broker.Subscription{{Filter: "#", QoS: 1}}); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := c.Fence(within(t)); err != nil {
		t.Fatal(err)
	}
	if delivered != n || c.Stats().Discarded != 0 {
		t.Errorf("%d of %d were delivered before the fence, %d discarded", delivered, n, c.Stats().Discarded)
	}
}

func TestARefusedFilterIsAnAnswerAndTheOthersAreGranted(t *testing.T) {
	c := dial(t, settings(listen(t, func(p *peer) {
		p.welcome()
		b := p.next()
		// In the order in which they were asked for, which is the library's.
		var codes []byte
		for f := body(b)[2:]; len(f) > 2; f = f[2+int(binary.BigEndian.Uint16(f))+1:] {
			switch name := string(f[2 : 2+int(binary.BigEndian.Uint16(f))]); name {
			case "secret/#":
				codes = append(codes, 0x80)
			case "b":
				codes = append(codes, 1)
			default:
				codes = append(codes, 0)
			}
		}
		p.granted(b, codes...)
		p.drain()
	})), nothing, inventory.Replay)
	grants, err := c.Subscribe(within(t), []broker.Subscription{{Filter: "a"}, {Filter: "secret/#"}, {Filter: "b", QoS: 1}, {Filter: "a"}})
	if err != nil || len(grants) != 4 {
		t.Fatalf("%v, %v", grants, err)
	}
	for i, want := range []inventory.Grant{{Filter: "a"}, {Filter: "secret/#", Code: 0x80}, {Filter: "b", Code: 1}, {Filter: "a"}} {
		if grants[i] != want {
			t.Errorf("grant %d is %+v, want %+v", i, grants[i], want)
		}
	}
	if !grants[1].Refused() {
		t.Error("0x80 is no refusal")
	}
	if err := c.Unsubscribe(within(t), []string{"a", "b"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Subscribe(within(t), []broker.Subscription{{Filter: "a/#/b"}}); err == nil {
		t.Error("a filter with # in the middle was sent")
	}
}

func TestWhatAServerMustNotSendEndsTheConnectionAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		text  string
	}{
		"a SUBACK with more answers than questions":   {packet(0x90, []byte{0, 1, 0, 0, 0, 0}), "SUBACK: it does not answer as many"},
		"a SUBACK with fewer":                         {packet(0x90, []byte{0, 1, 0}), "SUBACK: it does not answer as many"},
		"a SUBACK without an answer":                  {packet(0x90, []byte{0, 1}), "SUBACK: it ends before"},
		"a SUBACK with a code of another version":     {packet(0x90, []byte{0, 1, 0x87, 0}), "SUBACK: a return code"},
		"a DISCONNECT":                                {[]byte{0xE0, 0}, "DISCONNECT: only a client"},
		"an AUTH":                                     {[]byte{0xF0, 0}, "does not allow"},
		"a second CONNACK":                            {[]byte{0x20, 2, 0, 0}, "CONNACK: a second one"},
		"a CONNECT":                                   {[]byte{0x10, 0}, "only a client"},
		"a PUBACK with a reason":                      {[]byte{0x40, 3, 0, 1, 0}, "PUBACK: it is not as long"},
		"an UNSUBACK with codes":                      {[]byte{0xB0, 3, 0, 1, 0}, "UNSUBACK: it is not as long"},
		"a PUBREL without an identifier":              {[]byte{0x62, 0}, "PUBREL: it is not as long"},
		"a PINGRESP with a body":                      {[]byte{0xD0, 1, 0}, "PINGRESP: it is not empty"},
		"a PUBLISH of QoS 3":                          {packet(0x36, text("a"), []byte{0, 1}), "PUBLISH: QoS 3"},
		"a PUBLISH without a topic":                   {packet(0x30, text("")), "PUBLISH: no topic"},
		"a PUBLISH with a topic beyond its end":       {packet(0x30, []byte{0, 9, 'a'}), "PUBLISH: a topic beyond"},
		"a PUBLISH of QoS 1 without an identifier":    {packet(0x32, text("a")), "PUBLISH: it ends inside"},
		"a PUBLISH of QoS 1 with the identifier 0":    {packet(0x32, text("a"), []byte{0, 0}), "PUBLISH: a packet identifier of 0"},
		"a length of five bytes":                      {[]byte{0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, "four bytes"},
		"a control packet of a quarter of a gigabyte": {[]byte{0x90, 0xFF, 0xFF, 0xFF, 0x7F}, "more than the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			after := make(chan [][]byte, 1)
			conn := dial(t, settings(listen(t, func(p *peer) {
				p.welcome()
				p.next() // two filters, packet identifier 1
				p.say(c.bytes)
				after <- p.drain()
			})), nothing, inventory.Replay)
			_, err := conn.Subscribe(within(t), []broker.Subscription{{Filter: "a"}, {Filter: "b"}})
			if err == nil {
				t.Error("the subscription succeeded")
			}
			var violation *broker.ProtocolError
			if err := ended(t, conn); !errors.As(err, &violation) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "MQTT 3.1.1 does not allow") {
				t.Errorf("it ended with %v", err)
			}
			if got := <-after; len(got) != 0 {
				t.Errorf("the server was still sent %x", got)
			}
		})
	}
}

func TestAnswersThatNobodyWaitsForAreIgnored(t *testing.T) {
	c := dial(t, settings(listen(t, func(p *peer) {
		p.welcome()
		p.say(packet(0x90, []byte{0, 99, 0}), []byte{0xB0, 2, 0, 98}, []byte{0x40, 2, 0, 97}, []byte{0xD0, 0}, []byte{0x62, 2, 0, 96})
		p.drain()
	})), nothing, inventory.Replay)
	if _, err := c.Subscribe(within(t), []broker.Subscription{{Filter: "a"}}); err != nil {
		t.Error(err)
	}
	if err := c.Fence(within(t)); err != nil {
		t.Error(err)
	}
}

// FuzzGrammar reads arbitrary packets: each is a publication, a packet for the library, or a fault with a name.
func FuzzGrammar(f *testing.F) {
	for _, b := range [][]byte{publication("a", "b", 0, true, 0), publication("a", "b", 2, false, 9), {0x90, 3, 0, 1, 0x80}, {0x20, 2, 1, 0}, {0xD0, 0}, {0x40, 2, 0, 1}, {0xE0, 0}} {
		f.Add(b[0], b[2:])
	}
	f.Fuzz(func(t *testing.T, first byte, body []byte) {
		s := &session{asked: map[uint16]int{1: 2}}
		var err error
		if first>>4 == typePublish {
			var p inventory.Publication
			if _, err = s.Publish(first, body, nil, &p); err == nil {
				if len(p.Topic) == 0 || p.QoS > 2 || len(p.Topic)+len(p.Payload) > len(body) || p.Interval != expiry.NotKnown() {
					t.Errorf("%+v of % x", p, body)
				}
				if again := publication(string(p.Topic), string(p.Payload), p.QoS, p.Retain, 1); len(again) < len(body) {
					t.Errorf("bytes of % x went missing", body)
				}
			}
		} else {
			err = s.Control(first, body, true)
		}
		var violation *broker.ProtocolError
		if err != nil && (!errors.As(err, &violation) || violation.Packet == "" || violation.What == "") {
			t.Errorf("%v", err)
		}
	})
}
