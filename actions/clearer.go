package actions

import (
	"context"
	"errors"
	"time"
)

// Bounds are the times and sizes of a clear. A zero field takes its default.
type Bounds struct {
	Send    time.Duration // for connecting, sending and the acknowledgement; default 10 s
	Look    time.Duration // for one look; default 30 s
	Quiet   time.Duration // without a copy at the end of a look; default 250 ms: 15 ms missed topics that were there
	Window  time.Duration // of the watch for a return; default 60 s
	Payload int           // bytes of payload and properties that are saved for undo; default 1 MiB
	Spare   int           // bytes that are saved of all controls together; default 256 KiB
	QoS     byte          // highest QoS of a look, to learn the stored one; default 1
	Scan    int           // publications that a bounded scan for controls takes; default 500
}

func (b Bounds) orDefaults() Bounds {
	set := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	count := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	set(&b.Send, 10*time.Second)
	set(&b.Look, 30*time.Second)
	set(&b.Quiet, 250*time.Millisecond)
	set(&b.Window, time.Minute)
	count(&b.Payload, 1<<20)
	count(&b.Spare, 256<<10)
	count(&b.Scan, 500)
	if b.QoS == 0 {
		b.QoS = 1
	}
	return b
}

// Clearer does what was approved: it clears one exact topic, watches for its return, looks again, puts it back. The
// screen and the command use the same one. Fill in the fields once and do not change them while a method runs. Methods
// may be called from any goroutine; a second Clear or Restore while one runs ends as NotSent. Nothing is ever repeated.
type Clearer struct {
	Desk       *Desk
	Broker     BrokerID // the broker as it is connected now
	Observer   Observer
	Sender     Sender
	Protection Protection // of the configuration; the manifest's is added
	Now        func() time.Time
	Stamps     bool // the broker stamps intervals of its own, so that fingerprints cannot tell whether there was one
	Bounds     Bounds
	Tool       string         // name and version of the program, for the record
	Progress   func(Progress) // told at every boundary on the goroutine of the caller, and waited for; may be nil
}

// Step is a boundary inside a clear or a restore. The zero value is none.
type Step uint8

const (
	// StepChecked means that the preconditions hold.
	StepChecked Step = iota + 1
	// StepIntended means that the intent is in the record and synced.
	StepIntended
	// StepRead means that the topic and the controls were read.
	StepRead
	// StepCompared means that the value is the one approved and that the baseline is in the record.
	StepCompared
	// StepSent means that the publication left, or may have left; answered or not.
	StepSent
	// StepReadBack means that a new observer looked at the topic and the controls.
	StepReadBack
	// StepRecorded means that the outcome is in the record.
	StepRecorded
)

var stepNames = []string{"none", "checked", "intent recorded", "baseline read", "value as approved", "sent", "read back", "outcome recorded"}

// String returns a short phrase.
func (s Step) String() string { return nameOf(stepNames, uint8(s)) }

// Progress is what is told at a boundary.
type Progress struct {
	Operation string
	Step      Step
	Text      string // one short line for the row, safe for a terminal
}

func (c *Clearer) tell(op string, s Step, text string) {
	if c.Progress != nil {
		c.Progress(Progress{Operation: op, Step: s, Text: text})
	}
}

// look asks the observer once, bounded, and says why what came counts for nothing where it does.
func (c *Clearer) look(ctx context.Context, q Question) (Observation, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Bounds.orDefaults().Look)
	defer cancel()
	if q.Quiet == 0 {
		q.Quiet = c.Bounds.orDefaults().Quiet
	}
	return c.Observer.Observe(ctx, q)
}

// Peek reads what one topic holds now, with a new observer, and sends and writes nothing. The copy has no payload; false
// means that it was not observed. The error says why nothing can be told, or why no topic can have this name.
func (c *Clearer) Peek(ctx context.Context, topic []byte) (Copy, bool, error) {
	if err := RefuseTopic(topic); err != nil {
		return Copy{}, false, err
	}
	look, err := c.look(ctx, Question{Filters: [][]byte{filterFor(topic)}})
	switch s := c.seen(topic, look, err); {
	case s.Why != "":
		return Copy{}, false, errors.New(s.Why)
	case s.Now == nil:
		return Copy{}, false, nil
	default:
		return *s.Now, true, nil
	}
}

// Request is one clear that a person asked for.
type Request struct {
	Topic []byte // exact bytes
	// Fingerprint is the one that was shown to the person when the clear was confirmed; it must be the one of the
	// approval. Empty where nothing was shown: then the approval alone counts.
	Fingerprint string
	Controls    [][]byte // see SelectControls; nil = a bounded scan of the neighbourhood
	Expect      string   // see Forecast; one sentence for the record
}
