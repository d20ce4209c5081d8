package actions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	SentNothing bool // open, and not even a baseline: nothing was sent
	Sentence    string
	Restored    bool // a restore of its topic ended as Restored
	PutBack     bool // a restore of its topic was sent, or may have been, and was not refused
	// After says in a few words what was put back since, of the topic or of a neighbour; empty = nothing.
	After  string
	LastAt time.Time // of the last line about it
}

// Listed is what the record holds, oldest operation first.
type Listed struct {
	Operations []Summary
	Lines      int64
	Skipped    int64 // lines that are none of ours, or half written; Verify says which
}

// Open returns the operations that have an intent and no outcome, oldest first: what a start offers to look at.
func (l Listed) Open() []Summary {
	return slices.DeleteFunc(slices.Clone(l.Operations), func(s Summary) bool { return !s.Open })
}

// eachLine calls f with every whole line of the record in order, and with what stands at the end of a segment and is
// none (hurt then tells of it, and there is no line: it may be of any size). The bytes are borrowed. It stops at the first error of f or of ctx.
func (d *Desk) eachLine(ctx context.Context, f func(segment int, line []byte, hurt *Damage) error) error {
	numbers, err := d.segments()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	for _, n := range numbers {
		if err := d.eachLineOf(ctx, n, f); err != nil {
			return err
		}
	}
	return nil
}

func (d *Desk) eachLineOf(ctx context.Context, n int, f func(int, []byte, *Damage) error) (err error) {
	file, err := d.store.Open(d.segmentName(n))
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	end, err := lastLineEnd(file, size)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(file, 0, end), 1<<20)
	var long []byte
	for i := 0; ; i++ {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
			long = long[:0]
		}
		if err == nil {
			if err := f(n, line[:len(line)-1], nil); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read record: %w", err)
		}
		break
	}
	if end == size {
		return nil
	}
	hurt, err := damageOf(file, end, size)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	return f(n, nil, &hurt)
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
		Verdict  Verdict `json:"verdict"`
		Sentence string  `json:"sentence"`
	} `json:"outcome"`
	Later *struct {
		Found    Found           `json:"found"`
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

// List reads the record and returns every operation in it. With a large record it takes a while, so it is not for the
// goroutine that reads keys; ctx ends it. Damaged lines never stop it.
func (d *Desk) List(ctx context.Context) (Listed, error) {
	return d.ListCounting(ctx, func(int64) {})
}

// ListCounting is List, and calls read now and then with the number of lines read so far, on the goroutine of the caller.
func (d *Desk) ListCounting(ctx context.Context, read func(lines int64)) (Listed, error) {
	const between = 256
	w := lister{ops: map[string]*listed{}, topics: map[string][]*listed{}, undos: map[string][]*listed{}}
	n := int64(0)
	err := d.eachLine(ctx, func(_ int, line []byte, hurt *Damage) error {
		if n++; n%between == 0 {
			read(n)
		}
		if hurt == nil && w.take(line) {
			w.all.Lines++
		} else {
			w.all.Skipped++
		}
		return nil
	})
	if err != nil {
		return w.all, err
	}
	for _, l := range w.order {
		w.all.Operations = append(w.all.Operations, l.summary())
	}
	return w.all, nil
}

// listed is an operation with as much of it as a summary needs.
type listed struct {
	Summary
	op Operation
}

type lister struct {
	all    Listed
	ops    map[string]*listed
	topics map[string][]*listed // the operations on a topic, oldest first
	undos  map[string][]*listed // whose topic a restore puts back, and who held the value
	order  []*listed
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
		l.op.Outcome, l.Sentence = &Outcome{Verdict: b.Outcome.Verdict}, b.Outcome.Sentence
	case b.Later != nil:
		l.op.Later = append(l.op.Later, LaterLine{Kind: b.Kind, At: b.At, Later: Later{Found: b.Later.Found, Return: b.Later.Return, Controls: b.Later.Controls}})
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
	s.SentNothing = s.Open && l.op.Baseline == nil
	if s.Sentence == "" {
		s.Sentence = l.op.Sentence()
	}
	s.Restored = slices.ContainsFunc(l.op.Undos, func(u Undo) bool {
		return bytes.Equal(u.Intent.Topic, l.op.Topic) && u.Outcome != nil && u.Outcome.Result == Restored
	})
	_, s.PutBack = l.op.restored()
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
	return op, nil
}
