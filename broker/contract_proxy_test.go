package broker

// A proxy in front of a real broker: it slows what the client is sent, or cuts it.

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// slowProxy returns the URL of a proxy to url that hands the client at most chunk bytes every pause.
func slowProxy(t testing.TB, url string, chunk int, pause time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	var running sync.WaitGroup
	keep := func(c net.Conn) {
		mu.Lock()
		open = append(open, c)
		mu.Unlock()
	}
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", url[len("mqtt://"):])
			if err != nil {
				_ = client.Close()
				continue
			}
			keep(client)
			keep(server)
			running.Go(func() { _, _ = io.Copy(server, client); _ = server.(*net.TCPConn).CloseWrite() })
			running.Go(func() { trickle(client, server, chunk, pause) })
		}
	})
	return "mqtt://" + l.Addr().String()
}

func trickle(client, server net.Conn, chunk int, pause time.Duration) {
	defer func() { _ = client.Close(); _ = server.Close() }()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	buf := make([]byte, chunk)
	for range tick.C {
		n, err := server.Read(buf)
		if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// eventually waits until f holds, and fails the test when it does not within limit.
func eventually(t testing.TB, limit time.Duration, f func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(limit)
	for !f() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("it did not happen in time")
		}
	}
}
