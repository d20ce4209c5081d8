package broker

// Why a CONNECT was not accepted, in one sentence, and whether the broker may speak only MQTT 3.1.1.

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Hints for a connect that fails the way a broker of another version fails. They name the setting.
const (
	hint311 = `the broker may speak only MQTT 3.1.1: mqtt.protocol_version is "5", and retainscope does not fall back by itself; "3.1.1" lists what such a broker holds, without expiry and without clears`
	hint5   = `the broker may take no MQTT 3.1.1: mqtt.protocol_version is "3.1.1", and retainscope does not change it by itself; most brokers speak "5"`
)

// otherVersion returns the hint that the broker may speak another version only.
func (c Config) otherVersion() string {
	if c.Version.Limited() {
		return hint5
	}
	return hint311
}

// connectFailed explains a CONNECT without success. cause is a *Refusal or what the decoder found first, silent whether the server
// sent not one byte of MQTT, and asked whether it had asked for a client certificate.
func connectFailed(ctx context.Context, cfg Config, a address, cause error, silent, asked bool) error {
	var (
		no        *Refusal
		old       *v3Connack
		foreign   *notMQTT
		goodbye   *ServerDisconnect
		violation *ProtocolError
	)
	switch {
	case errors.As(cause, &no):
		return refused(cfg, a, no.Code, plain(no.Reason), no.Reference)
	case errors.As(cause, &old):
		return refusedAs311(cfg, a, old)
	case errors.As(cause, &foreign):
		return notABroker(a, foreign)
	case errors.As(cause, &goodbye):
		return refused(cfg, a, goodbye.Code, goodbye.Reason, "")
	case errors.As(cause, &violation):
		e := failed(StageProtocol, cause, "%s sent what %s does not allow: %s: %s", a, violation.mqtt(), violation.Packet, violation.What)
		if cfg.Version.Limited() && violation.Packet == packetName(typeConnack) {
			e.Hint = hint5
		}
		return e
	}
	if e := stopped(ctx, cfg, StageMQTT, cause, a.String()+" did not answer CONNECT"); e != nil {
		return e
	}
	if text := alertText(cause); text != "" {
		return failed(StageTLS, cause, "%s %s", a, text)
	}
	if !closedByPeer(cause) || !silent {
		return failed(StageMQTT, cause, "the connection to %s ended before CONNACK: %s", a, plain(cause.Error()))
	}
	if asked && cfg.CertFile == "" {
		return failed(StageTLS, cause, "%s closed the connection; it asks for a client certificate", a)
	}
	if asked {
		return failed(StageTLS, cause, "%s closed the connection; it may not have accepted our client certificate", a)
	}
	if speaksTLS(ctx, cfg, a) {
		return failed(StageMQTT, cause, "%s speaks TLS and was spoken to without; use mqtts://", a)
	}
	e := failed(StageMQTT, cause, "%s closed the connection without an answer to CONNECT", a)
	e.Hint = cfg.otherVersion()
	return e
}

// refused says what a reason code of 0x80 and above means for the one who connects.
//
// Source: MQTT 5, 3.2.2.2.
func refused(cfg Config, a address, code byte, reason, reference string) *ConnectError {
	e := &ConnectError{Stage: StageRefused, Code: code, Reason: reason}
	who := "the connection"
	if code == 0x86 || code == 0x87 || code == 0x8C {
		switch {
		case cfg.User != "":
			who = "the user " + quoted(cfg.User) + " or the password"
		case cfg.Password != "": // MQTT 5 has such a thing, 3.1.2.9, and few brokers take it
			who = "a password that was sent without a user name"
			e.Hint = "mqtt.user is empty: name the user with --user"
		default:
			who = "an anonymous connection"
		}
	}
	e.text = fmt.Sprintf("%s refused %s: %s%s", a, who, reasonText(code), said(reason))
	if reference != "" {
		e.text += "; it names the server " + quoted(reference)
	}
	if code == 0x84 {
		e.Hint = cfg.otherVersion()
	}
	return e
}

// ReasonOf311 returns the reason code of MQTT 5 that means what a return code of a CONNACK of MQTT 3.1.1 does, 0x84 for
// "unacceptable protocol version" and every code that does not exist.
//
// Source: MQTT 3.1.1, 3.2.2.3.
func ReasonOf311(code byte) byte {
	switch code {
	case 2:
		return 0x85
	case 3:
		return 0x88
	case 4:
		return 0x86
	case 5:
		return 0x87
	}
	return 0x84
}

// refusedAs311 explains the CONNACK of a server that answered in MQTT 3.1.1.
func refusedAs311(cfg Config, a address, old *v3Connack) error {
	if code := ReasonOf311(old.code); code != 0x84 {
		e := refused(cfg, a, code, "", "")
		e.Err = old
		return e
	}
	e := failed(StageRefused, old, "%s answered in MQTT 3.1.1 and takes no MQTT 5", a)
	e.Code, e.Hint = 0x84, hint311
	return e
}

// notABroker says what the first bytes of a server look like that are no CONNACK.
func notABroker(a address, e *notMQTT) error {
	for _, known := range []struct{ first, what string }{
		{"HTTP/", "is an HTTP server, not an MQTT port; for MQTT over WebSocket use ws://"},
		{"\x15\x03", "speaks TLS and was spoken to without; use mqtts://"},
		{"SSH-", "is an SSH server, not an MQTT port"},
		{"220", "is a mail or FTP server, not an MQTT port"},
	} {
		n := min(len(known.first), len(e.first))
		if bytes.HasPrefix(e.first, []byte(known.first[:n])) {
			return failed(StageProtocol, e, "%s %s", a, known.what)
		}
	}
	return failed(StageProtocol, e, "%s does not speak MQTT: its first bytes are %x", a, e.first)
}

// speaksTLS finds out whether a plain port that closed without a word is a TLS port, with one more connection. It
// sends nothing but the TLS greeting.
func speaksTLS(ctx context.Context, cfg Config, a address) bool {
	if a.network != "tcp" || a.tls || a.ws || cfg.wire != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	nc, err := (&net.Dialer{}).DialContext(ctx, a.network, a.dial)
	if err != nil {
		return false
	}
	defer func() { _ = nc.Close() }()
	// Nothing is trusted and nothing sent over this connection, so nothing needs to be verified.
	err = tls.Client(nc, &tls.Config{InsecureSkipVerify: true, ServerName: a.host}).HandshakeContext(ctx)
	_, alert := alertOf(err)
	return err == nil || alert
}
