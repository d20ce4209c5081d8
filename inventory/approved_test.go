package inventory

import (
	"testing"

	"retainscope/expiry"
)

func TestOnlyTheExactTopicIsApprovedAndStaysSoWhenItComesBack(t *testing.T) {
	inv := New(Options{})
	put := func(topic string) {
		inv.Apply([]Publication{{Topic: []byte(topic), Payload: []byte("1"), Interval: expiry.None(), Retain: true, Origin: Live, ReceivedAt: 1000}})
	}
	put("a/device07")
	put("a/device070")
	has := func(topic string) bool {
		t.Helper()
		r, ok := inv.Find([]byte(topic))
		if !ok {
			t.Fatalf("%s is not held", topic)
		}
		s, _ := inv.Slot(r)
		return s.Flags.Has(FlagApproved)
	}
	v := inv.Counts().Version
	inv.SetApproved([][]byte{[]byte("a/device07"), []byte("a/later")})
	if !has("a/device07") || has("a/device070") {
		t.Error("the mark is not on exactly the topic approved")
	}
	if inv.Counts().Version == v {
		t.Error("nobody hears of the mark")
	}
	put("a/later")
	if !has("a/later") {
		t.Error("a topic that comes later is not marked")
	}
	inv.Apply([]Publication{{Topic: []byte("a/device07"), Retain: true, Origin: Live, ReceivedAt: 2000}})
	put("a/device07")
	if !has("a/device07") {
		t.Error("a topic that came back lost its mark")
	}
	f, err := ParseFilter("is:approved -later")
	if err != nil {
		t.Fatal(err)
	}
	if !f.Flagged(FlagApproved) || f.Flagged(FlagLeft) {
		t.Error("the filter does not tell what it asks for")
	}
	l, err := inv.List(t.Context(), Spec{Filter: f})
	if err != nil || l.Len() != 1 {
		t.Errorf("is:approved lists %d topics, %v", l.Len(), err)
	}
	inv.SetApproved([][]byte{[]byte("a/later")})
	if has("a/device07") || !has("a/later") {
		t.Error("a withdrawn approval keeps its mark, or another lost it")
	}
}
