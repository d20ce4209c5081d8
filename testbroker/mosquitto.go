// Package testbroker starts a real mosquitto for tests and stops exactly that process.
//
// For tests only: nothing that ships imports it. A test that needs mosquitto is skipped without it, unless
// RETAINSCOPE_REQUIRE_BROKERS is set: then the missing broker is a failure.
package testbroker

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Require is the environment variable that turns a missing broker from a skip into a failure.
const Require = "RETAINSCOPE_REQUIRE_BROKERS"

// hang is how long is waited for what a slow machine may take its time for: longer means that it never comes.
const hang = 2 * time.Minute

// Config says how the broker is to be set up. The zero value is mosquitto's default on a loopback port of its own.
type Config struct {
	// Lines are further lines of mosquitto.conf, before the listener.
	Lines []string
	// ListenerLines are lines that stand under the listener.
	ListenerLines []string
	// Anonymous is false only where Lines bring a password file.
	NoAnonymous bool
	// Socket is the path of a unix listener to use in place of TCP.
	Socket string
	// Port fixes the TCP port; 0 takes a free one.
	Port int
}

// Broker is one running mosquitto.
type Broker struct {
	Dir  string // its own folder: configuration, log, whatever the test puts there
	Port int
	t    testing.TB
	conf string
	cmd  *exec.Cmd
	log  *bytes.Buffer
	done chan struct{}
}

// Path returns the mosquitto binary, and skips the test when there is none (or fails it, see Require).
func Path(t testing.TB) string {
	t.Helper()
	for _, p := range []string{"mosquitto", "/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"} {
		if full, err := exec.LookPath(p); err == nil {
			return full
		}
	}
	Missing(t, "mosquitto is not installed: this test needs the real broker (Debian: apt-get install mosquitto)")
	return ""
}

// Missing skips the test with why, or fails it where the environment demands that every broker and tool is there.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(Require) != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// Start starts a mosquitto and returns when it accepts connections. It is stopped when the test ends.
func Start(t testing.TB, c Config) *Broker {
	t.Helper()
	path := Path(t)
	b := &Broker{t: t, Dir: t.TempDir(), Port: c.Port}
	if b.Port == 0 {
		b.Port = FreePort(t)
	}
	var s strings.Builder
	if os.Geteuid() == 0 {
		s.WriteString("user root\n")
	}
	for _, l := range c.Lines {
		s.WriteString(l + "\n")
	}
	if c.Socket != "" {
		fmt.Fprintf(&s, "listener 0 %s\n", c.Socket)
	} else {
		fmt.Fprintf(&s, "listener %d 127.0.0.1\n", b.Port)
	}
	if !c.NoAnonymous {
		s.WriteString("allow_anonymous true\n")
	}
	for _, l := range c.ListenerLines {
		s.WriteString(l + "\n")
	}
	b.conf = filepath.Join(b.Dir, "mosquitto.conf")
	if err := os.WriteFile(b.conf, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(path, c.Socket)
	t.Cleanup(b.Stop)
	return b
}

func (b *Broker) run(path, socket string) {
	b.t.Helper()
	b.log = &bytes.Buffer{}
	b.cmd = exec.Command(path, "-c", b.conf)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	if err := b.cmd.Start(); err != nil {
		b.t.Fatalf("start mosquitto: %v", err)
	}
	done := make(chan struct{})
	cmd := b.cmd
	go func() { _ = cmd.Wait(); close(done) }()
	b.done = done
	network, addr := "tcp", fmt.Sprintf("127.0.0.1:%d", b.Port)
	if socket != "" {
		network, addr = "unix", socket
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(hang)
	for {
		if c, err := net.Dial(network, addr); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-done:
			b.t.Fatalf("mosquitto ended at once: %s", b.log)
		case <-limit:
			b.t.Fatalf("mosquitto does not listen on %s", addr)
		case <-tick.C:
		}
	}
}

// URL returns its address as retainscope takes it.
func (b *Broker) URL() string { return fmt.Sprintf("mqtt://127.0.0.1:%d", b.Port) }

// Pid returns the process id.
func (b *Broker) Pid() int { return b.cmd.Process.Pid }

// Kill ends the process at once, as a power loss would.
func (b *Broker) Kill() {
	_ = b.cmd.Process.Kill()
	<-b.done
}

// Stop ends the process in order and waits for it. A second call does nothing.
func (b *Broker) Stop() {
	select {
	case <-b.done:
		return
	default:
	}
	_ = b.cmd.Process.Signal(os.Interrupt)
	select {
	case <-b.done:
	case <-time.After(hang):
		b.Kill()
	}
}

// Restart starts it again with the same configuration and port, after Kill or Stop.
func (b *Broker) Restart() {
	b.t.Helper()
	b.run(Path(b.t), "")
}
