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

	"github.com/eclipse/paho.golang/paho"
)

// hint311 is for a connect that fails the way a 3.1.1-only broker fails. It names the setting.
const hint311 = `the broker may speak only MQTT 3.1.1: retainscope connects with protocol_version = "5" and does not fall back by itself`

// connectFailed explains a CONNECT without success. cause is what the decoder found first, silent whether the server
// sent not one byte of MQTT, and asked whether it had asked for a client certificate.
func connectFailed(ctx context.Context, cfg Config, a address, ca *paho.Connack, cause error, silent, asked bool) error {
	if ca != nil && ca.ReasonCode >= 0x80 {
		return refused(cfg, a, ca.ReasonCode, plain(ca.Properties.ReasonString), ca.Properties.ServerReference)
	}
	var (
		old       *v3Connack
		foreign   *notMQTT
		goodbye   *ServerDisconnect
		violation *ProtocolError
	)
	switch {
	case errors.As(cause, &old):
		return refusedAs311(cfg, a, old)
	case errors.As(cause, &foreign):
		return notABroker(a, foreign)
	case errors.As(cause, &goodbye):
		return refused(cfg, a, goodbye.Code, goodbye.Reason, "")
	case errors.As(cause, &violation):
		return failed(StageProtocol, cause, "%s sent what MQTT 5 does not allow: %s: %s", a, violation.Packet, violation.What)
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
	e.Hint = hint311
	return e
}

// refused says what a reason code of 0x80 and above means for the one who connects.
//
// Source: MQTT 5, 3.2.2.2.
func refused(cfg Config, a address, code byte, reason, reference string) *ConnectError {
	e := &ConnectError{Stage: StageRefused, Code: code, Reason: reason}
	who := "the connection"
	if code == 0x86 || code == 0x87 || code == 0x8C {
		who = "an anonymous connection"
		if cfg.User != "" {
			who = "the user " + quoted(cfg.User) + " or the password"
		}
	}
	e.text = fmt.Sprintf("%s refused %s: %s%s", a, who, reasonText(code), said(reason))
	if reference != "" {
		e.text += "; it names the server " + quoted(reference)
	}
	if code == 0x84 {
		e.Hint = hint311
	}
	return e
}

// refusedAs311 explains the CONNACK of a server that answered in MQTT 3.1.1.
//
// Source: MQTT 3.1.1, 3.2.2.3.
func refusedAs311(cfg Config, a address, old *v3Connack) error {
	code, ok := map[byte]byte{2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87}[old.code]
	if ok {
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
