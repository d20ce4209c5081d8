package tui

import (
	"fmt"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// READING says what expiry alone tells of a topic: one phrase for the row, one sentence for the detail pane. Never that
// something is dead, never that something may be removed.

// tone is how much a phrase asks to be looked at.
type tone uint8

const (
	calm tone = iota
	fine
	notable
	alarming
)

func (p *palette) of(t tone) string {
	switch t {
	case fine:
		return p.good
	case notable:
		return p.warn
	case alarming:
		return p.bad
	}
	return ""
}

// phrase returns the reading of s at now (Unix ms), in at most 20 cells, and its tone.
func phrase(s *inventory.Slot, now int64) (string, tone) {
	switch {
	case s.Flags.Has(inventory.FlagNotSeen):
		return wordGhost, notable
	case s.Flags.Has(inventory.FlagEmptyReplay):
		return "empty replay", alarming
	case s.Flags.Has(inventory.FlagStillServed):
		return "still served", notable
	case s.Flags.Has(inventory.FlagLooksEmpty):
		return "looks empty (" + size(int64(s.Size)) + ")", notable
	case s.Flags.Has(inventory.FlagFell):
		return "fell to never", notable
	case olderThanLive(s, now):
		return wordOlder, notable
	}
	switch s.Standing(now) {
	case expiry.Never:
		return "never expires", calm
	case expiry.Expires:
		return "expires by itself", calm
	case expiry.KeptAlive:
		if c, ok := s.History.Cadence(); ok {
			return "kept alive, " + about(time.Duration(c)*time.Second), fine
		}
		return "kept alive", fine
	case expiry.MissedOne:
		return "one refresh missed", notable
	case expiry.MissedTwo:
		return "two refreshes missed", alarming
	case expiry.Due:
		return "due", notable
	}
	return "unknown", calm
}

// reason returns the sentence behind the phrase of s, at the instant now.
func reason(s *inventory.Slot, now time.Time) string {
	at := func(ms int64) string { return millis(ms, now) }
	deadline, finite := s.Interval.Deadline(s.ReceivedAt)
	switch {
	case s.Flags.Has(inventory.FlagNotSeen):
		return "Not shown by the last scan, nor published since: this is the copy of " + at(s.ReceivedAt) + ". Whether the broker still holds it is not known; o asks."
	case s.Flags.Has(inventory.FlagEmptyReplay):
		return "Empty replay: the broker sent a retained copy of zero bytes, which the standard does not allow. It is a fault of the broker and no proof that anybody cleared the topic."
	case s.Flags.Has(inventory.FlagStillServed) && finite:
		return "Still served: the interval ran out at " + at(deadline) + ", the broker was asked after that and sent the copy again."
	case s.Flags.Has(inventory.FlagLooksEmpty):
		return fmt.Sprintf("Looks empty: the payload of %s is a value like any other and removes nothing; only zero bytes would.", size(int64(s.Size)))
	case s.Flags.Has(inventory.FlagFell):
		return "Fell to never: earlier copies carried an expiry, the one held since " + at(s.ReceivedAt) + " carries none. It stays until it is overwritten or cleared. A publisher that speaks 3.1.1 does that."
	case olderThanLive(s, now.UnixMilli()):
		return "Older than live traffic: the last live publication, at " + at(s.LastLive) + ", came without RETAIN and had another payload. Who subscribes now is served the older value first."
	}
	window := time.Duration(s.History.Window) * time.Second
	switch s.Standing(now.UnixMilli()) {
	case expiry.Never:
		return "Never expires: no Message Expiry Interval came with the copy. It stays until it is overwritten or cleared."
	case expiry.Expires:
		return "Expires by itself: it counts down, and fewer than two live refreshes were seen, so whether somebody keeps it alive is not known yet."
	case expiry.KeptAlive:
		if c, ok := s.History.Cadence(); ok {
			return "Kept alive: refreshed every " + about(time.Duration(c)*time.Second) + " while we watched; window " + exact(window) + "."
		}
		return "Kept alive: at least two live refreshes were seen and none is missing; window " + exact(window) + "."
	case expiry.MissedOne:
		return "One refresh missed: less than two thirds of its window of " + exact(window) + " are left, though live refreshes were seen before."
	case expiry.MissedTwo:
		return "Two refreshes missed: less than a third of its window of " + exact(window) + " is left, though live refreshes were seen before."
	case expiry.Due:
		return "Due: the interval reached zero here at " + at(deadline) + ". What the broker still holds is not known until it is asked."
	}
	return "Unknown: whether it expires cannot be told on this connection: a 3.1.1 copy carries no interval, and some brokers stamp their own."
}
