package broker

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/eclipse/paho.golang/packets"

	"retainscope/expiry"
)

// FuzzDecode feeds the same stream to the filter, cut everywhere, and to the library's own reader, packet by packet.
// Whatever the filter accepts, the library must read in the same way; whatever it hands over must be the very bytes.
// The input is used twice: as a stream as it is, and as the choices that make a stream of well-formed packets.
func FuzzDecode(f *testing.F) {
	f.Add(mixture())
	f.Add([]byte{0xE0, 0x00, 0x40, 0x02, 0x00, 0x01, 0x62, 0x02, 0x00, 0x01, 0x62, 0x03, 0x00, 0x01, 0x92, 0xE0, 0x01, 0x8B})
	f.Add(control(typeUnsuback<<4, []byte{0, 1}, properties(propReason("x"), propUser("a", "b")), []byte{0, 0x11}))
	f.Add(publish(message{topic: "t", props: join(propExpiry(1), propExpiry(2))}))
	f.Add([]byte{0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F})
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	f.Add(join(suback(1, 0), pingresp(), []byte{0xD0, 0x80, 0x00}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 2000 {
			return
		}
		compare(t, raw, false)
		compare(t, wellFormed(raw), true)
	})
}

func compare(t *testing.T, stream []byte, valid bool) {
	whole := newRecord()
	want, wantErr := whole.all(stream)
	if valid && wantErr != nil {
		t.Fatalf("a well-formed stream is refused: %v\n%x", wantErr, stream)
	}
	step := 1 + len(stream)*len(stream)/500_000 // every cut of a stream up to 700 bytes
	for cut := 0; cut <= len(stream); cut += step {
		r := newRecord()
		got, err := r.all(stream[:cut], stream[cut:])
		if !reflect.DeepEqual(got, want) || errorText(err) != errorText(wantErr) {
			t.Fatalf("cut at %d: %v, whole %v\n got %+v\nwant %+v", cut, err, wantErr, got, want)
		}
		if limit := 2*len(stream) + 64; cap(r.carry) > limit || cap(r.scratch) > limit {
			t.Fatalf("%d and %d bytes held for a stream of %d", cap(r.carry), cap(r.scratch), len(stream))
		}
	}
	bytewise := newRecord()
	var err error
	for i := 0; i < len(stream) && err == nil; i++ {
		err = bytewise.feed([]byte{stream[i]}, 1000)
	}
	if !reflect.DeepEqual(bytewise.events, want) || errorText(err) != errorText(wantErr) {
		t.Fatalf("byte by byte: %v, whole %v", err, wantErr)
	}
	asTheLibraryReads(t, stream, want)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// asTheLibraryReads checks the events against what packets.ReadPacket makes of the same stream.
func asTheLibraryReads(t *testing.T, stream []byte, events []event) {
	rest := bytes.NewReader(stream)
	for i := 0; i < len(events); i++ {
		from := len(stream) - rest.Len()
		packet, err := packets.ReadPacket(rest)
		if h := events[i].handed; h != "" && h[0] == typeDisconnect<<4 && emptyBody(h) {
			continue // a legal DISCONNECT that the library takes for the end of the stream
		}
		if err != nil {
			t.Fatalf("the library refuses a packet that passed here: %v: %x", err, stream[from:])
		}
		frame := string(stream[from : len(stream)-rest.Len()])
		p, ok := packet.Content.(*packets.Publish)
		if !ok {
			if events[i].handed != frame {
				t.Fatalf("handed over %x, on the wire %x", events[i].handed, frame)
			}
			continue
		}
		same(t, events[i].kept, p)
		if p.QoS > 0 {
			if i++; i == len(events) || events[i].handed != frame {
				t.Fatalf("a PUBLISH of QoS %d was not handed over as %x", p.QoS, frame)
			}
		}
	}
}

func emptyBody(packet string) bool {
	n, _ := varSize([]byte(packet[1:]))
	return n == 0
}

// same compares a delivered publication with the library's reading. The kept properties are put into a packet of
// their own and read by the library as well.
func same(t *testing.T, got kept, want *packets.Publish) {
	interval := expiry.None()
	if e := want.Properties.MessageExpiry; e != nil {
		interval = expiry.Seconds(*e)
	}
	p := got.publication
	if got.topic != want.Topic || got.payload != string(want.Payload) || p.QoS != want.QoS || p.Retain != want.Retain || p.Interval != interval {
		t.Fatalf("delivered %+v, the library reads %+v", got, want)
	}
	again, err := packets.ReadPacket(bytes.NewReader(publish(message{topic: "t", props: []byte(got.properties)})))
	if err != nil {
		t.Fatalf("the kept properties %x: %v", got.properties, err)
	}
	want.Properties.MessageExpiry, want.Properties.SubscriptionIdentifier, want.Properties.TopicAlias = nil, nil, nil
	if kept := again.Content.(*packets.Publish).Properties; !reflect.DeepEqual(kept, want.Properties) {
		t.Fatalf("kept %+v, the library reads %+v", kept, want.Properties)
	}
}

// wellFormed makes a stream of packets that a server may send, from choices. When they run out, the stream ends.
func wellFormed(choices []byte) (stream []byte) {
	pick := func(n int) int {
		if len(choices) == 0 {
			return 0
		}
		c := int(choices[0]) % n
		choices = choices[1:]
		return c
	}
	word := func() string {
		n := min(pick(40), len(choices))
		w := string(choices[:n])
		choices = choices[n:]
		return w
	}
	long := false
	for len(choices) > 0 {
		switch pick(6) {
		case 0:
			stream = append(stream, pingresp()...)
		case 1:
			stream = append(stream, suback(uint16(pick(255)+1), byte(pick(3)))...)
		default:
			m := message{topic: "t" + word(), payload: word(), qos: byte(pick(3)), id: 1 + uint16(pick(9)), retain: pick(2) == 0}
			if !long && len(choices) > 0 && choices[0]%16 == 0 { // one that needs a length of three bytes
				long = true
				m.payload += string(bytes.Repeat([]byte{'l'}, 17000))
			}
			for _, p := range [][]byte{
				propExpiry(uint32(pick(256)) << 20), propSubscription(1 + pick(256)<<12), propSubscription(1), propText(0x03, word()),
				propText(0x08, word()), propText(0x09, word()), propByte(0x01, byte(pick(2))), propAlias(uint16(pick(9))),
				propUser(word(), word()), propUser("", word()),
			} {
				if pick(2) == 1 {
					if pick(2) == 1 {
						m.props = join(m.props, p)
					} else {
						m.props = join(p, m.props)
					}
				}
			}
			stream = append(stream, publish(m)...)
		}
	}
	return stream
}

// FuzzAcknowledgements feeds the same stream to the one who takes PUBACK out of it, whole and cut everywhere: the same
// passes, the same is taken, and what an acknowledgement says was in the stream.
func FuzzAcknowledgements(f *testing.F) {
	f.Add(join(connack(0), control(typePuback<<4, []byte{0, 1}), retained("a", "1"), control(typePuback<<4, []byte{0, 2, 0x87}),
		control(typePuback<<4, []byte{1, 0, 0x10}, properties(propUser("k", "v"), propReason("why"), propUser("k", ""))), pingresp()))
	f.Add(join(connack(0), []byte{typePuback << 4, 6, 0, 1, 0, 0x26, 0, 0}))
	f.Add(join(connack(0), []byte{typePuback << 4, 0xFF, 0xFF, 0xFF, 0xFF, 1}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 500 {
			return
		}
		run := func(parts ...[]byte) (passed []byte, acks []puback, err error) {
			var s ackStream
			for _, p := range parts {
				b := bytes.Clone(p)
				n, err := s.take(b, func(a puback) { acks = append(acks, a) })
				passed = append(passed, b[:n]...)
				if err != nil {
					return passed, acks, err
				}
			}
			return passed, acks, nil
		}
		passed, acks, err := run(raw)
		for cut := range raw {
			p, a, e := run(raw[:cut], raw[cut:])
			if !bytes.Equal(p, passed) || !reflect.DeepEqual(a, acks) || errorText(e) != errorText(err) {
				t.Fatalf("cut at %d: passed %x, %+v, %v; whole %x, %+v, %v", cut, p, a, e, passed, acks, err)
			}
		}
		for _, a := range acks {
			if len(a.reason) > len(raw) {
				t.Fatalf("a reason of %d bytes out of %d", len(a.reason), len(raw))
			}
			for _, u := range a.user {
				if !bytes.Contains(raw, u.Key) || !bytes.Contains(raw, u.Value) {
					t.Fatalf("%q=%q is not in %x", u.Key, u.Value, raw)
				}
			}
		}
	})
}
