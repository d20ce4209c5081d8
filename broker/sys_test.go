package broker

import (
	"strings"
	"testing"

	"retainscope/inventory"
)

func sysMessage(topic, payload string, live bool) inventory.Publication {
	return inventory.Publication{Topic: []byte(topic), Payload: []byte(payload), Retain: !live}
}

func TestTheBrokersOwnTopicsAreTakenFromItsCount(t *testing.T) {
	f := newFigures()
	f.whole = true
	f.apply([]inventory.Publication{
		sysMessage("$SYS/broker/a", "1", false), sysMessage("$SYS/broker/b", "1", false), sysMessage(sysCount, "103", false),
	})
	if n := f.read().known(); n != 100 {
		t.Errorf("known from retained copies: %d, want 100", n)
	}
	// A tick: a topic that is new comes before the count and is in it, one after it is not.
	f.apply([]inventory.Publication{
		sysMessage("$SYS/broker/c", "1", true), sysMessage(sysCount, "104", true), sysMessage("$SYS/broker/d", "1", true),
	})
	if n := f.read().known(); n != 100 {
		t.Errorf("known from a tick: %d, want 100", n)
	}
	// Copies sent again do not change what the last tick said.
	f.forgetTopics()
	f.apply([]inventory.Publication{sysMessage(sysCount, "104", false), sysMessage("$SYS/broker/a", "1", false)})
	if n := f.read().known(); n != 100 {
		t.Errorf("known after the copies came again: %d, want 100", n)
	}
}

func TestACountWithoutAllOfTheBrokersTopicsSaysNothing(t *testing.T) {
	f := newFigures()
	f.apply([]inventory.Publication{sysMessage(sysCount, "103", false)})
	if n := f.read().known(); n != -1 {
		t.Errorf("known = %d, want -1", n)
	}
	f.whole = true
	f.apply([]inventory.Publication{sysMessage(sysCount, "many", true), sysMessage(sysDrop, "-1", true)})
	if v := f.read(); v.count != 103 || v.dropped != -1 {
		t.Errorf("figures that are no numbers were taken: %+v", v)
	}
}

func TestDropsAreTheDifferenceAndNeverGuessed(t *testing.T) {
	mosquitto := sysValues{version: "mosquitto version 2.0.11", dropped: -1, beside: true}
	hidden := sysValues{version: "mosquitto version 2.0.11", dropped: -1}
	told := sysValues{version: "mosquitto version 2.0.11", dropped: 100, dropLive: 1}
	for name, c := range map[string]struct {
		before, now sysValues
		n           int64
		moved       bool
	}{
		"unmoved":                   {told, told, 0, false},
		"moved":                     {told, sysValues{dropped: 130, dropLive: 2}, 30, true},
		"silent and still silent":   {mosquitto, mosquitto, 0, false},
		"hidden by permissions":     {hidden, hidden, -1, false},
		"silent and now it speaks":  {mosquitto, sysValues{dropped: 130, dropLive: 1}, -1, true},
		"its first value":           {mosquitto, sysValues{dropped: 0, dropLive: 1}, -1, false},
		"a broker without counter":  {sysValues{dropped: -1}, sysValues{dropped: -1}, -1, false},
		"the broker started anew":   {told, sysValues{dropped: 5, dropLive: 2}, 5, true},
		"told again without change": {told, sysValues{dropped: 100, dropLive: 2}, 0, false},
	} {
		if n, moved := c.now.dropsSince(c.before); n != c.n || moved != c.moved {
			t.Errorf("%s: %d %v, want %d %v", name, n, moved, c.n, c.moved)
		}
	}
}

func TestWhatABrokerCallsItselfIsSafeToShow(t *testing.T) {
	if got := versionText([]byte("2.7.9")); got != "version 2.7.9" {
		t.Errorf("a bare number: %q", got)
	}
	got := versionText([]byte("evil\x1b[2J\n" + strings.Repeat("x", 500)))
	if strings.ContainsAny(got, "\x1b\n") || len(got) > 120 {
		t.Errorf("%q", got)
	}
}
