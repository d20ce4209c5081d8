package cli

// The journal of a running program: what is seen live is written on, unless somebody else does it already.
// It is a tap of the watcher, so nothing here may hold up the wire: what finds no room is counted and left out.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/broker"
	"retainscope/inventory"
	"retainscope/journal"
)

const (
	// keeperTime is how often spans are read anew, what was lost is told, and a journal that somebody else wrote is tried.
	keeperTime = 30 * time.Second
	// enrollPart is how many topics are given to the journal in one go.
	enrollPart = 256
	// A look of less than lookTime at more than lookTopics topics leaves no row for each of them on the disk.
	lookTime   = time.Minute
	lookTopics = 20_000
)

// keeper remembers for one run of the program. One goroutine runs it; the methods of the tap may be called on any.
type keeper struct {
	*memory
	opts    journal.Options
	writing atomic.Pointer[journal.Journal] // nil while somebody else writes, or this program is not allowed to

	watch   sync.Mutex // over what follows: the span that a journal taken over later has to begin
	since   int64      // Unix milliseconds; 0 = nobody watches
	filters []string
	heldBy  string // who writes, as far as it was told
	closed  bool
	missed  atomic.Bool // something that counts came since then and no journal took it

	looks    bool          // this run may be no more than a look
	begun    chan struct{} // a span began and nothing is written yet
	scanned  chan struct{}
	recalled chan struct{}
	once     sync.Once
	lost     int64 // observations that found no room, as of the last report
	seen     []journal.Seen
}

// keep returns the keeper of one run, nil where the settings want no journal. holder is what another program is told.
// Where somebody else writes, it reads until it can take over: heldBy tells who. It returns the error of a journal that can be
// neither made nor written.
func (r *resolved) keep(inv *inventory.Inventory, holder string, log *slog.Logger) (*keeper, error) {
	m := r.remember(inv, log)
	if m == nil {
		if r.Journal.Enabled {
			log.Warn("nothing is remembered: there is no folder for it (HOME, XDG_STATE_HOME), and journal.file is empty")
		}
		return nil, nil
	}
	if r.Journal.File == "" {
		if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the journal: %w", err)
		}
	}
	k := &keeper{
		memory: m, looks: holder != watchHolder, begun: make(chan struct{}, 1), scanned: make(chan struct{}, 1), recalled: make(chan struct{}),
		opts: journal.Options{
			Broker: m.broker, Now: func() int64 { return time.Now().UnixMilli() }, Holder: holder, Group: r.Journal.Group, Flush: r.Journal.Flush,
			MaxTopics: r.Journal.MaxTopics, MaxBytes: r.Journal.MaxSize, Logger: log,
		},
	}
	m.writes = func() *journal.Reader {
		if j := k.writing.Load(); j != nil {
			return j.Reader
		}
		return nil
	}
	fresh, err := k.fresh()
	if err == nil && !fresh {
		err = k.take()
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// fresh reports whether there is no journal yet, but could be: then it is made when a connection stands, so that an
// address that nobody answers at and a refused login leave none.
func (k *keeper) fresh() (bool, error) {
	if _, err := os.Stat(k.file); !errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	probe, err := os.CreateTemp(filepath.Dir(k.file), ".journal-*")
	if err != nil {
		return false, fmt.Errorf("make the journal: %w", err)
	}
	return true, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// take opens the journal for writing where nobody else writes it. That somebody does is no error.
func (k *keeper) take() error {
	k.watch.Lock()
	defer k.watch.Unlock()
	if k.closed || k.writing.Load() != nil {
		return nil
	}
	j, err := journal.Open(k.file, k.opts)
	var held *journal.HeldError
	switch {
	case errors.As(err, &held):
		if k.heldBy != held.By {
			k.log.Info("the journal is read, and written by somebody else", "file", k.file, "by", held.By)
		}
		k.heldBy = held.By
		return nil
	case err != nil:
		return err
	}
	k.heldBy = ""
	k.log.Info("the journal is written", "file", k.file)
	k.writing.Store(j) // first: what finds no journal from here on has said so before missed is asked
	if k.since != 0 {
		from := k.since
		if k.missed.Load() {
			from = k.opts.Now()
		}
		j.Watching(from, k.filters)
	}
	return nil
}

func (k *keeper) tryTake() {
	if err := k.take(); err != nil {
		k.complain(err.Error())
	}
}

// holder returns who writes the journal, "" where this program does, and for a nil keeper.
func (k *keeper) holder() string {
	if k == nil {
		return ""
	}
	k.watch.Lock()
	defer k.watch.Unlock()
	return k.heldBy
}

// Live gives the journal what was published. What was not retained counts where the topic is.
func (k *keeper) Live(batch []inventory.Publication) {
	j := k.writing.Load()
	if j == nil {
		if j = k.without(batch); j == nil {
			return
		}
	}
	k.seen = k.seen[:0]
	for i := range batch {
		p := &batch[i]
		if !k.counts(p) {
			continue
		}
		s := journal.Seen{Topic: p.Topic, At: p.ReceivedAt, Live: true, Retain: p.Retain, Interval: p.Interval}
		if p.Retain {
			s.Digest = journal.Digest(p.Payload)
		}
		k.seen = append(k.seen, s)
	}
	j.Observe(k.seen)
}

// without notes what there is no journal for. It returns the journal that is there all the same by then.
func (k *keeper) without(batch []inventory.Publication) *journal.Journal {
	if k.missed.Load() {
		return nil
	}
	for i := range batch {
		if k.counts(&batch[i]) {
			k.missed.Store(true)
			return k.writing.Load()
		}
	}
	return nil
}

// counts reports whether a publication is a sign of life of a topic that is held: what was sent from here and a removal
// are nobody's.
func (k *keeper) counts(p *inventory.Publication) bool {
	switch {
	case p.Origin == inventory.Own:
		return false
	case p.Retain:
		return len(p.Payload) > 0
	}
	_, held := k.inv.Find(p.Topic)
	return held
}

// Watching begins a span.
func (k *keeper) Watching(at time.Time, filters []string) {
	k.watching(at.UnixMilli(), filters)
	k.watch.Lock()
	defer k.watch.Unlock()
	k.since, k.filters = at.UnixMilli(), filters
	if j := k.writing.Load(); j != nil {
		j.Watching(k.since, filters)
		return
	}
	select {
	case k.begun <- struct{}{}:
	default:
	}
}

// Blind ends it.
func (k *keeper) Blind(at time.Time) {
	k.mu.Lock()
	k.blind(at.UnixMilli())
	k.mu.Unlock()
	k.watch.Lock()
	defer k.watch.Unlock()
	k.since = 0
	k.missed.Store(false)
	if j := k.writing.Load(); j != nil {
		j.Blind(at.UnixMilli())
	}
}

// Scanned has what is remembered brought into the inventory, and what the scan found into the journal.
func (k *keeper) Scanned() {
	select {
	case k.scanned <- struct{}{}:
	default:
	}
}

// tapped returns c with the keeper as its tap. A nil keeper changes nothing.
func (k *keeper) tapped(c broker.WatchConfig) broker.WatchConfig {
	if k != nil {
		c.Tap = k
	}
	return c
}

// remembers returns what the keeper reads of the journal; nil for a nil keeper.
func (k *keeper) remembers() *memory {
	if k == nil {
		return nil
	}
	return k.memory
}

// known returns a channel that is closed when a scan has ended and what is remembered was brought in; scanned for a nil
// keeper.
func (k *keeper) known(scanned <-chan struct{}) <-chan struct{} {
	if k == nil {
		return scanned
	}
	return k.recalled
}

// start runs the keeper. The returned function ends it and closes the journal; call it when the watcher is closed. A
// nil keeper does nothing.
func (k *keeper) start(ctx context.Context) (finish func()) {
	if k == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer k.once.Do(func() { close(k.recalled) })
		k.run(ctx)
	}()
	return func() {
		cancel()
		<-ended
		k.close()
	}
}

func (k *keeper) run(ctx context.Context) {
	tick := time.NewTicker(keeperTime)
	defer tick.Stop()
	start := time.Now()
	later := time.NewTimer(lookTime)
	defer later.Stop()
	put := false // off until later
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.begun:
			k.tryTake()
		case <-k.scanned:
			k.tryTake()
			n := k.recall(ctx)
			k.once.Do(func() { close(k.recalled) })
			k.log.Debug("the journal was read", "known", n)
			if put = k.looks && k.inv.Counts().Topics > lookTopics && time.Since(start) < lookTime; !put {
				k.enroll(ctx)
			}
		case <-later.C:
			if put {
				k.enroll(ctx)
			}
		case <-tick.C:
			k.tryTake()
			k.look(ctx)
			k.report()
		}
	}
}

// enroll tells the journal of everything that is held.
func (k *keeper) enroll(ctx context.Context) {
	j := k.writing.Load()
	if j == nil {
		return
	}
	part := make([]journal.Seen, 0, enrollPart)
	flush := func() error {
		err := j.Enroll(ctx, part)
		part = part[:0]
		return err
	}
	err := k.inv.Walk(ctx, inventory.Spec{}, func(d inventory.Detail) error {
		part = append(part, journal.Seen{
			Topic: d.Topic, At: d.ReceivedAt, Retain: true, Interval: d.Interval, Digest: journal.DigestOf(d.SHA256),
		})
		if len(part) < enrollPart {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil && ctx.Err() == nil {
		k.log.Warn("what the scan found is not in the journal", "error", err)
	}
}

// report says in the log how much found no room since the last time.
func (k *keeper) report() {
	j := k.writing.Load()
	if j == nil {
		return
	}
	if n := j.Stats().Overflow; n > k.lost {
		k.log.Warn("more topics were seen live than the journal could take between two writes", "left_out", n-k.lost)
		k.lost = n
	}
}

func (k *keeper) close() {
	k.watch.Lock()
	k.closed = true
	j := k.writing.Load()
	k.watch.Unlock()
	if j == nil {
		return
	}
	if err := j.Close(); err != nil {
		k.log.Warn("the journal could not be closed", "error", err)
	}
}
