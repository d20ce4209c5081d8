package broker

// The side connection that reads the broker's own figures.
// Read-only, optional, and on its own: a broker that ends connections over $SYS costs nothing but the figures.

import (
	"context"
	"time"

	"retainscope/inventory"
)

// sysWatch is a connection that is subscribed to the broker's $SYS topics. Nothing of it enters the inventory.
type sysWatch struct {
	conn *Conn
	figs *figures
	mute bool // the last PINGREQ of nextTick was not answered although the connection stood
}

// openSys returns a connection whose figures hold everything that the broker had retained under $SYS, or nil when the
// broker tells nothing to this login. A refusal is not an error.
func openSys(ctx context.Context, cfg Config) *sysWatch {
	if s := trySys(ctx, cfg, []string{sysAll}); s != nil {
		return s
	}
	return trySys(ctx, cfg, sysNeeded)
}

func trySys(ctx context.Context, cfg Config, filters []string) *sysWatch {
	figs := newFigures()
	conn, err := Dial(ctx, cfg, figs.apply, inventory.Replay)
	if err != nil {
		cfg.Logger.Info("no connection for $SYS", "error", err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	subs := make([]Subscription, len(filters))
	for i, f := range filters {
		subs[i] = Subscription{Filter: f}
	}
	grants, err := conn.Subscribe(ctx, subs)
	granted := 0
	for _, g := range grants {
		if !g.Refused() {
			granted++
		}
	}
	if granted > 0 {
		figs.mu.Lock()
		figs.whole = len(filters) == 1
		figs.mu.Unlock()
		err = conn.Fence(ctx)
		if err == nil {
			// The fence is early on some brokers: a moment more costs nothing here.
			err = settle(ctx, conn, func() int64 { return conn.Stats().Publications }, 50*time.Millisecond)
		}
		if err == nil {
			return &sysWatch{conn: conn, figs: figs}
		}
	}
	cfg.Logger.Info("$SYS is not readable", "filters", filters, "error", err)
	shut(conn)
	return nil
}

// read returns the figures; nothing known when there is no connection.
func (s *sysWatch) read() sysValues {
	if s == nil {
		return newFigures().read()
	}
	return s.figs.read()
}

// alive reports whether figures can still come.
func (s *sysWatch) alive() bool {
	if s == nil {
		return false
	}
	select {
	case <-s.conn.Done():
		return false
	default:
		return true
	}
}

// nextTick waits until a whole group of live $SYS messages has come that the broker wrote after this call, and returns
// the figures then. It returns false when none came within most, or when the connection ended.
func (s *sysWatch) nextTick(ctx context.Context, most time.Duration) (sysValues, bool) {
	if !s.alive() {
		return s.read(), false
	}
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	fence := func() error {
		err := s.conn.Fence(ctx)
		s.mute = err != nil && outer.Err() == nil && s.alive()
		return err
	}
	// What was on its way before now is taken first: it may be older than what the caller waits to have counted.
	if fence() != nil {
		return s.read(), false
	}
	before := s.read().live
	for s.read().live == before {
		select {
		case <-s.figs.moved:
		case <-s.conn.Done():
			return s.read(), false
		case <-ctx.Done():
			return s.read(), false
		}
	}
	// A tick is many messages written in one go: the fence stands behind the last of them.
	if fence() != nil {
		return s.read(), false
	}
	return s.read(), true
}

// recount has the broker send its $SYS topics again and returns how many there are, -1 when that failed.
func (s *sysWatch) recount(ctx context.Context) int64 {
	if !s.alive() || !s.figs.forgetTopics() {
		return -1
	}
	ctx, cancel := context.WithTimeout(ctx, s.conn.cfg.Timeout)
	defer cancel()
	if grants, err := s.conn.Subscribe(ctx, []Subscription{{Filter: sysAll}}); err != nil || grants[0].Refused() {
		return -1
	}
	if s.conn.Fence(ctx) != nil {
		return -1
	}
	return s.figs.topicCount()
}

func (s *sysWatch) close() {
	if s != nil {
		shut(s.conn)
	}
}

// closeTime is how long a connection that is no longer needed may take to leave in order.
const closeTime = 2 * time.Second

// shut closes a connection that nobody needs any more and waits for it, bounded.
func shut(c *Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = c.Close(ctx)
}

// settle waits until count has not moved for quiet. It returns the error that ended ctx or the connection.
func settle(ctx context.Context, c *Conn, count func() int64, quiet time.Duration) error {
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for last := count(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.Done():
			return c.Err()
		case <-timer.C:
		}
		now := count()
		if now == last {
			return nil
		}
		last = now
		timer.Reset(quiet)
	}
}
