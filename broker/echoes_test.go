package broker

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestAnEchoIsClaimedOnceAndForItsValue(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	claim := func(e *Echoes, topic, payload string, retain bool, after time.Duration) inventory.Origin {
		batch := []inventory.Publication{{Topic: []byte(topic), Payload: []byte(payload), Interval: expiry.Seconds(9), Retain: retain,
			ReceivedAt: at.Add(after).UnixMilli(), Origin: inventory.Live}}
		e.claim(batch)
		return batch[0].Origin
	}
	out := &outgoing{topic: "a/b", payload: []byte("1")}
	e := new(Echoes)
	e.expect(out, nil, at)
	for _, c := range []struct {
		name, topic, payload string
		retain               bool
		want                 inventory.Origin
	}{
		{"another value", "a/b", "2", true, inventory.Live},
		{"another topic", "a/c", "1", true, inventory.Live},
		{"not retained", "a/b", "1", false, inventory.Live},
		{"ours", "a/b", "1", true, inventory.Own},
		{"the owner with the same value", "a/b", "1", true, inventory.Live},
	} {
		if got := claim(e, c.topic, c.payload, c.retain, time.Second); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	e.expect(out, nil, at)
	if got := claim(e, "a/b", "1", true, echoFor+time.Second); got != inventory.Live || e.waiting.Load() != 0 {
		t.Errorf("long after: %v, %d waited for", got, e.waiting.Load())
	}
	e.expect(out, nil, at)()
	if got := claim(e, "a/b", "1", true, time.Second); got != inventory.Live {
		t.Errorf("after a refusal: %v", got)
	}
	fingerprint := inventory.Fingerprint([]byte("1"), nil, expiry.Seconds(5))
	e.Announce([]byte("a/b"), fingerprint, at)
	for i, want := range []inventory.Origin{inventory.Own, inventory.Live} {
		if got := claim(e, "a/b", "1", true, time.Minute); got != want {
			t.Errorf("announced by another program, %d: %v", i+1, got)
		}
	}
	e.Announce([]byte("a/b"), "", at)
	if got := claim(e, "a/b", "1", true, time.Second); got != inventory.Live {
		t.Errorf("a value where a tombstone was announced: %v", got)
	}
	if got := claim(e, "a/b", "", true, time.Second); got != inventory.Own {
		t.Errorf("a tombstone that was announced: %v", got)
	}
	e.Announce([]byte("a/b"), fingerprint, at)()
	if got := claim(e, "a/b", "1", true, time.Second); got != inventory.Live || e.waiting.Load() != 0 {
		t.Errorf("announced and not sent: %v, %d waited for", got, e.waiting.Load())
	}
	e.Announce([]byte("a/b"), fingerprint, at)
	if got := claim(e, "a/b", "1", true, announcedFor+time.Second); got != inventory.Live {
		t.Errorf("announced long ago: %v", got)
	}
	var none *Echoes
	none.Announce([]byte("a/b"), "", at)()
	none.expect(out, nil, at)()
	if got := claim(none, "a/b", "1", true, 0); got != inventory.Live {
		t.Errorf("without any: %v", got)
	}
}
