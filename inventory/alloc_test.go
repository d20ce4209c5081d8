package inventory

import (
	"fmt"
	"testing"

	"retainscope/expiry"
)

func TestAKnownTopicCostsNoAllocation(t *testing.T) {
	for name, change := range map[string]func(q *Publication, i int){
		"same content":    func(*Publication, int) {},
		"other content":   func(q *Publication, i int) { q.Payload[0] = byte(i) },
		"other length":    func(q *Publication, i int) { q.Payload = q.Payload[:40+i%200] },
		"replayed":        func(q *Publication, i int) { q.Origin, q.Payload[0] = Replay, byte(i) },
		"without retain":  func(q *Publication, i int) { q.Retain, q.Payload[0] = false, byte(i) },
		"other interval":  func(q *Publication, i int) { q.Interval = expiry.Seconds(uint32(i)) },
		"falls and gains": func(q *Publication, i int) { q.Interval = [2]expiry.Interval{expiry.None(), expiry.Seconds(60)}[i%2] },
	} {
		t.Run(name, func(t *testing.T) {
			inv := New(Options{MaxChanges: 64 << 10})
			batch := make([]Publication, 200)
			for i := range batch {
				batch[i] = Publication{Topic: fmt.Appendf(nil, "house/room/%d", i), Payload: make([]byte, 240), Retain: true, Origin: Live, ReceivedAt: 1000}
			}
			i := 0
			run := func() {
				for k := range batch {
					change(&batch[k], i)
				}
				inv.Apply(batch)
				i++
			}
			for range 300 { // rings and free lists reach their size
				run()
			}
			if n := testing.AllocsPerRun(100, run); n != 0 {
				t.Fatalf("%v allocations for %d publications", n, len(batch))
			}
		})
	}
}
