package broker

// What speaks against a claim after its scan has ended: drops, a younger count, a time in which nothing was read.
// Pure, as coverage.go is. Only a new scan takes a doubt away; a count that agrees again takes its own.

import (
	"fmt"
	"strings"
	"time"

	"retainscope/inventory"
)

// sinceScan is what was learned against a scan after it had ended.
type sinceScan struct {
	drops   bool
	dropped int64 // how far the broker's dropped counter rose, -1 when that is not known
	// differs says that the broker's count and the list moved apart, and stayed so over two of its ticks.
	differs     bool
	count, here int64
	asleep      time.Duration // how long this program stood still
	// behind is how often our own read-ahead for live changes was full, behindFor for how long in all.
	behind    int64
	behindFor time.Duration
	flood     bool      // more live changes came at once, or stood in line, than a broker surely queues
	figures   bool      // the broker's next figures tell whether it dropped some of them
	mute      time.Time // since when it answers nothing; zero where it does
	again     time.Time // when the next scan starts by itself; zero when that is not known
}

// any reports whether there is a doubt.
func (s *sinceScan) any() bool {
	return s.drops || s.differs || s.asleep > 0 || s.behind > 0 || s.flood || !s.mute.IsZero()
}

// texts returns a sentence for each doubt, without its full stop, the weightiest first.
func (s *sinceScan) texts() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !s.mute.IsZero() {
		add("The broker has not answered since %s, not even a ping: it stands still, the road to it is cut, or it dropped the answer", s.mute.Format("15:04:05"))
	}
	if s.behind > 0 {
		add("Since the scan began this machine could not keep up with the live changes: its read-ahead was full %s, %s in all, and what the broker could not send meanwhile it may have dropped",
			times(s.behind), roundTime(s.behindFor))
	}
	switch {
	case s.drops && s.dropped > 0:
		add(sinceDropped+"%s messages for some client; if it was this one, changes are missing until the next scan", grouped(s.dropped))
	case s.drops:
		add(sinceDropped + "messages for some client; if it was this one, changes are missing until the next scan")
	}
	if s.differs {
		add("Since the scan the broker's count and this list have moved apart: it counts %s, and %s are here", grouped(s.count), grouped(s.here))
	}
	if s.asleep > 0 {
		add("Since the scan this program stood still for %s; what the broker could not send meanwhile it may have dropped", roundTime(s.asleep))
	}
	switch {
	case s.flood && s.figures:
		add("Since the scan more live changes came at once than a broker surely queues; its next figures tell whether it dropped some")
	case s.flood:
		add("Since the scan more live changes came at once than a broker surely queues, and it tells this login no figure to check against")
	}
	return out
}

// times says how often: "once", "3 times".
func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

const sinceDropped = "Since the scan the broker dropped "

// doubt lowers what a scan claimed by what was learned since.
func (e *evidence) doubt(c *inventory.Coverage) {
	if !e.since.any() {
		return
	}
	texts := e.since.texts()
	for _, text := range texts {
		n := int64(-1)
		if e.since.drops && strings.HasPrefix(text, sinceDropped) {
			n = e.since.dropped
		}
		c.Gaps = append(c.Gaps, inventory.Gap{Count: n, Text: text + "."})
	}
	if c.Claim != inventory.Verified && c.Claim != inventory.NoSignOfLoss {
		return
	}
	c.Claim, c.Rule = inventory.Unverified, texts[0]
	if e.since.again.IsZero() {
		c.Rule += "."
	} else {
		c.Rule += "; the next scan starts at " + e.since.again.Format("15:04:05") + "."
	}
	c.Remedies = []string{"Scan now, or wait for the next scan."}
}

// askText says that a scan runs, and why where a doubt made it due.
func askText(last *evidence) string {
	const text = "The store is being asked for"
	if last == nil || !last.since.any() {
		return text + "."
	}
	return text + " again. " + last.since.texts()[0] + "."
}

// later returns the evidence with what the broker and the list say now. Drops after the scan are not those of the scan,
// unless it may have lost some and ended without a tick of the broker that tells them apart.
func (e *evidence) later(v sysValues, held int64) evidence {
	c := *e
	c.now, c.held = v, held
	if e.ticked || e.small() && e.pings == 0 && e.stalls == 0 && e.slices.asked == 0 {
		c.now.dropped, c.now.dropLive = e.after.dropped, e.after.dropLive
	} else {
		c.after = v
	}
	c.ticked = true
	return c
}

// apart follows how far the broker's count is from the list. A difference is believed when it was there on two ticks
// and did not shrink between them: a count and the changes it counts reach us on two connections, in any order.
type apart struct {
	known bool  // base is known
	base  int64 // the difference that the scan ended with and explained
	// low and high are the fewest and the most topics held since the last tick, and since the one before.
	low, high, lowBefore, highBefore int64
	waiting                          bool  // a difference was there on the last tick
	count, diff                      int64 // the count then, less base, and how far from the list it was
}

// begin starts from the end of a scan.
func (a *apart) begin(e *evidence) {
	*a = apart{low: e.held, high: e.held, lowBefore: e.held, highBefore: e.held}
	if e.known() >= 0 && (e.ticked || e.agrees()) {
		a.known, a.base = true, e.known()-e.held
	}
}

// look takes the number of topics held at an instant between ticks.
func (a *apart) look(held int64) { a.low, a.high = min(a.low, held), max(a.high, held) }

// tick takes the broker's count on a tick. off reports that it is no number that the list had within two ticks, sure
// that it was so on the tick before and did not get better.
func (a *apart) tick(known, held int64) (off, sure bool) {
	a.look(held)
	low, high := min(a.low, a.lowBefore), max(a.high, a.highBefore)
	a.lowBefore, a.highBefore, a.low, a.high = a.low, a.high, held, held
	count := known - a.base
	if known < 0 || count >= low && count <= high {
		a.waiting = false
		return false, false
	}
	diff := max(count-held, held-count)
	// What was counted then may have come since: then the list only lags.
	sure = a.waiting && diff >= a.diff && (a.count < low || a.count > high)
	a.waiting, a.count, a.diff = true, count, diff
	return true, sure
}
