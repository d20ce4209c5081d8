package tui

import (
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// The words of the columns for those who print a table without a screen, so that each of them is written once.

// The words of EXPIRY that are no countdown, and those of READING that have a shorter form.
const (
	wordNever      = "never"
	wordUnknown    = "unknown"
	wordUnknown311 = "unknown (3.1.1)" // of a connection that tells no expiry at all
	wordStopped    = "stopped"
	wordDue        = "due"
	wordOlder      = "older than live traffic"
	wordOlderShort = "older than live"
)

// olderThanLive reports whether live traffic that is not retained has gone past the copy held, and nothing graver is to
// be said of it.
func olderThanLive(s *inventory.Slot, now int64) bool {
	if !s.Flags.Has(inventory.FlagLiveDiffers) {
		return false
	}
	switch s.Standing(now) {
	case expiry.MissedOne, expiry.MissedTwo, expiry.Due:
		return false
	}
	return true
}

// ExpiryPhrase returns what expiry alone tells of s at now, in Unix ms: a few lower-case words such as "kept alive, 8h" or "fell to
// never", plain ASCII. It never fails and may be called by anybody. A reading that rests on other evidence goes before it, unless this one is not calm.
func ExpiryPhrase(s *inventory.Slot, now int64) string {
	text, _ := phrase(s, now)
	return text
}

// ExpiryReason returns the one sentence behind ExpiryPhrase, at the instant now, whose time zone its clock times are in. It never
// fails and may be called by anybody.
func ExpiryReason(s *inventory.Slot, now time.Time) string { return reason(s, now) }

// unknownOver returns what EXPIRY says where nothing is known.
func unknownOver(l *inventory.Link) string {
	if l.Limited() {
		return wordUnknown311
	}
	return wordUnknown
}

// Expires returns what EXPIRY says of s at now, in Unix ms, as it came over l: never, unknown, unknown (3.1.1), stopped,
// due, or what is left as Countdown writes it. It never fails and may be called by anybody.
//
// Source: MQTT 5, 3.3.2.3.3.
func Expires(s *inventory.Slot, now int64, l *inventory.Link) string {
	left, counts := s.Remaining(now)
	standing := s.Standing(now)
	switch {
	case standing == expiry.Never:
		return wordNever
	case !counts:
		return unknownOver(l)
	case s.StoppedAt != 0:
		return wordStopped
	case standing == expiry.Due:
		return wordDue
	}
	return Countdown(left)
}

// Countdown returns what is left as 23:41:07, from a day on as "1d 02:03" and from a thousand days on as "1000d", in at
// most 10 cells; less than nothing is 00:00:00. It never fails and may be called by anybody.
func Countdown(left time.Duration) string {
	text, _ := countdown(left)
	return text
}

// Size returns n bytes in at most seven cells and in powers of 1000: 999 B, 1.2 kB, 20 kB, 5.0 MB. It never fails and
// may be called by anybody.
func Size(n int64) string { return size(n) }
