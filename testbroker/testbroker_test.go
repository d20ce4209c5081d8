package testbroker

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
)

func TestMosquittoAnswersAndCanBeRestarted(t *testing.T) {
	b := Start(t, Config{})
	for range 2 {
		if got := connack(t, strings.TrimPrefix(b.URL(), "mqtt://")); got != 0x20 {
			t.Fatalf("first byte of the answer is %#x, want a CONNACK", got)
		}
		b.Kill()
		b.Restart()
	}
}

// A port that was free a moment ago was given to somebody else before the broker listened, or between two of its starts.
func TestAPortWasGivenAwayTwice(t *testing.T) {
	var port int
	t.Run("while a test has it", func(t *testing.T) {
		port = FreePort(t)
		if free(t, port) {
			t.Errorf("%d was given away again", port)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatalf("the test itself cannot use it: %v", err)
		}
		_ = l.Close()
	})
	if !free(t, port) {
		t.Errorf("%d is not given back", port)
	}
}

func TestAPortOfSomebodyElseIsNotFree(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if port := l.Addr().(*net.TCPAddr).Port; free(t, port) {
		t.Errorf("%d is said to be free", port)
	}
}

func TestAedesRefusesMQTT5(t *testing.T) {
	url := StartAedes(t)
	if got := connack(t, strings.TrimPrefix(url, "mqtt://")); got != 0x20 {
		t.Fatalf("first byte of the answer is %#x, want the CONNACK of 3.1.1", got)
	}
}

// connack sends a CONNECT of MQTT 5 and returns the first byte of the answer.
func connack(t *testing.T, addr string) byte {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nc.Close() }()
	if _, err := nc.Write([]byte("\x10\x0e\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x01t")); err != nil {
		t.Fatal(err)
	}
	b, err := bufio.NewReader(nc).ReadByte()
	if err != nil {
		t.Fatal(err)
	}
	return b
}
