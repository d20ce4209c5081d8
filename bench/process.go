package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mosquitto is one broker of the bench, on a loopback port of its own.
type mosquitto struct {
	addr string
	cmd  *exec.Cmd
	dir  string
}

func startMosquitto(limits bool) (*mosquitto, error) {
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/mosquitto"); err != nil {
			return nil, errors.New("mosquitto is not installed (Debian: apt-get install mosquitto mosquitto-clients)")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	_ = l.Close()
	dir, err := os.MkdirTemp("", "retainscope-bench")
	if err != nil {
		return nil, err
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "listener %s 127.0.0.1\nallow_anonymous true\n", addr[strings.LastIndexByte(addr, ':')+1:])
	if os.Geteuid() == 0 {
		conf.WriteString("user root\n")
	}
	if !limits {
		conf.WriteString("max_queued_messages 0\n")
	}
	file := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte(conf.String()), 0o600); err != nil {
		return nil, err
	}
	m := &mosquitto{addr: addr, dir: dir, cmd: exec.Command(path, "-c", file)}
	m.cmd.Stderr = io.Discard
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
			return m, nil
		}
		time.Sleep(25 * time.Millisecond) //nolint:forbidigo // a tool run by hand waits for a process to listen
	}
	m.stop()
	return nil, fmt.Errorf("mosquitto does not listen on %s", addr)
}

func (m *mosquitto) port() string { return m.addr[strings.LastIndexByte(m.addr, ':')+1:] }

func (m *mosquitto) stop() {
	_ = m.cmd.Process.Signal(os.Interrupt)
	_ = m.cmd.Wait()
	_ = os.RemoveAll(m.dir)
}

// sample is what one run of one subscriber cost.
type sample struct {
	wall time.Duration // the process from start to end, or what the child measured itself
	cpu  time.Duration
	rss  int64 // peak, bytes
	got  int   // messages, where the subscriber can tell
	ok   bool
	note string
}

// measure runs one process to its end and returns what it cost. The last line of its output may be the child's own
// account: "wall_us=… got=… note=…".
func measure(ctx context.Context, name string, args ...string) (sample, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out strings.Builder
	if strings.HasPrefix(filepath.Base(name), "mosquitto_sub") || strings.HasPrefix(filepath.Base(name), "node") {
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = null.Close() }()
		cmd.Stdout = null
	} else {
		cmd.Stdout = &out
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	start := time.Now()
	err := cmd.Run()
	s := sample{wall: time.Since(start), ok: err == nil}
	if ps := cmd.ProcessState; ps != nil {
		s.cpu = ps.UserTime() + ps.SystemTime()
		if ru, is := ps.SysUsage().(*syscall.Rusage); is {
			s.rss = ru.Maxrss * 1024
		}
	}
	read(&s, out.String())
	if err != nil && s.note == "" {
		s.note = strings.TrimSpace(errs.String())
	}
	return s, nil
}

// read takes a child's own account into s.
func read(s *sample, out string) {
	for f := range strings.FieldsSeq(out) {
		k, v, _ := strings.Cut(f, "=")
		var n int64
		_, _ = fmt.Sscan(v, &n)
		switch k {
		case "wall_us":
			s.wall = time.Duration(n) * time.Microsecond
		case "got":
			s.got = int(n)
		case "note":
			s.note = v
		}
	}
}
