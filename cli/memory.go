package cli

// What the journal remembers, brought into the inventory after every scan; and how much watching a silence stands on.
// Reading alone: keeper.go writes.

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"retainscope/actions"
	"retainscope/inventory"
	"retainscope/journal"
	"retainscope/readings"
	"retainscope/tui"
)

// memory is what is known of the time before this program was started, and beside it. A nil one knows nothing. Its
// methods may be called from any goroutine.
type memory struct {
	file, broker string
	inv          *inventory.Inventory
	log          *slog.Logger
	named        string                 // where a person named the file; empty where it is the usual one
	warn         func(text string)      // where a person hears that a named file cannot be read; nil on a screen
	writes       func() *journal.Reader // returns the reader of the journal while this program writes it, nil otherwise

	mu    sync.Mutex
	spans []journal.Span // of the journal, as read last
	ours  []journal.Span // while this program watched, the last one perhaps open
	open  bool           // the last of ours goes on
	all   []journal.Span // both in order, nil when it has to be put together again
	said  map[string]silence
	told  string // the last error that was logged
	// brought says that what the journal knew was brought into the inventory once: before that a silence says nothing.
	brought bool
}

// silence is an answer that was given a moment ago.
type silence struct {
	first, live, at int64
	journal.Silence
}

const (
	// oursKept is how many spans of this run are kept: those of a connection that comes and goes.
	oursKept = 100
	// manySpans is from when on an answer is used again for a while.
	manySpans     = 200
	silenceKept   = 4096
	silenceStands = 5 * time.Second
)

// remember returns the memory for one run, nil where the settings want none. The file is looked at when something is
// asked of it.
func (r *resolved) remember(inv *inventory.Inventory, log *slog.Logger) *memory {
	file := r.journalFile()
	if file == "" {
		return nil
	}
	m := &memory{file: file, broker: actions.CanonicalAddress(r.MQTT.Broker), inv: inv, log: log, said: map[string]silence{}}
	if r.Journal.File != "" {
		m.named = r.from["journal.file"].String()
	}
	return m
}

// warns has a person told on stderr, once, when a journal that they named cannot be read: without it other topics look
// left behind. It returns m, which may be nil.
func (p *program) warns(m *memory) *memory {
	if m != nil && m.named != "" {
		m.warn = func(text string) {
			p.say("warning: journal.file (%s): %s; nothing is known of the time before", m.named, oneLine(text))
		}
	}
	return m
}

// journalFile returns the path of the journal, "" where there is to be none.
func (r *resolved) journalFile() string {
	switch {
	case !r.Journal.Enabled:
		return ""
	case r.Journal.File != "":
		return r.Journal.File
	case r.state == "":
		return ""
	}
	return r.state + string(os.PathSeparator) + "journal-" + brokerFile(r.MQTT.Broker, r.MQTT.User) + ".db"
}

// read calls f with a reader of the journal. Where there is none, or none of this broker that can be read, f is not
// called; the reason is logged when it is a new one.
func (m *memory) read(ctx context.Context, f func(*journal.Reader) error) {
	err := m.tryRead(ctx, f)
	switch {
	case err == nil:
		m.complain("")
	case ctx.Err() != nil:
	case !errors.Is(err, os.ErrNotExist):
		m.complain(err.Error())
	case m.warn != nil:
		m.complain("there is no file " + quote(m.file))
	}
}

func (m *memory) tryRead(ctx context.Context, f func(*journal.Reader) error) error {
	if m.writes != nil {
		if r := m.writes(); r != nil {
			return f(r)
		}
	}
	r, err := journal.Read(m.file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	info, err := r.Info(ctx)
	if err != nil {
		return err
	}
	if info.Broker != m.broker {
		return &journal.BrokerError{Path: m.file, Broker: info.Broker, Want: m.broker}
	}
	return f(r)
}

func (m *memory) complain(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text != "" && text != m.told {
		m.log.Warn("the journal cannot be read", "error", text)
		if m.warn != nil {
			m.warn(text)
		}
	}
	m.told = text
}

// recall brings what the journal knows of every topic into the inventory, and the spans of watching up to date. It
// returns how many of the topics held are known.
func (m *memory) recall(ctx context.Context) (known int) {
	if m == nil {
		return 0
	}
	m.look(ctx)
	const part = 256
	list := make([]inventory.Memory, 0, part)
	m.read(ctx, func(r *journal.Reader) error {
		err := r.Each(ctx, func(rec journal.Record) bool {
			list = append(list, inventory.Memory{
				Topic: rec.Topic, FirstSeen: rec.FirstSeen, LastLive: rec.LastLive, Times: rec.Times, Largest: rec.Largest,
				History: rec.History(),
			})
			if len(list) == part {
				known += m.inv.Remember(list)
				list = list[:0]
			}
			return ctx.Err() == nil
		})
		known += m.inv.Remember(list)
		return err
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.brought = true
	return known
}

// known is recall for one that is asked once: it returns m where there is a journal with anything in it, and nil otherwise.
func (m *memory) known(ctx context.Context) *memory {
	if m.recall(ctx) == 0 && (m == nil || len(m.spans) == 0) {
		return nil
	}
	return m
}

// look reads when anybody was watching.
func (m *memory) look(ctx context.Context) {
	m.read(ctx, func(r *journal.Reader) error {
		spans, err := r.Spans(ctx)
		if err != nil {
			return err
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.spans, m.all = spans, nil
		return nil
	})
}

// watching says that this program watches from the given instant on, in Unix milliseconds.
func (m *memory) watching(at int64, filters []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blind(at)
	m.ours = append(m.ours[max(0, len(m.ours)+1-oursKept):], journal.Span{Start: at, Stop: at, Filters: filters})
	m.open, m.all = true, nil
}

// blind ends the open span. mu is held.
func (m *memory) blind(at int64) {
	if m.open {
		last := &m.ours[len(m.ours)-1]
		last.Stop = max(at, last.Start)
		m.open, m.all = false, nil
	}
}

// silent returns how much watching lies between the last sign of a topic and now, in Unix milliseconds: since it was
// seen live, or, where it never was, since it was first seen.
func (m *memory) silent(topic []byte, first, live, now int64) journal.Silence {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = append(slices.Clone(m.spans), m.ours...)
		slices.SortStableFunc(m.all, func(a, b journal.Span) int { return cmp.Compare(a.Start, b.Start) })
		clear(m.said)
	}
	if m.open {
		start := m.ours[len(m.ours)-1].Start
		for i := len(m.all) - 1; i >= 0; i-- {
			if m.all[i].Start == start {
				m.all[i].Stop = max(now, start)
				break
			}
		}
	}
	many := len(m.all) >= manySpans
	if s, ok := m.said[string(topic)]; ok && many && s.first == first && s.live == live && now-s.at < silenceStands.Milliseconds() {
		return s.Silence
	}
	rec := journal.Record{Topic: topic, FirstSeen: first, LastLive: live}
	s := rec.Silence(m.all, now)
	if many {
		if len(m.said) >= silenceKept {
			clear(m.said)
		}
		m.said[string(topic)] = silence{first, live, now, s}
	}
	return s
}

// screen returns how the screen asks for a silence; nil for a nil memory.
func (m *memory) screen() func(topic []byte, first, live, now int64) tui.Silence {
	if m == nil {
		return nil
	}
	return func(topic []byte, first, live, now int64) tui.Silence {
		m.mu.Lock()
		brought := m.brought
		m.mu.Unlock()
		if !brought {
			return tui.Silence{Pending: true}
		}
		s := m.silent(topic, first, live, now)
		return tui.Silence{Watched: s.Watched, Text: s.String()}
	}
}

// group returns how long none of topics was seen live while somebody watched, and false for a nil memory.
func (m *memory) group(topics []readings.Member, now int64) (time.Duration, bool) {
	if m == nil || len(topics) == 0 {
		return 0, false
	}
	m.mu.Lock()
	brought := m.brought
	m.mu.Unlock()
	if !brought {
		return 0, false
	}
	least := time.Duration(math.MaxInt64)
	for _, t := range topics {
		r, _ := m.inv.Find([]byte(t.Topic))
		slot, held := m.inv.Slot(r)
		if held {
			least = min(least, m.silent(slot.Topic, slot.FirstSeen, slot.LastLive, now).Watched)
		}
	}
	return least, least != math.MaxInt64
}
