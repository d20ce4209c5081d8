package broker

// The watcher: a live connection that stands, scans on connections of their own, and what both may claim.
// What a person sees of it are values, Status and the inventory; nothing here waits for whoever looks.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"retainscope/inventory"
)

// WatchConfig says what is watched. The zero value of every field but URL has a meaning.
type WatchConfig struct {
	Config
	Filters []string // topic filters that stand for the store; default "#"
	// Extra are filters such as $SYS/# whose topics are shown as well. They are never cleared, sliced or counted.
	Extra   []string
	Quiet   time.Duration // how long no retained copy may come before a scan has ended; default 2 s
	SysWait time.Duration // longest wait for the broker's next $SYS figures where they decide; default 15 s
	Slices  bool          // ask for parts where the whole was not complete
	Once    bool          // one scan, then every connection is closed; a loss is not made good
	Pace    time.Duration // pause between two slices, at the least; default 10 ms
	Tap     Tap           // is told what is seen; nil costs nothing
}

const (
	defaultQuiet   = 2 * time.Second
	defaultSysWait = 15 * time.Second
	defaultPace    = 10 * time.Millisecond
)

func (c WatchConfig) filled() WatchConfig {
	c.Config = c.Config.filled()
	if len(c.Filters) == 0 {
		c.Filters = []string{"#"}
	}
	if c.Quiet <= 0 {
		c.Quiet = defaultQuiet
	}
	if c.SysWait <= 0 {
		c.SysWait = defaultSysWait
	}
	if c.Pace <= 0 {
		c.Pace = defaultPace
	}
	return c
}

// Watcher keeps an inventory up to date with a broker. Its methods may be called from any goroutine.
type Watcher struct {
	cfg WatchConfig
	inv *inventory.Inventory

	ctx    context.Context // ends with Close, and with the context of Watch
	cancel context.CancelFunc
	ended  sync.WaitGroup

	changed  chan struct{}
	rescan   chan struct{}
	scanned  chan struct{}
	scanOnce sync.Once

	queries     querier
	doubts      doubts        // of a limited version
	versionTold atomic.Bool   // the login may read $SYS/broker/version
	stamps      atomic.Bool   // the broker was found to add intervals of its own
	noRetain    atomic.Bool   // the broker says that it keeps nothing
	questions   atomic.Int64  // exact questions that wait for an answer
	turn        atomic.Uint32 // moves the choice of the topics that must answer
	sys         *sysWatch     // owned by the scan that runs, or else by attend
	expiries    expiries
	portions    portions  // what the broker takes in one SUBSCRIBE
	last        *evidence // of the last scan, owned like sys
	// figuresAt is how many live $SYS messages had come a second ago, judgedAt how many when a tick was judged last, and
	// moving for how many seconds they have come without a rest; owned like sys.
	figuresAt, judgedAt int64
	moving              int
	apart               apart  // owned like sys
	extras              int64  // topics held because of Extra, as of the last tick; owned like sys
	stopLinger          func() // ends what a scan left open, owned like sys

	live liveSigns
	// liveGrants and liveExtra are the answers to the filters and extra filters on the live connection; written before a
	// session's scans start.
	liveGrants, liveExtra []inventory.Grant

	mu   sync.Mutex
	link inventory.Link
	cov  inventory.Coverage
}

// Watch connects once, subscribes live and starts the first scan. A failure of this first connection is the error
// returned, a *ConnectError where the broker could not be reached or refused; nothing runs then. Filters that the
// broker refuses are no error: Coverage names them. The watcher ends with ctx or with Close.
func Watch(ctx context.Context, cfg WatchConfig, inv *inventory.Inventory) (*Watcher, error) {
	cfg = cfg.filled()
	w := &Watcher{
		cfg: cfg, inv: inv,
		changed: make(chan struct{}, 1), rescan: make(chan struct{}, 1), scanned: make(chan struct{}),
	}
	w.queries.w = w
	w.stopLinger = func() {}
	inv.SetLimited(cfg.Version.Limited())
	now := cfg.Clock()
	w.link = inventory.Link{
		State: inventory.Connecting, Since: now, URL: cfg.URL, User: plain(cfg.User), Protocol: cfg.Version.String(),
		Insecure: cfg.Insecure, ScanOf: -1,
	}
	w.cov = inventory.Coverage{Rule: "Nothing was asked for yet.", Known: -1, Dropped: -1}
	conn, err := w.connectLive(ctx)
	if err != nil {
		return nil, err
	}
	w.ctx, w.cancel = context.WithCancel(ctx)
	up := cfg.Clock()
	w.setLink(func(l *inventory.Link) { l.State, l.Since = inventory.Watching, up })
	w.tapWatching(up)
	w.ended.Add(1)
	go w.run(conn)
	return w, nil
}

// connectLive makes the live connection and subscribes it: every publication as published, no retained copies. A limited
// version brings them all the same, to be dropped: one scan goes without live changes then, and what follows waits until
// the broker has sent them, so that none which it drops counts against the scan.
func (w *Watcher) connectLive(ctx context.Context) (*Conn, error) {
	dial := func() (*Conn, error) { return Dial(ctx, w.cfg.Config, w.takeLive, inventory.Live) }
	limited := w.cfg.Version.Limited()
	if limited && w.cfg.Once {
		return dial()
	}
	w.forgetAside()
	conn, grants, err := w.subscribed(ctx, dial, Subscription{RetainHandling: 2, RetainAsPublished: true})
	if conn == nil {
		return nil, err
	}
	if err != nil {
		shut(conn)
		return nil, fmt.Errorf("subscribe to live changes: %w", err)
	}
	own := min(len(grants), len(w.cfg.Filters))
	w.liveGrants, w.liveExtra = grants[:own:own], grants[own:]
	w.noRetain.Store(!conn.Server().RetainAvailable)
	if limited {
		waiting, cancel := context.WithTimeout(ctx, max(w.cfg.Timeout, patience/4))
		defer cancel()
		if err := conn.Fence(waiting); err != nil && waiting.Err() == nil {
			return nil, fmt.Errorf("subscribe to live changes: %w", err)
		}
	}
	return conn, nil
}

// subscriptions returns like for each filter.
func (w *Watcher) subscriptions(filters []string, like Subscription) []Subscription {
	subs := make([]Subscription, len(filters))
	for i, f := range filters {
		like.Filter = f
		subs[i] = like
	}
	return subs
}

// Status returns the state of the connection and what the list may claim, as values to keep.
func (w *Watcher) Status() (inventory.Link, inventory.Coverage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.link, w.cov
}

// Changed returns a channel that holds one signal when Status has changed since the last one was taken.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Scanned returns a channel that is closed when the first scan has ended, well or not: Coverage tells. With Once it is
// also closed when the connection was lost before.
func (w *Watcher) Scanned() <-chan struct{} { return w.scanned }

// Rescan asks for a scan now, or after the one that runs. Several calls before it starts are one.
func (w *Watcher) Rescan() {
	select {
	case w.rescan <- struct{}{}:
	default:
	}
}

// Close ends every connection in order and returns when every goroutine has ended, or with ctx's error before that
// when ctx ends first; what is left then still ends by itself. A second call waits as well.
func (w *Watcher) Close(ctx context.Context) error {
	w.cancel()
	done := make(chan struct{})
	go func() { w.ended.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *Watcher) setLink(f func(*inventory.Link)) {
	w.mu.Lock()
	f(&w.link)
	w.mu.Unlock()
	w.signal()
}

func (w *Watcher) setCoverage(f func(*inventory.Coverage)) {
	w.mu.Lock()
	f(&w.cov)
	w.mu.Unlock()
	w.signal()
}

// setBoth is for what must not be seen apart.
func (w *Watcher) setBoth(f func(*inventory.Link, *inventory.Coverage)) {
	w.mu.Lock()
	f(&w.link, &w.cov)
	w.mu.Unlock()
	w.signal()
}

// signal never blocks: whoever looks reads the newest state whenever it gets there.
func (w *Watcher) signal() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// progress says what the scan does, and how far.
func (w *Watcher) progress(done, of int64, format string, args ...any) {
	w.setLink(func(l *inventory.Link) {
		l.Progress, l.ScanDone, l.ScanOf = fmt.Sprintf(format, args...), done, of
	})
}

func (w *Watcher) now() time.Time { return w.cfg.Clock() }

// held returns how many retained topics the filters have brought: everything held, less what Extra brought.
func (w *Watcher) held(ctx context.Context) int64 {
	n := w.inv.Counts().Topics
	for _, f := range w.cfg.Extra {
		if filter, err := inventory.ParseFilter(f); err == nil && strings.HasPrefix(f, "$") {
			if l, err := w.inv.List(ctx, inventory.Spec{Filter: filter}); err == nil {
				n -= int64(l.Len())
			}
		}
	}
	return max(n, 0)
}

// extraOnly reports whether topics that begin with $ come of extra filters alone.
func (w *Watcher) extraOnly() bool {
	return len(w.cfg.Extra) > 0 && !slices.ContainsFunc(w.cfg.Filters, func(f string) bool { return strings.HasPrefix(f, "$") })
}

// lossText returns why a connection ended, as one sentence without a full stop.
func lossText(err error) string {
	var over *endedOver
	var gone *ServerDisconnect
	var wrong *ProtocolError
	var refused *ConnectError
	switch {
	case err == nil:
		return "the connection was closed"
	case errors.As(err, &over):
		return lossText(over.err) + over.when()
	case errors.As(err, &gone):
		return gone.Error()
	case errors.As(err, &wrong):
		return wrong.Error()
	case errors.As(err, &refused):
		return refused.Error()
	case errors.Is(err, io.EOF):
		return "the broker closed the connection without a word"
	default:
		return plain(err.Error())
	}
}
