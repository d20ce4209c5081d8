package broker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"retainscope/expiry"
)

// jitterConn holds every write up for a random moment, and keeps what was written.
type jitterConn struct {
	net.Conn
	mu     sync.Mutex
	frames *[]string // PUBLISH as topic=payload
	t      testing.TB
}

func (j *jitterConn) Write(p []byte) (int, error) {
	if n := rand.IntN(4); n > 0 {
		<-time.After(time.Duration(rand.IntN(n * 40_000)))
	}
	if p[0]>>4 == typePublish {
		_, header := varSize(p[1:])
		a, _ := parsePublish(j.t, p[0], p[1+header:])
		j.mu.Lock()
		*j.frames = append(*j.frames, a.String())
		j.mu.Unlock()
	}
	return j.Conn.Write(p)
}

// trial is a run of eight publishers over one jittery connection, with what the ledger and the wire were told.
type trial struct {
	k       *keeper
	p       *Publisher
	mu      sync.Mutex
	journal []string // of the ledger, in its order
	frames  []string // of the wire, in its order
}

func newTrial(t testing.TB) *trial {
	t.Helper()
	tr := &trial{k: newKeeper(t)}
	cfg := PublisherConfig{Config: tr.k.config(), Interval: 3600}
	below := cfg.wire
	cfg.wire = func(ctx context.Context) (net.Conn, error) {
		nc, err := below(ctx)
		if err != nil {
			return nil, err
		}
		return &jitterConn{Conn: nc, frames: &tr.frames, t: t}, nil
	}
	p, err := newPublisher(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.recorded = tr.note
	p.begin()
	tr.p = p
	for !p.Status().Settled {
		<-p.Changed()
	}
	return tr
}

func (tr *trial) note(topic string, payload []byte) {
	tr.mu.Lock()
	tr.journal = append(tr.journal, topic+"="+string(payload))
	tr.mu.Unlock()
}

func (tr *trial) close(t testing.TB) {
	t.Helper()
	halt(t, tr.p)
	tr.k.end()
}

// run has eight publishers publish values and tombstones on six topics, and a refresh every millisecond.
func (tr *trial) run(t testing.TB, each int, publish func(Message) error, refresh func()) {
	t.Helper()
	stop := make(chan struct{})
	var refreshing, publishing sync.WaitGroup
	refreshing.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				refresh()
			}
		}
	})
	for g := range 8 {
		publishing.Go(func() {
			for i := range each {
				m := Message{Topic: fmt.Sprintf("t/%d", rand.IntN(6)), QoS: byte(rand.IntN(2)), Retain: true}
				if rand.IntN(8) > 0 {
					m.Payload = fmt.Appendf(nil, "g%d-%d", g, i)
				}
				if err := publish(m); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	publishing.Wait()
	close(stop)
	refreshing.Wait()
}

// differ says where the wire went another way than the ledger, and nothing when it did not.
func (tr *trial) differ() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for i := range min(len(tr.journal), len(tr.frames)) {
		if tr.journal[i] != tr.frames[i] {
			return fmt.Sprintf("place %d: the ledger was told %s and the wire %s", i, tr.journal[i], tr.frames[i])
		}
	}
	if len(tr.journal) != len(tr.frames) {
		return fmt.Sprintf("the ledger was told %d times and the wire %d times", len(tr.journal), len(tr.frames))
	}
	return ""
}

// TestLedgerOrderIsWireOrder is the order test: the sequence of PUBLISH packets is the sequence of what the ledger was
// told, repetitions included, and the broker ends with what the ledger holds.
func TestLedgerOrderIsWireOrder(t *testing.T) {
	tr := newTrial(t)
	passes := 0
	tr.run(t, 200, func(m Message) error {
		_, err := tr.p.Publish(context.Background(), m)
		return err
	}, func() {
		// With a cutoff in the future the newest values are repeated as well, in the midst of what replaces them.
		if pass := tr.p.pass(tr.p.link.Load(), tr.p.instant().Add(time.Hour), false); pass.Err != nil {
			t.Error(pass.Err)
		}
		passes++
	})
	if d := tr.differ(); d != "" {
		t.Error(d)
	}
	var held []string
	for _, topic := range tr.p.ledger.Older(tr.p.instant()) {
		if e, _ := tr.p.ledger.Entry(topic); !e.Tombstone() {
			held = append(held, topic+"="+string(e.Payload))
		}
	}
	slices.Sort(held)
	tr.k.settle(t, len(tr.frames))
	if got := tr.k.alive(); !slices.Equal(got, held) {
		t.Errorf("the broker has %q and the ledger %q", got, held)
	}
	t.Logf("%d packets, %d passes", len(tr.frames), passes)
	if len(tr.frames) < 1650 || passes < 5 || tr.p.Status().Pending > 6 {
		t.Errorf("%d packets, %d passes, %d pending", len(tr.frames), passes, tr.p.Status().Pending)
	}
	tr.close(t)
}

// settle waits until the broker has n messages.
func (k *keeper) settle(t testing.TB, n int) {
	t.Helper()
	for limit := time.After(10 * time.Second); ; {
		if len(k.took()) >= n {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-limit:
			t.Fatalf("%d of %d messages came", len(k.took()), n)
		}
	}
}

// TestALockAroundTheLedgerAloneIsCaught runs the same with the plain mistake: the ledger is locked, and the write comes
// after. If the test above could not see that, it would prove nothing.
func TestALockAroundTheLedgerAloneIsCaught(t *testing.T) {
	for attempt := range 10 {
		tr := newTrial(t)
		l := tr.p.link.Load()
		var mu sync.Mutex
		var ledger expiry.Ledger
		send := func(e expiry.Entry) error {
			o := tr.p.outgoing(e, true)
			if o.qos > 0 {
				if err := l.slot(context.Background(), time.Minute); err != nil {
					return err
				}
			}
			f, _, err := l.send(&o)
			if err == nil && f != nil {
				_, err = l.await(context.Background(), f, time.Minute)
			}
			return err
		}
		tr.run(t, 50, func(m Message) error {
			e := expiry.Entry{Topic: m.Topic, Payload: bytes.Clone(m.Payload), QoS: m.QoS, Published: tr.p.instant()}
			mu.Lock()
			err := ledger.Record(e)
			tr.note(e.Topic, e.Payload)
			mu.Unlock()
			runtime.Gosched() // the gap is the mistake: with one processor nobody would be in it otherwise
			return errors.Join(err, send(e))
		}, func() {
			mu.Lock()
			topics := ledger.Older(tr.p.instant())
			mu.Unlock()
			for _, topic := range topics {
				mu.Lock()
				e, ok := ledger.Entry(topic)
				if ok {
					tr.note(e.Topic, e.Payload)
				}
				mu.Unlock()
				if ok {
					if err := send(e); err != nil {
						t.Error(err)
					}
				}
			}
		})
		d := tr.differ()
		tr.close(t)
		if d != "" {
			t.Logf("caught in run %d: %s", attempt+1, d)
			return
		}
	}
	t.Error("the mistake was not seen in ten runs")
}
