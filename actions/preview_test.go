package actions

import (
	"bytes"
	"strings"
	"testing"
)

func TestThePreviewIsWhatASenderWrites(t *testing.T) {
	for _, topic := range []string{"a", own, "edge/\x1b\xff", strings.Repeat("x/", 200)} {
		packet, id, err := Preview([]byte(topic))
		if err != nil {
			t.Fatal(err)
		}
		packet[id+1] = 7
		o, err := tombstone([]byte(topic), Protection{})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(packet, encodePublish(o, 7)) {
			t.Errorf("shown is % x, sent would be % x", packet, encodePublish(o, 7))
		}
		if p, err := o.Check(packet); err != nil || !p.Retain || p.QoS != 1 || p.PayloadLength != 0 {
			t.Errorf("what is shown does not pass: %+v, %v", p, err)
		}
	}
	if _, _, err := Preview([]byte("a/#")); err == nil {
		t.Error("a wildcard has a preview")
	}
}
