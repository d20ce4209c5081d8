// Package tui is the screen: what the inventory holds, drawn for a person at a terminal, and the keys that move in it.
//
// It draws and asks; it never sees a packet. Not allowed in here: package broker, network, files other than an export.
package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"retainscope/inventory"
)

// Source is what stands between the screen and the broker. Its methods may be called from any goroutine.
type Source interface {
	// Status returns the state of the connection and what the list may claim. It returns at once.
	Status() (inventory.Link, inventory.Coverage)
	// Changed returns a channel of capacity 1 that receives when Status would return something else than before.
	Changed() <-chan struct{}
	// Rescan starts a fresh scan and returns at once; while one runs it does nothing.
	Rescan()
	// Ask asks the broker for one retained topic by its exact name at QoS 1 and puts the answer into the inventory. It
	// returns the stored QoS, and false when the broker sent this login nothing for it.
	Ask(ctx context.Context, topic []byte) (qos byte, found bool, err error)
}

// Silence is how long a topic was not seen live while somebody watched.
type Silence struct {
	Watched time.Duration
	Text    string // the same with the gaps in between, for instance "not seen live in 13 days of watching, with 2 gaps"
	// Pending says that what is remembered of the time before was not brought in yet: until then no silence is claimed.
	Pending bool
}

// Selection says which topics an export writes.
type Selection struct {
	Filter *inventory.Filter // nil = all
	Topic  []byte            // when not nil, only this exact topic, and with Below also every topic under it
	Below  bool
}

// Includes reports whether the selection's Topic and Below let topic through; its Filter is not looked at.
func (s Selection) Includes(topic []byte) bool {
	if s.Topic == nil {
		return true
	}
	rest, ok := bytes.CutPrefix(topic, s.Topic)
	return ok && (len(rest) == 0 || s.Below && rest[0] == '/')
}

// Options is what the screen is made of. Inventory and Source must be set.
type Options struct {
	Inventory *inventory.Inventory
	Source    Source
	Readings  Readings // nil = owners and what looks left behind are not said
	// Silence returns how much watching, by whomever, a topic stands without a sign of life: since it was seen live, or where
	// live is 0 since it was first seen; instants are Unix milliseconds. It returns at once. nil = only this program knows.
	Silence  func(topic []byte, first, live, now int64) Silence
	Retiring Retiring // nil = nothing can be approved, cleared or put back
	// NoRetiring is why Retiring is nil, one sentence; "" = nobody asked for it.
	NoRetiring string

	Refresh time.Duration    // how often a changing screen is drawn; 0 = 250 ms. 1 s is kind to a slow link
	Now     func() time.Time // nil = time.Now
	Version string           // of the program, for the help screen
	Filter  string           // the filter in force at the start, as a person would type it
	ASCII   bool             // draw with ASCII alone, also where the environment would allow more
	Environ []string         // nil = os.Environ()

	// ExportDir is where exports are written; "" = the working directory.
	ExportDir string
	// Export writes the selected topics to w as JSON lines and calls wrote now and then with the number of topics
	// written so far. It runs on a goroutine of its own and must end when ctx does. nil = no export.
	Export func(ctx context.Context, s Selection, w io.Writer, wrote func(topics int64)) error
}

// ErrNoScreen is returned by Run where there is no terminal that a screen can be drawn on.
var ErrNoScreen = errors.New("a full screen needs a terminal that can place its cursor (standard input or output is not a terminal, or TERM is dumb or not set); retainscope list prints the same facts as plain text")

// ErrTerminalGone is returned by Run, wrapped with its cause, when the terminal could not be written to any more.
var ErrTerminalGone = errors.New("the terminal is gone")

func (o Options) refresh() time.Duration {
	if o.Refresh <= 0 {
		return 250 * time.Millisecond
	}
	return o.Refresh
}
