package expiry

// History is what watching one topic has taught about its publisher's expiry. It is a small value without pointers so
// that an inventory of a million topics can hold one each; the zero value has learned nothing.
type History struct {
	// Window is the largest interval seen on the topic, in seconds; 0 when none was seen. The publisher's own window
	// is never on the wire.
	Window uint32
	// Gap is the distance in seconds between the last two live refreshes, 0 when fewer than two were seen.
	Gap uint32
	// Refreshes counts live retained publications that carried an interval; it stops at its maximum.
	Refreshes uint16
	// Steady counts how often in a row Gap repeated within its tolerance; it stops at its maximum.
	Steady uint16
}

// gapTolerance is the difference in seconds between two gaps that still counts as the same cadence: 2 s plus a tenth.
func gapTolerance(gap uint32) uint32 { return 2 + gap/10 }

// Replay returns h after a replayed copy with interval i. A replay is never activity, but it can show a larger window.
func (h History) Replay(i Interval) History {
	if s, ok := i.Seconds(); ok && s > h.Window {
		h.Window = s
	}
	return h
}

// Live returns h after a live retained publication with interval i, sinceLast seconds after the live publication
// before it (0 when there was none). A live publication without an interval starts the learning anew: the topic has
// another kind of publisher now.
func (h History) Live(i Interval, sinceLast uint32) History {
	s, ok := i.Seconds()
	if !ok {
		return History{}
	}
	// A live copy carries the publisher's full window, so a smaller one is a new setting, not a countdown.
	h.Window = s
	if h.Refreshes > 0 && sinceLast > 0 {
		if h.Gap > 0 && within(sinceLast, h.Gap, gapTolerance(h.Gap)) {
			if h.Steady < ^uint16(0) {
				h.Steady++
			}
		} else {
			h.Steady = 0
		}
		h.Gap = sinceLast
	}
	if h.Refreshes < ^uint16(0) {
		h.Refreshes++
	}
	return h
}

// Cadence returns the learned distance in seconds between refreshes and true once at least two gaps agreed, so after
// three live refreshes; otherwise 0 and false.
func (h History) Cadence() (uint32, bool) {
	if h.Steady >= 1 {
		return h.Gap, true
	}
	return 0, false
}

func within(a, b, tol uint32) bool {
	if a > b {
		a, b = b, a
	}
	return b-a <= tol
}
