package readings

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzPut puts any payload on any topic beside a few that others speak for, asks everything, and takes it away again.
func FuzzPut(f *testing.F) {
	for _, x := range house(f) {
		f.Add(x.topic, []byte(x.payload), false)
	}
	f.Add("homeassistant/device/x/config", []byte(`{"~":"a","cmps":{"a":{"p":"sensor","~":"b","stat_t":"~/c~","avty":{"t":"~"}},"b":{"p":"x"}},"dev":{"ids":[1,"a"]}}`), false)
	f.Add("a/b/$state", []byte("ready"), true)
	f.Add("\x00x", []byte("x"), false)
	f.Fuzz(func(t *testing.T, topic string, payload []byte, cut bool) {
		r := newReader(t)
		base := []Fact{
			fact("z/bridge/state", `{"state":"online"}`), fact("z/bridge/devices", `[{"friendly_name":"a"}]`), fact("z/a", "1"), fact("a/status", "online"),
			fact("homeassistant/sensor/a/config", `{"uniq_id":"u","stat_t":"a/b","avty_t":"a/status","dev":{"ids":"d"}}`), fact("homie/x/n/$name", "n"),
		}
		for _, b := range base {
			r.Put(b)
		}
		r.Watched(scanEnd, scanEnd)
		drain(r, scanEnd)
		start := time.Now()
		x := Fact{Topic: []byte(topic), Payload: payload, Size: len(payload), Cut: cut, ReceivedAt: scanEnd, Interval: never()}
		r.Put(x)
		drain(r, scanEnd+second)
		r.Reading(x.Topic, scanEnd+second)
		r.Brief(x.Topic, scanEnd+second)
		r.Groups(scanEnd + 2*hour)
		for _, b := range base {
			r.Reading(b.Topic, scanEnd+second)
			r.Remove(b.Topic)
		}
		r.Remove(x.Topic)
		drain(r, scanEnd+second)
		if took := time.Since(start); took > hang {
			t.Errorf("%v for %d bytes", took, len(payload))
		}
		if r.used != 0 || r.Counts() != (Counts{}) {
			t.Errorf("%d nodes and %+v are left of an empty store", r.used, r.Counts())
		}
	})
}

// FuzzJSON compares the JSON reader with the standard library's.
func FuzzJSON(f *testing.F) {
	for _, x := range house(f) {
		f.Add([]byte(x.payload))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		depth, deepest := 0, 0
		for _, c := range b {
			switch c {
			case '{', '[':
				depth++
				deepest = max(deepest, depth)
			case '}', ']':
				depth--
			}
		}
		valid := json.Valid(b) && utf8.Valid(b)
		if got := validJSON(b); got != valid && deepest <= maxNesting {
			t.Fatalf("validJSON says %v, the standard library %v", got, valid)
		}
		if !valid {
			members(b, func(_, _ []byte) bool { return true })
			elements(b, func([]byte) bool { return true })
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(b, &object) != nil {
			return
		}
		mine := map[string]string{}
		if !members(b, func(k, v []byte) bool { mine[string(k)] = string(v); return true }) && object != nil {
			t.Fatal("a valid object was not read to its end")
		}
		for k, v := range mine {
			if !json.Valid([]byte(v)) {
				t.Fatalf("member %q came out as %q", k, v)
			}
			var w string
			s, isText := text([]byte(v))
			if ok := v[0] == '"' && json.Unmarshal([]byte(v), &w) == nil; ok != isText || ok && w != s {
				t.Fatalf("member %q is %q, the standard library says %q", k, s, w)
			}
		}
		if len(mine) != len(object) {
			t.Fatalf("%d members, the standard library says %d", len(mine), len(object))
		}
	})
}
