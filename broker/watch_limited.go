package broker

// What a limited version leaves open: whether the broker kept what was published live. It is asked for by exact name, so
// that the list follows a moment behind; a topic that is never kept is asked for rarely.

import (
	"context"
	"sync"
	"time"

	"retainscope/inventory"
)

const (
	// doubtPace is the distance of two questions, each for queryFilters topics at most.
	doubtPace = 5 * time.Second
	// unkeptPace is how soon a topic is asked for again that the broker did not keep.
	unkeptPace = 30 * time.Minute
	// doubtsMost is how many topics are remembered.
	doubtsMost = 20_000
)

// doubts are the topics that something was published on.
type doubts struct {
	mu     sync.Mutex
	topics map[string]*doubt
	full   bool // there were more than doubtsMost
}

// doubt is one topic.
type doubt struct {
	heard, asked time.Time
	kept         bool // as of the last question
}

// hear takes what was published. It is called on the goroutine that decodes.
func (d *doubts) hear(batch []inventory.Publication) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range batch {
		topic := batch[i].Topic
		if len(topic) == 0 || topic[0] == '$' {
			continue
		}
		t, known := d.topics[string(topic)]
		switch {
		case known:
		case len(d.topics) >= doubtsMost:
			d.full = true
			continue
		default:
			if d.topics == nil {
				d.topics = make(map[string]*doubt)
			}
			t = &doubt{}
			d.topics[string(topic)] = t
		}
		t.heard = now
	}
}

// due returns at most limit topics to ask for now.
func (d *doubts) due(limit int) (topics [][]byte) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	for topic, t := range d.topics {
		if !t.asked.IsZero() && (!t.heard.After(t.asked) || !t.kept && now.Sub(t.asked) < unkeptPace) {
			continue
		}
		t.asked = now
		if topics = append(topics, []byte(topic)); len(topics) == limit {
			break
		}
	}
	return topics
}

// answer takes the answer to a question. What was not concluded is asked for again when it is heard of again.
func (d *doubts) answer(topic []byte, v verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t, ok := d.topics[string(topic)]; ok {
		t.kept = v == present || t.kept && v == notConcluded
	}
}

// again has topics asked for at the next time, since the question failed.
func (d *doubts) again(topics [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, topic := range topics {
		if t, ok := d.topics[string(topic)]; ok {
			t.asked = time.Time{}
		}
	}
}

// overflown reports whether some topics are not followed.
func (d *doubts) overflown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// followDoubts asks for what was published live, until ctx ends.
func (w *Watcher) followDoubts(ctx context.Context) {
	tick := time.NewTicker(doubtPace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		topics := w.doubts.due(queryFilters)
		if len(topics) == 0 {
			continue
		}
		err := w.queries.exact(ctx, topics, func(topic []byte, at int64, v verdict) {
			w.doubts.answer(topic, v)
			if v == absent {
				w.inv.Vanished(topic, at, inventory.Gone)
			}
		})
		if err != nil && ctx.Err() == nil {
			w.doubts.again(topics)
			w.cfg.Logger.Info("topics that were published live could not be asked for", "error", err)
		}
	}
}
