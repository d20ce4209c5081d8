package broker

// What a connection needs to know before it is made.
// Nothing here opens a socket; nothing here is printed with its secrets.

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"time"

	"retainscope/inventory"
)

// Secret is a string that never prints itself: String, GoString and every fmt verb give a mask, and so does slog.
type Secret string

const mask = "********"

// String returns a mask, or the empty string when there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString returns what String returns.
func (s Secret) GoString() string { return s.String() }

// LogValue returns the mask for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the mask, so that no encoder gives the secret away.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Config says how to reach a broker. The zero value of every field but URL has a meaning.
type Config struct {
	// URL is mqtt://host[:1883], mqtts://host[:8883], ws://host[:80]/path, wss://host[:443]/path or unix:///path. tcp, ssl
	// and tls are taken as other names. A user name or password in it is ignored here.
	URL      string
	User     string
	Password Secret

	CAFile     string // PEM; when set, only these authorities are trusted
	CertFile   string // PEM client certificate, with KeyFile
	KeyFile    string
	ServerName string // the name that the server's certificate must carry; empty means the URL's host
	Insecure   bool   // the server's certificate is not checked

	ClientID  string        // prefix; each connection adds a random suffix. Empty means "retainscope"
	KeepAlive time.Duration // whole seconds, default 60 s
	Timeout   time.Duration // for one connect, one write, and for a SUBACK without a byte in between; default 10 s
	Logger    *slog.Logger  // nil discards. Never payloads or credentials
	ReadAhead int           // bytes taken from the socket and not yet decoded, at most; default 64 MiB
	// Clock stamps ReceivedAt and checks the dates of certificates. nil means time.Now.
	Clock func() time.Time
	// MaxPacket is the largest packet accepted, with its fixed header. A larger one ends the connection with an error
	// before anything is allocated for it. Default and most: 268 435 460, the largest that MQTT can announce.
	MaxPacket int

	// Version is the version of MQTT to speak; nil means 5. There is no fallback from one to another.
	Version Version

	// Echoes tells a watcher what a sender with the same one published, and what Announce was told; nil tells nothing.
	Echoes *Echoes

	// identity and will are those of a publisher: the whole client identifier, and the last will of a limited version.
	identity string
	will     *Message
	// wire replaces dialling in tests of this package: the connection runs over what it returns.
	wire func(ctx context.Context) (net.Conn, error)
	// hold is called before each delivery in tests of this package, on the goroutine that decodes.
	hold func(batch []inventory.Publication)
}

const (
	defaultKeepAlive = 60 * time.Second
	defaultTimeout   = 10 * time.Second
	defaultReadAhead = 64 << 20
	// maxPacket is the fixed header of five bytes and a Remaining Length of 268 435 455. MQTT 5, 2.1.4.
	maxPacket = 268435455 + 5
)

// filled returns c with its defaults in place.
func (c Config) filled() Config {
	if c.ClientID == "" {
		c.ClientID = "retainscope"
	}
	if c.KeepAlive <= 0 {
		c.KeepAlive = defaultKeepAlive
	}
	// Keep Alive is a two byte number of seconds. MQTT 5, 3.1.2.10.
	c.KeepAlive = min(max(c.KeepAlive.Truncate(time.Second), time.Second), 65535*time.Second)
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.ReadAhead <= 0 {
		c.ReadAhead = defaultReadAhead
	}
	if c.Version == nil {
		c.Version = mqtt5{}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.MaxPacket <= 0 || c.MaxPacket > maxPacket {
		c.MaxPacket = maxPacket
	}
	return c
}

// idAlphabet holds the characters that every server must accept in a Client Identifier. MQTT 5, 3.1.3.1.
const idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// clientID returns prefix with a random suffix of 7 to 12 characters, 23 in total where the prefix leaves the room.
// Every connection has its own, so that two programs never take over each other's session.
func clientID(prefix string) string {
	var random [12]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	suffix := random[:min(max(23-len(prefix), 7), len(random))]
	for i, b := range suffix {
		suffix[i] = idAlphabet[int(b)%len(idAlphabet)]
	}
	return prefix + string(suffix)
}

// Subscription is one topic filter with its options.
//
// Source: MQTT 5, 3.8.3.1.
type Subscription struct {
	Filter            string
	QoS               byte // 0, 1 or 2
	RetainHandling    byte // 0 sends retained copies, 1 only for a new subscription, 2 never
	RetainAsPublished bool
	NoLocal           bool
}

// Deliver takes a batch of 1 to 256 publications. It is called on the connection's decode goroutine, one batch at a
// time and in the order of the wire; slices are borrowed and valid only during the call.
type Deliver = func(batch []inventory.Publication)
