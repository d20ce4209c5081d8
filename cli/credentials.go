package cli

// Who connects: user and password out of settings, address, file or prompt.
// A password on the command line is refused: every user of the host can read it in the list of processes.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"

	"retainscope/broker"
)

// splitUserInfo returns the address without user and password, and the two; nil where they are not in it.
func splitUserInfo(address string) (user, password *string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme == "unix" {
		return nil, nil
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return nil, nil
	}
	name, pass, hasPass := strings.Cut(authority[:at], ":")
	unescape := func(s string) *string {
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
		return &s
	}
	if hasPass {
		password = unescape(pass)
	}
	return unescape(name), password
}

// withoutUserInfo returns the address with what stands before the @ removed.
func withoutUserInfo(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme == "unix" {
		return address
	}
	authority, path, slash := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		authority = authority[at+1:]
	}
	if slash {
		path = "/" + path
	}
	return scheme + "://" + authority + path
}

// settle finishes a merge: the address is made whole and freed of credentials, the password is fetched from where it
// is. The error names what is wrong and never a password.
func (r *resolved) settle() error {
	const address, userKey, passKey = "mqtt.broker", "mqtt.user", "mqtt.password"
	m := &r.MQTT
	if m.Broker == "" {
		return fmt.Errorf("mqtt.broker (%s) is empty; write for example mqtt://broker.lan:1883", r.from[address])
	}
	if !strings.Contains(m.Broker, "://") {
		m.Broker = "mqtt://" + m.Broker
	}
	user, password := splitUserInfo(m.Broker)
	m.Broker = withoutUserInfo(m.Broker)
	r.leaveBorrowed()
	at := r.from[address]
	if user != nil && *user != "" {
		if m.User != "" && m.User != *user && r.from[userKey].layer >= at.layer {
			return fmt.Errorf("mqtt.broker (%s) names one user and mqtt.user (%s) another", at, r.from[userKey])
		}
		m.User, r.from[userKey] = *user, at
	}
	if password != nil {
		if at.layer == fromFlag {
			return errors.New("a password on the command line can be read by every user of this host; use --password-file FILE, --ask-password, or the environment (MQTT__PASSWORD)")
		}
		if m.Password == "" || r.from[passKey].layer < at.layer {
			m.Password, r.from[passKey] = broker.Secret(*password), at
		}
	}
	if err := r.checkAddress(); err != nil {
		return err
	}
	for _, l := range r.logins() {
		if err := r.finish(l); err != nil {
			return err
		}
	}
	if err := r.checkEncryption(); err != nil {
		return err
	}
	return r.checkUser(m.Password != "")
}

// checkUser refuses a password of nobody where the protocol has none. MQTT 5 has, and there it is sent.
//
// Source: MQTT 3.1.1, 3.1.2.9.
func (r *resolved) checkUser(password bool) error {
	if m := &r.MQTT; !password || m.User != "" || m.ProtocolVersion != version311 {
		return nil
	}
	return fmt.Errorf("a password is given (%s), but no user: mqtt.user is empty, and MQTT %s has no password without a user name; name one with --user",
		r.from["mqtt.password"], version311)
}

// login is who connects, in one section of the settings.
type login struct {
	section          string
	user             *string
	password         *broker.Secret
	file             *string // of the password
	certificate, its *string // the certificate and its key
	alone            bool    // a password without a user means nothing
}

// logins returns the login of every connection and that of the observer.
func (r *resolved) logins() []login {
	m, o := &r.MQTT, &r.Observer
	return []login{
		{"mqtt", &m.User, &m.Password, &m.PasswordFile, &m.CertFile, &m.KeyFile, false},
		{"observer", &o.User, &o.Password, &o.PasswordFile, &o.CertFile, &o.KeyFile, true},
	}
}

// finish checks a login and fetches its password.
func (r *resolved) finish(l login) error {
	if (*l.certificate == "") != (*l.its == "") {
		return fmt.Errorf("%[1]s.cert_file and %[1]s.key_file belong together: one is given without the other", l.section)
	}
	passKey, fileKey := l.section+".password", l.section+".password_file"
	if l.alone && *l.user == "" && (*l.password != "" || *l.file != "") {
		return fmt.Errorf("%[1]s.password or %[1]s.password_file is given without %[1]s.user", l.section)
	}
	switch pass, file := r.from[passKey].layer, r.from[fileKey].layer; {
	case *l.file == "":
	case *l.password != "" && pass == file:
		return fmt.Errorf("%s (%s) and %s (%s) are both given; keep one", passKey, r.from[passKey], fileKey, r.from[fileKey])
	case *l.password == "" || file > pass:
		return r.readPasswordFile(l)
	}
	return nil
}

// checkAddress refuses an address of another kind before anything is dialled.
func (r *resolved) checkAddress() error {
	b := r.MQTT.Broker
	fail := func(what string) error {
		return fmt.Errorf("mqtt.broker = %s (%s): %s", quote(b), r.from["mqtt.broker"], what)
	}
	scheme, rest, _ := strings.Cut(b, "://")
	switch scheme {
	case "unix":
		if rest == "" {
			return fail("names no socket; write unix:///run/mosquitto.sock")
		}
		return nil
	case "mqtt", "mqtts", "ws", "wss", "tcp", "ssl", "tls":
	default:
		return fail("has an unknown beginning; use mqtt:// mqtts:// ws:// wss:// or unix://")
	}
	u, err := url.Parse(b)
	if err != nil || u.Hostname() == "" {
		return fail("is not an address; write for example mqtt://broker.lan:1883")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fail("has a port that is none: they go from 1 to 65535")
		}
	}
	ws := scheme == "ws" || scheme == "wss"
	if rest := strings.Trim(u.EscapedPath(), "/"); !ws && (rest != "" || u.RawQuery != "") || u.Fragment != "" {
		return fail("has something behind the host that would have no effect; only ws:// and wss:// take a path")
	}
	return nil
}

// encrypts reports whether an address of this beginning is spoken to with TLS.
func encrypts(scheme string) bool {
	return slices.Contains([]string{"mqtts", "ssl", "tls", "wss"}, scheme)
}

// checkEncryption refuses what only has a meaning with TLS where the address has none: whoever gives a CA file wants
// nothing sent in the clear, least of all a password.
func (r *resolved) checkEncryption() error {
	scheme, _, _ := strings.Cut(r.MQTT.Broker, "://")
	if encrypts(scheme) {
		return nil
	}
	for _, s := range settings() {
		v := s.bind(&r.Settings).show()
		if !s.tls() || v == quote("") || v == "false" {
			continue
		}
		with := map[string]string{"ws": "use wss://", "unix": "a socket of this machine needs none"}[scheme]
		if with == "" {
			with = "use mqtts://"
		}
		nothing := `""`
		if v == "true" {
			nothing = "false"
		}
		return fmt.Errorf("%s (%s) is set, but %s:// does not encrypt (mqtt.broker, %s): %s, or set %s to %s",
			s.id(), r.from[s.id()], scheme, r.from["mqtt.broker"], with, s.id(), nothing)
	}
	return nil
}

func (r *resolved) readPasswordFile(l login) error {
	path, key := *l.file, l.section+".password_file"
	where := r.from[key]
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s (%s): %w", key, where, unreadable(path, err))
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return fmt.Errorf("%s %s (%s) has no password on its first line", key, quote(path), where)
	}
	// What a service manager hands out is for this process alone, whatever its bits say.
	handedOut := r.credentials != "" && filepath.Dir(filepath.Clean(path)) == filepath.Clean(r.credentials)
	if info, err := os.Stat(path); err == nil && openToOthers(info.Mode()) && !handedOut {
		r.warnings = append(r.warnings, openWarning(path))
	}
	*l.password, r.from[l.section+".password"] = broker.Secret(line), where
	return nil
}

func openWarning(path string) string {
	return fmt.Sprintf("%s holds a password and others on this host can read it (chmod 600 would keep it yours)", quote(path))
}

// askPassword reads a password without echo from the terminal stdin is. It returns ctx's error, with the terminal as it
// was, when ctx ends first.
func askPassword(ctx context.Context, stdin io.Reader, stderr io.Writer, user, address string) (broker.Secret, error) {
	in, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(in.Fd()) {
		return "", errors.New("--ask-password needs a terminal; use --password-file FILE or the environment (MQTT__PASSWORD)")
	}
	before, err := term.GetState(in.Fd())
	if err != nil {
		return "", fmt.Errorf("prepare the terminal for a password: %w", err)
	}
	defer func() { _ = term.Restore(in.Fd(), before) }()
	echoOff(in.Fd())
	who := "password"
	if user != "" {
		who += " of " + quoteless(user)
	}
	fmt.Fprintf(stderr, "%s for %s: ", who, quoteless(address))
	type answer struct {
		line []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() { // ends with the next line or with the process: a read of a terminal cannot be called back
		line, err := term.ReadPassword(in.Fd())
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		fmt.Fprintln(stderr)
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return "", fmt.Errorf("read the password: %w", a.err)
		}
		return broker.Secret(a.line), nil
	case <-ctx.Done():
		fmt.Fprintln(stderr)
		return "", ctx.Err()
	}
}
