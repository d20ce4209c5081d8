package expiry

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// at returns the instant n seconds after a beginning.
func at(n int) time.Time { return time.Date(2026, 9, 14, 0, 0, n, 0, time.UTC) }

func value(topic, payload string, published int) Entry {
	return Entry{Topic: topic, Payload: []byte(payload), QoS: 1, Published: at(published)}
}

func record(t testing.TB, l *Ledger, entries ...Entry) {
	t.Helper()
	for _, e := range entries {
		if err := l.Record(e); err != nil {
			t.Fatal(err)
		}
	}
}

// held returns every topic of l with its payload, in ledger order.
func held(l *Ledger) []string {
	var all []string
	for _, topic := range l.Older(at(1 << 30)) {
		e, _ := l.Entry(topic)
		all = append(all, topic+"="+string(e.Payload))
	}
	return all
}

func TestTheLedgerHoldsTheLastValueOfEachTopicInWireOrder(t *testing.T) {
	for _, c := range []struct {
		name    string
		publish []Entry
		want    []string
		pending int
	}{
		{"nothing was published", nil, nil, 0},
		{"one value", []Entry{value("a", "1", 1)}, []string{"a=1"}, 0},
		{"a newer value takes the last place", []Entry{value("a", "1", 1), value("b", "1", 2), value("a", "2", 3)},
			[]string{"b=1", "a=2"}, 0},
		{"an empty payload leaves a pending tombstone", []Entry{value("a", "1", 1), value("b", "1", 2), value("a", "", 3)},
			[]string{"b=1", "a="}, 1},
		{"a tombstone of a topic never published is pending too", []Entry{value("x", "", 1)}, []string{"x="}, 1},
		{"a newer value ends the pending tombstone", []Entry{value("a", "", 1), value("b", "1", 2), value("a", "2", 3)},
			[]string{"b=1", "a=2"}, 0},
		{"a newer tombstone replaces the older one", []Entry{value("a", "", 1), value("b", "", 2), value("a", "", 3)},
			[]string{"b=", "a="}, 2},
		{"one space is a value", []Entry{value("a", " ", 1)}, []string{"a= "}, 0},
		{"a topic of one byte beside its neighbour", []Entry{value("device07", "1", 1), value("device070", "2", 2), value("device07", "", 3)},
			[]string{"device070=2", "device07="}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l Ledger
			record(t, &l, c.publish...)
			if got := held(&l); !slices.Equal(got, c.want) {
				t.Errorf("held %q, want %q", got, c.want)
			}
			if l.Pending() != c.pending || l.Len() != len(c.want)-c.pending {
				t.Errorf("%d values and %d pending, want %d and %d", l.Len(), l.Pending(), len(c.want)-c.pending, c.pending)
			}
		})
	}
}

func TestOlderMeansPublishedBeforeTheInstant(t *testing.T) {
	var l Ledger
	record(t, &l, value("a", "1", 10), value("b", "1", 20), value("c", "", 30), value("d", "1", 40))
	for _, c := range []struct {
		than int
		want []string
	}{
		{10, nil}, {11, []string{"a"}}, {20, []string{"a"}}, {31, []string{"a", "b", "c"}}, {41, []string{"a", "b", "c", "d"}},
	} {
		if got := l.Older(at(c.than)); !slices.Equal(got, c.want) {
			t.Errorf("older than %d: %q, want %q", c.than, got, c.want)
		}
	}
}

func TestOnlyTheAnswerToTheNewestTombstoneEndsIt(t *testing.T) {
	var l Ledger
	record(t, &l, value("a", "", 1), value("a", "", 2))
	if l.Answered("a", at(1)) {
		t.Error("an answer to the older tombstone was taken for the newer one")
	}
	if l.Pending() != 1 {
		t.Fatalf("%d pending", l.Pending())
	}
	if !l.Answered("a", at(2)) || l.Pending() != 0 {
		t.Error("the answer did not end the tombstone")
	}
	if l.Answered("a", at(2)) || l.Answered("never", at(2)) {
		t.Error("something that is not there was answered")
	}
	record(t, &l, value("a", "1", 3))
	if l.Answered("a", at(3)) || l.Len() != 1 {
		t.Error("an answer removed a value")
	}
}

func TestAThousandTopicsFitAndNotOneMore(t *testing.T) {
	var l Ledger
	for i := range LedgerTopics {
		record(t, &l, value(fmt.Sprintf("t/%d", i), "1", i))
	}
	err := l.Record(value("one/more", "1", 5000))
	var bound *BoundError
	if !errors.As(err, &bound) || bound.Bound != TopicBound || bound.Would != LedgerTopics+1 {
		t.Fatalf("topic 1001: %v", err)
	}
	if !strings.Contains(err.Error(), "1000 topics") || !strings.Contains(err.Error(), `"one/more"`) {
		t.Errorf("the error does not name the bound and the topic: %v", err)
	}
	if _, ok := l.Entry("one/more"); ok || l.Len() != LedgerTopics {
		t.Error("the refused topic was recorded")
	}
	record(t, &l, value("t/7", "2", 5001)) // a known topic may change
	record(t, &l, value("t/8", "", 5002))  // and a clear is always allowed
	record(t, &l, value("one/more", "1", 5003))
	if l.Len() != LedgerTopics {
		t.Errorf("%d topics", l.Len())
	}
}

func TestSixteenMebibytesFitAndNotOneByteMore(t *testing.T) {
	var l Ledger
	half := make([]byte, LedgerBytes/2-1)
	record(t, &l, Entry{Topic: "a", Payload: half, Published: at(1)}, Entry{Topic: "b", Payload: half, Published: at(2)})
	if l.Bytes() != LedgerBytes {
		t.Fatalf("%d bytes", l.Bytes())
	}
	for _, e := range []Entry{value("c", "1", 3), {Topic: "a", Payload: make([]byte, len(half)+1), Published: at(3)}} {
		var bound *BoundError
		if err := l.Record(e); !errors.As(err, &bound) || bound.Bound != ByteBound || !strings.Contains(err.Error(), "16777216 bytes") {
			t.Errorf("beyond the bound: %v", err)
		}
	}
	if e, _ := l.Entry("a"); len(e.Payload) != len(half) || !e.Published.Equal(at(1)) {
		t.Error("a refused value replaced the recorded one")
	}
	record(t, &l, Entry{Topic: "a", Payload: half, Published: at(4)}) // its old size is subtracted first
	record(t, &l, value("a", "", 5), value("c", "1", 6))
	if want := LedgerBytes/2 + 2; l.Bytes() != want {
		t.Errorf("%d bytes, want %d", l.Bytes(), want)
	}
}

func TestAClearIsAllowedWhateverTheBounds(t *testing.T) {
	var l Ledger
	record(t, &l, Entry{Topic: "big", Payload: make([]byte, LedgerBytes-3), Published: at(0)})
	for i := range 3 * LedgerTopics {
		record(t, &l, value(fmt.Sprintf("t/%d", i), "", i))
	}
	if l.Pending() != LedgerTopics || l.Forgotten() != 2*LedgerTopics || l.Len() != 1 {
		t.Errorf("%d pending, %d forgotten, %d values", l.Pending(), l.Forgotten(), l.Len())
	}
	if _, ok := l.Entry("t/1999"); ok {
		t.Error("an old tombstone outlived the bound")
	}
	if _, ok := l.Entry("t/2000"); !ok {
		t.Error("a young tombstone was forgotten before an older one")
	}
	long := strings.Repeat("x", 65535)
	for i := range 300 { // more than 16 MiB of topics
		record(t, &l, value(fmt.Sprintf("%s%03d", long[:65532], i), "", 5000+i))
	}
	if l.pending.bytes > LedgerBytes {
		t.Errorf("%d bytes of pending topics", l.pending.bytes)
	}
}

func TestAPayloadChangedByItsOwnerAfterwardsDoesNotChangeTheLedger(t *testing.T) {
	var l Ledger
	payload, props := []byte("online"), []byte{1, 1}
	record(t, &l, Entry{Topic: "a", Payload: payload, Properties: props, QoS: 1, Published: at(1)})
	copy(payload, "xxxxxx")
	props[1] = 0
	e, _ := l.Entry("a")
	if string(e.Payload) != "online" || e.Properties[1] != 1 || e.QoS != 1 {
		t.Errorf("held %q with properties %v at QoS %d", e.Payload, e.Properties, e.QoS)
	}
}

func TestAClearedLedgerIsLikeANewOne(t *testing.T) {
	var l Ledger
	record(t, &l, value("a", "1", 1), value("b", "", 2))
	l.Clear()
	if l.Len() != 0 || l.Bytes() != 0 || l.Pending() != 0 || l.Older(at(99)) == nil || len(l.Older(at(99))) != 0 {
		t.Error("something was left")
	}
	record(t, &l, value("a", "1", 3))
	if got := held(&l); !slices.Equal(got, []string{"a=1"}) {
		t.Errorf("held %q", got)
	}
}

func TestTheErrorOfAFullLedgerIsSafeForATerminal(t *testing.T) {
	text := (&BoundError{Topic: "a\x1b[2J\u202e" + strings.Repeat("é", 500), Would: 1001}).Error()
	for _, r := range text {
		if r < 0x20 || r > 0x7E {
			t.Fatalf("the error holds %U: %q", r, text)
		}
	}
	if len(text) > 1500 {
		t.Errorf("%d bytes long", len(text))
	}
}
