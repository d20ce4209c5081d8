package inventory

// Flags say what is true of one slot, as bits. Never, Expiring and Unknown exclude each other; the others do not.
type Flags uint32

const (
	// FlagNever means that the copy carried no Message Expiry Interval: it stays until overwritten or cleared.
	FlagNever Flags = 1 << iota
	// FlagExpiring means that the copy carried an interval.
	FlagExpiring
	// FlagUnknown means that whether there is an interval cannot be told.
	FlagUnknown
	// FlagDue means that the interval reached zero here; what the broker still holds has not been told since.
	FlagDue
	// FlagStillServed means that the broker was asked after the interval had run out, and that it still sent the copy.
	FlagStillServed
	// FlagLive means that a live publication was seen on the topic: while the slot was held, or as far as Remember told.
	FlagLive
	// FlagChanged means that the content changed while it was watched, or differed between two scans.
	FlagChanged
	// FlagFell means that the topic had an expiring copy and has one now that never expires.
	FlagFell
	// FlagEmptyReplay means that the broker sent a retained copy without payload, which the standard does not allow.
	FlagEmptyReplay
	// FlagLooksEmpty means that the payload is a value and not a removal, but one that looks like nothing: white
	// space, null, {}, [], "" or one NUL.
	FlagLooksEmpty
	// FlagCut means that not all bytes of payload and properties are kept. Length and digests are.
	FlagCut
	// FlagOddName means that the topic is not UTF-8, holds control, bidirectional, zero-width or other invisible
	// runes, or has an empty level or a level that begins or ends with a space.
	FlagOddName
	// FlagLiveDiffers means that the last live publication without RETAIN had another payload than the retained one.
	FlagLiveDiffers
	// FlagNotSeen means that the slot was neither replayed nor published since the last scan began.
	FlagNotSeen
	// FlagLeft means that somebody who reads the inventory found that the topic looks left behind. See Inventory.Mark.
	FlagLeft
	// FlagHazard means that somebody who reads the inventory found that the message does something by itself.
	FlagHazard
	// FlagApproved means that the approval of a person to clear the topic holds. See Inventory.SetApproved.
	FlagApproved
)

// findings are the flags that make a slot count in Counts.Findings.
const findings = FlagStillServed | FlagFell | FlagEmptyReplay | FlagLooksEmpty | FlagOddName |
	FlagLiveDiffers | FlagLeft | FlagHazard

// marks are the flags that Inventory.Mark sets; nothing in here does.
const marks = FlagLeft | FlagHazard

// flagNames holds one name per bit, in bit order; the names are part of the output of list and export.
var flagNames = [...]string{
	"never", "expiring", "unknown", "due", "still-served", "live", "changed", "fell-to-never", "empty-replay",
	"looks-empty", "cut", "odd-name", "live-differs", "not-seen", "left-behind", "hazard", "approved",
}

// Names returns the names of the flags that are set, in a fixed order: never, expiring, unknown, due, still-served,
// live, changed, fell-to-never, empty-replay, looks-empty, cut, odd-name, live-differs, not-seen, left-behind, hazard,
// approved.
func (f Flags) Names() []string {
	names := make([]string, 0, 4)
	for i, n := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Has reports whether all flags of g are set in f.
func (f Flags) Has(g Flags) bool { return f&g == g }
