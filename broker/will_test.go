package broker

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"

	"retainscope/inventory"
)

// connectOf returns the CONNECT of the library as it comes to the wire, with and without credentials.
func connectOf(t testing.TB, user, password string) []byte {
	t.Helper()
	p := &packets.Connect{
		ProtocolName: "MQTT", ProtocolVersion: 5, ClientID: "retainscope0123456789ab", CleanStart: true, KeepAlive: 60,
		Properties:   &packets.Properties{ReceiveMaximum: new(uint16(256))},
		UsernameFlag: user != "", Username: user, PasswordFlag: password != "", Password: []byte(password),
	}
	var b bytes.Buffer
	if _, err := p.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheWillIsInTheConnectWithItsExpiry(t *testing.T) {
	for _, c := range []struct {
		user, password string
		will           Message
	}{
		{"", "", Message{Topic: "status", Payload: []byte("offline"), QoS: 1, Retain: true}},
		{"operator", "secret", Message{Topic: "status", Payload: []byte("offline"), QoS: 1, Retain: true}},
		{"operator", "", Message{Topic: "status", Payload: []byte("offline")}},
		{"operator", "secret", Message{Topic: strings.Repeat("x", 65535), Payload: make([]byte, 65535), QoS: 1, ContentType: "text/plain",
			User: []inventory.UserProperty{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("a"), Value: []byte("2")}}}},
		{"operator", "secret", Message{Topic: "status", QoS: 0, Retain: true}},
	} {
		before := connectOf(t, c.user, c.password)
		after, err := withWill(before, "fixed", &c.will, 4294967295)
		if err != nil {
			t.Fatal(err)
		}
		p, err := packets.ReadPacket(bytes.NewReader(after))
		if err != nil {
			t.Fatalf("%q: %v", c.will.Topic[:1], err)
		}
		v := p.Content.(*packets.Connect)
		if v.ClientID != "fixed" || v.Username != c.user || string(v.Password) != c.password || v.KeepAlive != 60 || !v.CleanStart || *v.Properties.ReceiveMaximum != 256 {
			t.Errorf("the rest of the CONNECT changed: %+v", v)
		}
		if !v.WillFlag || v.WillTopic != c.will.Topic || !bytes.Equal(v.WillMessage, c.will.Payload) || v.WillQOS != c.will.QoS || v.WillRetain != c.will.Retain {
			t.Errorf("the will is %q %v %v", v.WillTopic, v.WillQOS, v.WillRetain)
		}
		w := v.WillProperties
		if w.MessageExpiry == nil || *w.MessageExpiry != 4294967295 || w.ContentType != c.will.ContentType || len(w.User) != len(c.will.User) {
			t.Errorf("properties of the will %+v", w)
		}
		for i, u := range w.User {
			if u.Value != string(c.will.User[i].Value) {
				t.Errorf("user property %d is %v", i, u)
			}
		}
		if n, header := varSize(after[1:]); len(after) != 1+header+n {
			t.Errorf("length %d of %d bytes", n, len(after))
		}
	}
}

func TestWithoutAWillOnlyTheIdentityChanges(t *testing.T) {
	before := connectOf(t, "operator", "secret")
	after, err := withWill(before, "retainscope0123456789ab", nil, 60)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%x\n%x, %v", before, after, err)
	}
}

func TestWhatIsNoConnectIsNotRewritten(t *testing.T) {
	good := connectOf(t, "operator", "secret")
	withFlag := bytes.Clone(good)
	withFlag[9] |= flagWill
	v3 := bytes.Clone(good)
	v3[8] = 4
	for name, b := range map[string][]byte{
		"nothing": nil, "one byte": good[:1], "cut short": good[:len(good)-1], "longer than it says": append(bytes.Clone(good), 0),
		"another packet": {0xC0, 0}, "MQTT 3.1.1": v3, "one with a will": withFlag, "a length without end": {0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
	} {
		if _, err := withWill(b, "fixed", &Message{Topic: "a"}, 60); err == nil {
			t.Errorf("%s was rewritten", name)
		}
	}
}

func FuzzWithWill(f *testing.F) {
	f.Add(connectOf(f, "operator", "secret"), "status", []byte("offline"), byte(1), true)
	f.Add(connectOf(f, "", ""), "status", []byte{}, byte(0), false)
	f.Fuzz(func(t *testing.T, connect []byte, topic string, payload []byte, qos byte, retain bool) {
		will := Message{Topic: topic, Payload: payload, QoS: qos, Retain: retain}
		if checkWill(&will) != nil {
			return
		}
		after, err := withWill(connect, "fixed", &will, 60)
		if err != nil {
			return
		}
		before, err := packets.ReadPacket(bytes.NewReader(connect))
		if err != nil {
			return // the library is stricter here
		}
		p, err := packets.ReadPacket(bytes.NewReader(after))
		if err != nil {
			t.Fatalf("%x became %x: %v", connect, after, err)
		}
		v, old := p.Content.(*packets.Connect), before.Content.(*packets.Connect)
		if !v.WillFlag || v.WillTopic != topic || !bytes.Equal(v.WillMessage, payload) || v.WillQOS != qos || v.WillRetain != retain || *v.WillProperties.MessageExpiry != 60 {
			t.Fatalf("%+v", v)
		}
		if v.ClientID != "fixed" || v.Username != old.Username || !bytes.Equal(v.Password, old.Password) || v.KeepAlive != old.KeepAlive {
			t.Fatalf("%+v\n%+v", old, v)
		}
	})
}

// FuzzAckStream cuts a stream anywhere: what passes and what is taken out must not depend on the cuts.
func FuzzAckStream(f *testing.F) {
	stream := join(connack(0), suback(1, 0), control(typePuback<<4, []byte{0, 1}), retained("a", "1"), control(typePuback<<4, []byte{0, 2, 0x87}),
		pingresp(), control(typePuback<<4, []byte{1, 0, 0x10}, properties(propReason("why"))), disconnect(0x8B, ""))
	f.Add(stream, uint64(1))
	f.Add(stream, uint64(0xFFFFFFFFFFFFFFFF))
	f.Add(append(connack(0), 0x40, 0xFF, 0xFF, 0xFF, 0xFF, 1), uint64(3))
	f.Add([]byte{0x40, 2, 0, 1}, uint64(0))
	f.Fuzz(func(t *testing.T, stream []byte, cuts uint64) {
		run := func(pieces [][]byte) (string, error) {
			var s ackStream
			var passed []byte
			var acks []puback
			for _, b := range pieces {
				b = bytes.Clone(b)
				n, err := s.take(b, func(a puback) { acks = append(acks, a) })
				passed = append(passed, b[:n]...)
				if err != nil {
					return fmt.Sprintf("%x %+v", passed, acks), err
				}
			}
			return fmt.Sprintf("%x %+v", passed, acks), nil
		}
		var pieces [][]byte
		from := 0
		for i := range stream {
			if cuts>>(i%64)&1 == 1 {
				pieces, from = append(pieces, stream[from:i]), i
			}
		}
		pieces = append(pieces, stream[from:])
		whole, err1 := run([][]byte{stream})
		cut, err2 := run(pieces)
		if whole != cut || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("in one piece %s, %v; in %d pieces %s, %v", whole, err1, len(pieces), cut, err2)
		}
	})
}

func TestAcknowledgementsAreTakenOutOfTheStream(t *testing.T) {
	var s ackStream
	var acks []puback
	stream := join(connack(0), control(typePuback<<4, []byte{0, 1}), retained("a", "1"), control(typePuback<<4, []byte{0, 2, 0x87}),
		control(typePuback<<4, []byte{1, 0, 0x10}, properties(propUser("k", "v"), propReason("why"))), pingresp())
	n, err := s.take(stream, func(a puback) { acks = append(acks, a) })
	if err != nil || !bytes.Equal(stream[:n], join(connack(0), retained("a", "1"), pingresp())) {
		t.Errorf("passed %x, %v", stream[:n], err)
	}
	user := []inventory.UserProperty{{Key: []byte("k"), Value: []byte("v")}}
	if want := fmt.Sprint([]puback{{id: 1}, {id: 2, code: 0x87}, {256, 0x10, "why", user}}); fmt.Sprint(acks) != want {
		t.Errorf("%v, want %s", acks, want)
	}
	for name, b := range map[string][]byte{
		"empty": control(typePuback << 4), "with flags": control(typePuback<<4|1, []byte{0, 1}), "with a tail": control(typePuback<<4, []byte{0, 1, 0, 0, 9}),
		"too large": {typePuback << 4, 0xFF, 0xFF, 0xFF, 0x7F}, "a length of five bytes": {typePuback << 4, 0xFF, 0xFF, 0xFF, 0xFF, 1},
	} {
		s := ackStream{begun: true}
		if _, err := s.take(bytes.Clone(b), func(puback) { t.Errorf("%s was taken", name) }); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	// Before the CONNACK there is nothing to acknowledge.
	s = ackStream{}
	if n, err := s.take([]byte{0x40, 2, 0, 1}, func(puback) { t.Error("taken before the CONNACK") }); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
