package broker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

const secret = "pa55w0rd"

func wantFailure(t *testing.T, err error, stage Stage, words ...string) {
	t.Helper()
	_ = failureOf(t, err, stage, words...)
}

// failureOf fails the test unless err is a ConnectError of the stage with the words in it, in one plain sentence
// without the password.
func failureOf(t *testing.T, err error, stage Stage, words ...string) *ConnectError {
	t.Helper()
	var failure *ConnectError
	if !errors.As(err, &failure) {
		t.Fatalf("error %v is no ConnectError", err)
	}
	oneClearError(t, err)
	if failure.Stage != stage {
		t.Errorf("stage %d, want %d: %v", failure.Stage, stage, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want %q in it", err, w)
		}
	}
	if all := fmt.Sprintf("%v %+v %s", err, failure.Err, failure.Hint); strings.Contains(all, secret) {
		t.Errorf("the password is in %s", all)
	}
	return failure
}

func dialFails(t *testing.T, cfg Config) error {
	t.Helper()
	cfg.User, cfg.Password = "bob", secret
	if cfg.Timeout == 0 {
		cfg.Timeout = 5 * time.Second
	}
	c, err := Dial(within(t), cfg, new(sink).deliver, inventory.Replay)
	if err == nil {
		_ = c.Close(context.Background())
		t.Fatal("connected")
	}
	return err
}

// serveTLS accepts on loopback, shakes hands with the certificate and closes.
func serveTLS(t *testing.T, c issued) string {
	return serve(t, func(nc net.Conn) {
		_ = tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{c.pair}}).Handshake()
	})
}

// serve runs f for each connection to a loopback address, which it returns, and closes the connection after it.
func serve(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = nc.Close() }()
				f(nc)
			}()
		}
	}()
	return l.Addr().String()
}

func TestCertificatesThatDoNotFitAreNamed(t *testing.T) {
	ca, other := newAuthority(t, "house authority"), newAuthority(t, "other authority")
	for name, c := range map[string]struct {
		leaf  issued
		cfg   Config
		words []string
	}{
		"another name": {
			ca.issue(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"broker.test", "b\x1b[2J"}, nil }),
			Config{CAFile: ca.file}, []string{`is for "broker.test", "b\x1b[2J", not for "127.0.0.1"`},
		},
		"another server name": {ca.issue(nil), Config{CAFile: ca.file, ServerName: "mqtt.test"}, []string{`not for "mqtt.test"`, `"localhost", "127.0.0.1"`}},
		"a common name alone": {
			ca.issue(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, nil }),
			Config{CAFile: ca.file, ServerName: "leaf"}, []string{`the common name "leaf" alone`},
		},
		"an unknown authority": {ca.issue(nil), Config{CAFile: other.file}, []string{`signed by "house authority"`, "not in", other.file, "--ca-file"}},
		"no CA file is named":  {ca.issue(nil), Config{}, []string{`signed by "house authority"`, "not known here", "--ca-file (mqtt.ca_file)"}},
		// The name of both is the same, and the authority is sent along: neither is a certificate that signed itself.
		"a name like its authority's": {ca.issue(func(c *x509.Certificate) { c.Subject = ca.cert.Subject }), Config{}, []string{`signed by "house authority"`, "--ca-file"}},
		"an authority sent along":     {sentAlong(ca.issue(nil), ca), Config{}, []string{`signed by "house authority"`, "--ca-file"}},
		"signed by itself":            {byItself(t), Config{}, []string{"signed by itself", "--ca-file"}},
		"the system's authorities":    {ca.issue(nil), Config{}, []string{"not known here"}},
		"expired": {
			ca.issue(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
			Config{CAFile: ca.file}, []string{"expired on " + time.Now().Add(-time.Minute).UTC().Format("2006-01-02")},
		},
		"not yet valid": {
			ca.issue(func(c *x509.Certificate) {
				c.NotBefore = time.Now().Add(48 * time.Hour)
				c.NotAfter = c.NotBefore.Add(time.Hour)
			}),
			Config{CAFile: ca.file}, []string{"not valid before " + time.Now().Add(48*time.Hour).UTC().Format("2006-01-02")},
		},
		"for clients only": {
			ca.issue(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }),
			Config{CAFile: ca.file}, []string{"is not valid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.URL = "mqtts://" + serveTLS(t, c.leaf)
			wantFailure(t, dialFails(t, c.cfg), StageTLS, c.words...)
		})
	}
}

func TestFilesOfTLSThatCannotBeUsedAreNamed(t *testing.T) {
	ca := newAuthority(t, "a")
	leaf := ca.issue(nil)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cfg  Config
		word string
	}{
		"no CA file":        {Config{CAFile: "/nowhere/ca.pem"}, `there is no CA file "/nowhere/ca.pem" (mqtt.ca_file)`},
		"an empty CA file":  {Config{CAFile: empty}, "holds no certificate"},
		"a key alone":       {Config{KeyFile: leaf.key}, "needs both"},
		"a wrong key":       {Config{CertFile: leaf.cert, KeyFile: ca.issue(nil).key}, "client certificate"},
		"a missing keyfile": {Config{CertFile: leaf.cert, KeyFile: "/nowhere/key.pem"}, "/nowhere/key.pem"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.URL = "mqtts://127.0.0.1:1"
			wantFailure(t, dialFails(t, c.cfg), StageTLS, c.word)
		})
	}
}

func TestTheWrongKindOfPortIsNamed(t *testing.T) {
	ca := newAuthority(t, "a")
	leaf := ca.issue(nil)
	wsPort := testbroker.FreePort(t)
	plainPort := testbroker.Start(t, testbroker.Config{ListenerLines: []string{
		fmt.Sprintf("listener %d 127.0.0.1", wsPort), "protocol websockets", "allow_anonymous true"}})
	tlsPort := testbroker.Start(t, testbroker.Config{ListenerLines: []string{"certfile " + leaf.cert, "keyfile " + leaf.key}})
	listening(t, wsPort)
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	strict := serve(t, func(nc net.Conn) { _, _ = io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	webAddress := strings.TrimPrefix(web.URL, "http://")
	at := func(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }
	for name, c := range map[string]struct {
		url   string
		stage Stage
		word  string
		hint  bool
	}{
		"TLS to a plain port":              {at("mqtts", plainPort.Port), StageTLS, "it may be a plain port", false},
		"plain to a TLS port":              {at("mqtt", tlsPort.Port), StageMQTT, "use mqtts://", false},
		"WebSocket to an MQTT port":        {at("ws", plainPort.Port), StageProtocol, "may not be a WebSocket port", false},
		"MQTT to a web server":             {"mqtt://" + strict, StageProtocol, "HTTP server", false},
		"TLS to a web server":              {"mqtts://" + webAddress, StageTLS, "HTTP server without TLS", false},
		"WebSocket to the wrong path":      {"ws://" + webAddress + "/x", StageProtocol, "404 Not Found", false},
		"MQTT to a WebSocket port":         {at("mqtt", wsPort), StageProtocol, "for MQTT over WebSocket use ws://", false},
		"secure WebSocket to a plain port": {at("wss", wsPort), StageTLS, "HTTP server without TLS", false},
	} {
		t.Run(name, func(t *testing.T) {
			failure := failureOf(t, dialFails(t, Config{URL: c.url, Insecure: true}), c.stage, c.word)
			if (failure.Hint != "") != c.hint {
				t.Errorf("hint %q", failure.Hint)
			}
		})
	}
}

func TestABrokerWithoutMQTT5GetsTheHint(t *testing.T) {
	t.Run("aedes", func(t *testing.T) {
		failure := failureOf(t, dialFails(t, Config{URL: testbroker.StartAedes(t)}), StageRefused, "MQTT 3.1.1")
		if !strings.Contains(failure.Hint, "protocol_version") || failure.Code != 0x84 {
			t.Errorf("%+v", failure)
		}
	})
	for name, c := range map[string]struct {
		answer []byte
		stage  Stage
		code   byte
		word   string
		hint   bool
	}{
		"a 3.1.1 CONNACK that refuses the version": {[]byte{0x20, 2, 0, 1}, StageRefused, 0x84, "takes no MQTT 5", true},
		"a 3.1.1 CONNACK that accepts":             {[]byte{0x20, 2, 0, 0}, StageRefused, 0x84, "takes no MQTT 5", true},
		"a 3.1.1 CONNACK, wrong password":          {[]byte{0x20, 2, 0, 4}, StageRefused, 0x86, `"bob"`, false},
		"a 3.1.1 CONNACK, not authorized":          {[]byte{0x20, 2, 0, 5}, StageRefused, 0x87, `"bob"`, false},
		"a 3.1.1 CONNACK, server unavailable":      {[]byte{0x20, 2, 0, 3}, StageRefused, 0x88, "Server unavailable (0x88)", false},
		"reason 0x84":                              {connack(0x84), StageRefused, 0x84, "Unsupported Protocol Version (0x84)", true},
		"closed without an answer":                 {nil, StageMQTT, 0, "without an answer to CONNECT", true},
	} {
		t.Run(name, func(t *testing.T) {
			url := "mqtt://" + serve(t, func(nc net.Conn) {
				_, _ = nc.Read(make([]byte, 4096))
				_, _ = nc.Write(c.answer)
			})
			failure := failureOf(t, dialFails(t, Config{URL: url}), c.stage, c.word)
			if failure.Code != c.code || (failure.Hint != "") != c.hint {
				t.Errorf("code 0x%02X, hint %q", failure.Code, failure.Hint)
			}
		})
	}
}

func TestARefusalIsSaidWithItsCodeAndReason(t *testing.T) {
	for name, c := range map[string]struct {
		answer []byte
		user   string
		code   byte
		words  []string
	}{
		"a reason string":        {connack(0x8A, propReason("go\x07away")), "bob", 0x8A, []string{"Banned (0x8A)", `"go\aaway"`}},
		"another server":         {connack(0x9C, propText(0x1C, "other.test")), "bob", 0x9C, []string{"Use another server (0x9C)", `"other.test"`}},
		"a wrong password":       {connack(0x86), "bob", 0x86, []string{`the user "bob" or the password`, "(0x86)"}},
		"DISCONNECT for CONNACK": {disconnect(0x97, "too many"), "bob", 0x97, []string{"Quota exceeded (0x97)", `"too many"`}},
		"a code without a name":  {connack(0xF0), "bob", 0xF0, []string{"unknown reason code (0xF0)"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newWireServer(t)
				go func() {
					w := server.accept()
					w.expect(typeConnect)
					w.send(c.answer)
					w.over()
					_ = w.Close()
				}()
				cfg := server.config()
				cfg.User, cfg.Password = c.user, secret
				_, err := Dial(t.Context(), cfg, new(sink).deliver, inventory.Replay)
				failure := failureOf(t, err, StageRefused, c.words...)
				if failure.Code != c.code || failure.Hint != "" {
					t.Errorf("%+v", failure)
				}
			})
		})
	}
}

// The fault: a password without --user was refused as "an anonymous connection".
func TestAPasswordWithoutAUserIsNotCalledAnonymous(t *testing.T) {
	for _, c := range []struct {
		password    Secret
		words, hint string
	}{{secret, "a password that was sent without a user name", "--user"}, {"", "an anonymous connection", ""}} {
		synctest.Test(t, func(t *testing.T) {
			server := newWireServer(t)
			go func() {
				w := server.accept()
				w.expect(typeConnect)
				w.send(connack(0x87))
				w.over()
				_ = w.Close()
			}()
			cfg := server.config()
			cfg.Password = c.password
			_, err := Dial(t.Context(), cfg, new(sink).deliver, inventory.Replay)
			failure := failureOf(t, err, StageRefused, c.words, "Not authorized (0x87)")
			if !strings.Contains(failure.Hint, c.hint) || c.hint == "" && failure.Hint != "" {
				t.Errorf("hint %q", failure.Hint)
			}
		})
	}
}

func TestMosquittoRefusesAWrongPassword(t *testing.T) {
	passwords := filepath.Join(t.TempDir(), "passwords")
	tool, err := exec.LookPath("mosquitto_passwd")
	if err != nil {
		testbroker.Missing(t, "mosquitto_passwd is not installed")
	}
	if out, err := exec.Command(tool, "-b", "-c", passwords, "bob", "right").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := testbroker.Start(t, testbroker.Config{Lines: []string{"password_file " + passwords}, NoAnonymous: true})
	failure := failureOf(t, dialFails(t, Config{URL: b.URL()}), StageRefused, `"bob"`, "Not authorized (0x87)")
	if failure.Hint != "" {
		t.Errorf("hint %q", failure.Hint)
	}
	c, err := Dial(within(t), Config{URL: b.URL(), User: "bob", Password: "right"}, new(sink).deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(within(t)); err != nil {
		t.Error(err)
	}
}

func TestWhereNobodyAnswersIsSaid(t *testing.T) {
	silent := serve(t, func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) })
	closed := fmt.Sprintf("127.0.0.1:%d", testbroker.FreePort(t))
	quick := 200 * time.Millisecond
	for name, c := range map[string]struct {
		cfg   Config
		stage Stage
		word  string
	}{
		"a closed port":             {Config{URL: "mqtt://" + closed}, StageDial, "nothing listens there"},
		"no socket":                 {Config{URL: "unix:///nowhere/mqtt.sock"}, StageDial, "there is no socket at /nowhere/mqtt.sock"},
		"a silent server":           {Config{URL: "mqtt://" + silent, Timeout: quick}, StageMQTT, "did not answer CONNECT within 200ms"},
		"a silent TLS port":         {Config{URL: "mqtts://" + silent, Timeout: quick}, StageTLS, "TLS handshake within 200ms"},
		"a silent WebSocket":        {Config{URL: "ws://" + silent, Timeout: quick}, StageProtocol, "WebSocket request within 200ms"},
		"no URL":                    {Config{}, StageDial, "must look like mqtt://"},
		"a URL without a host":      {Config{URL: "mqtt://"}, StageDial, "must look like"},
		"an unknown scheme":         {Config{URL: "amqp://host"}, StageDial, "amqp://"},
		"a URL that is none":        {Config{URL: "mqtt://bob:" + secret + "@ho st:1883"}, StageDial, "must look like"},
		"a URL with a strange port": {Config{URL: "mqtt://bob:" + secret}, StageDial, "must look like"},
		"unix without a path":       {Config{URL: "unix://"}, StageDial, "must look like"},
	} {
		t.Run(name, func(t *testing.T) { wantFailure(t, dialFails(t, c.cfg), c.stage, c.word) })
	}
	t.Run("called off", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err := Dial(ctx, Config{URL: "mqtt://" + silent}, new(sink).deliver, inventory.Replay)
		wantFailure(t, err, StageMQTT, "called off")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not context.Canceled", err)
		}
	})
}

func TestNetworkFailuresHaveTheirWords(t *testing.T) {
	a, err := parseAddress("mqtt://bob:" + secret + "@broker.test")
	if err != nil {
		t.Fatal(err)
	}
	op := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
	for name, c := range map[string]struct {
		err  error
		word string
	}{
		"name not found":   {&net.OpError{Err: &net.DNSError{Err: "no such host", Name: "broker.test", IsNotFound: true}}, "the name broker.test is not found"},
		"no name server":   {&net.DNSError{Err: "server misbehaving", Name: "broker.test"}, "could not be looked up: server misbehaving"},
		"refused":          {op(syscall.ECONNREFUSED), "broker.test:1883 refused the connection"},
		"host without way": {op(syscall.EHOSTUNREACH), "there is no route to broker.test:1883"},
		"net without way":  {op(syscall.ENETUNREACH), "there is no route"},
		"system timeout":   {op(syscall.ETIMEDOUT), "did not answer"},
		"anything else":    {op(syscall.EINVAL), "no connection to broker.test:1883: connect: invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			wantFailure(t, dialFailed(t.Context(), Config{}.filled(), a, c.err), StageDial, c.word)
		})
	}
}
