package broker

// What a broker tells of itself on its $SYS topics, and what may be computed from it.
// Pure bookkeeping: no socket, no clock, no text for people.

import (
	"strconv"
	"strings"
	"sync"

	"retainscope/inventory"
)

const (
	sysAll        = "$SYS/#"
	sysVersion    = "$SYS/broker/version"
	sysUptime     = "$SYS/broker/uptime"
	sysCount      = "$SYS/broker/retained messages/count" // mosquitto, FlashMQ
	sysCountMochi = "$SYS/broker/retained"
	sysDrop       = "$SYS/broker/publish/messages/dropped" // mosquitto
	sysDropMochi  = "$SYS/broker/messages/dropped"
	sysBeside     = "$SYS/broker/publish/messages/" // mosquitto's other counters, which move with every scan
)

// sysNeeded are the topics asked for one by one where $SYS/# is refused.
var sysNeeded = []string{sysVersion, sysUptime, sysCount, sysCountMochi, sysDrop, sysDropMochi}

// figures collects what one $SYS connection was sent. Safe for concurrent use.
type figures struct {
	mu     sync.Mutex
	topics map[string]struct{} // every $SYS topic sent since the subscription: mosquitto counts them as retained too
	whole  bool                // $SYS/# was granted, so topics is complete
	v      sysValues
	moved  chan struct{} // capacity 1: something came
}

// sysValues is one reading of the figures. The zero value knows nothing; use newFigures.
type sysValues struct {
	version string
	// count is the broker's number of retained messages, -1 when it was not told. own is how many $SYS topics of the
	// broker are in that number, -1 when that cannot be told.
	count     int64
	countFrom string
	own       int64
	countLive int64 // how often the count came live; 0 means that the value is as old as the broker likes
	dropped   int64 // the broker's dropped counter, -1 when it was not told
	dropLive  int64 // how often it came live
	// beside says that counters that stand beside the dropped one were told: this login is shown them, so that one that
	// is silent did not move.
	beside bool
	live   int64 // live $SYS messages so far: each group of them is one tick
	at     int64 // when the last of them came, Unix ms; 0 = none did
}

func newFigures() *figures {
	return &figures{
		topics: make(map[string]struct{}),
		v:      sysValues{count: -1, own: -1, dropped: -1},
		moved:  make(chan struct{}, 1),
	}
}

// apply takes a batch from the $SYS connection. The topics are bounded: a broker that answers $SYS/# with a flood is
// not worth more than a few thousand names.
func (f *figures) apply(batch []inventory.Publication) {
	f.mu.Lock()
	for i := range batch {
		f.take(&batch[i])
	}
	f.mu.Unlock()
	select {
	case f.moved <- struct{}{}:
	default:
	}
}

func (f *figures) take(p *inventory.Publication) {
	const most = 10000
	live := !p.Retain
	if live {
		f.v.live++
		f.v.at = p.ReceivedAt
	}
	topic := string(p.Topic)
	f.v.beside = f.v.beside || strings.HasPrefix(topic, sysBeside)
	switch topic {
	case sysVersion:
		f.v.version = versionText(p.Payload)
	case sysCount, sysCountMochi:
		if n, ok := sysNumber(p.Payload); ok {
			f.v.count, f.v.countFrom = n, topic
			if live {
				// The broker counted before it stored this very message, so the topics sent until now are those in it.
				f.v.own = int64(len(f.topics))
				f.v.countLive++
			}
		}
	case sysDrop, sysDropMochi:
		if n, ok := sysNumber(p.Payload); ok {
			f.v.dropped = n
			if live {
				f.v.dropLive++
			}
		}
	}
	if len(p.Payload) > 0 && len(f.topics) < most {
		f.topics[topic] = struct{}{}
	}
}

// read returns the figures as they are now.
func (f *figures) read() sysValues {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.v
	switch {
	case !f.whole || v.count < 0:
		v.own = -1
	case v.countLive == 0:
		// An old value: the copies sent with it are the best guess at what it held.
		v.own = int64(len(f.topics))
	}
	return v
}

// forgetTopics begins the count of $SYS topics anew, where all of them are sent to us.
func (f *figures) forgetTopics() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.whole {
		clear(f.topics)
	}
	return f.whole
}

// correct takes n as the number of the broker's own topics, unless it told its count again after ticks.
func (f *figures) correct(n, ticks int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.v.countLive == ticks {
		f.v.own = n
	}
}

func (f *figures) topicCount() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.topics))
}

// known returns how many retained topics the broker says it holds beside its own, and -1 when that cannot be told.
func (v sysValues) known() int64 {
	if v.count < 0 || v.own < 0 || v.count < v.own {
		return -1
	}
	return v.count - v.own
}

// countsDrops reports whether the broker's counter of dropped messages can be read, silent or not. mosquitto always has
// one, and tells it only when it moves; on 2.0 the topic itself expires a minute later. So one that was never read says
// something only where its neighbours are read: permissions may hide a single topic, and they hide it without a word.
func (v sysValues) countsDrops() bool { return v.dropped >= 0 || v.mayCountDrops() && v.beside }

// mayCountDrops reports whether the broker has such a counter, whoever may read it.
func (v sysValues) mayCountDrops() bool {
	return v.dropped >= 0 || strings.HasPrefix(v.version, "mosquitto ")
}

// dropsSince returns how far the dropped counter rose since before, -1 when that is not known. A counter that was
// silent before and speaks now has moved, by an unknown amount that is at least 1 and at most its value.
func (v sysValues) dropsSince(before sysValues) (n int64, moved bool) {
	switch {
	case !v.countsDrops():
		return -1, false
	case v.dropLive == before.dropLive:
		return 0, false
	case before.dropped < 0:
		// Nothing to subtract from. The counter is told only when it changes, so it did move; 0 is its first value.
		return -1, v.dropped > 0
	case v.dropped < before.dropped:
		return v.dropped, v.dropped > 0 // the broker was started anew
	default:
		return v.dropped - before.dropped, v.dropped > before.dropped
	}
}

func sysNumber(payload []byte) (int64, bool) {
	text, _, _ := strings.Cut(strings.TrimSpace(string(payload)), " ")
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

// versionText returns the broker's own words about itself, escaped and short. A bare number gets the word in front.
func versionText(payload []byte) string {
	const most = 80
	text := strings.TrimSpace(string(payload[:min(len(payload), most)]))
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		text = "version " + text
	}
	return plain(text)
}
