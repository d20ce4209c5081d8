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
	"unicode"

	"retainscope/inventory"
)

// oneClearError fails the test unless err is one sentence that a terminal may show.
func oneClearError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	s := err.Error()
	if s == "" || len(s) > 700 || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("not one plain sentence: %q", s)
	}
}

// hostile packets by what is wrong with them: reason code, packet and a part of the error.
var hostile = []struct {
	name   string
	bytes  []byte
	code   byte
	packet string
	what   string
}{
	{"a length of five bytes", []byte{0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, 0x81, "PUBLISH", "more than four bytes"},
	{"a packet above the limit", []byte{0x30, 0xFF, 0xFF, 0xFF, 0x7F}, 0x95, "PUBLISH", "more than the limit"},
	{"a SUBACK of 200 MiB", []byte{0x90, 0x80, 0x80, 0x80, 0x64}, 0x95, "SUBACK", "more than the limit"},
	{"type 0", []byte{0x00, 0x00}, 0x81, "type 0", "there is none"},
	{"a CONNECT", control(0x10, []byte{0, 4}), 0x82, "CONNECT", "only a client"},
	{"a SUBSCRIBE", control(0x82, []byte{0, 1, 0, 0, 1, 'a', 0}), 0x82, "SUBSCRIBE", "only a client"},
	{"an UNSUBSCRIBE", control(0xA2, []byte{0, 1, 0, 0, 1, 'a'}), 0x82, "UNSUBSCRIBE", "only a client"},
	{"a PINGREQ", control(0xC0), 0x82, "PINGREQ", "only a client"},
	{"an AUTH", control(0xF0), 0x82, "AUTH", "no authentication method"},
	{"a second CONNACK", connack(0), 0x82, "CONNACK", "a second one"},
	{"a PUBREC", control(0x50, []byte{0, 1}), 0x82, "PUBREC", "nothing was published"},
	{"a PUBCOMP", control(0x70, []byte{0, 1}), 0x82, "PUBCOMP", "nothing was published"},
	{"flags on a SUBACK", control(0x91, []byte{0, 1, 0, 0}), 0x81, "SUBACK", "flags"},
	{"no flags on a PUBREL", control(0x60, []byte{0, 1}), 0x81, "PUBREL", "flags"},
	{"a PINGRESP with a body", control(0xD0, []byte{0}), 0x81, "PINGRESP", "not empty"},
	{"a SUBACK without a packet identifier", control(0x90, []byte{0}), 0x81, "SUBACK", "packet identifier"},
	{"a SUBACK without properties", control(0x90, []byte{0, 1}), 0x81, "SUBACK", "property length"},
	{"a SUBACK without a code", control(0x90, []byte{0, 1, 0}), 0x82, "SUBACK", "no reason code"},
	{"a SUBACK whose properties reach beyond it", control(0x90, []byte{0, 1, 9, 0x1F, 0, 1, 'x', 0}), 0x81, "SUBACK", "beyond the end"},
	{"a PUBACK of one byte", control(0x40, []byte{0}), 0x81, "PUBACK", "packet identifier"},
	{"a PUBACK with bytes behind its properties", control(0x40, []byte{0, 1, 0, 0, 7}), 0x81, "PUBACK", "more bytes"},
	{"a DISCONNECT with a property of PUBLISH", control(0xE0, []byte{0}, properties(propExpiry(1))), 0x81, "DISCONNECT", "does not belong"},
	{"QoS 3", control(0x36, text("t"), []byte{0, 1}, properties()), 0x81, "PUBLISH", "QoS 3"},
	{"an empty PUBLISH", control(0x30), 0x81, "PUBLISH", "topic"},
	{"a topic beyond the end", control(0x30, []byte{0, 9, 't'}), 0x81, "PUBLISH", "topic beyond"},
	{"no topic and no alias", control(0x30, text(""), properties()), 0x94, "PUBLISH", "no topic"},
	{"a topic alias without a topic", control(0x30, text(""), properties(propAlias(1))), 0x94, "PUBLISH", "no topic"},
	{"no property length", control(0x30, text("t")), 0x81, "PUBLISH", "property length"},
	{"a property length of five bytes", control(0x30, text("t"), []byte{0x80, 0x80, 0x80, 0x80, 0}), 0x81, "PUBLISH", "more than four"},
	{"a property length beyond the end", control(0x30, text("t"), []byte{5, 1, 0}), 0x81, "PUBLISH", "beyond the end"},
	{"expiry twice", publish(message{topic: "t", props: join(propExpiry(1), propExpiry(1))}), 0x82, "PUBLISH", "twice"},
	{"content type twice", publish(message{topic: "t", props: join(propText(3, "a"), propText(3, "a"))}), 0x82, "PUBLISH", "twice"},
	{"an unknown property", publish(message{topic: "t", props: []byte{0x7E, 0}}), 0x81, "PUBLISH", "does not belong"},
	{"a property of two bytes of identifier", publish(message{topic: "t", props: []byte{0x81, 1, 0}}), 0x81, "PUBLISH", "does not belong"},
	{"a property of CONNACK", publish(message{topic: "t", props: propTwo(0x21, 9)}), 0x81, "PUBLISH", "does not belong"},
	{"half an expiry", publish(message{topic: "t", props: []byte{2, 0, 0}}), 0x81, "PUBLISH", "beyond its block"},
	{"a string beyond its block", publish(message{topic: "t", props: []byte{3, 0, 200, 'x'}}), 0x81, "PUBLISH", "beyond its block"},
	{"a user property without a value", publish(message{topic: "t", props: []byte{0x26, 0, 1, 'k'}}), 0x81, "PUBLISH", "beyond its block"},
	{"half a length of a user property's value", publish(message{topic: "t", props: []byte{0x26, 0, 1, 'k', 0}}), 0x81, "PUBLISH", "beyond its block"},
	{"a subscription identifier of five bytes", publish(message{topic: "t", props: []byte{0x0B, 0x80, 0x80, 0x80, 0x80, 1}}), 0x81, "PUBLISH", "more than four"},
	{"half a subscription identifier", publish(message{topic: "t", props: []byte{0x0B, 0x80}}), 0x81, "PUBLISH", "beyond its block"},
	{"packet identifier 0", publish(message{topic: "t", qos: 1}), 0x82, "PUBLISH", "identifier of 0"},
	{"no packet identifier", control(0x32, text("t"), []byte{0}), 0x81, "PUBLISH", "packet identifier"},
	{"expiry twice at QoS 1", publish(message{topic: "t", qos: 1, id: 1, props: join(propExpiry(1), propExpiry(1))}), 0x82, "PUBLISH", "twice"},
}

func TestEachMalformedPacketEndsTheConnectionWithOneClearError(t *testing.T) {
	for _, h := range hostile {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newWireServer(t)
				said := make(chan []byte, 1)
				go func() {
					w := server.accept()
					w.connect()
					w.subscribe()
					w.send(retained("before", "1"), h.bytes)
					_, body, _ := w.next()
					said <- body
					w.over()
					_ = w.Close()
				}()
				var s sink
				cfg := server.config()
				cfg.MaxPacket = 1 << 20
				c, err := Dial(t.Context(), cfg, s.deliver, inventory.Replay)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}}); err != nil {
					t.Fatal(err)
				}
				fence := c.Fence(t.Context())
				<-c.Done()
				var violation *ProtocolError
				if err := c.Err(); !errors.As(err, &violation) {
					t.Fatalf("Err = %v", err)
				}
				oneClearError(t, c.Err())
				if violation.Code != h.code || !strings.Contains(violation.Packet, h.packet) || !strings.Contains(violation.What, h.what) {
					t.Errorf("Err = %+v (%s)", violation, violation)
				}
				if !errors.Is(fence, violation) {
					t.Errorf("the fence ended with %v", fence)
				}
				if got := s.all(); len(got) != 1 || got[0].topic != "before" {
					t.Errorf("delivered %+v", got)
				}
				// The PINGREQ of the fence may have been written before the DISCONNECT.
				if body := <-said; len(body) > 0 && body[0] != h.code {
					t.Errorf("the server is told %x, want %02x", body, h.code)
				}
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
	if len(hostile) < 25 {
		t.Fatal("the list is too short")
	}
}

func TestEachMalformedAnswerToConnectIsOneClearError(t *testing.T) {
	for name, c := range map[string]struct {
		answer []byte
		what   string
	}{
		"PUBLISH first":                {retained("t", "x"), "does not speak MQTT"},
		"SUBACK first":                 {suback(1, 0), "does not speak MQTT"},
		"AUTH first":                   {control(0xF0), "no authentication method"},
		"HTTP":                         {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "HTTP server"},
		"one byte of HTTP":             {[]byte("H"), "HTTP server"},
		"SSH":                          {[]byte("SSH-2.0-x\r\n"), "SSH server"},
		"a TLS alert":                  {[]byte{0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46}, "use mqtts://"},
		"escape sequences":             {[]byte("\x1b[2J\x1b]0;x\a"), "first bytes are 1b5b"},
		"CONNACK of one byte":          {control(0x20, []byte{0}), "acknowledge flags"},
		"an empty CONNACK":             {control(0x20), "acknowledge flags"},
		"CONNACK with reserved flags":  {control(0x20, []byte{2, 0, 0}), "acknowledge flags"},
		"CONNACK with bytes behind":    {control(0x20, []byte{0, 0, 0, 1}), "more bytes"},
		"CONNACK with expiry":          {connack(0, propExpiry(1)), "does not belong"},
		"CONNACK, Maximum QoS twice":   {connack(0, propByte(0x24, 1), propByte(0x24, 1)), "twice"},
		"CONNACK of 128 MiB":           {[]byte{0x20, 0x80, 0x80, 0x80, 0x40}, "more than the limit"},
		"CONNACK with a length of 5":   {[]byte{0x20, 0x80, 0x80, 0x80, 0x80, 1}, "more than four"},
		"half a CONNACK":               {[]byte{0x20, 0x03, 0x00}, "before CONNACK"},
		"CONNACK with half a property": {control(0x20, []byte{0, 0, 2, 0x21, 1}), "beyond its block"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newWireServer(t)
				go func() {
					w := server.accept()
					w.expect(typeConnect)
					w.send(c.answer)
					_ = w.CloseWrite()
					w.over()
					_ = w.Close()
				}()
				_, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
				var failure *ConnectError
				if !errors.As(err, &failure) || failure.Hint != "" {
					t.Fatalf("Dial = %#v", err)
				}
				oneClearError(t, err)
				if !strings.Contains(err.Error(), c.what) {
					t.Errorf("Dial = %v, want %q in it", err, c.what)
				}
			})
		})
	}
}

func TestAnEndlessPacketEndsAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		go func() {
			w := server.accept()
			w.connect()
			// The property length promises far more than the packet holds.
			w.send(control(0x30, text("t"), []byte{0xFF, 0xFF, 0xFF, 0x7F}, make([]byte, 4<<20)))
			w.over()
			_ = w.Close()
		}()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
		if err != nil {
			t.Fatal(err)
		}
		<-c.Done()
		runtime.ReadMemStats(&after)
		oneClearError(t, c.Err())
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%d bytes allocated for 4 MiB received", n)
		}
	})
}

func TestAServerThatNeverStopsSendingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWireServer(t)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			w := server.accept()
			w.connect()
			for {
				if _, err := w.Write(retained("t", "x")); err != nil {
					return
				}
				<-time.After(10 * time.Millisecond) // the server's pace
			}
		}()
		c, err := Dial(t.Context(), server.config(), new(sink).deliver, inventory.Replay)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-stopped
		if took := time.Since(start); took > 2*drainTime {
			t.Errorf("Close took %s", took)
		}
	})
}

func TestDisconnectOfTheServerIsSaidWithItsReason(t *testing.T) {
	for name, c := range map[string]struct {
		packet []byte
		want   ServerDisconnect
		text   string
	}{
		"with a reason string": {disconnect(0x8E, "an\x1bother\nclient"), ServerDisconnect{0x8E, `an\x1bother client`}, "Session taken over (0x8E)"},
		"with a code alone":    {control(0xE0, []byte{0x8B}), ServerDisconnect{Code: 0x8B}, "Server shutting down (0x8B)"},
		"empty":                {control(0xE0), ServerDisconnect{}, "Normal disconnection (0x00)"},
		"with an unknown code": {control(0xE0, []byte{0xEE}), ServerDisconnect{Code: 0xEE}, "unknown reason code (0xEE)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newWireServer(t)
				go func() {
					w := server.accept()
					w.connect()
					w.send(retained("t", "x"), c.packet)
					w.over()
					_ = w.Close()
				}()
				var s sink
				conn, err := Dial(t.Context(), server.config(), s.deliver, inventory.Replay)
				if err != nil {
					t.Fatal(err)
				}
				<-conn.Done()
				var got *ServerDisconnect
				if !errors.As(conn.Err(), &got) || *got != c.want || !strings.Contains(got.Error(), c.text) {
					t.Errorf("Err = %#v (%v)", conn.Err(), conn.Err())
				}
				oneClearError(t, conn.Err())
				if len(s.all()) != 1 {
					t.Error(fmt.Sprint("delivered ", s.all()))
				}
			})
		})
	}
}
