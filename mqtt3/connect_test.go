package mqtt3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
)

func TestTheConnectIsThatOfACleanSessionAndNothingElse(t *testing.T) {
	connects := make(chan []byte, 1)
	cfg := settings(listen(t, func(p *peer) {
		connects <- p.welcome()
		p.drain()
	}))
	cfg.User, cfg.Password, cfg.ClientID, cfg.KeepAlive = "me", "secret", "probe", 77*time.Second
	c := dial(t, cfg, nothing, inventory.Live)
	// MQTT, level 4, user name, password, clean session, 77 s.
	want := []byte{0, 4, 'M', 'Q', 'T', 'T', 4, 0b1100_0010, 0, 77}
	got := body(<-connects)
	id := c.Server().ClientID
	if !strings.HasPrefix(id, "probe") || len(id) < 12 {
		t.Errorf("the client identifier is %q", id)
	}
	if all := bytes.Join([][]byte{want, text(id), text("me"), text("secret")}, nil); !bytes.Equal(got, all) {
		t.Errorf("CONNECT has\n% x, want\n% x", got, all)
	}
	if s := c.Server(); s.KeepAlive != cfg.KeepAlive || !s.RetainAvailable || s.MaximumPacketSize != 0 {
		t.Errorf("the server is taken to be %+v", s)
	}
}

func TestAConnectThatFailsSaysWhyAndWhatMayBeBehindIt(t *testing.T) {
	for name, c := range map[string]struct {
		answer []byte
		stage  broker.Stage
		code   byte
		text   string
		hint   bool
	}{
		"an unacceptable version":        {[]byte{0x20, 2, 0, 1}, broker.StageRefused, 0x84, "Unsupported Protocol Version", true},
		"an identifier it does not take": {[]byte{0x20, 2, 0, 2}, broker.StageRefused, 0x85, "Client Identifier not valid", false},
		"a server that is not available": {[]byte{0x20, 2, 0, 3}, broker.StageRefused, 0x88, "Server unavailable", false},
		"a wrong password":               {[]byte{0x20, 2, 0, 4}, broker.StageRefused, 0x86, `the user "bob" or the password`, false},
		"a login without the right":      {[]byte{0x20, 2, 0, 5}, broker.StageRefused, 0x87, "Not authorized", false},
		"a return code that is none":     {[]byte{0x20, 2, 0, 6}, broker.StageProtocol, 0, "MQTT 3.1.1 does not allow: CONNACK: an unknown return code", true},
		"a CONNACK of MQTT 5":            {[]byte{0x20, 3, 0, 0x84, 0}, broker.StageProtocol, 0, "another version of MQTT", true},
		"wrong flags":                    {[]byte{0x20, 2, 2, 0}, broker.StageProtocol, 0, "acknowledge flags", true},
		"another packet":                 {[]byte{0xD0, 0}, broker.StageProtocol, 0, "does not speak MQTT", false},
		"a web server":                   {[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), broker.StageProtocol, 0, "is an HTTP server", false},
		"no answer":                      {nil, broker.StageMQTT, 0, "closed the connection without an answer", true},
		"half an answer":                 {[]byte{0x20, 2}, broker.StageMQTT, 0, "ended before CONNACK", false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := settings(listen(t, func(p *peer) {
				p.next()
				p.say(c.answer)
			}))
			cfg.User = "bob"
			_, err := broker.Dial(within(t), cfg, nothing, inventory.Live)
			var failure *broker.ConnectError
			if !errors.As(err, &failure) || failure.Stage != c.stage || failure.Code != c.code || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("%v (%+v)", err, failure)
			}
			if (failure.Hint != "") != c.hint || c.hint && !strings.Contains(failure.Hint, `mqtt.protocol_version is "3.1.1"`) {
				t.Errorf("the hint is %q", failure.Hint)
			}
		})
	}
}

func TestAServerThatSaysNothingIsGivenUpInTime(t *testing.T) {
	cfg := settings(listen(t, func(p *peer) { p.drain() }))
	cfg.Timeout = 3 * time.Second // far more than the connect takes
	_, err := broker.Dial(within(t), cfg, nothing, inventory.Live)
	if err == nil || !strings.Contains(err.Error(), "did not answer CONNECT within 3s") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := broker.Dial(ctx, cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), "called off") {
		t.Errorf("a connect that was called off: %v", err)
	}
}

func TestAPasswordWithoutAUserIsNotLeftOutInSilence(t *testing.T) {
	cfg := settings(listen(t, func(p *peer) { p.drain() }))
	cfg.Password = "secret"
	if _, err := broker.Dial(within(t), cfg, nothing, inventory.Live); err == nil || !strings.Contains(err.Error(), "no password without a user") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestAConnectionEndsWholeHoweverItEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, end := range map[string]struct {
		serve func(p *peer)
		leave bool
		why   string
	}{
		"we leave":                 {func(p *peer) { p.drain() }, true, ""},
		"the server leaves":        {func(p *peer) { _ = p.Close() }, false, "closed the connection without a reason"},
		"the server breaks a rule": {func(p *peer) { p.say([]byte{0xE0, 0}); p.drain() }, false, "MQTT 3.1.1 does not allow: DISCONNECT"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 15 {
				said := make(chan [][]byte, 1)
				c, err := broker.Dial(within(t), settings(listen(t, func(p *peer) {
					p.welcome()
					end.serve(p)
					said <- p.drain()
				})), nothing, inventory.Live)
				if err != nil {
					t.Fatal(err)
				}
				if end.leave {
					if err := c.Close(within(t)); err != nil {
						t.Errorf("Close: %v", err)
					}
				}
				if err := ended(t, c); end.why == "" && err != nil || end.why != "" && (err == nil || !strings.Contains(err.Error(), end.why)) {
					t.Error(err)
				}
				if _, err := c.Subscribe(within(t), []broker.Subscription{{Filter: "a"}}); err == nil {
					t.Error("a subscription on an ended connection")
				}
				for _, b := range <-said {
					if b[0]>>4 == 14 && !end.leave {
						t.Errorf("the server was sent % x: only MQTT 5 explains itself", b)
					}
				}
			}
		})
	}
	waitFor(t, func() bool { return runtime.NumGoroutine() <= before+2 })
}

func TestLeavingSendsADisconnectAndNothingBehindIt(t *testing.T) {
	said := make(chan [][]byte, 1)
	c, err := broker.Dial(within(t), settings(listen(t, func(p *peer) {
		p.welcome()
		said <- p.drainUntilEnd()
	})), nothing, inventory.Live)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if got := <-said; len(got) != 1 || !bytes.Equal(got[0], []byte{0xE0, 0}) {
		t.Errorf("the server was sent %x", got)
	}
	if err := c.Close(within(t)); err != nil || c.Err() != nil {
		t.Errorf("a second Close: %v, %v", err, c.Err())
	}
}

// drainUntilEnd is drain, and fails where the end is no end of file.
func (p *peer) drainUntilEnd() [][]byte {
	came := p.drain()
	if _, err := p.r.ReadByte(); !errors.Is(err, io.EOF) {
		p.t.Errorf("the connection did not end in order: %v", err)
	}
	return came
}

func TestASilentServerIsNoticed(t *testing.T) {
	pings := make(chan int, 1)
	cfg := settings(listen(t, func(p *peer) {
		p.welcome()
		n := 0
		for b := p.next(); b != nil; b = p.next() {
			if b[0]>>4 == 12 {
				n++
			}
		}
		pings <- n
	}))
	cfg.KeepAlive = time.Second
	c := dial(t, cfg, nothing, inventory.Live)
	if err := ended(t, c); err == nil || !strings.Contains(err.Error(), "has been silent for") {
		t.Errorf("it ended with %v", err)
	}
	if n := <-pings; n == 0 {
		t.Error("no PINGREQ was sent")
	}
}
