package cli

// JSON lines, for `list --json` and for the screen's export: one object a topic, one summary at the end.
// Streaming: an encoder holds one line, never the store.

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/readings"
)

// Encoder writes details and a summary as JSON lines. It is used by one goroutine at a time; its zero value is not
// usable. Every rune that could do something to a terminal is escaped, so that the lines are safe to look at.
type Encoder struct {
	w       io.Writer
	payload bool
	line    []byte
	lines   int64
	reader  *readings.Reader
	memory  *memory
	now     func() int64
}

// NewEncoder returns an encoder that writes to w, one call of Write for each line. withPayload adds the payload.
func NewEncoder(w io.Writer, withPayload bool) *Encoder {
	return &Encoder{w: w, payload: withPayload}
}

// Read adds to every line what r reads of its topic at the instant now returns, in Unix milliseconds. A nil r adds nothing.
func (e *Encoder) Read(r *readings.Reader, now func() int64) { e.reader, e.now = r, now }

// Lines returns the number of details written.
func (e *Encoder) Lines() int64 { return e.lines }

// Detail writes one line. The error is w's.
//
// The fields: topic (text), topic_hex (the bytes, only where the text is not them), qos (null where unknown), size
// (true length of the payload), sha256 (of the whole payload), fingerprint, expiry_seconds (as on the wire when the copy was received, or null), received_at,
// first_seen_at, last_live_at (null where it was not seen live), live_count (publications seen live since first_seen_at),
// silent_seconds and silent_gaps (of watching since last_live_at, or since first_seen_at; only with a memory),
// content_type (null where none was sent), payload_format, response_topic, correlation_data_base64 (only where they
// were sent), user_properties (a list of [key, value] in order), flags, after Read what appendReading adds, and with the payload: payload (text) or
// payload_base64 (what is not UTF-8), and kept (bytes, only where the flag "cut" stands).
func (e *Encoder) Detail(d *inventory.Detail) error {
	b := append(e.line[:0], '{')
	b = appendKey(b, "topic")
	b = appendText(b, d.Topic)
	if !utf8.Valid(d.Topic) {
		b = appendKey(b, "topic_hex")
		b = appendHex(b, d.Topic)
	}
	b = appendKey(b, "qos")
	if d.QoS < 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, int64(d.QoS), 10)
	}
	b = appendKey(b, "size")
	b = strconv.AppendInt(b, int64(d.Size), 10)
	b = appendKey(b, "sha256")
	b = appendHex(b, d.SHA256[:])
	b = appendKey(b, "fingerprint")
	b = appendText(b, []byte(d.Fingerprint))
	b = appendKey(b, "expiry_seconds")
	b = appendInterval(b, d.Interval)
	b = appendKey(b, "received_at")
	b = appendTime(b, time.UnixMilli(d.ReceivedAt))
	b = appendKey(b, "first_seen_at")
	b = appendTime(b, time.UnixMilli(d.FirstSeen))
	b = appendKey(b, "last_live_at")
	if d.LastLive == 0 {
		b = append(b, "null"...)
	} else {
		b = appendTime(b, time.UnixMilli(d.LastLive))
	}
	b = appendKey(b, "live_count")
	b = strconv.AppendUint(b, uint64(d.LiveCount), 10)
	if e.memory != nil {
		s := e.memory.silent(d.Topic, d.FirstSeen, d.LastLive, e.now())
		b = strconv.AppendInt(appendKey(b, "silent_seconds"), int64(s.Watched/time.Second), 10)
		b = strconv.AppendInt(appendKey(b, "silent_gaps"), int64(s.Gaps), 10)
	}
	b = e.appendProperties(b, d.Properties)
	b = appendKey(b, "flags")
	b = append(b, '[')
	for i, name := range d.Flags.Names() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, []byte(name))
	}
	b = append(b, ']')
	b = e.appendReading(b, d.Topic)
	if e.payload {
		if utf8.Valid(d.Payload) {
			b = appendKey(b, "payload")
			b = appendText(b, d.Payload)
		} else {
			b = appendKey(b, "payload_base64")
			b = appendBase64(b, d.Payload)
		}
		if d.Flags.Has(inventory.FlagCut) {
			b = appendKey(b, "kept")
			b = strconv.AppendInt(b, int64(d.Kept), 10)
		}
	}
	e.lines++
	return e.end(b)
}

// appendReading adds reading, owner (or null), owner_rule, left, spared (or null), hazard, liveness and findings.
func (e *Encoder) appendReading(b, topic []byte) []byte {
	if e.reader == nil {
		return b
	}
	g, ok := e.reader.Reading(topic, e.now())
	if !ok {
		return b
	}
	text := func(name, v string) { b = appendText(appendKey(b, name), []byte(v)) }
	text("reading", g.Phrase)
	if g.Owner.Name == "" {
		b = append(appendKey(b, "owner"), "null"...)
	} else {
		text("owner", g.Owner.Name)
	}
	text("owner_rule", g.Owner.Rule)
	b = strconv.AppendBool(appendKey(b, "left"), g.Left)
	if g.Spared == "" {
		b = append(appendKey(b, "spared"), "null"...)
	} else {
		text("spared", g.Spared)
	}
	b = strconv.AppendBool(appendKey(b, "hazard"), g.Hazard)
	b = append(appendKey(b, "liveness"), '{')
	text("state", g.Liveness.State.String())
	text("topic", g.Liveness.Source)
	text("value", g.Liveness.Value)
	text("note", g.Liveness.Note)
	b = append(appendKey(append(b, '}'), "findings"), '[')
	for i, f := range g.Findings {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		text("kind", f.Kind.String())
		text("strength", f.Strength.String())
		text("reason", f.Reason)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (e *Encoder) end(b []byte) error {
	b = append(b, '}', '\n')
	_, err := e.w.Write(b)
	if cap(b) > 1<<20 {
		b = nil // a large payload is no reason to hold its line
	}
	e.line = b
	return err
}

func (e *Encoder) appendProperties(b []byte, p inventory.Properties) []byte {
	text := func(name string, v []byte) {
		b = appendKey(b, name)
		b = appendText(b, v)
		if !utf8.Valid(v) {
			b = appendKey(b, name+"_hex")
			b = appendHex(b, v)
		}
	}
	if v, ok := p.ContentType(); ok {
		text("content_type", v)
	} else {
		b = append(appendKey(b, "content_type"), "null"...)
	}
	if v, ok := p.PayloadFormat(); ok {
		b = appendKey(b, "payload_format")
		b = strconv.AppendInt(b, int64(v), 10)
	}
	if v, ok := p.ResponseTopic(); ok {
		text("response_topic", v)
	}
	if v, ok := p.CorrelationData(); ok {
		b = appendKey(b, "correlation_data_base64")
		b = appendBase64(b, v)
	}
	user := p.User()
	b = appendKey(b, "user_properties")
	b = append(b, '[')
	exact := true
	for i, u := range user {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendText(b, u.Key)
		b = append(b, ',')
		b = appendText(b, u.Value)
		b = append(b, ']')
		exact = exact && utf8.Valid(u.Key) && utf8.Valid(u.Value)
	}
	b = append(b, ']')
	if exact {
		return b
	}
	b = appendKey(b, "user_properties_hex")
	b = append(b, '[')
	for i, u := range user {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = appendHex(b, u.Key)
		b = append(b, ',')
		b = appendHex(b, u.Value)
		b = append(b, ']')
	}
	return append(b, ']')
}

// appendKey begins a member. The first one of an object has no comma.
func appendKey(b []byte, name string) []byte {
	if n := len(b); n > 0 && b[n-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	return append(b, '"', ':')
}

func appendInterval(b []byte, i expiry.Interval) []byte {
	if n, ok := i.Seconds(); ok {
		return strconv.AppendUint(b, uint64(n), 10)
	}
	return append(b, "null"...)
}

func appendTime(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
	return append(b, '"')
}

func appendHex(b, v []byte) []byte {
	b = append(b, '"')
	b = hex.AppendEncode(b, v)
	return append(b, '"')
}

func appendBase64(b, v []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// appendText appends v as a JSON string. Bytes that are not UTF-8 become U+FFFD; runes that do not show or that change
// how others show (controls, bidirectional marks, zero-width runes, line separators, tags) are escaped. HTML is not.
func appendText(b, v []byte) []byte {
	b = append(b, '"')
	for i := 0; i < len(v); {
		c := v[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\n':
				b = append(b, '\\', 'n')
			case c == '\r':
				b = append(b, '\\', 'r')
			case c == '\t':
				b = append(b, '\\', 't')
			case c < 0x20 || c == 0x7f:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				b = append(b, c)
			}
			continue
		}
		r, n := utf8.DecodeRune(v[i:])
		i += n
		if r == utf8.RuneError && n == 1 {
			b = append(b, `\ufffd`...)
		} else {
			b = appendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendRune appends a rune of a JSON string, escaped where it does not show or changes how others show.
func appendRune(b []byte, r rune) []byte {
	switch {
	case unicode.IsPrint(r):
		return utf8.AppendRune(b, r)
	case r > 0xffff:
		r -= 0x10000
		return appendUnit(appendUnit(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendUnit(b, r)
}

// safeJSON returns v as JSON on one line that is safe to look at.
func safeJSON(v any) ([]byte, error) {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	var b []byte
	for _, r := range strings.TrimRight(raw.String(), "\n") {
		// Outside of its strings JSON is ASCII, and inside of them the encoder has escaped the controls below 0x20.
		b = appendRune(b, r)
	}
	return b, nil
}

func appendUnit(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
