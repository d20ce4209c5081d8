package broker

// The errors of this room: why a connection could not be made, and why one ended.
// Every text is one sentence that a terminal may show as it is; strings from the wire are escaped in it.

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stage tells how far a connect had come when it failed. The zero value is StageDial.
type Stage uint8

const (
	// StageDial means that no connection to the address could be made.
	StageDial Stage = iota
	// StageTLS means that TLS could not be agreed on, certificates included.
	StageTLS
	// StageMQTT means that the connection stood but no CONNACK came.
	StageMQTT
	// StageRefused means that the server answered and refused; Code and Reason say why.
	StageRefused
	// StageProtocol means that the other side does not follow MQTT 5, or does not speak MQTT at all.
	StageProtocol
)

// ConnectError says why one attempt to connect failed.
type ConnectError struct {
	Stage  Stage
	Code   byte   // reason code of the CONNACK or DISCONNECT, with StageRefused
	Reason string // the server's reason string, escaped; empty when there was none
	// Hint is a second sentence for the person, to be shown once: that the broker may speak only MQTT 3.1.1, and which
	// setting that concerns. Empty where the failure does not look like that.
	Hint string
	Err  error // the cause, for errors.Is and errors.As; may be nil

	text string
}

// Error returns one plain sentence without a full stop. It is safe for a terminal and holds no credentials.
func (e *ConnectError) Error() string {
	if e.text != "" {
		return e.text
	}
	switch {
	case e.Stage == StageRefused:
		return "the broker refused the connection: " + reasonText(e.Code) + said(e.Reason)
	case e.Err != nil:
		return "connect: " + plain(e.Err.Error())
	default:
		return "connect failed"
	}
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// ServerDisconnect is the DISCONNECT with which the server ended a connection.
//
// Source: MQTT 5, 3.14.
type ServerDisconnect struct {
	Code   byte
	Reason string // escaped; empty when there was none
}

// Error returns one sentence with the name and number of the code and the server's own words.
func (d *ServerDisconnect) Error() string {
	code := reasonText(d.Code)
	if d.Code == 0 { // the one code whose name differs here
		code = "Normal disconnection (0x00)"
	}
	return "the broker ended the connection: " + code + said(d.Reason)
}

// ProtocolError says what the server sent that the standard does not allow. The connection ends with it.
//
// Source: MQTT 5, 4.13.
type ProtocolError struct {
	Code   byte   // 0x81 Malformed Packet, 0x82 Protocol Error, 0x94 Topic Alias invalid or 0x95 Packet too large
	Packet string // name of the packet, for instance "PUBLISH"
	What   string
	// Version is the version of MQTT that does not allow it; empty means 5. Only 5 has the codes above.
	Version string
}

// mqtt returns the name of the version.
func (e *ProtocolError) mqtt() string {
	if e.Version == "" {
		return "MQTT 5"
	}
	return "MQTT " + e.Version
}

// Error returns one sentence that names the packet and the fault.
func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the broker sent what %s does not allow: %s: %s", e.mqtt(), e.Packet, e.What)
}

// said returns what the server said of itself in quotes, or nothing.
func said(escaped string) string {
	if escaped == "" {
		return ""
	}
	return `: "` + escaped + `"`
}

// quoted returns s, which comes from outside, in quotes and safe for a terminal.
func quoted(s string) string { return `"` + plain(s) + `"` }

// maxShown is how many bytes of a string from the wire an error may hold.
const maxShown = 300

// plain returns s with everything escaped that a terminal might take as more than a letter, and cut at a length that
// fits a message. Line ends become spaces.
func plain(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); {
		if at >= maxShown {
			b.WriteString("...")
			break
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[at])
		case r == '\n':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		at += size
	}
	return b.String()
}
