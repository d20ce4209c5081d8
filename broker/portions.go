package broker

// Topic filters in portions: how many of them one SUBSCRIBE may have, and what a broker that ends connections over more
// of them, or over a single one, is found to take.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"retainscope/inventory"
)

const (
	// fewFilters is how many topic filters every known broker takes in one SUBSCRIBE or UNSUBSCRIBE. AWS IoT Core ends the
	// connection over nine, others end it with 0x97 or without a word.
	fewFilters = 8
	// fewTogether is how many filters a connection is subscribed to at a time where they go in portions of fewFilters: AWS
	// IoT Core takes 50 on one connection.
	fewTogether = 40
	// asideMost is how many filters are set aside one after the other, each for a connection that ended.
	asideMost = 4
)

// endedOver says that the connection ended while the answer to a SUBSCRIBE or UNSUBSCRIBE was waited for. Some brokers
// do that over what stands in it.
type endedOver struct {
	filters []string
	err     error
}

// Error returns one sentence that names the first filter.
func (e *endedOver) Error() string { return e.err.Error() + e.when() }

// Unwrap returns why the connection ended.
func (e *endedOver) Unwrap() error { return e.err }

// when says what was asked for, as the rest of a sentence.
func (e *endedOver) when() string {
	if n := len(e.filters) - 1; n > 0 {
		return fmt.Sprintf(", when %s and %d more in one packet were asked for", quoted(e.filters[0]), n)
	}
	return ", when " + quoted(e.filters[0]) + " was asked for"
}

// cutShort returns err, which ended a request about filters, as an *endedOver where the connection ended with it.
func (c *Conn) cutShort(ctx context.Context, filters []string, err error) error {
	if err == nil || c.Err() == nil || ctx.Err() != nil {
		return err
	}
	return &endedOver{filters: filters, err: err}
}

// subscribeIn subscribes in packets of at most most filters each, 0 for no limit but the size that the server takes. It
// returns the grants of those that were answered, also with an error. Errors are those of Subscribe.
func (c *Conn) subscribeIn(ctx context.Context, subs []Subscription, most int) (grants []inventory.Grant, err error) {
	for len(subs) > 0 && err == nil {
		var got []inventory.Grant
		n := c.fitting(subs, most)
		got, err = c.Subscribe(ctx, subs[:n])
		grants, subs = append(grants, got...), subs[n:]
	}
	return grants, err
}

// unsubscribeIn unsubscribes in packets of at most most filters each, 0 for no limit. Errors are those of Unsubscribe.
func (c *Conn) unsubscribeIn(ctx context.Context, filters []string, most int) error {
	if most <= 0 {
		most = max(len(filters), 1)
	}
	for part := range slices.Chunk(filters, most) {
		if err := c.Unsubscribe(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// fitting returns how many of subs go into one SUBSCRIBE: at least one, and at most most where that is not 0.
func (c *Conn) fitting(subs []Subscription, most int) int {
	size := 0
	for i, s := range subs {
		size += 3 + len(s.Filter)
		if i > 0 && (i == most || c.fits("subscribe", size) != nil) {
			return i
		}
	}
	return len(subs)
}

// portion is how much of a long list of filters is asked for at a time. The zero value is as much as a broker without
// limits of its own takes.
type portion struct {
	packet int  // filters in one packet, 0 for no limit
	many   bool // packet was lowered, and nothing has shown yet that this helps
	batch  int  // filters in one batch after it was made smaller, 0 for no such limit
}

// limit returns the most filters of a batch where usual are taken of a broker without limits of its own.
func (s *portion) limit(usual int) int {
	if s.packet > 0 {
		usual = fewTogether - 3 // topics that must answer come with a question
	}
	if s.batch > 0 {
		usual = min(usual, s.batch)
	}
	return usual
}

// shrink makes the next batch smaller after one of n filters over which a fresh connection ended. It returns false where
// that was a single one.
func (s *portion) shrink(n int, over *endedOver) bool {
	switch {
	case s.packet == 0 && len(over.filters) > fewFilters:
		s.packet, s.many = fewFilters, true
	case n > 1:
		s.batch = n / 2
	default:
		return false
	}
	return true
}

// grow makes the next batch larger after one that went well, until it is as large as usual.
func (s *portion) grow(usual int) {
	s.many = false
	if s.batch *= 2; s.batch >= usual {
		s.batch = 0
	}
}

// portions is what a broker was found to take. The zero value knows no limit. It may be used from any goroutine.
type portions struct {
	mu    sync.Mutex
	few   bool            // fewFilters in one packet
	short bool            // not all that should have been asked for was, since it goes in portions
	aside map[string]byte // filters over which it ended a connection, and a code that says so
}

// most returns how many filters one packet may have, 0 for no limit.
func (p *portions) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.few {
		return fewFilters
	}
	return 0
}

// learnFew notes that a packet of few filters works where one of more ended the connection.
func (w *Watcher) learnFew() {
	w.portions.mu.Lock()
	news := !w.portions.few
	w.portions.few = true
	w.portions.mu.Unlock()
	if news {
		w.cfg.Logger.Debug("the broker ended a connection over a packet of many topic filters; from now on they go in portions", "filters", fewFilters)
	}
}

// cutShort notes that not everything was asked for, since it goes in portions.
func (p *portions) cutShort() {
	p.mu.Lock()
	p.short = true
	p.mu.Unlock()
}

// setAside notes that the broker ended a connection over one filter. It returns false when there were too many before.
func (w *Watcher) setAside(filter string, cause error) bool {
	code := byte(0x80)
	var goodbye *ServerDisconnect
	if errors.As(cause, &goodbye) && goodbye.Code >= 0x80 {
		code = goodbye.Code
	}
	w.portions.mu.Lock()
	defer w.portions.mu.Unlock()
	if len(w.portions.aside) >= asideMost {
		return false
	}
	if w.portions.aside == nil {
		w.portions.aside = make(map[string]byte)
	}
	w.portions.aside[filter] = code
	w.cfg.Logger.Info("the broker ends the connection over a topic filter; it is left out", "filter", filter, "error", cause)
	return true
}

// forgetAside has the filters that were set aside asked for again, on a connection to come.
func (w *Watcher) forgetAside() {
	w.portions.mu.Lock()
	w.portions.aside = nil
	w.portions.mu.Unlock()
}

// notes says what is not asked for because of what the broker takes.
func (p *portions) notes() (notes []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for filter := range p.aside {
		notes = append(notes, fmt.Sprintf("The broker ends the connection when it is asked for %s: that filter is left out.", quoted(filter)))
	}
	slices.Sort(notes)
	if p.short {
		notes = append(notes, fmt.Sprintf("The broker takes no more than %d topic filters in one packet, so not every topic that a scan did not bring is asked for.", fewFilters))
	}
	return notes
}

// wanted returns the filters and extra filters, less those that are set aside, and the codes of these.
func (w *Watcher) wanted() (ask []string, aside map[string]byte) {
	w.portions.mu.Lock()
	defer w.portions.mu.Unlock()
	aside = make(map[string]byte, len(w.portions.aside))
	for _, f := range slices.Concat(w.cfg.Filters, w.cfg.Extra) {
		if code, is := w.portions.aside[f]; is {
			aside[f] = code
		} else {
			ask = append(ask, f)
		}
	}
	return ask, aside
}

// subscribeAll subscribes conn to the filters and the extra filters, in packets of at most most. It returns a grant for
// each in their order, those set aside as refused; fewer with an error.
func (w *Watcher) subscribeAll(ctx context.Context, conn *Conn, like Subscription, most int) ([]inventory.Grant, error) {
	ask, aside := w.wanted()
	got, err := conn.subscribeIn(ctx, w.subscriptions(ask, like), most)
	var grants []inventory.Grant
	for _, f := range slices.Concat(w.cfg.Filters, w.cfg.Extra) {
		if code, is := aside[f]; is {
			grants = append(grants, inventory.Grant{Filter: f, Code: code})
			continue
		}
		if len(got) == 0 {
			break
		}
		grants, got = append(grants, got[0]), got[1:]
	}
	return grants, err
}

// subscribed makes a connection with dial and subscribes it to the filters and the extra filters. Where the broker ends
// the connection over them, it dials again and asks for fewer at a time, down to one, and leaves out the one over which
// the connection ends all the same. Filters that go are no error; the error is that of dial, with no connection, or of
// the SUBSCRIBE, with the connection it was made on.
func (w *Watcher) subscribed(ctx context.Context, dial func() (*Conn, error), like Subscription) (*Conn, []inventory.Grant, error) {
	most, many := w.portions.most(), false
	for {
		conn, err := dial()
		if err != nil {
			return nil, nil, err
		}
		grants, err := w.subscribeAll(ctx, conn, like, most)
		var over *endedOver
		ask, _ := w.wanted()
		switch {
		case err == nil:
			if many {
				w.learnFew()
			}
			return conn, grants, nil
		case !errors.As(err, &over), len(ask) == 1:
			return conn, grants, err
		case len(over.filters) > fewFilters:
			most, many = fewFilters, true
		case most != 1:
			most = 1 // to learn over which
		case !w.setAside(over.filters[0], over.err):
			return conn, grants, err
		}
		shut(conn)
	}
}
