package expiry

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// naiveLedger is the same in the plainest way: a list that is searched from the front.
type naiveLedger struct {
	list      []Entry
	forgotten int64
}

func (n *naiveLedger) find(topic string) int {
	return slices.IndexFunc(n.list, func(e Entry) bool { return e.Topic == topic })
}

func (n *naiveLedger) sum(tombstones bool) (count, size int) {
	for _, e := range n.list {
		if (len(e.Payload) == 0) == tombstones {
			count, size = count+1, size+len(e.Topic)+len(e.Payload)
		}
	}
	return count, size
}

func (n *naiveLedger) record(e Entry) bool {
	without := naiveLedger{list: slices.Clone(n.list), forgotten: n.forgotten}
	if i := without.find(e.Topic); i >= 0 {
		without.list = slices.Delete(without.list, i, i+1)
	}
	without.list = append(without.list, e)
	if count, size := without.sum(false); len(e.Payload) > 0 && (count > LedgerTopics || size > LedgerBytes) {
		return false
	}
	for count, size := without.sum(true); count > LedgerTopics || size > LedgerBytes; count, size = without.sum(true) {
		i := slices.IndexFunc(without.list, Entry.Tombstone)
		without.list = slices.Delete(without.list, i, i+1)
		without.forgotten++
	}
	*n = without
	return true
}

func (n *naiveLedger) answered(topic string, published time.Time) bool {
	i := n.find(topic)
	if i < 0 || len(n.list[i].Payload) > 0 || n.list[i].Published != published {
		return false
	}
	n.list = slices.Delete(n.list, i, i+1)
	return true
}

func (n *naiveLedger) older(than time.Time) []string {
	var topics []string
	for _, e := range n.list {
		if e.Published.Before(than) {
			topics = append(topics, e.Topic)
		}
	}
	return topics
}

// FuzzLedger drives the ledger and the plain one with the same steps, two bytes each, and compares everything they
// tell. Payloads go up to 16 MiB, so that the bytes are a bound as well.
func FuzzLedger(f *testing.F) {
	f.Add([]byte{0x00, 1, 0x01, 1, 0x00, 2, 0x80, 0})
	f.Add([]byte{0x00, 243, 0x01, 243, 0x02, 243, 0x03, 242, 0x00, 0, 0x03, 242})
	f.Add([]byte{0x00, 0, 0x40, 0, 0x00, 0, 0x00, 5, 0x40, 0, 0x80, 2})
	f.Add([]byte{0xC0, 0, 0xC1, 7, 0xC0, 9})
	big := make([]byte, 16<<20)
	f.Fuzz(func(t *testing.T, script []byte) {
		var l Ledger
		var n naiveLedger
		if len(script) > 200 {
			script = script[:200]
		}
		for step := 0; step+1 < len(script); step += 2 {
			op, arg := script[step]>>6, script[step+1]
			topic := fmt.Sprintf("t/%d", script[step]&0x0F)
			switch op {
			case 0, 1: // publish; the upper half of arg are large payloads
				size := int(arg)
				if arg >= 240 {
					size = (int(arg) - 239) << 20
				}
				e := Entry{Topic: topic, Payload: big[:size], QoS: op, Published: at(step)}
				if err, ok := l.Record(e), n.record(e); (err == nil) != ok {
					t.Fatalf("step %d: Record = %v, the plain one says %v", step, err, ok)
				}
			case 2: // an answer to what was published some steps ago
				when := at(step - 2*int(arg&7))
				if got, want := l.Answered(topic, when), n.answered(topic, when); got != want {
					t.Fatalf("step %d: Answered = %v, want %v", step, got, want)
				}
			case 3: // many topics at once, values or tombstones, at the beginning: it is slow in the plain ledger
				if step > 0 {
					continue
				}
				for i := range int(arg) * 8 {
					e := Entry{Topic: fmt.Sprintf("many/%d/%d", script[step]&3, i), Payload: big[:arg&1], Published: at(step)}
					if err, ok := l.Record(e), n.record(e); (err == nil) != ok {
						t.Fatalf("step %d, topic %d: Record = %v, the plain one says %v", step, i, err, ok)
					}
				}
			}
			for _, than := range []int{0, step / 2, step, step + 1} {
				if got, want := l.Older(at(than)), n.older(at(than)); !slices.Equal(got, want) {
					t.Fatalf("step %d: older than %d: %q, want %q", step, than, got, want)
				}
			}
			count, size := n.sum(false)
			pending, _ := n.sum(true)
			if l.Len() != count || l.Bytes() != size || l.Pending() != pending || l.Forgotten() != n.forgotten {
				t.Fatalf("step %d: %d values, %d bytes, %d pending, %d forgotten; want %d, %d, %d, %d", step,
					l.Len(), l.Bytes(), l.Pending(), l.Forgotten(), count, size, pending, n.forgotten)
			}
			for _, e := range n.list {
				if got, ok := l.Entry(e.Topic); !ok || len(got.Payload) != len(e.Payload) || got.QoS != e.QoS || !got.Published.Equal(e.Published) {
					t.Fatalf("step %d: %q is held as %+v", step, e.Topic, got)
				}
			}
		}
	})
}
