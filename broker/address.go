package broker

// Where a broker is: the URL of a Config taken apart.
// Credentials in a URL never leave this file, not even in an error.

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// address is where and how to connect.
type address struct {
	network string // "tcp" or "unix"
	dial    string // host:port or the path of the socket
	host    string // without port; empty for a unix socket
	tls     bool
	ws      bool
	request string // of a WebSocket: the URL without credentials
}

// String returns what an error may show: host:port or the path, never a user or a password.
func (a address) String() string { return plain(a.dial) }

var errAddress = errors.New("the broker's address must look like mqtt://host:1883, mqtts://host:8883, ws://host/path, wss://host/path or unix:///path")

var schemes = map[string]struct {
	tls, ws bool
	port    string
}{
	"mqtt": {port: "1883"}, "tcp": {port: "1883"},
	"mqtts": {tls: true, port: "8883"}, "ssl": {tls: true, port: "8883"}, "tls": {tls: true, port: "8883"},
	"ws": {ws: true, port: "80"}, "wss": {tls: true, ws: true, port: "443"},
}

// parseAddress takes a URL apart. Its errors do not repeat the URL, which may hold a password.
func parseAddress(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, errAddress
	}
	if strings.EqualFold(u.Scheme, "unix") {
		path := u.Host + u.Path
		if path == "" {
			path = u.Opaque
		}
		if path == "" {
			return address{}, errAddress
		}
		return address{network: "unix", dial: path}, nil
	}
	s, ok := schemes[strings.ToLower(u.Scheme)]
	if !ok || u.Hostname() == "" {
		if ok || u.Scheme == "" || u.Host == "" {
			return address{}, errAddress
		}
		return address{}, fmt.Errorf("the scheme %s:// is not known; %w", plain(u.Scheme), errAddress)
	}
	a := address{network: "tcp", host: u.Hostname(), tls: s.tls, ws: s.ws}
	port := u.Port()
	if port == "" {
		port = s.port
	}
	a.dial = net.JoinHostPort(a.host, port)
	if s.ws {
		plainURL := url.URL{Scheme: "ws", Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
		if s.tls {
			plainURL.Scheme = "wss"
		}
		a.request = plainURL.String()
	}
	return a, nil
}
