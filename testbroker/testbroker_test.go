package testbroker

import (
	"bufio"
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
