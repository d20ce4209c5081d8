package actions

import (
	"fmt"
	"time"
)

// Disposition is what shall become of a topic. The zero value is Hold, and so is a topic that is not listed.
type Disposition uint8

const (
	// Hold means that nothing is decided: the topic is not touched.
	Hold Disposition = iota
	// Clear means that a person approved to empty the slot.
	Clear
	// Preserve means that the topic belongs to somebody else or is still needed.
	Preserve
)

// WriterKind is what sort of program can write a topic. The zero value is not stated.
type WriterKind uint8

const (
	// KindNotStated means that nobody said what the writer is.
	KindNotStated WriterKind = iota
	// Device publishes directly.
	Device
	// Gateway relays for devices that do not speak MQTT.
	Gateway
	// Bridge copies from another broker.
	Bridge
	// Service is a program behind the scenes, for instance one that restores states.
	Service
)

// WriterState is what is known of a writer. The zero value is not known.
type WriterState uint8

const (
	// StateUnknown means that the writer may publish at any time.
	StateUnknown WriterState = iota
	// Stopped means that it does not run.
	Stopped
	// Fenced means that it runs but is kept from publishing this topic.
	Fenced
)

// Will is what became of the will that a writer left with the broker. The zero value is not known.
//
// Source: MQTT 5, 3.1.2.5 and 3.14.4.
type Will uint8

const (
	// WillUnknown means that nobody looked.
	WillUnknown Will = iota
	// WillNone means that the writer sets no will.
	WillNone
	// WillDiscarded means that the writer left with a normal DISCONNECT, which discards the will.
	WillDiscarded
	// WillFired means that the will was published already.
	WillFired
	// WillPending means that the broker still waits out the delay of the will, or for the end of the session.
	WillPending
)

var (
	dispositionNames = []string{"hold", "clear", "preserve"}
	kindNames        = []string{"not stated", "device", "gateway", "bridge", "service"}
	stateNames       = []string{"unknown", "stopped", "fenced"}
	willNames        = []string{"unknown", "none", "discarded", "fired", "pending"}
)

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return names[0]
}

func indexOf(names []string, s string) (uint8, bool) {
	for i, n := range names {
		if n == s {
			return uint8(i), true
		}
	}
	return 0, false
}

// String returns "hold", "clear" or "preserve".
func (d Disposition) String() string { return nameOf(dispositionNames, uint8(d)) }

// String returns "not stated", "device", "gateway", "bridge" or "service".
func (k WriterKind) String() string { return nameOf(kindNames, uint8(k)) }

// String returns "unknown", "stopped" or "fenced".
func (s WriterState) String() string { return nameOf(stateNames, uint8(s)) }

// String returns "unknown", "none", "discarded", "fired" or "pending".
func (w Will) String() string { return nameOf(willNames, uint8(w)) }

// MarshalText writes the name. The four below do the same for their types, and their counterparts read an unknown
// name as the zero value: a line of a newer version never stops an older one.
func (d Disposition) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// MarshalText writes the name.
func (k WriterKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalText writes the name.
func (s WriterState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText writes the name.
func (w Will) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads the name.
func (d *Disposition) UnmarshalText(b []byte) error {
	i, _ := indexOf(dispositionNames, string(b))
	*d = Disposition(i)
	return nil
}

// UnmarshalText reads the name.
func (k *WriterKind) UnmarshalText(b []byte) error {
	i, _ := indexOf(kindNames, string(b))
	*k = WriterKind(i)
	return nil
}

// UnmarshalText reads the name.
func (s *WriterState) UnmarshalText(b []byte) error {
	i, _ := indexOf(stateNames, string(b))
	*s = WriterState(i)
	return nil
}

// UnmarshalText reads the name.
func (w *Will) UnmarshalText(b []byte) error {
	i, _ := indexOf(willNames, string(b))
	*w = Will(i)
	return nil
}

// Writer is one program that can write a topic, and how it is known to write no more.
type Writer struct {
	Name       string      `json:"name"`
	Kind       WriterKind  `json:"kind"`
	State      WriterState `json:"state"`
	Evidence   string      `json:"evidence,omitempty"` // in a person's words
	EvidenceAt time.Time   `json:"evidence_at,omitzero"`
	Will       Will        `json:"will"`
	WillDelay  uint32      `json:"will_delay,omitempty"` // seconds, for a pending will
}

// open returns why this writer is not established as silent, as sentences; none when it is.
func (w Writer) open() []string {
	var why []string
	name := Quote([]byte(w.Name))
	switch {
	case w.State == StateUnknown:
		why = append(why, fmt.Sprintf("writer %s is not known to be stopped or fenced", name))
	case w.Evidence == "":
		why = append(why, fmt.Sprintf("writer %s is called %s without evidence", name, w.State))
	case w.EvidenceAt.IsZero():
		why = append(why, fmt.Sprintf("the evidence for writer %s has no time", name))
	}
	switch w.Will {
	case WillUnknown:
		why = append(why, fmt.Sprintf("what became of the will of writer %s is not known", name))
	case WillPending:
		why = append(why, fmt.Sprintf("the will of writer %s is still pending, with a delay of %d s", name, w.WillDelay))
	}
	return why
}
