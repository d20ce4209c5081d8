package expiry

import "fmt"

// Sureness says how far an observation carries. The zero value is NotSure.
type Sureness uint8

const (
	// NotSure means that nothing of the kind was seen, or too little.
	NotSure Sureness = iota
	// Likely means that everything seen fits, but that something harmless would look the same.
	Likely
	// Certain means that nothing harmless would look the same.
	Certain
)

// String returns "not sure", "likely" or "certain".
func (s Sureness) String() string {
	switch s {
	case Likely:
		return "likely"
	case Certain:
		return "certain"
	default:
		return "not sure"
	}
}

const (
	// enoughCopies is how many retained copies must agree before anything is said of a ceiling.
	enoughCopies = 20
	// enoughRepeats is how many unchanged copies must agree before anything is said of counting down.
	enoughRepeats = 3
	// day is an interval that brokers were seen to add: 86 400 s.
	day = 86400
	// beyondUse is an interval that no publisher sets: 34 years. What is above it is a broker's "for ever".
	beyondUse = 1 << 30
)

// Habits is what the copies of a broker tell about its own doing with intervals: whether it counts them down, whether
// it adds one to messages that had none, whether it takes large ones away. It is a small value without pointers. The zero
// value has seen nothing. It is fed through its pointer and read as a value.
type Habits struct {
	copies  uint32 // retained copies
	absent  uint32 // of them without an interval
	finite  uint32
	huge    uint32 // of them above beyondUse
	largest uint32 // largest interval on a retained copy

	live      uint32 // live retained publications
	liveOther uint32 // of them whose interval is not day

	fell   uint32 // unchanged copies whose interval fell with the clock
	stayed uint32 // unchanged copies whose interval did not
	added  uint32 // live without and retained with an interval, same content
	added1 uint32 // largest interval so added
	taken  uint32 // live with a huge and retained without an interval, same content
}

func count(n *uint32) {
	if *n < ^uint32(0) {
		*n++
	}
}

// Copy takes note of one retained copy.
func (h *Habits) Copy(i Interval) {
	if i.kind == Unknown {
		return
	}
	count(&h.copies)
	if i.kind == Absent {
		count(&h.absent)
		return
	}
	count(&h.finite)
	h.largest = max(h.largest, i.seconds)
	if i.seconds > beyondUse {
		count(&h.huge)
	}
}

// Publish takes note of one live retained publication.
func (h *Habits) Publish(i Interval) {
	if i.kind == Unknown {
		return
	}
	count(&h.live)
	if i.kind != Finite || i.seconds != day {
		count(&h.liveOther)
	}
}

// Again takes note of a retained copy whose content is that of an earlier copy, received elapsed milliseconds before,
// with no publication seen in between. Copies less than 3 s apart tell nothing.
func (h *Habits) Again(earlier, now Interval, elapsed int64) {
	if earlier.kind != Finite || now.kind != Finite || elapsed < 3000 {
		return
	}
	fallen := (int64(earlier.seconds) - int64(now.seconds)) * 1000
	switch {
	case fallen == 0:
		count(&h.stayed)
	case fallen >= elapsed-2500 && fallen <= elapsed+2500:
		count(&h.fell)
	}
	// Anything else was refreshed in between.
}

// Pair takes note of a retained copy whose content is that of the live publication that made it.
func (h *Habits) Pair(live, kept Interval) {
	switch {
	case live.kind == Absent && kept.kind == Finite:
		count(&h.added)
		h.added1 = max(h.added1, kept.seconds)
	case live.kind == Finite && live.seconds > beyondUse && kept.kind == Absent:
		count(&h.taken)
	}
}

// CountsDown returns whether the broker counts intervals down while it holds a message, and how sure that is. It is
// true and NotSure before anything was seen, because the standard asks for it.
//
// Source: MQTT 5, 3.3.2.3.3.
func (h Habits) CountsDown() (bool, Sureness) {
	switch {
	case h.fell >= enoughRepeats:
		return true, Certain
	case h.fell > 0:
		return true, Likely
	case h.stayed >= enoughRepeats:
		return false, Certain
	default:
		return true, NotSure
	}
}

// Stamps returns how sure it is that the broker adds an interval of its own to messages that had none, and the largest
// it adds in seconds as far as that can be told: 86 400, 2 147 483 647, 4 294 967 295, or what was seen. The ceiling is 0 when
// it is NotSure.
//
// It is certain when a live copy had none and the retained copy of it has one, or when no copy of at least 20 is without and at least
// one in two is beyond what any publisher sets. It is likely when no copy of at least 20 is without, and either some are
// beyond that or none is above one day and every live publication carries exactly one day: publishers that agree on a
// day look the same.
func (h Habits) Stamps() (ceiling uint32, sure Sureness) {
	switch {
	case h.added > 0:
		return roundUp(max(h.added1, h.largest)), Certain
	case h.copies < enoughCopies || h.absent > 0:
		return 0, NotSure
	case h.huge > 0 && h.huge >= h.copies/2:
		return roundUp(h.largest), Certain
	case h.huge > 0:
		return roundUp(h.largest), Likely
	case h.largest <= day && h.liveOther == 0:
		return day, Likely
	default:
		return 0, NotSure
	}
}

// roundUp returns the ceiling that a counted-down value came from.
func roundUp(s uint32) uint32 {
	switch {
	case s <= day:
		return day
	case s > beyondUse && s <= 1<<31-1:
		return 1<<31 - 1
	case s > 1<<31-1:
		return 1<<32 - 1
	default:
		return s
	}
}

// Hides returns how sure it is that the broker delivers the largest intervals as none.
func (h Habits) Hides() Sureness {
	switch {
	case h.taken >= enoughRepeats:
		return Certain
	case h.taken > 0:
		return Likely
	default:
		return NotSure
	}
}

// Copies returns how many retained copies were seen, and how many of them carried an interval.
func (h Habits) Copies() (all, finite uint32) { return h.copies, h.finite }

// Notes returns what is worth saying once in a header, one plain sentence each; nil when there is nothing.
func (h Habits) Notes() []string {
	var notes []string
	switch ceiling, sure := h.Stamps(); {
	case sure == Certain:
		notes = append(notes, fmt.Sprintf("This broker adds an expiry of its own of up to %s to messages that had none, so never cannot be told apart from it.", inWords(ceiling)))
	case sure == Likely && ceiling > beyondUse:
		notes = append(notes, fmt.Sprintf("None of %d copies is without an expiry and some carry up to %s: this broker probably adds one of its own.", h.copies, inWords(ceiling)))
	case sure == Likely:
		notes = append(notes, fmt.Sprintf("None of %d copies is without an expiry and none has more than %s: this broker may add one of its own, or every publisher here sets it.", h.copies, inWords(ceiling)))
	}
	if down, sure := h.CountsDown(); !down && sure == Certain {
		notes = append(notes, "This broker does not count the expiry down: what is shown is the whole window, and when a message ends cannot be told.")
	}
	switch h.Hides() {
	case Certain:
		notes = append(notes, "This broker delivers the largest expiry intervals as none.")
	case Likely:
		notes = append(notes, "This broker probably delivers the largest expiry intervals as none.")
	}
	return notes
}

func inWords(seconds uint32) string {
	switch {
	case seconds == day:
		return "one day (86400 s)"
	case seconds > beyondUse:
		return fmt.Sprintf("%d years (%d s)", seconds/(365*day), seconds)
	default:
		return fmt.Sprintf("%d s", seconds)
	}
}
