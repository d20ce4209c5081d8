package broker

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// tcpPair returns the two ends of a loopback connection.
func tcpPair(t testing.TB) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); _ = s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

func TestAReadOfTCPReturnsWhatIsThereAndItsEnd(t *testing.T) {
	client, server := tcpPair(t)
	read := readTCP(client)
	buf := make([]byte, 1<<20)
	for _, n := range []int{1, 300_000, 1, 2, 5_000_000, 3} {
		sent := bytes.Repeat([]byte{byte(n)}, n)
		wrote := make(chan error, 1)
		go func() { _, err := server.Write(sent); wrote <- err }()
		var got []byte
		for len(got) < n { // a few bytes must wake it as well as many
			k, err := read(buf)
			if err != nil || k == 0 {
				t.Fatalf("%d of %d bytes, then %d, %v", len(got), n, k, err)
			}
			got = append(got, buf[:k]...)
		}
		if err := <-wrote; err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("%d bytes came as %d others, %v", n, len(got), err)
		}
	}
	if n, err := read(nil); n != 0 || err != nil {
		t.Fatalf("no room: %d, %v", n, err)
	}
	_, _ = server.Write([]byte("last"))
	_ = server.CloseWrite()
	if n, err := read(buf); n != 4 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if n, err := read(buf); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("%d bytes, %v at the end", n, err)
	}
	_ = client.Close()
	if _, err := read(buf); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("%v after it was closed", err)
	}
}

func TestAReadOfTCPIsEndedByAReset(t *testing.T) {
	client, server := tcpPair(t)
	if err := server.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	if _, err := readTCP(client)(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%v", err)
	}
}

func TestAReadOfTCPDoesNotAllocate(t *testing.T) {
	client, server := tcpPair(t)
	read := readTCP(client)
	buf := make([]byte, 1)
	if _, err := server.Write(make([]byte, 200)); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = read(buf) }); n != 0 {
		t.Errorf("%v allocations for one read", n)
	}
}

// TestWhileWeAreLateTheKernelTakesMore has a server write to a client that has read once and then does something else.
func TestWhileWeAreLateTheKernelTakesMore(t *testing.T) {
	if _, err := os.Stat("/proc/sys/net/ipv4/tcp_rmem"); err != nil {
		return // not Linux: there is nothing to ask for
	}
	taken := func(read func(net.Conn) func([]byte) (int, error)) (n int) {
		client, server := tcpPair(t)
		piece := make([]byte, 400) // as a broker writes, one message each
		for {
			// Until nothing was taken for a second: whoever is slow here, it is the same for both.
			_ = server.SetWriteDeadline(time.Now().Add(time.Second))
			k, err := server.Write(piece)
			if n += k; err != nil {
				return n
			}
			if n == len(piece) {
				if _, err := read(client)(make([]byte, len(piece))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	plain := taken(func(c net.Conn) func([]byte) (int, error) { return c.Read })
	ours := taken(readTCP)
	t.Logf("%d bytes are taken without a read, %d by ours", plain, ours)
	if ours < plain+1<<20 {
		t.Errorf("%d bytes are taken while we are late, %d without asking for it", ours, plain)
	}
}
