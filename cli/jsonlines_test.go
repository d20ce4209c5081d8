package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"retainscope/expiry"
	"retainscope/inventory"
)

// replaced returns v as JSON text must give it back: each byte that is not UTF-8 as one U+FFFD.
func replaced(v []byte) string {
	var b strings.Builder
	for len(v) > 0 {
		r, n := utf8.DecodeRune(v)
		b.WriteRune(r)
		v = v[n:]
	}
	return b.String()
}

func checkText(t *testing.T, v []byte) {
	t.Helper()
	raw := appendText(nil, v)
	var got string
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%q is no JSON: %v", raw, err)
	}
	if got != replaced(v) {
		t.Fatalf("%q came back as %q", v, got)
	}
	for _, r := range string(raw) {
		if r != ' ' && !unicode.IsPrint(r) {
			t.Fatalf("%q holds %U raw", raw, r)
		}
	}
}

func TestTextComesBackAsItWasAndCannotTouchATerminal(t *testing.T) {
	for _, v := range []string{
		"", "plain", `"quoted" \ back`, "<a href='x'>&", "tab\tnewline\nreturn\r", "nul\x00 esc\x1b[31m bell\x07 del\x7f",
		"c1 \u0085 \u009b", "bidi \u202e\u2066 zero \u200b\ufeff", "line \u2028\u2029", "\xff\xfe \xc3", "tag \U000e0041", "e\u0301 \u65e5\u672c \U0001F468\u200d\U0001F469",
		"\ufffd real", "\U0010ffff",
	} {
		checkText(t, []byte(v))
	}
	if got := string(appendText(nil, []byte("<&>"))); got != `"<&>"` {
		t.Errorf("HTML is escaped: %s", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("a\x1b[2J\u202e\xff\"\\"))
	f.Fuzz(func(t *testing.T, v []byte) { checkText(t, v) })
}

// detail is one with every property there is, in bytes that are not text where they can be.
func fullDetail() inventory.Detail {
	payload := []byte("\x00\xff binary")
	properties := []byte{
		0x01, 1, // payload format
		0x03, 0, 10, 't', 'e', 'x', 't', '/', 'p', 'l', 'a', 'i', 'n',
		0x08, 0, 3, 'r', '/', 't',
		0x09, 0, 2, 0, 0xff,
		0x26, 0, 1, 'k', 0, 1, 'v',
		0x26, 0, 1, 'k', 0, 2, 0xc3, 0x28,
	}
	return inventory.Detail{
		Slot: inventory.Slot{
			Topic: []byte("a/\xff\x00"), Size: len(payload), Interval: expiry.Seconds(4294967295), QoS: -1,
			ReceivedAt: time.Date(2026, 11, 30, 1, 2, 3, 4e6, time.UTC).UnixMilli(), Flags: inventory.FlagExpiring | inventory.FlagOddName,
		},
		Payload: payload, Kept: len(payload), SHA256: sha256.Sum256(payload), Properties: properties,
		Fingerprint: inventory.Fingerprint(payload, properties, expiry.Seconds(1)),
	}
}

func decodeLine(t *testing.T, b []byte) map[string]any {
	t.Helper()
	if !bytes.HasSuffix(b, []byte("}\n")) || bytes.Count(b, []byte("\n")) != 1 {
		t.Fatalf("not one line: %q", b)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return m
}

func TestALineTellsEverythingThatWasHeld(t *testing.T) {
	var out bytes.Buffer
	d := fullDetail()
	d.FirstSeen, d.LastLive, d.LiveCount = d.ReceivedAt-2000, d.ReceivedAt+1000, 4
	if err := NewEncoder(&out, true).Detail(&d); err != nil {
		t.Fatal(err)
	}
	m := decodeLine(t, out.Bytes())
	sum := sha256.Sum256(d.Payload)
	want := map[string]string{
		"topic": `"a/\ufffd\u0000"`, "topic_hex": `"612fff00"`, "qos": "null", "size": "9", "sha256": `"` + hex.EncodeToString(sum[:]) + `"`,
		"fingerprint": `"` + d.Fingerprint + `"`, "expiry_seconds": "4294967295", "received_at": `"2026-11-30T01:02:03.004Z"`,
		"first_seen_at": `"2026-11-30T01:02:01.004Z"`, "last_live_at": `"2026-11-30T01:02:04.004Z"`, "live_count": "4",
		"content_type": `"text/plain"`, "payload_format": "1", "response_topic": `"r/t"`, "correlation_data_base64": `"AP8="`,
		"user_properties": `[["k","v"],["k","\ufffd("]]`, "user_properties_hex": `[["6b","76"],["6b","c328"]]`,
		"flags": `["expiring","odd-name"]`, "payload_base64": `"AP8gYmluYXJ5"`,
	}
	for k, v := range want {
		var wanted any
		dec := json.NewDecoder(strings.NewReader(v))
		dec.UseNumber()
		if err := dec.Decode(&wanted); err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(m[k])
		again, _ := json.Marshal(wanted)
		if !bytes.Equal(got, again) {
			t.Errorf("%s is %s, want %s", k, got, again)
		}
		delete(m, k)
	}
	if len(m) > 0 {
		t.Errorf("there is more: %v", m)
	}
}

func TestTheFieldsThatMayBeAbsent(t *testing.T) {
	line := func(withPayload bool, change func(*inventory.Detail)) map[string]any {
		d := inventory.Detail{Slot: inventory.Slot{Topic: []byte("t"), Interval: expiry.None(), QoS: 1, Flags: inventory.FlagNever}, Payload: []byte("null"), Kept: 4}
		change(&d)
		var out bytes.Buffer
		if err := NewEncoder(&out, withPayload).Detail(&d); err != nil {
			t.Fatal(err)
		}
		return decodeLine(t, out.Bytes())
	}
	m := line(false, func(*inventory.Detail) {})
	for _, k := range []string{"topic_hex", "payload", "payload_base64", "kept", "payload_format", "response_topic", "correlation_data_base64"} {
		if v, ok := m[k]; ok {
			t.Errorf("%s is there: %v", k, v)
		}
	}
	if v, ok := m["content_type"]; !ok || v != nil {
		t.Errorf("content_type is %v", v)
	}
	if v, ok := m["user_properties"].([]any); !ok || len(v) != 0 {
		t.Errorf("user_properties is %v", m["user_properties"])
	}
	if m["expiry_seconds"] != nil || m["qos"] != json.Number("1") {
		t.Errorf("expiry %v, qos %v", m["expiry_seconds"], m["qos"])
	}
	if m := line(false, func(d *inventory.Detail) { d.Interval = expiry.NotKnown() }); m["expiry_seconds"] != nil {
		t.Errorf("an unknown interval is %v", m["expiry_seconds"])
	}
	if m := line(false, func(d *inventory.Detail) { d.Interval = expiry.Seconds(0) }); m["expiry_seconds"] != json.Number("0") {
		t.Errorf("an interval of zero seconds is %v", m["expiry_seconds"])
	}
	m = line(true, func(d *inventory.Detail) { d.Flags |= inventory.FlagCut; d.Size = 900 })
	if m["payload"] != "null" || m["kept"] != json.Number("4") || m["size"] != json.Number("900") {
		t.Errorf("a cut payload is %v", m)
	}
	if m := line(true, func(d *inventory.Detail) { d.Payload = nil }); m["payload"] != "" {
		t.Errorf("no payload is %v", m["payload"])
	}
}

// brokenPipe fails after n writes.
type brokenPipe struct{ n int }

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.n--; b.n < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestTheEncoderStopsWithItsWriter(t *testing.T) {
	e := NewEncoder(&brokenPipe{1}, false)
	d := fullDetail()
	if err := e.Detail(&d); err != nil {
		t.Fatal(err)
	}
	if err := e.Detail(&d); err == nil {
		t.Error("a failed write of a line is no error")
	}
	if err := e.Summary(Summary{}); err == nil {
		t.Error("a failed write of the summary is no error")
	}
}

func TestASecondLineCostsNoAllocation(t *testing.T) {
	d := inventory.Detail{Slot: inventory.Slot{Topic: []byte("a/b"), Interval: expiry.None(), QoS: -1}, Payload: bytes.Repeat([]byte("x"), 1000), Fingerprint: strings.Repeat("0", 64)}
	e := NewEncoder(&bytes.Buffer{}, true)
	e.w = &brokenPipe{1 << 30}
	_ = e.Detail(&d)
	if n := testing.AllocsPerRun(100, func() { _ = e.Detail(&d) }); n > 3 {
		t.Errorf("%.0f allocations a line", n)
	}
}

func TestTheSummaryTellsTheCoverage(t *testing.T) {
	at := time.Date(2026, 11, 30, 1, 2, 3, 0, time.UTC)
	var out bytes.Buffer
	e := NewEncoder(&out, false)
	if err := e.Summary(Summary{
		Listed: 3, Now: at.Add(90 * time.Second), Where: "is:never", Since: at,
		Link: inventory.Link{URL: "mqtt://h:1883", Broker: "mosquitto \x1b", User: "me", Protocol: "5", Insecure: true},
		Coverage: inventory.Coverage{
			Claim: inventory.Incomplete, Rule: "quiet", Grants: []inventory.Grant{{Filter: "a/#", Code: 0}, {Filter: "#", Code: 0x87}},
			Seen: 3, Known: 5, KnownFrom: "$SYS/x", Dropped: -1, WireBytes: 7, Slices: 2,
			Gaps: []inventory.Gap{{Count: 2, Text: "not seen"}, {Count: -1, Text: "perhaps hidden"}},
			Away: []inventory.Span{{From: at}}, Remedies: []string{"narrow it"}, Notes: []string{"stamps"}, StartedAt: at, EndedAt: at.Add(30 * time.Second),
		},
	}); err != nil {
		t.Fatal(err)
	}
	m := decodeLine(t, out.Bytes())
	if m["summary"] != true || m["claim"] != "incomplete" {
		t.Errorf("%v", m)
	}
	got, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"age_seconds":60,"away":[{"from":"2026-11-30T01:02:03.000Z","to":null}],"broker":"mqtt://h:1883","broker_says":"mosquitto \u001b","claim":"incomplete","counted_at":null,"discarded":0,"dropped":null,"ended_at":"2026-11-30T01:02:33.000Z",` +
		`"filters":[{"code":0,"filter":"a/#","granted":true},{"code":135,"filter":"#","granted":false}],"gaps":[{"count":2,"text":"not seen"},{"count":null,"text":"perhaps hidden"}],` +
		`"insecure":true,"known":5,"known_from":"$SYS/x","limited":null,"listed":3,"missing":2,"notes":["stamps"],"only_branch":null,"only_topic":null,"protocol":"5","remedies":["narrow it"],"rule":"quiet","seen":3,"slices":2,` +
		`"started_at":"2026-11-30T01:02:03.000Z","summary":true,"user":"me","watched_since":"2026-11-30T01:02:03.000Z","where":"is:never","wire_bytes":7,"written_at":"2026-11-30T01:03:33.000Z"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTheExitCodeOfEachClaim(t *testing.T) {
	for claim, want := range map[inventory.Claim]int{
		inventory.Verified: 0, inventory.NoSignOfLoss: 0, inventory.Unverified: 4, inventory.Incomplete: 3, inventory.Scanning: 3,
	} {
		code := 0
		if e, ok := errors.AsType[*exit](verdict(inventory.Coverage{Claim: claim, Known: -1, Rule: "the rule"})); ok {
			code = e.code
			if !strings.Contains(e.Error(), claim.String()+": the rule.") {
				t.Errorf("%s gives no reason: %q", claim, e.Error())
			}
		}
		if code != want {
			t.Errorf("%s exits with %d, want %d", claim, code, want)
		}
	}
}
