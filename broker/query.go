package broker

// Exact questions: whether the broker still has a topic. Batches of exact filters on a connection of their own, each
// fenced, each with topics in it that must answer. Without their answer nothing is concluded.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"retainscope/inventory"
)

const (
	// queryFilters is how many filters one SUBSCRIBE asks for, so that all answers fit in any broker's queue.
	queryFilters = 900
	// queryBytes bounds the SUBSCRIBE packet of one batch.
	queryBytes = 128 << 10
	// queryQuiet is how long nothing may come after the fence before what did not come is absent: an early PINGRESP
	// and the delayed last segment of a burst were both seen.
	queryQuiet = 250 * time.Millisecond
	// queryIdle is how long the connection is kept without a question.
	queryIdle = time.Minute
)

// verdict is the answer to one exact question.
type verdict uint8

const (
	notConcluded verdict = iota // the broker refused the filter, or nothing at all came
	present
	absent
)

// querier asks on one connection, one batch at a time.
type querier struct {
	w *Watcher

	ask  sync.Mutex // held by whoever asks
	conn *Conn
	// fresh says that conn was made for the batch that was asked for last.
	fresh bool
	used  time.Time
	// chosen are the controls in use.
	chosen   [][]byte
	chosenAt time.Time

	mu      sync.Mutex
	pending map[string]bool // topics of the batch that is out, and whether they came
}

// take is called on the connection's decode goroutine: answers to the batch that is out go into the inventory.
func (q *querier) take(batch []inventory.Publication) {
	n := 0
	q.mu.Lock()
	for i := range batch {
		p := batch[i]
		if _, asked := q.pending[string(p.Topic)]; !asked || !p.Retain {
			continue // live traffic, or the rest of an earlier batch
		}
		q.pending[string(p.Topic)] = true
		if p.Topic[0] == '$' {
			continue // a control of the broker's own
		}
		batch[n] = p
		n++
	}
	q.mu.Unlock()
	if n > 0 {
		q.w.inv.Apply(batch[:n])
	}
}

// exact asks for each topic by its exact name and calls each with the answer, on the caller's goroutine. Answers are
// applied to the inventory before that. at is the instant, Unix ms, before the question was sent. The error says why
// the rest was not asked. Where the broker ends the connection over a batch, it is asked for again in smaller ones, and
// nothing is concluded of a single topic over which it does so.
func (q *querier) exact(ctx context.Context, topics [][]byte, each func(topic []byte, at int64, v verdict)) error {
	q.ask.Lock()
	defer q.ask.Unlock()
	topics = slices.DeleteFunc(slices.Clone(topics), func(t []byte) bool {
		if !askable(t) {
			each(t, q.w.now().UnixMilli(), notConcluded) // no filter can carry it
		}
		return !askable(t)
	})
	size := portion{packet: q.w.portions.most()}
	for ends := 0; len(topics) > 0; {
		n := portionOf(topics, size.limit(queryFilters))
		err := q.batch(ctx, topics[:n], size.packet, each)
		var over *endedOver
		switch {
		case err == nil:
			if size.many {
				q.w.learnFew()
			}
			size.grow(queryFilters)
			topics = topics[n:]
		case ctx.Err() != nil || !errors.As(err, &over):
			return err
		case !q.fresh: // it had stood for a while, and may have ended for any reason
		case size.shrink(n, over):
		default:
			if ends++; ends > asideMost {
				return err
			}
			each(topics[0], q.w.now().UnixMilli(), notConcluded)
			topics = topics[1:]
		}
	}
	return nil
}

// portionOf returns how many of topics the next question is for.
func portionOf(topics [][]byte, most int) int {
	n, size := 0, 0
	for n < len(topics) && n < most && (n == 0 || size+len(topics[n]) < queryBytes) {
		size += len(topics[n]) + 3
		n++
	}
	return n
}

// batch asks for some topics, in packets of at most most filters.
func (q *querier) batch(ctx context.Context, batch [][]byte, most int, each func([]byte, int64, verdict)) error {
	q.w.questions.Add(1)
	defer q.w.questions.Add(-1)
	if err := q.connect(ctx); err != nil {
		return err
	}
	controls := q.controls(ctx, batch)
	asked := make([]string, 0, len(batch)+len(controls))
	pending := make(map[string]bool, cap(asked))
	for _, t := range append(batch[:len(batch):len(batch)], controls...) {
		if _, twice := pending[string(t)]; !twice {
			pending[string(t)] = false
			asked = append(asked, string(t))
		}
	}
	q.mu.Lock()
	q.pending = pending
	q.mu.Unlock()
	// A broker that stands still for a while is waited for; one that never answers is not.
	ctx, cancel := context.WithTimeout(ctx, max(q.w.cfg.Timeout, patience))
	defer cancel()
	at := q.w.now().UnixMilli()
	grants, err := q.conn.subscribeIn(ctx, q.w.subscriptions(asked, Subscription{}), most)
	if err == nil {
		err = q.conn.Fence(ctx)
	}
	if err == nil {
		err = settle(ctx, q.conn, func() int64 { return q.conn.Stats().Publications }, queryQuiet)
	}
	if err == nil {
		err = q.conn.unsubscribeIn(ctx, asked, most)
	}
	q.mu.Lock()
	q.pending = nil
	q.mu.Unlock()
	if err != nil {
		q.drop()
		return fmt.Errorf("ask for single topics: %w", err)
	}
	q.used = time.Now()
	// One answer is control enough: it shows that this connection is sent retained copies of exact filters now.
	controlled := false
	granted := make(map[string]bool, len(grants))
	for _, g := range grants {
		granted[g.Filter] = !g.Refused()
		controlled = controlled || pending[g.Filter]
	}
	if !controlled {
		q.chosen = nil
	}
	for _, t := range batch {
		switch {
		case pending[string(t)]:
			each(t, at, present)
		case controlled && granted[string(t)]:
			each(t, at, absent)
		default:
			each(t, at, notConcluded)
		}
	}
	return nil
}

// connect makes sure that there is a connection that stands.
func (q *querier) connect(ctx context.Context) error {
	if q.conn != nil {
		select {
		case <-q.conn.Done():
			q.conn = nil
		default:
			q.fresh = false
			return nil
		}
	}
	conn, err := Dial(ctx, q.w.cfg.Config, q.take, inventory.Answer)
	if err != nil {
		return fmt.Errorf("ask for single topics: %w", err)
	}
	q.conn, q.fresh = conn, true
	return nil
}

func (q *querier) drop() {
	if q.conn != nil {
		shut(q.conn)
		q.conn = nil
	}
}

// idle closes the connection when nothing was asked for a while.
func (q *querier) idle() {
	if !q.ask.TryLock() {
		return
	}
	defer q.ask.Unlock()
	if q.conn != nil && time.Since(q.used) > queryIdle {
		q.drop()
	}
}

func (q *querier) close() {
	q.ask.Lock()
	defer q.ask.Unlock()
	q.drop()
}
