package broker

// From an address to a connection that MQTT can run over: TCP or a unix socket, TLS, WebSocket.
// One attempt, bounded by the context; why it failed is said in dialfailure.go.

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync/atomic"
)

// socketBuffer is what one read from the socket may bring where TLS or WebSocket would ask for less.
const socketBuffer = 256 << 10

// transport is a connection with the socket below it.
type transport struct {
	net.Conn
	socket *socket
	// closeWrite ends our direction in the way of the transport, so that the other side has everything before it ends.
	closeWrite func() error
	// asked tells that the server asked for a client certificate.
	asked atomic.Bool
}

// over returns a transport without TLS or WebSocket over nc.
func over(nc net.Conn) *transport {
	s := newSocket(nc)
	return &transport{Conn: s, socket: s, closeWrite: s.CloseWrite}
}

// dialTransport connects to the broker of cfg. It returns a *ConnectError.
func dialTransport(ctx context.Context, cfg Config) (*transport, error) {
	a, err := parseAddress(cfg.URL)
	if err != nil {
		return nil, &ConnectError{Stage: StageDial, Err: err, text: err.Error()}
	}
	if cfg.wire != nil {
		nc, err := cfg.wire(ctx)
		if err != nil {
			return nil, dialFailed(ctx, cfg, a, err)
		}
		return over(nc), nil
	}
	var tlsConfig *tls.Config
	if a.tls {
		if tlsConfig, err = cfg.tls(a.host); err != nil {
			return nil, &ConnectError{Stage: StageTLS, Err: err, text: plain(err.Error())}
		}
	}
	nc, err := (&net.Dialer{}).DialContext(ctx, a.network, a.dial)
	if err != nil {
		return nil, dialFailed(ctx, cfg, a, err)
	}
	t := over(nc)
	if a.tls {
		if err := t.startTLS(ctx, tlsConfig); err != nil {
			_ = nc.Close()
			return nil, tlsFailed(ctx, cfg, a, err)
		}
	}
	if a.ws {
		if err := t.startWebSocket(ctx, a); err != nil {
			_ = nc.Close()
			return nil, webSocketFailed(ctx, cfg, a, err)
		}
	}
	return t, nil
}

// buffered reads from the socket in large pieces, whatever the layer above asks for.
type buffered struct {
	*socket
	r *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.r.Read(p) }

func (t *transport) startTLS(ctx context.Context, config *tls.Config) error {
	// Where the server refuses after the handshake, its alert may be lost in the reset of the connection. That it had
	// asked is then the best explanation there is.
	config.GetClientCertificate = func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		t.asked.Store(true)
		for i := range config.Certificates {
			if info.SupportsCertificate(&config.Certificates[i]) == nil {
				return &config.Certificates[i], nil
			}
		}
		return &tls.Certificate{}, nil
	}
	c := tls.Client(&buffered{t.socket, bufio.NewReaderSize(t.socket, socketBuffer)}, config)
	if err := c.HandshakeContext(ctx); err != nil {
		return err
	}
	t.Conn = c
	t.closeWrite = func() error { return errors.Join(c.CloseWrite(), t.socket.CloseWrite()) }
	return nil
}

// tls returns the TLS settings for a server called host.
func (c Config) tls(host string) (*tls.Config, error) {
	t := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: host, InsecureSkipVerify: c.Insecure, Time: c.Clock,
	}
	if c.ServerName != "" {
		t.ServerName = c.ServerName
	}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no CA file %s (mqtt.ca_file)", quoted(c.CAFile))
		}
		if err != nil {
			return nil, fmt.Errorf("read the CA file: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("the CA file %s holds no certificate", c.CAFile)
		}
	}
	if c.CertFile != "" || c.KeyFile != "" {
		if c.CertFile == "" || c.KeyFile == "" {
			return nil, errors.New("a client certificate needs both its certificate file and its key file")
		}
		for _, path := range []string{c.CertFile, c.KeyFile} {
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("there is no file %s of a client certificate (cert_file, key_file)", quoted(path))
			}
		}
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
