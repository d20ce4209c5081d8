package cli

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/journal"
	"retainscope/readings"
)

const hour = int64(3600_000)

// recalling returns a memory of those spans, and an inventory with two topics: "a" that was never seen live and was first
// seen at 0, and "b" that was seen live at 5 hours.
func recalling(spans ...journal.Span) *memory {
	inv := inventory.New(inventory.Options{})
	for _, topic := range []string{"a", "b"} {
		inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte("1"), Interval: expiry.None(), ReceivedAt: 20 * hour, Retain: true}})
	}
	inv.Remember([]inventory.Memory{{Topic: []byte("a"), FirstSeen: 1}, {Topic: []byte("b"), FirstSeen: 1, LastLive: 5 * hour}})
	return &memory{inv: inv, log: slog.New(slog.DiscardHandler), spans: spans, said: map[string]silence{}, brought: true}
}

func span(from, to int64, filters ...string) journal.Span {
	if len(filters) == 0 {
		filters = []string{"#"}
	}
	return journal.Span{Start: from * hour, Stop: to * hour, Filters: filters}
}

func TestASilenceCountsTheWatchingOfEverybody(t *testing.T) {
	m := recalling(span(0, 4), span(6, 10), span(10, 12, "b/#"))
	ask := func(topic string, now int64) string {
		r, _ := m.inv.Find([]byte(topic))
		s, _ := m.inv.Slot(r)
		got := m.silent([]byte(topic), s.FirstSeen, s.LastLive, now)
		return fmt.Sprint(got.Watched.Round(time.Minute), got.Gaps, got.Live)
	}
	if got := ask("a", 12*hour); got != "8h0m0s 2 false" {
		t.Errorf("a: %s", got)
	}
	if got := ask("b", 12*hour); got != "6h0m0s 1 true" { // b/# covers b as well
		t.Errorf("b: %s", got)
	}
	// What this program watches itself counts from now on, also where nobody writes it down, and only once.
	m.watching(14*hour, []string{"#"})
	if got := ask("a", 15*hour); got != "9h0m0s 2 false" {
		t.Errorf("a while this program watches: %s", got)
	}
	m.mu.Lock()
	m.spans, m.all = append(m.spans, span(14, 15)), nil // the same time, by another writer
	m.blind(16 * hour)
	m.mu.Unlock()
	if got := ask("a", 20*hour); got != "10h0m0s 3 false" {
		t.Errorf("a after the connection was lost: %s", got)
	}
	m.watching(20*hour, []string{"#"})
	if got := ask("a", 21*hour); got != "11h0m0s 3 false" {
		t.Errorf("a after it came back: %s", got)
	}
	// A group is as silent as the one that spoke last.
	both := []readings.Member{{Topic: "a"}, {Topic: "b"}, {Topic: "not held"}}
	if d, ok := m.group(both, 21*hour); !ok || d.Round(time.Minute) != 9*time.Hour {
		t.Errorf("the group: %s %t", d, ok)
	}
	if _, ok := m.group([]readings.Member{{Topic: "not held"}}, 21*hour); ok {
		t.Error("a group of nothing has a silence")
	}
	m.brought = false // the journal is still being read: what it knows of a topic may be later than what is held
	if _, ok := m.group(both, 21*hour); ok {
		t.Error("a silence before the journal was brought in")
	}
	if _, ok := (*memory)(nil).group(both, 21*hour); ok {
		t.Error("without a memory a group has one")
	}
}

func TestManySpansAreNotCountedForEveryFrame(t *testing.T) {
	var spans []journal.Span
	for i := range int64(10_000) {
		spans = append(spans, journal.Span{Start: i * 2000, Stop: i*2000 + 1000, Filters: []string{"#"}})
	}
	m := recalling(spans...)
	now := int64(20_000_000)
	first := m.silent([]byte("a"), 1, 0, now)
	if first.Gaps != 9_999 || first.Watched.Round(time.Second) != 10_000*time.Second {
		t.Errorf("%+v", first)
	}
	if again := m.silent([]byte("a"), 1, 0, now+1000); again != first {
		t.Errorf("a second later it is counted anew: %+v", again)
	}
	if later := m.silent([]byte("a"), 1, 0, now+10_000_000); later.Gaps != 10_000 {
		t.Errorf("hours later, without anybody: %+v", later)
	}
	if live := m.silent([]byte("a"), 1, now-500, now+1000); live == first {
		t.Error("what was seen live meanwhile is still silent")
	}
	for i := range silenceKept + 10 {
		m.silent(fmt.Appendf(nil, "t%d", i), now-3000, 0, now)
	}
	if len(m.said) > silenceKept {
		t.Errorf("%d answers are kept", len(m.said))
	}
}

func BenchmarkSilence(b *testing.B) {
	var spans []journal.Span
	for i := range int64(100) {
		spans = append(spans, journal.Span{Start: i * 2000, Stop: i*2000 + 1000, Filters: []string{"#"}})
	}
	m := recalling(spans...)
	topic := []byte("plant/00/device/state")
	b.ReportAllocs()
	for b.Loop() {
		m.silent(topic, 1, 0, 300_000)
	}
}

func BenchmarkRecall(b *testing.B) {
	const topics = 100_000
	file := filepath.Join(b.TempDir(), "j.db")
	j, err := journal.Open(file, journal.Options{Broker: "x", Now: func() int64 { return time.Now().UnixMilli() }, Holder: "x"})
	if err != nil {
		b.Fatal(err)
	}
	inv := inventory.New(inventory.Options{})
	for i := range topics {
		topic := fmt.Appendf(nil, "plant/%02d/device%06d/state", i%50, i)
		inv.Apply([]inventory.Publication{{Topic: topic, Payload: []byte("1"), Interval: expiry.None(), ReceivedAt: 20 * hour, Retain: true}})
		if err := j.Enroll(b.Context(), []journal.Seen{{Topic: topic, At: 20 * hour, Retain: true, Digest: 1}}); err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	m := &memory{file: file, broker: "x", inv: inv, log: slog.New(slog.DiscardHandler), said: map[string]silence{}}
	for b.Loop() {
		if n := m.recall(b.Context()); n != topics {
			b.Fatalf("%d topics are known", n)
		}
	}
}
