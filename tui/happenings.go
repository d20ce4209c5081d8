package tui

import (
	"slices"
	"strings"
	"time"

	"retainscope/inventory"
)

// What happened while we watched. Values change all day long and must never push out what went: the two are kept apart,
// and changes of one topic are one line with a count.

const (
	mostOfAKind = 500 // events of one kind that are kept, of those that say that something went or fell
	mostChurn   = 300 // topics that are kept of those of which only values changed
	// smallAtOnce and weightyAtOnce are how many events are taken in one frame, so that it never waits for all of a storm;
	// the others are counted.
	smallAtOnce, weightyAtOnce = 2048, 8192

	mostBursts = 20 // losses of many topics at once that are kept
	burstGap   = 3 * time.Second
	notableFor = 30 * time.Second // how long the last event stands in the footer
)

// happenings is all that the screen remembers of events.
type happenings struct {
	heard   uint64                // number of the last event taken
	at      int64                 // Unix ms of the last event taken
	count   inventory.EventCounts // of all events
	noted   inventory.EventCounts // of those that were taken: others came too fast to be kept
	weighty []inventory.Event     // oldest first
	churn   map[string]*churn
	last    inventory.Event // the last one that is more than a new value or a new topic
	burst   burst           // losses that follow each other closely
	losses  []burst         // bursts that were many topics
	seen    bool            // the last of losses was looked at
}

// churn is how often the value of one topic changed.
type churn struct {
	topic []byte
	n     int64
	at    int64 // Unix ms of the last time
	kind  inventory.EventKind
}

// burst is many topics that went one right after the other.
type burst struct {
	from, to      int64 // Unix ms
	cleared, gone int64
}

func (b burst) total() int64 { return b.cleared + b.gone }

// many reports whether the burst is a loss that nobody may miss, where topics are held after it.
func (b burst) many(topics int64) bool {
	return b.total() >= min(max(20, (topics+b.total())/50), 500)
}

// hear takes in the events since the last time; topics is how many are held now.
func (h *happenings) hear(inv *inventory.Inventory, topics int64) {
	var fresh []inventory.Event
	fresh, h.heard, h.count = inv.LatestEvents(h.heard, smallAtOnce, weightyAtOnce)
	if len(fresh) == 0 {
		return
	}
	since := h.at
	if since == 0 {
		since = fresh[0].At
	}
	if h.churn == nil {
		h.churn = make(map[string]*churn)
	}
	for _, e := range fresh {
		h.noted[e.Kind]++
		h.at = max(h.at, e.At)
		if !e.Kind.Small() {
			h.weighty = append(h.weighty, e)
			h.last = e
			h.lose(e, topics)
			continue
		}
		c := h.churn[string(e.Topic)]
		if c == nil {
			c = &churn{topic: e.Topic}
			h.churn[string(e.Topic)] = c
		}
		c.n++
		c.at, c.kind = e.At, e.Kind
	}
	h.loseUnnoted(since, topics)
	h.trim()
}

// unnoted returns how many events of a kind came too fast to be kept until they were looked at.
func (h *happenings) unnoted(k inventory.EventKind) int64 { return max(h.count[k]-h.noted[k], 0) }

// loseUnnoted counts what went at once and is no longer among the events; since is when they were last looked at.
func (h *happenings) loseUnnoted(since int64, topics int64) {
	cleared, gone := h.unnoted(inventory.Cleared), h.unnoted(inventory.Gone)
	if cleared+gone == 0 {
		return
	}
	h.noted[inventory.Cleared] += cleared
	h.noted[inventory.Gone] += gone
	b := &h.burst
	if b.to < since {
		*b = burst{from: since}
	}
	b.from, b.to = min(b.from, since), max(b.to, h.at)
	b.cleared, b.gone = b.cleared+cleared, b.gone+gone
	h.judge(topics)
}

// lose counts what went at once.
func (h *happenings) lose(e inventory.Event, topics int64) {
	if e.Kind != inventory.Cleared && e.Kind != inventory.Gone {
		return
	}
	b := &h.burst
	if e.At-b.to > burstGap.Milliseconds() {
		*b = burst{from: e.At}
	}
	b.to = max(b.to, e.At)
	if e.Kind == inventory.Cleared {
		b.cleared++
	} else {
		b.gone++
	}
	h.judge(topics)
}

// judge keeps the burst as it is now where it is a loss that nobody may miss.
func (h *happenings) judge(topics int64) {
	b := &h.burst
	if !b.many(topics) {
		return
	}
	if n := len(h.losses); n > 0 && h.losses[n-1].from == b.from {
		h.losses[n-1] = *b
	} else {
		h.losses = append(h.losses, *b)
	}
	h.seen = false
	if over := len(h.losses) - mostBursts; over > 0 {
		h.losses = slices.Delete(h.losses, 0, over)
	}
}

// trim lets the oldest go where there are too many.
func (h *happenings) trim() {
	var n [256]int
	from := len(h.weighty)
	kept := h.weighty[:0:0]
	for from--; from >= 0; from-- {
		e := h.weighty[from]
		if n[e.Kind]++; n[e.Kind] <= mostOfAKind {
			kept = append(kept, e)
		}
	}
	slices.Reverse(kept)
	h.weighty = kept
	if len(h.churn) <= mostChurn {
		return
	}
	for _, c := range h.newest()[mostChurn:] {
		delete(h.churn, string(c.topic))
	}
}

// newest returns the topics whose values changed, the last one first.
func (h *happenings) newest() []*churn {
	all := make([]*churn, 0, len(h.churn))
	for _, c := range h.churn {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *churn) int {
		if a.at != b.at {
			return int(min(max(b.at-a.at, -1), 1))
		}
		return strings.Compare(string(a.topic), string(b.topic))
	})
	return all
}

// alarm says that many topics went at once and that nobody has looked at that yet; "" = nothing of the kind.
func (m *model) alarm() string {
	h := &m.news
	if len(h.losses) == 0 || h.seen {
		return ""
	}
	return "! " + m.lossWords(h.losses[len(h.losses)-1]) + " (" + m.keyOf(eventsPage) + " shows them)"
}

// shortAlarm is alarm in a few words, where there is one.
func (m *model) shortAlarm() string {
	return "! " + number(m.news.losses[len(m.news.losses)-1].total()) + " went (" + m.keyOf(eventsPage) + ")"
}

// keyOf returns the key that goes to a screen.
func (m *model) keyOf(s screen) string {
	for i := range m.commands {
		if c := &m.commands[i]; c.shows == s && c.short != "" {
			names := c.keys.Keys()
			return names[len(names)-1]
		}
	}
	return "?"
}

func (m *model) lossWords(b burst) string {
	from, to := millis(b.from, m.now), millis(b.to, m.now)
	if from == to {
		return number(b.total()) + " topics went at " + from
	}
	return number(b.total()) + " topics went between " + from + " and " + to
}

// writeEvents lists what happened while we watched, newest first.
func (m *model) writeEvents(w *writer) {
	h := &m.news
	h.seen = true
	p := w.begin()
	p.sayIn(p.pal.strong, "What happened while we watched")
	p.sayIn(p.pal.dim, "  newest first")
	w.end()
	if h.heard == 0 {
		w.text(w.p.pal.dim, "Nothing yet: no retained topic appeared, changed or went since watching began.")
		return
	}
	var counts []string
	for _, k := range []inventory.EventKind{inventory.Cleared, inventory.ClearedHere, inventory.Gone, inventory.Expired, inventory.FellToNever, inventory.GainedExpiry,
		inventory.Kept, inventory.Appeared, inventory.Replaced, inventory.FoundChanged} {
		if n := h.count[k]; n > 0 {
			counts = append(counts, number(n)+" "+k.String())
		}
	}
	w.text("", strings.Join(counts, ", "))
	for i := len(h.losses) - 1; i >= 0; i-- {
		b := h.losses[i]
		var how []string
		if b.gone > 0 {
			how = append(how, number(b.gone)+" were not there any more when asked for")
		}
		if b.cleared > 0 {
			how = append(how, number(b.cleared)+" were cleared by someone")
		}
		w.text(w.p.pal.bad, "! "+m.lossWords(b)+": "+strings.Join(how, ", "))
	}
	w.title("Went, or changed whether it expires")
	if len(h.weighty) == 0 {
		w.text(w.p.pal.dim, "Nothing.")
	}
	for i := len(h.weighty) - 1; i >= 0; i-- {
		e := h.weighty[i]
		style := ""
		switch e.Kind {
		case inventory.Cleared, inventory.FellToNever, inventory.Gone:
			style = w.p.pal.warn
		case inventory.Expired:
			style = w.p.pal.dim
		}
		m.writeEvent(w, e.At, style, e.Kind.String(), e.Topic)
	}
	if int64(len(h.weighty)) < h.weightyCount() {
		w.text(w.p.pal.dim, "Of each kind the last "+number(mostOfAKind)+" are kept; the counts above are of all.")
	}
	w.title("New topics and new values")
	all := h.newest()
	for _, c := range all {
		what := c.kind.String()
		if c.n > 1 {
			what += " " + m.times() + number(c.n)
		}
		m.writeEvent(w, c.at, w.p.pal.dim, what, c.topic)
	}
	if len(all) == 0 {
		w.text(w.p.pal.dim, "Nothing.")
	}
	if n := h.unnoted(inventory.Appeared) + h.unnoted(inventory.Replaced) + h.unnoted(inventory.FoundChanged); n > 0 {
		w.text(w.p.pal.dim, number(n)+" came too fast to be noted by topic; the counts above are of all.")
	}
}

func (h *happenings) weightyCount() (n int64) {
	for k, c := range h.count {
		if !inventory.EventKind(k).Small() {
			n += c
		}
	}
	return n
}

// times is the sign in front of how often something happened.
func (m *model) times() string {
	if m.pen.m.ascii {
		return "x"
	}
	return "×"
}

// writeEvent writes one line of the list.
func (m *model) writeEvent(w *writer, at int64, style, what string, topic []byte) {
	p := w.begin()
	p.sayIn(p.pal.dim, millis(at, m.now))
	p.to(max(p.x+2, w.left+10))
	p.sayIn(style, what)
	p.to(max(p.x+2, w.left+32))
	var used int
	p.buf, used, _ = p.m.cutMiddle(p.buf, topic, p.left(), asName)
	p.x += used
	w.end()
}
