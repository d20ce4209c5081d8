package broker

// Why no connection could be made, in one sentence: the network, TLS, WebSocket.
// What the server's MQTT said is in connectfailure.go.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// failed returns a ConnectError whose sentence is made from format; the arguments are escaped already or harmless.
func failed(stage Stage, err error, format string, args ...any) *ConnectError {
	return &ConnectError{Stage: stage, Err: err, text: fmt.Sprintf(format, args...)}
}

// stopped returns the error of an attempt that ctx ended, or that ran into a time limit of the system, and nil for
// any other.
func stopped(ctx context.Context, cfg Config, stage Stage, err error, did string) *ConnectError {
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return failed(stage, ctx.Err(), "the connect was called off")
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return failed(stage, errors.Join(err, ctx.Err()), "%s within %s", did, cfg.Timeout)
	}
	return nil
}

func dialFailed(ctx context.Context, cfg Config, a address, err error) error {
	var name *net.DNSError
	if errors.As(err, &name) && ctx.Err() == nil {
		if name.IsNotFound {
			return failed(StageDial, err, "the name %s is not found", plain(a.host))
		}
		return failed(StageDial, err, "the name %s could not be looked up: %s", plain(a.host), plain(name.Err))
	}
	if e := stopped(ctx, cfg, StageDial, err, a.String()+" did not answer"); e != nil {
		return e
	}
	unix := a.network == "unix"
	switch {
	case unix && errors.Is(err, fs.ErrNotExist):
		return failed(StageDial, err, "there is no socket at %s", a)
	case unix && errors.Is(err, fs.ErrPermission):
		return failed(StageDial, err, "the socket %s may not be opened by this user", a)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(StageDial, err, "%s refused the connection: nothing listens there", a)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return failed(StageDial, err, "there is no route to %s", a)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return failed(StageDial, err, "no connection to %s: %s", a, plain(err.Error()))
}

func tlsFailed(ctx context.Context, cfg Config, a address, err error) error {
	if e := stopped(ctx, cfg, StageTLS, err, a.String()+" did not answer the TLS handshake"); e != nil {
		return e
	}
	var (
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &name):
		return failed(StageTLS, err, "the certificate of %s is for %s, not for %s", a, offered(name.Certificate), quoted(name.Host))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return failed(StageTLS, err, "the certificate of %s %s", a, validity(invalid.Cert, cfg.Clock()))
	case errors.As(err, &invalid):
		return failed(StageTLS, err, "the certificate of %s is not valid: %s", a, plain(invalid.Error()))
	case errors.As(err, &unknown):
		return failed(StageTLS, err, "the certificate of %s is %s", a, untrusted(cfg, err, unknown.Cert))
	case errors.As(err, &record):
		if strings.HasPrefix("HTTP/", string(record.RecordHeader[:])) {
			return failed(StageTLS, err, "%s is an HTTP server without TLS; if it is a WebSocket port use ws://", a)
		}
		return failed(StageTLS, err, "%s does not speak TLS; for a plain port use mqtt:// or ws://", a)
	case closedByPeer(err):
		return failed(StageTLS, err, "%s closed the connection in the TLS handshake; it may be a plain port, for which use mqtt:// or ws://", a)
	}
	if text := alertText(err); text != "" {
		return failed(StageTLS, err, "%s %s", a, text)
	}
	return failed(StageTLS, err, "no TLS with %s: %s", a, plain(err.Error()))
}

// alertText says what an alert of the server means, and nothing when err is none.
//
// Source: RFC 8446, 6.
func alertText(err error) string {
	alert, ok := alertOf(err)
	switch {
	case !ok:
		return ""
	case alert == 40, alert == 70, alert == 86:
		return "found no version or cipher of TLS in common; TLS 1.2 is the oldest that is offered"
	case alert >= 42 && alert <= 46, alert == 48:
		return "did not accept our client certificate: " + alert.Error()
	case alert == 116:
		return "asks for a client certificate"
	case alert == 112:
		return "does not know the server name that was asked for"
	}
	return "ended TLS with an alert: " + alert.Error()
}

// alertOf returns the alert of the other side that err is. The alerts of crypto/tls have no type of their own outside
// it, but the same texts as AlertError.
func alertOf(err error) (tls.AlertError, bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" || op.Err == nil {
		return 0, false
	}
	for code := range 256 {
		if a := tls.AlertError(code); a.Error() == op.Err.Error() {
			return a, true
		}
	}
	return 0, false
}

// offered lists the names in a certificate.
func offered(c *x509.Certificate) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 && c.Subject.CommonName != "" {
		return "the common name " + quoted(c.Subject.CommonName) + " alone, which is not checked any more"
	}
	if len(names) == 0 {
		return "no name at all"
	}
	more := ""
	if len(names) > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
	}
	for i, n := range names {
		names[i] = quoted(n)
	}
	return strings.Join(names, ", ") + more
}

// untrusted says by whom a server's certificate is signed, and what to do. last is where the chain ends: its own
// certificate, or one of an authority that the server sent along.
func untrusted(cfg Config, err error, last *x509.Certificate) string {
	own := last
	var chain *tls.CertificateVerificationError
	if errors.As(err, &chain) && len(chain.UnverifiedCertificates) > 0 {
		own = chain.UnverifiedCertificates[0]
	}
	where := "not known here; name its CA file with --ca-file (mqtt.ca_file)"
	if cfg.CAFile != "" {
		where = "not in " + quoted(cfg.CAFile) + " (mqtt.ca_file, --ca-file)"
	}
	switch {
	case own == nil || last == nil:
		return "signed by an authority that is " + where
	case signedByItself(own) && cfg.CAFile != "":
		return "signed by itself, and " + where
	case signedByItself(own):
		return "signed by itself; to trust it, name a copy of it with --ca-file (mqtt.ca_file)"
	}
	name := last.Issuer.CommonName
	if name == "" {
		name = last.Issuer.String()
	}
	return "signed by " + quoted(name) + ", an authority that is " + where
}

// signedByItself reports whether a certificate is its own authority. The names tell nothing: those of two certificates
// may be the same.
func signedByItself(c *x509.Certificate) bool {
	return c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}

// validity says when a certificate was, or will be, valid.
func validity(c *x509.Certificate, now time.Time) string {
	const day = "2006-01-02 15:04 UTC"
	if now.Before(c.NotBefore) {
		return "is not valid before " + c.NotBefore.UTC().Format(day) + "; the clock here says " + now.UTC().Format(day)
	}
	return "expired on " + c.NotAfter.UTC().Format(day) + "; the clock here says " + now.UTC().Format(day)
}

func webSocketFailed(ctx context.Context, cfg Config, a address, err error) error {
	if e := stopped(ctx, cfg, StageProtocol, err, a.String()+" did not answer the WebSocket request"); e != nil {
		return e
	}
	var refused *refusedUpgrade
	switch {
	case errors.As(err, &refused):
		return failed(StageProtocol, err, "%s answered the WebSocket request with %s; check the path", a, refused)
	case closedByPeer(err):
		return failed(StageProtocol, err, "%s closed the connection on the WebSocket request; it may not be a WebSocket port", a)
	}
	if text := alertText(err); text != "" {
		return failed(StageTLS, err, "%s %s", a, text)
	}
	return failed(StageProtocol, err, "no WebSocket with %s: %s", a, plain(err.Error()))
}

// closedByPeer reports whether err says that the other side ended the connection.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
