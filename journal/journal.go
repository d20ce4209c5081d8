// Package journal remembers what was observed over weeks: when a topic was first seen, when and how often it was seen
// live, the cadence of its publishes, and during which spans somebody was watching at all.
//
// Facts only, one file, one writer at a time and any number of readers. No network, no screen, no judgement; a replay is never activity.
package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"retainscope/expiry"
)

// Options says how a journal is kept. Broker and Now must be set; every other zero value has a meaning.
type Options struct {
	// Broker names what is observed, for instance by its URL without credentials. A file belongs to one broker.
	Broker string
	// Now returns the instant in Unix milliseconds.
	Now func() int64
	// Holder is what another program is told about who writes, for instance "retainscope watch". The process, the host
	// and the time are added.
	Holder string
	// Flush is the longest time for which an observation is in memory only; default 10 s. What was observed before the
	// last flush survives the end of the process at any moment, and a loss of power where the disk keeps its word.
	Flush time.Duration
	// MaxTopics and MaxBytes bound what is kept: default 1 100 000 topics and 512 MiB of file. Beyond either, those go
	// first that were never seen live, oldest first, then the others, oldest first. See Info.Dropped.
	MaxTopics int64
	MaxBytes  int64
	// MaxPending bounds the topics that wait for a flush; default 262 144,
	// about 60 MB where so many change between two flushes. At half of it a flush begins at once.
	MaxPending int
	// MaxSpans bounds the spans of watching that are kept, oldest dropped first; default 10 000.
	MaxSpans int
	// Group makes the files readable and writable for the group as well, for a folder that several accounts share. Without it
	// only the owner may read them.
	Group  bool
	Logger *slog.Logger // nil discards. Topics and payloads are never logged
}

func (o Options) filled() Options {
	if o.Flush <= 0 {
		o.Flush = 10 * time.Second
	}
	if o.MaxTopics <= 0 {
		o.MaxTopics = 1_100_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 512 << 20
	}
	if o.MaxPending <= 0 {
		o.MaxPending = 1 << 18
	}
	if o.MaxSpans <= 0 {
		o.MaxSpans = 10_000
	}
	if o.Holder == "" {
		o.Holder = "retainscope"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Seen is one observation of one topic. The slices are borrowed for the call.
type Seen struct {
	Topic []byte
	At    int64 // Unix milliseconds
	// Live is false for a replayed copy, which tells that the topic is there and nothing about when it was published.
	Live bool
	// Retain tells that the broker keeps the message. A live message without it is activity on a topic that the journal
	// knows already, and nothing else.
	Retain   bool
	Interval expiry.Interval // as it was on the wire
	Digest   uint64          // of the payload, see Digest; 0 where it is not known
}

// Journal is the one writer of a file. It is a Reader as well: what it reads is what has been flushed. Its methods may
// be called from any goroutine.
type Journal struct {
	*Reader
	opts Options
	lock *lockFile
	w    *writer

	mu      sync.Mutex
	pending pending
	room    chan struct{} // closed and replaced when pending topics were taken over by a flush
	span    Span          // open while Start is not 0
	late    time.Duration // how much later than the last beat the next one may come: a period and a leap
	dirty   bool          // the span changed in a way that the file does not know
	ended   []Span        // spans that ended since the last flush
	stats   Stats
	closed  bool

	flushing sync.Mutex // held over a whole flush, before mu

	full chan struct{} // capacity 1: flush now
	stop chan struct{}
	done chan struct{}
}

// Stats is what a Journal has done since it was opened.
type Stats struct {
	Flushed   int64 // Unix milliseconds of the last flush that succeeded; 0 when there was none
	FlushTime time.Duration
	Pending   int   // topics that wait for the next flush
	Overflow  int64 // observations of further topics that were lost because too many waited
	Err       error // of the last flush; nil when it succeeded. What it could not write is kept and tried again
}

// ErrClosed is returned by the methods of a Journal that was closed.
var ErrClosed = errors.New("the journal is closed")

// Open opens the journal at path for writing and makes it where there is none; its folder must exist. It returns a
// *HeldError when another process writes to it, a *BrokerError when it belongs to another broker, and otherwise the
// error of the file system or database. A journal that is damaged is moved aside, to path with ".damaged" and the
// time, and a new one is begun; that is logged. A file that shows nothing of a journal is left alone, and is an error. One goroutine runs until Close.
func Open(path string, o Options) (*Journal, error) {
	if o.Now == nil || o.Broker == "" {
		return nil, errors.New("open journal: Broker and Now must be set")
	}
	o = o.filled()
	lock, err := acquire(path+".lock", o.Holder, o.Now(), o.Group)
	if err != nil {
		return nil, err
	}
	w, err := openWriter(path, o)
	if err != nil {
		lock.release()
		return nil, err
	}
	r, err := Read(path)
	if err != nil {
		_ = w.close()
		lock.release()
		return nil, err
	}
	j := &Journal{
		Reader: r, opts: o, late: o.Flush + leap, lock: lock, w: w, room: make(chan struct{}),
		full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go j.run()
	return j, nil
}

// Observe takes a batch of observations into memory and returns at once. Where more than Options.MaxPending topics
// wait for a flush, those of further topics are lost and counted in Stats.Overflow. After Close it does nothing.
func (j *Journal) Observe(batch []Seen) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	for i := range batch {
		if !j.pending.add(&batch[i], j.opts.MaxPending) {
			j.stats.Overflow++
		}
	}
	if j.pending.len() > j.opts.MaxPending/2 {
		j.flushSoon()
	}
}

// Enroll is Observe for a list that can wait, for instance everything that a scan has found: it loses nothing and
// returns when the whole batch is in memory. It returns ctx's error when that ends first, or ErrClosed.
func (j *Journal) Enroll(ctx context.Context, batch []Seen) error {
	for {
		j.mu.Lock()
		if j.closed {
			j.mu.Unlock()
			return ErrClosed
		}
		for len(batch) > 0 && j.pending.add(&batch[0], j.opts.MaxPending/2) {
			batch = batch[1:]
		}
		room := j.room
		if len(batch) > 0 {
			j.flushSoon()
		}
		j.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-j.stop:
			return ErrClosed
		}
	}
}

// Watching says that from the given instant on, in Unix milliseconds, every publication that matches one of filters is
// observed. It begins a span, and ends one that is open.
func (j *Journal) Watching(at int64, filters []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end(at)
	j.span = Span{Start: at, Stop: at, Filters: append([]string(nil), filters...)}
	j.dirty = true
}

// Blind says that nothing was observed any more after the given instant, which may lie in the past: that of the last
// byte received where a connection was lost. It ends the open span, if there is one.
func (j *Journal) Blind(at int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.end(at)
}

// end closes the open span at the given instant. mu is held.
func (j *Journal) end(at int64) {
	if j.span.Start == 0 {
		return
	}
	j.span.Stop = max(at, j.span.Start)
	j.ended = append(j.ended, j.span)
	j.span, j.dirty = Span{}, true
}

// Stats returns what was done so far. It is cheap.
func (j *Journal) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.stats
	s.Pending = j.pending.len()
	return s
}

// Flush writes everything that was observed before the call and returns when it is safe in the file, with the error of
// the file system or database otherwise; what could not be written is kept.
func (j *Journal) Flush() error { return j.flush(func() {}) }

// Close ends the open span, writes what is pending, closes the file and lets the next writer in. It returns the error
// of the last flush. The goroutine has ended when it returns. A second call does nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		<-j.done
		return nil
	}
	j.closed = true
	j.end(j.opts.Now())
	j.mu.Unlock()
	close(j.stop)
	<-j.done
	err := j.Flush()
	j.flushing.Lock()
	defer j.flushing.Unlock()
	for _, shut := range []func() error{j.Reader.Close, j.w.close} {
		if e := shut(); e != nil && err == nil {
			err = fmt.Errorf("close journal: %w", e)
		}
	}
	j.lock.release()
	return err
}

func (j *Journal) flushSoon() {
	select {
	case j.full <- struct{}{}:
	default:
	}
}
