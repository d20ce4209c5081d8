package actions

import (
	"fmt"
	"net/url"
	"strings"
)

// BrokerID names the broker that a manifest, a record and a restore belong to.
type BrokerID struct {
	URL      string `json:"url"`                // address without credentials
	User     string `json:"user,omitempty"`     // login, empty when anonymous
	Identity string `json:"identity,omitempty"` // what the broker tells of itself, for instance "mosquitto version 2.0.11"; empty when it tells nothing
}

// Same returns nil when other, the broker of the connection, can be taken for b, and otherwise an error that says what
// differs. Address and user must be equal; the identity, where both are known, must be the same product. A different
// version of it is the same broker, see Drift.
func (b BrokerID) Same(other BrokerID) error {
	mine, theirs := CanonicalAddress(b.URL), CanonicalAddress(other.URL)
	switch {
	case mine != theirs:
		return fmt.Errorf("another broker: %s was approved, this is %s", Quote([]byte(mine)), Quote([]byte(theirs)))
	case b.User != other.User:
		return fmt.Errorf("another login: %s was approved, this is %s", userName(b.User), userName(other.User))
	case b.Identity != "" && other.Identity != "" && product(b.Identity) != product(other.Identity):
		return fmt.Errorf("another broker at the same address: %s was approved, this one says %s",
			Quote([]byte(b.Identity)), Quote([]byte(other.Identity)))
	}
	return nil
}

// Drift returns a sentence when other is the same broker but says something else of itself, and "" when it does not.
func (b BrokerID) Drift(other BrokerID) string {
	if b.Identity == other.Identity {
		return ""
	}
	return fmt.Sprintf("the broker said %s when it was approved and says %s now", told(b.Identity), told(other.Identity))
}

func told(s string) string {
	if s == "" {
		return "nothing of itself"
	}
	return Quote([]byte(s))
}

func userName(s string) string {
	if s == "" {
		return "anonymous"
	}
	return Quote([]byte(s))
}

// product returns the words of an identity before the first that holds a digit.
func product(s string) string {
	var words []string
	for _, w := range strings.Fields(strings.ToLower(s)) {
		if strings.ContainsAny(w, "0123456789") {
			break
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return strings.ToLower(s)
	}
	return strings.Join(words, " ")
}

var (
	defaultPorts = map[string]string{"mqtt": "1883", "mqtts": "8883", "ws": "80", "wss": "443"}
	schemeNames  = map[string]string{"tcp": "mqtt", "ssl": "mqtts", "tls": "mqtts"}
)

// CanonicalAddress returns the address of a broker in the one form in which two of them can be compared: without
// credentials, scheme and host in lower case and by their first name, the port written out, no slash at the end. What
// is not an address is returned as it is. A scheme with TLS and one without are never the same.
func CanonicalAddress(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" {
		return raw
	}
	u.User, u.Scheme = nil, strings.ToLower(u.Scheme)
	if name, alias := schemeNames[u.Scheme]; alias {
		u.Scheme = name
	}
	if u.Host != "" {
		host, port := strings.ToLower(u.Hostname()), u.Port()
		if port == "" {
			port = defaultPorts[u.Scheme]
		}
		switch {
		case host == "localhost":
			host = "127.0.0.1" // this machine has two names
		case strings.Contains(host, ":"):
			host = "[" + host + "]"
		}
		if u.Host = host; port != "" {
			u.Host += ":" + port
		}
		u.Path = strings.TrimSuffix(u.Path, "/")
		u.RawPath = strings.TrimSuffix(u.RawPath, "/")
	}
	return u.String()
}
