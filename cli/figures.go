package cli

// What `retainscope watch` says of a store in numbers, and when that is worth a message.
// Its own topics are left out of every number: what it publishes must not be news to itself.

import (
	"encoding/json"
	"time"

	"retainscope/inventory"
)

// figures is the payload of the topic state. A member that is nil is not known, and is left out or null.
type figures struct {
	Retained      int64  `json:"retained"`
	WithExpiry    int64  `json:"with_expiry"`
	WithoutExpiry int64  `json:"without_expiry"`
	Unknown       int64  `json:"unknown"` // whether there is an expiry cannot be told
	LeftBehind    *int64 `json:"left_behind,omitempty"`
	Hazards       *int64 `json:"hazards,omitempty"`
	Due           int64  `json:"due"`
	Bytes         int64  `json:"bytes"` // of all payloads
	// Coverage is what the list may claim, or "disconnected".
	Coverage string `json:"coverage"`
	// NotSeen is how many topics the broker counts beyond those that this login is shown; null where it does not tell.
	NotSeen *int64 `json:"not_seen"`
	// LastChange is when a topic came, changed or went last; null where none has since watching began.
	LastChange *time.Time `json:"last_change"`

	own int // topics of its own that are held, and left out of the numbers
}

// coverages are the values of figures.Coverage.
func coverages() []string {
	all := []string{disconnected}
	for c := inventory.Scanning; c <= inventory.Incomplete; c++ {
		all = append(all, c.String())
	}
	return all
}

const disconnected = "disconnected"

// counter makes figures. One goroutine uses it.
type counter struct {
	inv      *inventory.Inventory
	own      []string
	readings bool // left behind and hazards are worked out

	event  uint64    // the last one that was looked at
	change time.Time // zero = none
}

// count returns the figures as they are now. It costs a few microseconds, and some more where much has changed.
func (c *counter) count(link inventory.Link, cov inventory.Coverage) figures {
	n := c.inv.Counts()
	f := figures{
		Retained: n.Topics, WithExpiry: n.Expiring, WithoutExpiry: n.Never, Unknown: n.Unknown, Due: n.Due, Bytes: n.Bytes,
		Coverage: cov.Claim.String(),
	}
	for _, topic := range c.own {
		r, _ := c.inv.Find([]byte(topic))
		s, held := c.inv.Slot(r)
		if !held {
			continue
		}
		f.Retained--
		f.own++
		f.Bytes -= int64(s.Size)
		for _, x := range []struct {
			flag inventory.Flags
			n    *int64
		}{{inventory.FlagExpiring, &f.WithExpiry}, {inventory.FlagNever, &f.WithoutExpiry}, {inventory.FlagUnknown, &f.Unknown}, {inventory.FlagDue, &f.Due}} {
			if s.Flags.Has(x.flag) {
				*x.n--
			}
		}
	}
	if c.readings {
		f.LeftBehind, f.Hazards = &n.Left, &n.Hazards
	}
	if link.State != inventory.Watching {
		f.Coverage = disconnected
	}
	if cov.Known >= 0 {
		missing := cov.Missing()
		f.NotSeen = &missing
	}
	c.follow()
	if !c.change.IsZero() {
		at := c.change.UTC().Truncate(time.Second)
		f.LastChange = &at
	}
	return f
}

// follow looks for the last change of a topic that is not one's own.
func (c *counter) follow() {
	const part = 1024
	for {
		events, last := c.inv.Events(c.event, part)
		if last == c.event {
			return
		}
		c.event = last
		for i := len(events) - 1; i >= 0; i-- {
			if e := &events[i]; !c.owns(e.Topic) {
				if at := time.UnixMilli(e.At); at.After(c.change) {
					c.change = at
				}
				break
			}
		}
	}
}

func (c *counter) owns(topic []byte) bool {
	for _, own := range c.own {
		if string(topic) == own {
			return true
		}
	}
	return false
}

// payload returns f as JSON.
func (f figures) payload() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // numbers, words and instants: there is nothing in it that cannot be written
	}
	return b
}

// slowTime is how often figures are published of which only bytes and the last change have moved: in a busy house both
// do so all the time, and every message is one more row in somebody's database.
const slowTime = time.Minute

// news reports whether f is worth a message after last, which was published ago before.
func (f figures) news(last figures, ago time.Duration) bool {
	a, b := f, last
	if string(a.payload()) == string(b.payload()) {
		return false
	}
	a.Bytes, a.LastChange, b.Bytes, b.LastChange = 0, nil, 0, nil
	return string(a.payload()) != string(b.payload()) || ago >= slowTime
}
