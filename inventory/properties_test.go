package inventory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"retainscope/expiry"
)

func str(s string) []byte { return append([]byte{byte(len(s) >> 8), byte(len(s))}, s...) }

func join(parts ...[]byte) Properties { return bytes.Join(parts, nil) }

func TestPropertiesAreReadInOrder(t *testing.T) {
	p := join(
		[]byte{propUser}, str("a"), str("1"), []byte{propPayloadFormat, 1}, []byte{propContentType}, str("text/plain"),
		[]byte{propResponseTopic}, str("r"), []byte{propCorrelationData}, str("\x00c"), []byte{propTopicAlias, 0, 5},
		[]byte{propMessageExpiry, 0, 0, 0, 9}, []byte{propSubscriptionID, 0x80, 0x01}, []byte{propUser}, str("a"), str(""),
	)
	if v, ok := p.ContentType(); !ok || string(v) != "text/plain" {
		t.Errorf("content type %q, %v", v, ok)
	}
	if v, ok := p.ResponseTopic(); !ok || string(v) != "r" {
		t.Errorf("response topic %q, %v", v, ok)
	}
	if v, ok := p.CorrelationData(); !ok || string(v) != "\x00c" {
		t.Errorf("correlation data %q, %v", v, ok)
	}
	if v, ok := p.PayloadFormat(); !ok || v != 1 {
		t.Errorf("payload format %d, %v", v, ok)
	}
	users := p.User()
	if len(users) != 2 || string(users[0].Key) != "a" || string(users[0].Value) != "1" || string(users[1].Value) != "" {
		t.Errorf("user properties %q", users)
	}
	var none Properties
	if _, ok := none.PayloadFormat(); ok || none.User() != nil {
		t.Error("there are none and some were found")
	}
}

func TestMalformedPropertiesEndTheReadingAndNotTheProgram(t *testing.T) {
	whole := join([]byte{propContentType}, str("x"), []byte{propUser}, str("key"), str("value"), []byte{propPayloadFormat, 1})
	for n := range whole {
		p := whole[:n]
		p.User()
		p.PayloadFormat()
		if v, ok := p.ContentType(); ok != (n >= 4) || ok && string(v) != "x" {
			t.Errorf("%d bytes: content type %q, %v", n, v, ok)
		}
	}
	for _, p := range []Properties{{0xFF, 1, 2}, {propUser, 0xFF, 0xFF, 1}, {propSubscriptionID, 0x80, 0x80, 0x80, 0x80, 0x80, 1}, {propSubscriptionID}} {
		if p.User() != nil {
			t.Errorf("%v has user properties", p)
		}
	}
}

func TestAFingerprintCoversWhatAPersonSawAndNothingElse(t *testing.T) {
	base := join([]byte{propContentType}, str("x"), []byte{propUser}, str("k"), str("v"), []byte{propUser}, str("l"), str("w"))
	first := Fingerprint([]byte("p"), base, expiry.Seconds(60))
	if len(first) != 64 || first != Fingerprint([]byte("p"), base, expiry.Seconds(3)) {
		t.Error("the value of the expiry counts")
	}
	moved := join([]byte{propUser}, str("k"), str("v"), []byte{propContentType}, str("x"), []byte{propUser}, str("l"), str("w"))
	if first != Fingerprint([]byte("p"), moved, expiry.Seconds(60)) {
		t.Error("the place of the content type among the properties counts")
	}
	seen := map[string]string{first: "base"}
	for name, got := range map[string]string{
		"payload":       Fingerprint([]byte("q"), base, expiry.Seconds(60)),
		"no expiry":     Fingerprint([]byte("p"), base, expiry.None()),
		"not knowable":  Fingerprint([]byte("p"), base, expiry.NotKnown()),
		"no properties": Fingerprint([]byte("p"), nil, expiry.Seconds(60)),
		"other order": Fingerprint([]byte("p"), join([]byte{propContentType}, str("x"), []byte{propUser}, str("l"), str("w"),
			[]byte{propUser}, str("k"), str("v")), expiry.Seconds(60)),
		"bytes moved": Fingerprint([]byte("p"), join([]byte{propContentType}, str("x"), []byte{propUser}, str("kv"), str(""),
			[]byte{propUser}, str("l"), str("w")), expiry.Seconds(60)),
		"other field":  Fingerprint([]byte("p"), join([]byte{propResponseTopic}, str("x")), expiry.Seconds(60)),
		"content type": Fingerprint([]byte("p"), join([]byte{propContentType}, str("x")), expiry.Seconds(60)),
		"correlation":  Fingerprint([]byte("p"), join([]byte{propCorrelationData}, str("x")), expiry.Seconds(60)),
		"empty field":  Fingerprint([]byte("p"), join([]byte{propContentType}, str("")), expiry.Seconds(60)),
		"format":       Fingerprint([]byte("p"), join([]byte{propPayloadFormat, 0}), expiry.Seconds(60)),
	} {
		if other, ok := seen[got]; ok {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[got] = name
	}
}

// TestTheFingerprintIsTheDocumentedOne builds one by hand, byte for byte as the documentation says: others may.
func TestTheFingerprintIsTheDocumentedOne(t *testing.T) {
	eight := func(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }
	payload := sha256.Sum256([]byte("p"))
	content := sha256.Sum256(bytes.Join([][]byte{
		payload[:], {1}, eight(4), []byte("text"), {1}, eight(1), {1}, {0}, {0}, eight(1), eight(1), []byte("k"), eight(2), []byte("vv"),
	}, nil))
	sum := sha256.Sum256(append(content[:], 0))
	p := join([]byte{propUser}, str("k"), str("vv"), []byte{propContentType}, str("text"), []byte{propPayloadFormat, 1})
	if got := Fingerprint([]byte("p"), p, expiry.None()); got != hex.EncodeToString(sum[:]) {
		t.Fatalf("%s, want %x", got, sum)
	}
}

func TestCoverageAndFlagsSayWhatTheyAre(t *testing.T) {
	for c, want := range map[Claim]string{
		Scanning: "scanning", Verified: "verified", NoSignOfLoss: "no sign of loss", Unverified: "unverified", Incomplete: "incomplete",
	} {
		if c.String() != want {
			t.Errorf("%d is %q, want %q", c, c, want)
		}
	}
	for _, c := range []struct{ seen, known, missing int64 }{{5, 7, 2}, {7, 7, 0}, {9, 7, 0}, {5, -1, 0}} {
		if got := (Coverage{Seen: c.seen, Known: c.known}).Missing(); got != c.missing {
			t.Errorf("%d of %d: %d missing", c.seen, c.known, got)
		}
	}
	if (Grant{Code: 2}).Refused() || !(Grant{Code: 0x80}).Refused() {
		t.Error("a refused filter is one of 0x80 and above")
	}
	if len(flagNames) != 17 || Flags(1<<16) != FlagApproved || len((flagsPublic).Names()) != 17 {
		t.Errorf("%d names for the flags up to %d", len(flagNames), FlagApproved)
	}
	if EventKind(0).String() != "none" || Kept.String() == "none" || EventKind(99).String() != "none" {
		t.Error("events have other names")
	}
	s := Slot{Interval: expiry.Seconds(5), ReceivedAt: at}
	if left, ok := s.Remaining(at + 2000); !ok || left != 3*time.Second {
		t.Errorf("%v left", left)
	}
	if (Ref{}).IsZero() != true || (Ref{id: 1}).IsZero() || !(FlagLive | FlagDue).Has(FlagDue) || FlagLive.Has(FlagLive|FlagDue) {
		t.Error("small words are wrong")
	}
}
