package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Summary is one operation as a list shows it.
type Summary struct {
	ID          string
	Topic       []byte
	Begun       time.Time
	Owner       string
	By          string // who approved it
	ApprovedAt  time.Time
	Fingerprint string // that was approved
	Broker      BrokerID
	Verdict     Verdict // with what was seen later; Unknown where there is no outcome
	Provisional bool
	Open        bool // an intent without an outcome
	// Running is who runs it now, in words; empty = nobody, as far as can be told. Only of one that is open.
	Running     string
	SentNothing bool // open, and not even a baseline: nothing was sent
	Sentence    string
	Restored    bool // a restore of its topic ended as Restored
	PutBack     bool // a restore of its topic was sent, or may have been, and was not refused
	// After says in a few words what was put back since, of the topic or of a neighbour; empty = nothing.
	After  string
	LastAt time.Time // of the last line about it
	Seen   Seen      // of its topic, by the last look that the record holds of this clear
}

// Listed is what the record holds, oldest operation first.
type Listed struct {
	Operations []Summary
	Lines      int64
	Skipped    int64 // lines that are none of ours, or half written; Verify says which
	// Check is what Verify says, but that the lines this desk had read before were checked then and not again.
	Check Verification
}

// Open returns the operations that have an intent and no outcome and that nobody is running, oldest first: what a start
// offers to look at.
func (l Listed) Open() []Summary {
	return slices.DeleteFunc(slices.Clone(l.Operations), func(s Summary) bool { return !s.Open || s.Running != "" })
}

// Running returns the clear that somebody is running now, and whether there is one.
func (l Listed) Running() (Summary, bool) {
	if i := slices.IndexFunc(l.Operations, func(s Summary) bool { return s.Running != "" }); i >= 0 {
		return l.Operations[i], true
	}
	return Summary{}, false
}

// brief is what a list needs of a line; the rest, the payloads above all, is passed over.
type brief struct {
	Kind      LineKind  `json:"kind"`
	At        time.Time `json:"at"`
	Operation string    `json:"operation"`
	Intent    *struct {
		Broker BrokerID `json:"broker"`
		Topic  Name     `json:"topic"`
		Entry  struct {
			Owner       string    `json:"owner"`
			By          string    `json:"approved_by"`
			At          time.Time `json:"approved_at"`
			Fingerprint string    `json:"fingerprint"`
		} `json:"entry"`
		Provisional []string `json:"provisional"`
	} `json:"intent"`
	Outcome *struct {
		Verdict  Verdict   `json:"verdict"`
		Found    Found     `json:"found"`
		Until    time.Time `json:"until"`
		Sentence string    `json:"sentence"`
	} `json:"outcome"`
	Later *struct {
		Found    Found           `json:"found"`
		Until    time.Time       `json:"until"`
		Return   *Return         `json:"return"`
		Controls []ControlResult `json:"controls"`
		Sentence string          `json:"sentence"`
	} `json:"later"`
	UndoIntent *struct {
		Of    string `json:"of"`
		Topic Name   `json:"topic"`
	} `json:"undo_intent"`
	UndoOutcome *struct {
		Result   UndoResult `json:"result"`
		Sentence string     `json:"sentence"`
	} `json:"undo_outcome"`
}

// listed is an operation with as much of it as a summary needs.
type listed struct {
	Summary
	op Operation
}

type lister struct {
	lines   int64
	skipped int64
	ops     map[string]*listed
	topics  map[string][]*listed // the operations on a topic, oldest first
	undos   map[string][]*listed // whose topic a restore puts back, and who held the value
	order   []*listed
}

func newLister() lister {
	return lister{ops: map[string]*listed{}, topics: map[string][]*listed{}, undos: map[string][]*listed{}}
}

// take reads one line and reports whether it is one of a record.
func (w *lister) take(line []byte) bool {
	if id, ok := baselineOf(line); ok {
		if l := w.ops[id]; l != nil {
			l.op.Baseline = &Baseline{}
		}
		return true
	}
	var b brief
	if _, _, ok := readPrefix(line); !ok || json.Unmarshal(line, &b) != nil {
		return false
	}
	if i := b.Intent; i != nil {
		l := &listed{op: Operation{ID: b.Operation, Topic: i.Topic, Begun: b.At}, Summary: Summary{ID: b.Operation, Topic: i.Topic, Begun: b.At,
			Owner: i.Entry.Owner, By: i.Entry.By, ApprovedAt: i.Entry.At, Fingerprint: i.Entry.Fingerprint, Broker: i.Broker,
			Provisional: len(i.Provisional) > 0, LastAt: b.At}}
		w.ops[b.Operation], w.order = l, append(w.order, l)
		w.topics[string(i.Topic)] = append(w.topics[string(i.Topic)], l)
		return true
	}
	if b.UndoIntent != nil || b.UndoOutcome != nil {
		w.takeUndo(&b)
		return true
	}
	l := w.ops[b.Operation]
	if l == nil {
		return true // a segment line, or a line whose intent was lost
	}
	l.LastAt = b.At
	switch {
	case b.Outcome != nil:
		l.op.Outcome, l.Sentence = &Outcome{Verdict: b.Outcome.Verdict, Found: b.Outcome.Found, Until: b.Outcome.Until}, b.Outcome.Sentence
	case b.Later != nil:
		l.op.Later = append(l.op.Later, LaterLine{Kind: b.Kind, At: b.At, Later: Later{Found: b.Later.Found, Until: b.Later.Until, Return: b.Later.Return, Controls: b.Later.Controls}})
		l.Sentence = b.Later.Sentence
	}
	return true
}

// takeUndo reads a line of a restore. It belongs to the operation that held the value, and to the last one that took
// the topic away, which may be another where a neighbour was put back.
func (w *lister) takeUndo(b *brief) {
	if i := b.UndoIntent; i != nil {
		of, took := w.ops[i.Of], w.took(i.Topic)
		for _, l := range []*listed{of, took} {
			if l != nil && (l != of || len(w.undos[b.Operation]) == 0) {
				w.undos[b.Operation] = append(w.undos[b.Operation], l)
				l.op.Undos = append(l.op.Undos, Undo{ID: b.Operation, Begun: b.At, Intent: UndoIntent{Of: i.Of, Topic: i.Topic}})
			}
		}
	}
	for _, l := range w.undos[b.Operation] {
		l.LastAt = b.At
		if o := b.UndoOutcome; o != nil {
			l.op.endUndo(b.Operation, &UndoOutcome{Result: o.Result}, b.At)
			l.Sentence = o.Sentence
		}
	}
}

// took returns the last operation on topic that may have sent its empty message, nil when there is none.
func (w *lister) took(topic []byte) *listed {
	all := w.topics[string(topic)]
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].op.acted() {
			return all[i]
		}
	}
	return nil
}

func (l *listed) summary() Summary {
	s := l.Summary
	s.Verdict, s.Open = l.op.Verdict(), l.op.Open()
	s.Running, s.SentNothing = l.op.Running, s.Open && l.op.Running == "" && l.op.Baseline == nil
	if s.Sentence == "" {
		s.Sentence = l.op.Sentence()
	}
	s.Restored = slices.ContainsFunc(l.op.Undos, func(u Undo) bool {
		return bytes.Equal(u.Intent.Topic, l.op.Topic) && u.Outcome != nil && u.Outcome.Result == Restored
	})
	_, s.PutBack = l.op.restored()
	s.Seen = l.op.lastSeen()
	s.After = l.op.after()
	return s
}

// baselineOf returns the operation of a baseline line without reading its payloads.
func baselineOf(line []byte) (string, bool) { return operationOf(line, LineBaseline) }

// operationOf returns the operation of a line of that kind without reading the rest of it. Kind, time and operation
// stand right after the number.
func operationOf(line []byte, kind LineKind) (string, bool) {
	_, _, ok := readPrefix(line)
	start := line[:min(len(line), 300)]
	if !ok || !bytes.Contains(start, []byte(`,"kind":"`+string(kind)+`","at":"`)) {
		return "", false
	}
	_, rest, ok := bytes.Cut(start, []byte(`,"operation":"`))
	if !ok {
		return "", false
	}
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	return string(id), ok
}

// ErrNoOperation is the error of an operation that the record does not hold.
var ErrNoOperation = errors.New("the record holds no such operation")

// Operation reads everything that the record holds of one operation. The error is ErrNoOperation, that of ctx, or what
// kept the record from being read.
func (d *Desk) Operation(ctx context.Context, id string) (Operation, error) {
	var op Operation
	undos := map[string]bool{} // the restores of this operation, which have names of their own
	rivals := map[string]*Operation{}
	needle := []byte(`"` + id + `"`)
	var broken error
	before := d.holder()
	err := d.eachLine(ctx, func(_ int, line []byte, hurt *Damage) error {
		// Every line about it has its name in it; only those are read in full, and what was done to its topic since.
		if hurt != nil || id == "" {
			return nil
		}
		if !bytes.Contains(line, needle) {
			op.foldOther(line, rivals, undos)
			return nil
		}
		l, err := decodeLine(line)
		switch {
		case err != nil:
			broken = err
		case l.Operation == id:
			op.fold(l)
		case l.UndoIntent != nil && l.UndoIntent.Of == id:
			undos[l.Operation] = true
			op.fold(l)
		case l.UndoOutcome != nil && undos[l.Operation]:
			op.fold(l)
		}
		return nil
	})
	switch {
	case err != nil:
		return op, err
	case op.ID == "" && broken != nil:
		return op, fmt.Errorf("operation %s: %w", Quote([]byte(id)), broken)
	case op.ID == "":
		return op, fmt.Errorf("operation %s: %w", Quote([]byte(id)), ErrNoOperation)
	}
	op.runs(before, d.holder())
	return op, nil
}
