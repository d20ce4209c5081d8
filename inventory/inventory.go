package inventory

import (
	"context"
	"sync"

	"retainscope/expiry"
)

// Options bound what an Inventory keeps. The zero value takes every default.
type Options struct {
	MaxPayload int // bytes kept of one payload; 0 = 256 KiB. True length and digest are kept where bytes are cut
	// Whole reports that a payload on a topic is of use only when all of it is kept: up to MaxWhole bytes are then, and
	// never less than MaxPayload. nil = no topic is like that. It is called for payloads larger than MaxPayload, on the
	// goroutine of Apply and with the lock held.
	Whole       func(topic []byte) bool
	MaxWhole    int
	MaxPayloads int64 // bytes kept of all payloads and properties together; 0 = 1 GiB
	MaxChanges  int   // bytes of earlier contents kept for all topics together; 0 = 16 MiB
	Expected    int   // how many topics to size the indexes for; 0 = not known
}

// expectLimit is the largest number of topics that indexes are sized for on a word: 64 million places are 256 MiB.
const expectLimit = 40 << 20

// batchLimit is how many publications are applied before the lock is let go, so that a frame never waits for more.
const batchLimit = 256

// Inventory is the retained store of a broker as one login can see it. All methods may be called from any goroutine.
type Inventory struct {
	mu   sync.Mutex
	opts Options
	store
	habits expiry.Habits
	feed   feed
	judge  Judge

	// For one batch: hashes of the topics, numbers they probably have plus one, and what keeps the reading of them from
	// being left out as useless.
	hashes  [batchLimit]uint64
	guesses [batchLimit]uint32
	touched uint32
}

// New returns an empty inventory.
func New(o Options) *Inventory {
	if o.MaxPayload <= 0 {
		o.MaxPayload = 256 << 10
	}
	if o.MaxPayloads <= 0 {
		o.MaxPayloads = 1 << 30
	}
	if o.MaxChanges <= 0 {
		o.MaxChanges = 16 << 20
	}
	o.Expected = min(max(o.Expected, 0), expectLimit)
	inv := &Inventory{opts: o}
	inv.store.init(o)
	return inv
}

// Expect says how many topics will come, for instance because the broker told its count, so that the indexes need not
// grow while they do. It is cheap and may be wrong.
func (inv *Inventory) Expect(n int) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	n = min(n, expectLimit)
	inv.topics.expect(n)
	inv.tree.index.expect(indexedOf(n))
}

// Apply takes in publications in the order in which they reached us. What it needs of them it copies. It holds the lock
// for at most 256 at a time.
//
// Own is as Live, and no activity. A Replay or Answer fills or refreshes a slot and is never activity. Live with RETAIN and a payload replaces and is
// activity; without a payload it empties the slot. Live without RETAIN does not change the slot; it is noted when there
// is one.
//
// Live and replay come on different connections, so the order in which they reach us is not the order in which the
// broker stored them. What was live since BeginScan is newer than any copy the scan brings: such a copy does not replace
// it, nor does it bring back what a live tombstone removed. An Answer is held back in the same way for 10 s after a live
// publication or tombstone on its topic.
//
// Source: MQTT 5, 3.3.1.3 and 3.8.3.1.
func (inv *Inventory) Apply(batch []Publication) {
	for len(batch) > 0 {
		n := 0
		for n < len(batch) && n < batchLimit && !inv.large(&batch[n]) {
			n++
		}
		if n == 0 {
			// The digest of a large payload takes long, so it is computed before the lock is taken.
			sums := digestsOf(&batch[0])
			inv.applyRun(batch[:1], func() digests { return sums })
			batch = batch[1:]
			continue
		}
		inv.applyRun(batch[:n], nil)
		batch = batch[n:]
	}
}

func (inv *Inventory) large(q *Publication) bool {
	return len(q.Payload) > inv.opts.MaxPayload || len(q.Properties) > inv.opts.MaxPayload
}

// limit returns how many bytes of a payload are kept where the sum of all allows it.
func (o *Options) limit(q *Publication) int {
	if len(q.Payload) > o.MaxPayload && o.MaxWhole > o.MaxPayload && o.Whole != nil && o.Whole(q.Topic) {
		return o.MaxWhole
	}
	return o.MaxPayload
}

func (inv *Inventory) applyRun(batch []Publication, d func() digests) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.warm(batch)
	for i := range batch {
		q := &batch[i]
		if d != nil {
			inv.apply(q, inv.hashes[i], d)
			continue
		}
		inv.apply(q, inv.hashes[i], func() digests { return digestsOf(q) })
	}
	inv.tree.settle()
}

// warm computes the hashes of a batch and touches what applying it will need. A topic costs several places in memory
// that are far apart; asked for one after the other each is waited for, asked for together the waits overlap.
func (inv *Inventory) warm(batch []Publication) {
	if len(batch) == 1 {
		inv.hashes[0] = inv.hash(batch[0].Topic)
		return
	}
	touched := uint32(0)
	for i := range batch {
		h := inv.hash(batch[i].Topic)
		inv.hashes[i] = h
		touched += inv.topics.cur.touch(uint32(h))
	}
	for i := range batch {
		if id, ok := inv.topics.cur.guess(uint32(inv.hashes[i])); ok {
			rec := inv.records.at(id)
			inv.guesses[i] = id + 1
			touched += rec.hash
		} else {
			inv.guesses[i] = 0
		}
	}
	for i := range batch {
		if id := inv.guesses[i]; id != 0 {
			rec := inv.records.at(id - 1)
			if rec.flags&flagHeld != 0 {
				touched += uint32(inv.arena.chunks[rec.topic.chunk].data[rec.topic.off])
				if blob := inv.blobs.at(rec.blob, int(rec.blobLen)); len(blob) > 0 {
					touched += uint32(blob[0])
				}
			}
		}
	}
	inv.touched = touched
}

// BeginScan says that a snapshot is about to be asked for. Call it when the live connection stands and before the
// SUBSCRIBE of the snapshot.
func (inv *Inventory) BeginScan() {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.beginScan()
}

// EndScan says that no copy of the scan is expected any more; it frees what was remembered to judge them. Late copies
// are still taken. Calling it is not required.
func (inv *Inventory) EndScan() {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.endScan()
}

// NotSeen returns copies of at most limit topics (all when limit is 0 or less) that are held and were neither replayed nor
// published with RETAIN since BeginScan. They are to be asked for by their exact topic. It returns what it has when ctx
// ends.
func (inv *Inventory) NotSeen(ctx context.Context, limit int) [][]byte {
	return inv.notSeen(ctx, limit)
}

// Vanished says that topic was asked for at the instant at, Unix ms, and that the broker had nothing. It removes the
// slot, notes an event of kind why (Expired or Gone), and returns true. It does nothing and returns false when there is no
// slot or when a copy or a live publication arrived after at.
func (inv *Inventory) Vanished(topic []byte, at int64, why EventKind) bool {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.vanished(topic, at, why)
}

// StillServed says that topic was asked for past its end, and that the broker sent it again at the instant at, Unix ms.
// It does nothing when there is no slot or when its interval had not run out: then it was refreshed in between.
func (inv *Inventory) StillServed(topic []byte, at int64) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.stillServed(topic, at)
}

// Tick marks what ran out until now, Unix ms. It is meant to be called once a second and costs one pass over the
// deadlines.
func (inv *Inventory) Tick(now int64) { inv.tick(now) }

// DueTopics returns copies of at most limit topics (all when limit is 0 or less) whose interval ran out at least 2 s before
// now, Unix ms, and that were not returned in the last 60 s: they are to be asked for. It returns none while away.
func (inv *Inventory) DueTopics(now int64, limit int) [][]byte { return inv.dueTopics(now, limit) }

// SetAway says whether nobody watches the broker. While away, countdowns are shown stopped and nothing becomes due.
func (inv *Inventory) SetAway(away bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.setAway(away)
}

// SetLimited says whether the connection hides RETAIN of what is published live, as that of MQTT 3.1.1 does. A live
// publication with another payload then says nothing of what is held, and FlagLiveDiffers is not set.
func (inv *Inventory) SetLimited(limited bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	inv.limited = limited
}

// SetBrokerStamps says whether the broker adds an interval of its own to messages that had none. Intervals that cannot
// be told apart from that are unknown then; an interval is still told when a live copy came without one.
func (inv *Inventory) SetBrokerStamps(stamps bool) { inv.setBrokerStamps(stamps) }

// Habits returns what the copies applied so far tell about the broker's own doing with intervals.
func (inv *Inventory) Habits() expiry.Habits {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.habits
}

// Counts returns the sums over the whole inventory.
func (inv *Inventory) Counts() Counts {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.counts()
}

// Brought returns how many slots were made by a Replay so far: a topic that a live publication made is not among them.
func (inv *Inventory) Brought() int64 {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.brought
}

// Slot returns a copy of the slot, and false when it is gone.
func (inv *Inventory) Slot(r Ref) (Slot, bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.slot(r)
}

// Find returns the Ref of the slot of exactly this topic, and false when none is held.
func (inv *Inventory) Find(topic []byte) (Ref, bool) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.find(topic)
}

// Detail returns a copy of everything held of the slot, and false when it is gone. Digests are computed outside the
// lock.
func (inv *Inventory) Detail(r Ref) (Detail, bool) { return inv.detail(r) }

// Events returns copies of at most limit events (all when limit is 0 or less) numbered above after, oldest first, and the
// number of the last one looked at, which is after when there is none. Only the last few ten thousand are kept, those of
// small kinds apart from the others: older ones are passed over. Pass 0 to begin with the oldest
// kept.
func (inv *Inventory) Events(after uint64, limit int) ([]Event, uint64) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	return inv.news.list(after, limit)
}

// LatestEvents returns what Events does, and where more came than a reader can use only the latest: at most small of the
// small kinds, at most weighty of the others. The counts are of all events up to the number returned.
func (inv *Inventory) LatestEvents(after uint64, small, weighty int) ([]Event, uint64, EventCounts) {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	all, last := inv.news.latest(after, max(small, 0), max(weighty, 0))
	return all, last, inv.news.sums
}
