package actions

import (
	"fmt"
	"strings"
	"testing"

	"retainscope/inventory"
)

func TestALookAtManyTopicsAnswersEachInItsPlaceAndSendsNothing(t *testing.T) {
	b := newBench(t)
	const part = 1 + MaxControls // that one look takes
	var topics [][]byte
	for i := range 2*part + 7 {
		topics = append(topics, fmt.Appendf(nil, "cleared/%d", i))
	}
	topics[60], topics[90] = []byte("cleared/\xff"), []byte("cleared/\xfe") // both are asked for as cleared/+
	for _, i := range []int{0, part - 1, part, 90, len(topics) - 1} {
		b.publish(inventory.Publication{Topic: topics[i], Payload: fmt.Append(nil, "value ", i), Retain: true})
	}
	var told []int
	seen := b.clearer.LookAt(t.Context(), topics, func(n int) { told = append(told, n) })
	if len(seen) != len(topics) || fmt.Sprint(told) != fmt.Sprint([]int{part, 2 * part, len(topics)}) {
		t.Fatalf("%d answers, told %v", len(seen), told)
	}
	for i, s := range seen {
		want := NotObserved
		switch i {
		case 0, part - 1, part, 90, len(topics) - 1:
			want = Present
		}
		if s.Found != want || s.Why != "" || s.At.IsZero() || (s.Now != nil) != (want == Present) {
			t.Errorf("%q: %+v", topics[i], s)
		}
		if s.Now != nil && (string(s.Now.Topic) != string(topics[i]) || s.Now.Size != len(fmt.Sprint("value ", i)) || s.Now.Payload != nil) {
			t.Errorf("%q: %+v", topics[i], s.Now)
		}
	}
	if b.sends != 0 {
		t.Errorf("%d were sent", b.sends)
	}
}

func TestALookOfALoginThatIsShownNothingTellsNothing(t *testing.T) {
	b := newBench(t)
	b.onObserve = func(_ int, o *Observation) error { o.Seen = nil; return nil }
	for _, s := range b.clearer.LookAt(t.Context(), [][]byte{[]byte("cleared/1"), b.topic}, nil) {
		if s.Found != FoundNothingOut || !strings.Contains(s.Why, "may not be allowed to read") {
			t.Errorf("%+v", s)
		}
	}
}
