package broker

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTextsFromOutsideAreEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"plain text, ümläut, 温度":     "plain text, ümläut, 温度",
		"two\nlines":                 "two lines",
		"\x1b[31mred\x07":            `\x1b[31mred\a`,
		"\u202Ertl \u200Bzero\u0085": `\u202ertl \u200bzero\u0085`,
		"bad \xff\xc3":               `bad \xff\xc3`,
		"tab\tcr\r":                  `tab\tcr\r`,
		"\uFFFD":                     "\uFFFD",
		"it's \"quoted\"":            `it's "quoted"`,
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got := plain(strings.Repeat("ü", 1000)); len(got) > maxShown+5 || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes", len(got))
	}
}

func TestErrorsMadeWithoutATextStillSayWhatTheyAre(t *testing.T) {
	for want, err := range map[string]error{
		`the broker refused the connection: Banned (0x8A): "go"`: &ConnectError{Stage: StageRefused, Code: 0x8A, Reason: "go"},
		`connect: a\x1bb`: &ConnectError{Err: errors.New("a\x1bb")},
		"connect failed":  &ConnectError{},
		`the broker ended the connection: Session taken over (0x8E): "x"`:    &ServerDisconnect{0x8E, "x"},
		"the broker sent what MQTT 5 does not allow: SUBACK: no reason code": &ProtocolError{Code: 0x82, Packet: "SUBACK", What: "no reason code"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if !errors.Is(&ConnectError{Err: io.EOF}, io.EOF) {
		t.Error("a ConnectError hides its cause")
	}
}

func TestReasonCodesHaveTheNamesOfTheStandard(t *testing.T) {
	// Every code of table 2-6 has a name, and no other has.
	named := 0
	for code := range 256 {
		if ReasonName(byte(code)) != "unknown reason code" {
			named++
		}
	}
	if named != 43 {
		t.Errorf("%d codes have a name", named)
	}
	for code, want := range map[byte]string{0x00: "Success", 0x87: "Not authorized", 0x91: "Packet Identifier in use", 0xA2: "Wildcard Subscriptions not supported"} {
		if got := ReasonName(code); got != want {
			t.Errorf("0x%02X is %q, want %q", code, got, want)
		}
	}
}
