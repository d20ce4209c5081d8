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
	const address, userKey, passKey, fileKey = "mqtt.broker", "mqtt.user", "mqtt.password", "mqtt.password_file"
	m := &r.MQTT
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
	if (m.CertFile == "") != (m.KeyFile == "") {
		return errors.New("mqtt.cert_file and mqtt.key_file belong together: one is given without the other")
	}
	switch pass, file := r.from[passKey].layer, r.from[fileKey].layer; {
	case m.PasswordFile == "":
	case m.Password != "" && pass == file:
		return fmt.Errorf("mqtt.password (%s) and mqtt.password_file (%s) are both given; keep one", r.from[passKey], r.from[fileKey])
	case m.Password == "" || file > pass:
		return r.readPasswordFile()
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
	return nil
}

func (r *resolved) readPasswordFile() error {
	path := r.MQTT.PasswordFile
	where := r.from["mqtt.password_file"]
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read mqtt.password_file (%s): %w", where, err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return fmt.Errorf("mqtt.password_file %s (%s) has no password on its first line", quote(path), where)
	}
	if info, err := os.Stat(path); err == nil && openToOthers(info.Mode()) {
		r.warnings = append(r.warnings, openWarning(path))
	}
	r.MQTT.Password, r.from["mqtt.password"] = broker.Secret(line), where
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
