// Package expiry says what a Message Expiry Interval means for one topic at one instant.
//
// Pure: no goroutines, no clock of its own (every instant is an argument), nothing but the standard library.
package expiry

import (
	"fmt"
	"time"
)

// Kind tells which of the three things is known about an interval. The zero value is Unknown.
type Kind uint8

const (
	// Unknown means that nothing on the wire could tell: a 3.1.1 connection, or a broker that stamps its own.
	Unknown Kind = iota
	// Absent means that the property was not on the wire. Absent is never zero.
	Absent
	// Finite means that the property was there, with a number of seconds.
	Finite
)

// String returns "unknown", "absent" or "finite".
func (k Kind) String() string {
	switch k {
	case Absent:
		return "absent"
	case Finite:
		return "finite"
	default:
		return "unknown"
	}
}

// Interval is the Message Expiry Interval of one PUBLISH as the server sent it: a number of whole seconds, absent, or
// not knowable. It is comparable and its zero value is "not knowable".
//
// Source: MQTT 5, 3.3.2.3.3.
type Interval struct {
	kind    Kind
	seconds uint32
}

// Seconds returns the interval of n seconds, 0 to 4 294 967 295.
func Seconds(n uint32) Interval { return Interval{kind: Finite, seconds: n} }

// None returns the interval of a PUBLISH that carried no Message Expiry Interval.
func None() Interval { return Interval{kind: Absent} }

// NotKnown returns the interval of a PUBLISH whose wire cannot tell.
func NotKnown() Interval { return Interval{} }

// Kind returns which of the three cases this is.
func (i Interval) Kind() Kind { return i.kind }

// Seconds returns the number of seconds and true, or 0 and false when the interval is absent or not knowable.
func (i Interval) Seconds() (uint32, bool) { return i.seconds, i.kind == Finite }

// String returns "never", "unknown", or the seconds followed by "s".
func (i Interval) String() string {
	switch i.kind {
	case Absent:
		return "never"
	case Finite:
		return fmt.Sprintf("%ds", i.seconds)
	default:
		return "unknown"
	}
}

// Remaining returns how long a copy received at received, in Unix milliseconds, still has at now, in Unix
// milliseconds; negative when the interval has run out. The second result is false when there is nothing to count.
func (i Interval) Remaining(received, now int64) (time.Duration, bool) {
	if i.kind != Finite {
		return 0, false
	}
	return time.Duration(int64(i.seconds)*1000-(now-received)) * time.Millisecond, true
}

// Deadline returns the instant, in Unix milliseconds, at which a copy received at received runs out, and false when
// the interval is not finite. Brokers were seen to remove a copy up to one second before and two seconds after it.
func (i Interval) Deadline(received int64) (int64, bool) {
	if i.kind != Finite {
		return 0, false
	}
	return received + int64(i.seconds)*1000, true
}
