package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
	"retainscope/testbroker"
)

func TestABurstTakesFewReadsPerMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		var packets []byte
		for i := range n {
			packets = append(packets, retained(fmt.Sprint("house/room/", i), strings.Repeat("x", 300))...)
		}
		var s sink
		c := dialWire(t, nil, s.deliver, func(w *wire) {
			w.connect()
			w.subscribe()
			w.send(packets)
			w.pong()
		})
		if _, err := c.Subscribe(t.Context(), []Subscription{{Filter: "#"}}); err != nil {
			t.Fatal(err)
		}
		if err := c.Fence(t.Context()); err != nil {
			t.Fatal(err)
		}
		st := c.Stats()
		if st.Publications != n || st.ReadCalls > n/10 || st.WireBytes < int64(len(packets)) {
			t.Errorf("%+v", st)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if per := n / len(s.size); per < 100 {
			t.Errorf("%d publications in %d batches", n, len(s.size))
		}
	})
}

func TestABurstOfARealBrokerTakesFewReadsPerMessage(t *testing.T) {
	const n = 10_000
	b := testbroker.Start(t, testbroker.Config{})
	load(t, b.URL(), n, 300, func(i int) string { return fmt.Sprint("house/room/", i) })
	var s sink
	ctx := within(t)
	c, err := Dial(ctx, Config{URL: b.URL()}, s.deliver, inventory.Replay)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(ctx, []Subscription{{Filter: "#"}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Fence(ctx); err != nil {
		t.Fatal(err)
	}
	if st := c.Stats(); st.Publications != n || st.ReadCalls > n/10 {
		t.Errorf("%d publications in %d reads", st.Publications, st.ReadCalls)
	}
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheNapFollowsTheStream(t *testing.T) {
	s := &socket{}
	read := func(size int) { s.size = size; s.reads.Add(1) }
	p := pace{limit: longNap, burst: burstRead}
	for i, c := range []struct {
		size   int
		waited time.Duration
		want   time.Duration
	}{
		{100, time.Second, shortNap},           // after a pause
		{100, time.Microsecond, 2 * shortNap},  // steady: longer naps
		{100, time.Microsecond, 4 * shortNap},  //
		{100, time.Microsecond, longNap},       // and no longer
		{burstRead, time.Microsecond, 0},       // a burst
		{100, time.Microsecond, shortNap},      // its end
		{100, 20 * time.Millisecond, shortNap}, // a pause
		{burstRead - 1, time.Second, shortNap}, //
		{70_000, time.Second, 0},               //
	} {
		read(c.size)
		if got := p.after(s, chunkSize, c.waited); got != c.want {
			t.Errorf("step %d: nap %s, want %s", i, got, c.want)
		}
	}
	read(100)
	p.after(s, chunkSize, 0)
	read(100)
	if got := p.after(s, 100, 0); got != 0 {
		t.Errorf("a read that filled its room naps %s", got)
	}
	read(200)
	if got := p.after(s, chunkSize, 0); got != 2*shortNap {
		t.Errorf("and the nap after it is %s", got)
	}
	if got := p.after(s, chunkSize, 0); got != 0 {
		t.Errorf("no new read of the socket, and yet a nap of %s", got)
	}
	snapshot := pace{limit: shortNap, burst: burstRead}
	for range 5 {
		read(100)
		if got := snapshot.after(s, chunkSize, 0); got != shortNap {
			t.Errorf("a snapshot naps %s", got)
		}
	}
}
