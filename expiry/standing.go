package expiry

// Standing is where a retained message stands between its publish and its end. The zero value is NotTold.
type Standing uint8

const (
	// NotTold means that the interval is not knowable.
	NotTold Standing = iota
	// Never means that no Message Expiry Interval was on the wire: it stays until overwritten or cleared.
	Never
	// Expires means that it counts down and that nobody was seen refreshing it at least twice.
	Expires
	// KeptAlive means that at least two live refreshes were seen and none is missing.
	KeptAlive
	// MissedOne means that at least two live refreshes were seen and the remaining time fell below 2/3 of the window.
	MissedOne
	// MissedTwo means the same below 1/3 of the window.
	MissedTwo
	// Due means that it reached zero here; whether the broker still has it has not been asked.
	Due
)

var standingNames = [...]string{"unknown", "never", "expires", "kept alive", "one refresh missed", "two refreshes missed", "due"}

// String returns a short lower-case phrase.
func (s Standing) String() string {
	if int(s) < len(standingNames) {
		return standingNames[s]
	}
	return standingNames[0]
}

// slackMillis is how late a refresh may be before it is called missed: a refresh at exactly 2/3 of the window is
// healthy, and the interval has whole seconds, so 2 s plus one fiftieth of the window.
func slackMillis(window uint32) int64 { return 2000 + int64(window)*1000/50 }

// At returns where a copy with interval i, received at received, stands at now (both in Unix milliseconds), given
// what h learned about the topic. A missed refresh is claimed only after two live refreshes: at first sight a one-shot
// message looks the same.
func At(i Interval, h History, received, now int64) Standing {
	switch i.kind {
	case Unknown:
		return NotTold
	case Absent:
		return Never
	}
	left := int64(i.seconds)*1000 - (now - received)
	if left <= 0 {
		return Due
	}
	if h.Refreshes < 2 || h.Window == 0 {
		return Expires
	}
	window := int64(h.Window) * 1000
	slack := slackMillis(h.Window)
	switch {
	case left+slack < window/3:
		return MissedTwo
	case left+slack < window*2/3:
		return MissedOne
	default:
		return KeptAlive
	}
}
