package broker

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"retainscope/expiry"
	"retainscope/inventory"
)

// event is what a filter did with one packet: delivered or handed over.
type event struct {
	handed string // the packet, where it was handed over
	kept   kept
}

// record is a filter whose events are kept.
type record struct {
	filter
	events  []event
	batches []int
}

func newRecord() *record {
	r := &record{}
	r.filter = filter{
		maxPacket: maxPacket, opened: true, qosKnown: func() bool { return false },
		deliver: func(batch []inventory.Publication) {
			r.batches = append(r.batches, len(batch))
			var s sink
			s.deliver(batch)
			for _, k := range s.got {
				r.events = append(r.events, event{kept: k})
			}
		},
		control: func(packet []byte) error {
			r.events = append(r.events, event{handed: string(packet)})
			return nil
		},
	}
	return r
}

// all feeds the pieces one after another and returns the events, and the error if there is one.
func (r *record) all(pieces ...[]byte) ([]event, error) {
	for _, p := range pieces {
		if err := r.feed(bytes.Clone(p), 1000); err != nil {
			return r.events, err
		}
	}
	return r.events, nil
}

// mixture is a stream with everything that a server sends.
func mixture() []byte {
	return join(
		retained("a", "1"),
		publish(message{topic: "b/c", payload: "", retain: true, props: join(propText(0x03, "text/plain"), propExpiry(60), propUser("k", "v"))}),
		pingresp(),
		publish(message{topic: "q1", payload: "x", qos: 1, id: 7, retain: true, props: propExpiry(5)}),
		suback(1, 0),
		publish(message{topic: strings.Repeat("t", 300), payload: strings.Repeat("p", 500), props: join(propSubscription(3), propSubscription(300), propByte(0x01, 1))}),
		publish(message{topic: "q2", qos: 2, id: 8, dup: true}),
		control(typePubrel<<4|2, []byte{0, 8}),
		retained("\xff\x00", "\x00"),
		control(typePuback<<4, []byte{0, 1, 0x10}),
		disconnect(0x8B, "bye"),
	)
}

func TestAStreamMayBeCutAnywhere(t *testing.T) {
	stream := mixture()
	want, err := newRecord().all(stream)
	if err != nil || len(want) != 13 { // two of the eleven packets are delivered and handed over as well
		t.Fatalf("%d events, %v", len(want), err)
	}
	for i := range stream {
		for _, j := range []int{i, min(i+1, len(stream)), (i + len(stream)) / 2} {
			got, err := newRecord().all(stream[:i], stream[i:j], stream[j:])
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("cut at %d and %d: %v\n got %+v\nwant %+v", i, j, err, got, want)
			}
		}
	}
	r := newRecord()
	for i := range stream {
		if _, err := r.all(stream[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(r.events, want) {
		t.Fatalf("byte by byte:\n got %+v\nwant %+v", r.events, want)
	}
}

func TestThreePropertiesAreNotKept(t *testing.T) {
	text, user, format := propText(0x03, "x"), propUser("a", "b"), propByte(0x01, 1)
	exp, sub, alias := propExpiry(9), propSubscription(70000), propAlias(3)
	for name, c := range map[string]struct{ props, want []byte }{
		"none":                       {nil, nil},
		"only expiry":                {exp, nil},
		"nothing to take out":        {join(text, user), join(text, user)},
		"in front":                   {join(exp, sub, text, user), join(text, user)},
		"behind":                     {join(text, user, alias, exp), join(text, user)},
		"on both sides":              {join(sub, text, user, exp), join(text, user)},
		"in the middle":              {join(text, exp, user), join(text, user)},
		"between all":                {join(sub, format, exp, text, alias, user, sub, user), join(format, text, user, user)},
		"an empty string is a value": {join(propText(0x03, ""), propText(0x09, "")), join(propText(0x03, ""), propText(0x09, ""))},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newRecord().all(publish(message{topic: "t", payload: "p", props: c.props}))
			if err != nil || len(got) != 1 {
				t.Fatalf("%+v, %v", got, err)
			}
			if got[0].kept.properties != string(c.want) || got[0].kept.payload != "p" {
				t.Errorf("kept %x, want %x", got[0].kept.properties, c.want)
			}
			want := expiry.None()
			if bytes.Contains(c.props, exp) {
				want = expiry.Seconds(9)
			}
			if i := got[0].kept.publication.Interval; i != want {
				t.Errorf("interval %v, want %v", i, want)
			}
		})
	}
}

func TestPropertiesAreBorrowedWhereNothingIsCutOut(t *testing.T) {
	packet := publish(message{topic: "t", props: join(propExpiry(1), propUser("a", "b"))})
	var p inventory.Publication
	scratch, f := decodePublish(packet[0], packet[2:], nil, &p)
	if f.code != 0 || scratch != nil {
		t.Fatalf("%+v, scratch of %d bytes", f, len(scratch))
	}
	packet[len(packet)-1] = 'c'
	if got := string(p.Properties); got != string(propUser("a", "c")) {
		t.Errorf("the properties are a copy: %x", got)
	}
}

func TestABatchHoldsAtMost256AndEndsWithThePiece(t *testing.T) {
	var stream []byte
	for i := range 600 {
		stream = append(stream, retained(fmt.Sprint("t/", i), "x")...)
	}
	r := newRecord()
	half := len(stream) / 2
	if _, err := r.all(stream[:half], stream[half:]); err != nil {
		t.Fatal(err)
	}
	for _, n := range r.batches {
		if n < 1 || n > batchSize {
			t.Fatalf("batches %v", r.batches)
		}
	}
	if len(r.events) != 600 || len(r.batches) > 5 {
		t.Fatalf("%d publications in batches %v", len(r.events), r.batches)
	}
	for i, e := range r.events {
		if e.kept.topic != fmt.Sprint("t/", i) {
			t.Fatalf("publication %d is %q", i, e.kept.topic)
		}
	}
}

func TestTheInstantIsThatOfThePieceThatCompletedThePacket(t *testing.T) {
	r := newRecord()
	packet := retained("t", "x")
	for i, at := range []int64{1000, 2000} {
		piece := packet[:4]
		if i == 1 {
			piece = join(packet[4:], packet)
		}
		if err := r.feed(piece, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.events {
		if e.kept.publication.ReceivedAt != 2000 {
			t.Errorf("received at %d", e.kept.publication.ReceivedAt)
		}
	}
}

func TestNoAllocationPerPublication(t *testing.T) {
	var stream []byte
	const n = 1000
	for i := range n {
		props := [][]byte{nil, propExpiry(60), join(propText(0x03, "json"), propExpiry(60), propUser("a", "b"))}[i%3]
		stream = append(stream, publish(message{topic: fmt.Sprint("house/room/", i), payload: strings.Repeat("x", i%400), retain: true, props: props})...)
	}
	delivered := 0
	f := &filter{
		maxPacket: maxPacket, opened: true, qosKnown: func() bool { return false },
		deliver: func(b []inventory.Publication) { delivered += len(b) },
		control: func([]byte) error { return nil },
	}
	pass := func() {
		for piece := range slices.Chunk(stream, 10_007) { // cuts packets in two now and then
			if err := f.feed(piece, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	pass()
	if delivered != n {
		t.Fatalf("%d of %d delivered", delivered, n)
	}
	if got := testing.AllocsPerRun(20, pass); got != 0 {
		t.Errorf("%v allocations for %d publications", got, n)
	}
}

func TestAnAnnouncedLengthAllocatesNothing(t *testing.T) {
	var before, after runtime.MemStats
	f := newRecord()
	runtime.ReadMemStats(&before)
	// The largest PUBLISH there is, of which a few bytes come.
	if err := f.feed([]byte{0x30, 0xFF, 0xFF, 0xFF, 0x7F, 0, 1, 't', 0, 'x'}, 1); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := f.feed(make([]byte, 1000), 1); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for 100 kB received", n)
	}
}

func TestALargePublicationIsDeliveredWholeAndItsMemoryGivenBack(t *testing.T) {
	const size = 20 << 20
	packet := publish(message{topic: "big", payload: strings.Repeat("z", size), retain: true})
	r := newRecord()
	got := 0
	r.deliver = func(b []inventory.Publication) {
		if len(b) == 1 && string(b[0].Topic) == "big" {
			got = len(b[0].Payload)
		}
	}
	largest := 0
	for piece := range slices.Chunk(join(packet, retained("t", "x")), chunkSize) {
		if err := r.feed(piece, 1); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, cap(r.carry))
	}
	if got != size {
		t.Errorf("payload of %d bytes, want %d", got, size)
	}
	if largest > len(packet) || cap(r.carry) > keepBuffer {
		t.Errorf("collected in %d bytes for a packet of %d; %d kept", largest, len(packet), cap(r.carry))
	}
}

func TestALargeQoS1PublicationIsAcknowledgedWithoutItsPayload(t *testing.T) {
	r := newRecord()
	events, err := r.all(publish(message{topic: "big", payload: strings.Repeat("z", 2*chunkSize), qos: 1, id: 258, props: propExpiry(4)}))
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if len(events[0].kept.payload) != 2*chunkSize || events[0].kept.publication.Interval != expiry.Seconds(4) {
		t.Errorf("delivered %d bytes, %v", len(events[0].kept.payload), events[0].kept.publication.Interval)
	}
	if want := string(publish(message{topic: "big", qos: 1, id: 258})); events[1].handed != want {
		t.Errorf("handed over %x, want %x", events[1].handed, want)
	}
	// A topic of more than 127 bytes needs two bytes of length.
	long := message{topic: strings.Repeat("t", 65535), qos: 2, id: 1}
	packet := publish(long)
	if got := withoutPayload(packet[0], packet[4:], len(long.topic), false); !bytes.Equal(got, packet) {
		t.Errorf("a packet of %d bytes became one of %d", len(packet), len(got))
	}
}
