package inventory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"retainscope/expiry"
)

func TestReadersAndWritersDoNotDisturbEachOther(t *testing.T) {
	inv := New(Options{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	work := func(f func(r *rand.Rand)) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(len(stop)), 3))
			for {
				select {
				case <-stop:
					return
				default:
					f(r)
				}
			}
		})
	}
	name := func(r *rand.Rand) []byte { return fmt.Appendf(nil, "w/%d/%d", r.IntN(3), r.IntN(6000)) }
	work(func(r *rand.Rand) {
		batch := make([]Publication, 300)
		for i := range batch {
			batch[i] = Publication{
				Topic: name(r), Payload: make([]byte, r.IntN(300)), Interval: expiry.Seconds(uint32(r.IntN(99))), ReceivedAt: at + int64(r.IntN(99999)),
				Retain: r.IntN(5) > 0, Origin: Origin(r.IntN(3)),
			}
		}
		inv.Apply(batch)
	})
	work(func(r *rand.Rand) {
		inv.Tick(at + int64(r.IntN(99999)))
		inv.BeginScan()
		inv.NotSeen(context.Background(), 10)
		inv.DueTopics(at+99999, 10)
		inv.Vanished(name(r), at+99999, Gone)
		inv.SetBrokerStamps(r.IntN(2) == 0)
		inv.Events(0, 10)
		inv.Counts()
	})
	for _, spec := range []Spec{
		{Tree: true}, {}, {Filter: mustFilter("1 -2")}, {Filter: mustFilter("1"), Tree: true}, {Sort: BySize}, {Filter: mustFilter("w/+/7")},
	} {
		work(func(r *rand.Rand) {
			l, err := inv.List(context.Background(), spec)
			if err != nil {
				t.Error(err)
				return
			}
			l.OpenAll(true)
			var side sync.WaitGroup
			side.Go(func() { drain(l) })
			for range 5 {
				rows := l.Rows(posOf(name(r)), 40, nil)
				for i := range rows {
					if rows[i].Held {
						inv.Detail(rows[i].Slot.Ref)
					}
				}
				l.Move(posOf(name(r)), r.IntN(100)-50)
				l.At(r.IntN(1000))
				l.Index(posOf(name(r)))
				l.Last()
				l.Len()
				l.Pending()
			}
			side.Wait()
		})
	}
	for range 60 {
		if _, err := inv.List(context.Background(), Spec{Filter: mustFilter("is:due")}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}
