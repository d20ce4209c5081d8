package readings

import (
	"encoding/json"
	"strings"
	"testing"
)

// Agreement of the JSON reader with the standard library. Payloads here are small; the large ones are in fuzz_test.go.

func TestValidJSONAgreesWithTheStandardLibrary(t *testing.T) {
	for _, s := range []string{
		``, ` `, `{}`, `[]`, `[[]]`, `{"a":{}}`, `{"a":[]}`, `[1,2,{"x":[true,false,null]}]`, `"x"`, `12`, `-0.5e+10`, `01`, `1.`, `.5`,
		`-`, `+1`, `1e`, `tru`, `true`, `nul`, `NaN`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{"a":1 "b":2}`,
		`{"a":1}{`, `{"a":1} x`, `[1}`, `{"a":1]`, `"\u12g4"`, `"\u1234"`, `"\x"`, "\"\n\"", `"unterminated`, `{a:1}`, `{'a':1}`,
		`[{"a":[{"b":[]}]}]`, ` { "a" : [ 1 , 2 ] } `, `{"state":"on","state":"off"}`, `]`, `}`, `:`, `,`, `{"a":1,"b"}`, `[1 2]`,
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000), `{"name":"Broken","state_topic":"broken/state",`, `""`, `"\""`, `"\\"`,
	} {
		if got, want := validJSON([]byte(s)), json.Valid([]byte(s)); got != want {
			t.Errorf("validJSON(%.60q) = %v, the standard library says %v", s, got, want)
		}
	}
	if validJSON([]byte(strings.Repeat("[", 1025) + strings.Repeat("]", 1025))) {
		t.Error("1025 levels are deeper than Home Assistant reads")
	}
	if validJSON([]byte("\"\xc3(\"")) {
		t.Error("invalid UTF-8 is not JSON")
	}
}

func TestTheLastOfTwoEqualKeysCounts(t *testing.T) {
	if s, _ := memberText([]byte(`{"state":"on","other":[1,{"state":"x"}],"state":"off"}`), "state"); s != "off" {
		t.Fatalf("got %q", s)
	}
}

func TestEscapedKeysAndValuesAreRead(t *testing.T) {
	if s, ok := memberText([]byte(`{"\u0073tate":"\u00e9\ud83d\ude00\n\"\\"}`), "state"); !ok || s != "é😀\n\"\\" {
		t.Fatalf("got %q %v", s, ok)
	}
	if s, ok := memberText([]byte(`{"a":"\ud83dx"}`), "a"); !ok || s != "\uFFFDx" {
		t.Fatalf("a lone surrogate: got %q %v", s, ok)
	}
}
