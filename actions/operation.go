package actions

import (
	"fmt"
	"slices"
	"time"
)

// Operation is one clear with everything the record says of it, in order. It is a copy and never changes.
type Operation struct {
	ID       string // empty when nothing was begun
	Topic    []byte
	Begun    time.Time
	Intent   *Intent
	Baseline *Baseline
	Outcome  *Outcome // nil when the record holds none: what happened is not known
	Ended    time.Time
	Later    []LaterLine
	Undos    []Undo
	Running  string // who runs it now, in words; "" = nobody, as far as can be told. Only without an outcome
}

// LaterLine is a watch or a recheck with its place in time.
type LaterLine struct {
	Kind LineKind
	At   time.Time
	Later
}

// Undo is a restore that belongs to an operation; Outcome is nil when the record holds none.
type Undo struct {
	ID      string
	Begun   time.Time
	Intent  UndoIntent
	Outcome *UndoOutcome
	Ended   time.Time
	Running string // as of an Operation
}

// fold adds one line to the operation it belongs to.
func (op *Operation) fold(l Line) {
	switch l.Kind {
	case LineIntent:
		if l.Intent != nil {
			op.ID, op.Begun, op.Intent, op.Topic = l.Operation, l.At, l.Intent, l.Intent.Topic
		}
	case LineBaseline:
		op.Baseline = l.Baseline
	case LineOutcome:
		op.Outcome, op.Ended = l.Outcome, l.At
	case LineWatch, LineRecheck:
		if l.Later != nil {
			op.Later = append(op.Later, LaterLine{Kind: l.Kind, At: l.At, Later: *l.Later})
		}
	case LineUndoIntent:
		if l.UndoIntent != nil {
			op.Undos = append(op.Undos, Undo{ID: l.Operation, Begun: l.At, Intent: *l.UndoIntent})
		}
	case LineUndoOutcome:
		op.endUndo(l.Operation, l.UndoOutcome, l.At)
	}
}

func (op *Operation) endUndo(id string, out *UndoOutcome, at time.Time) {
	for i := range op.Undos {
		if op.Undos[i].ID == id {
			op.Undos[i].Outcome, op.Undos[i].Ended = out, at
		}
	}
}

// Open reports whether the record has an intent and no outcome: the program was stopped in between.
func (op Operation) Open() bool { return op.ID != "" && op.Outcome == nil }

// runs notes who runs the operation, or a restore of it, now; nobody is noted as well.
func (op *Operation) runs(now ...holder) {
	who := func(ended bool, id string) string {
		if i := slices.IndexFunc(now, func(h holder) bool { return !ended && h.runs(id) }); i >= 0 {
			return now[i].who
		}
		return ""
	}
	op.Running = who(!op.Open(), op.ID)
	for i := range op.Undos {
		op.Undos[i].Running = who(op.Undos[i].Outcome != nil, op.Undos[i].ID)
	}
}

// Verdict returns how the operation stands with everything that was seen later: a clear that was verified and whose
// value was seen again later came back, whatever was seen after that, and one whose watch missed a quiet neighbour took
// it along.
func (op Operation) Verdict() Verdict {
	if op.Outcome == nil {
		return Unknown
	}
	v := op.Outcome.Verdict
	if v == ClearedVerified || v == CouldNotVerify {
		if _, back := op.cameBackLater(); back {
			return CameBack
		}
		for _, l := range op.Later {
			if l.Kind == LineWatch && lost(l.Controls) > 0 {
				return Collateral
			}
		}
	}
	return v
}

// cameBackLater returns the first later look that saw a value again, before any restore that was sent.
func (op Operation) cameBackLater() (LaterLine, bool) {
	for _, l := range op.Later {
		if l.Found != Present && l.Return == nil {
			continue
		}
		if u, yes := op.restored(); yes && !l.At.Before(u.Begun) {
			return LaterLine{}, false
		}
		return l, true
	}
	return LaterLine{}, false
}

// restored returns the first restore of the operation's own topic that may have reached the broker.
func (op Operation) restored() (Undo, bool) {
	for _, u := range op.Undos {
		if string(u.Intent.Topic) == string(op.Topic) && (u.Outcome == nil || u.Outcome.Result != RestoreNotSent && u.Outcome.Result != RestoreRefused) {
			return u, true
		}
	}
	return Undo{}, false
}

// acted reports whether the empty message was sent or may have been.
func (op Operation) acted() bool {
	if op.Outcome == nil {
		return op.Baseline != nil
	}
	return op.Outcome.Verdict.Sent()
}

// after says in a few words what was put back since; "" = nothing.
func (op Operation) after() string {
	text, near := "", ""
	for _, u := range op.Undos {
		words := UndoUnknown.words()
		switch {
		case u.Outcome != nil:
			words = u.Outcome.Result.words()
		case u.Running != "":
			words = "being put back by " + u.Running
		}
		switch {
		case words == "":
		case string(u.Intent.Topic) == string(op.Topic):
			text = words
		default:
			near = "a neighbour " + words
		}
	}
	if text != "" && near != "" {
		text += ", "
	}
	return text + near
}

// words says what a restore did, "" where it did nothing.
func (u UndoResult) words() string {
	switch u {
	case Restored:
		return "put back"
	case RestoredOtherwise:
		return "put back, but it differs"
	case RestoreUnverified:
		return "put back, not verified"
	case RestoreNoAnswer:
		return "put back without an answer"
	case UndoUnknown:
		return "perhaps put back: no outcome was written"
	default:
		return ""
	}
}

// foldOther adds a restore of the topic that belongs to another operation, where this one was the last to take it away.
// rivals are the later clears of the topic, undos the restores that were taken so far.
func (op *Operation) foldOther(line []byte, rivals map[string]*Operation, undos map[string]bool) {
	if op.ID == "" {
		return
	}
	of := func(kind LineKind) (id string, ok bool) { return operationOf(line, kind) }
	if _, ok := of(LineIntent); ok {
		if l, err := decodeLine(line); err == nil && l.Intent != nil && string(l.Intent.Topic) == string(op.Topic) {
			rivals[l.Operation] = &Operation{ID: l.Operation}
		}
		return
	}
	if id, ok := of(LineBaseline); ok {
		if r := rivals[id]; r != nil {
			r.Baseline = &Baseline{}
		}
		return
	}
	if id, ok := of(LineOutcome); ok && rivals[id] != nil {
		if l, err := decodeLine(line); err == nil {
			rivals[id].Outcome = l.Outcome
		}
		return
	}
	if _, ok := of(LineUndoIntent); ok {
		l, err := decodeLine(line)
		if err != nil || l.UndoIntent == nil || string(l.UndoIntent.Topic) != string(op.Topic) || !op.acted() {
			return
		}
		for _, r := range rivals {
			if r.acted() {
				return
			}
		}
		undos[l.Operation] = true
		op.fold(l)
		return
	}
	if id, ok := of(LineUndoOutcome); ok && undos[id] {
		if l, err := decodeLine(line); err == nil {
			op.fold(l)
		}
	}
}

// Provisional returns why the retirement is provisional, as sentences; none when it is not.
func (op Operation) Provisional() []string {
	switch {
	case op.Outcome != nil:
		return op.Outcome.Provisional
	case op.Intent != nil:
		return op.Intent.Provisional
	}
	return nil
}

// Sentence says how the operation stands, in plain words that are safe for a terminal.
func (op Operation) Sentence() string {
	name := Quote(op.Topic)
	var s string
	switch {
	case op.Outcome != nil:
		s = op.Outcome.Sentence
	case op.Running != "":
		s = fmt.Sprintf("the clear of %s was begun at %s and %s is running it: there is no outcome yet", name, at(op.Begun), op.Running)
	case op.Baseline == nil:
		s = fmt.Sprintf("the clear of %s was begun and its end was not written down. No baseline was written either, and nothing is sent before that: "+
			"it sent nothing", name)
	default:
		s = fmt.Sprintf("the clear of %s was begun and its end was not written down: whether the empty message was sent is not known. "+
			"Nothing is sent again by itself; a recheck tells what is there now", name)
	}
	for _, l := range op.Later {
		s += "\n" + l.Sentence
	}
	for _, u := range op.Undos {
		switch {
		case u.Outcome != nil:
			s += "\n" + u.Outcome.Sentence
		case u.Running != "":
			s += fmt.Sprintf("\na restore of %s was begun at %s and %s is running it", Quote(u.Intent.Topic), at(u.Begun), u.Running)
		default:
			s += fmt.Sprintf("\na restore of %s was begun at %s and its end was not written down", Quote(u.Intent.Topic), at(u.Begun))
		}
	}
	return s
}

// Undoable returns nil when the record holds what is needed to put the topic back, and otherwise why not.
func (op Operation) Undoable(topic []byte) (Copy, error) {
	if op.Baseline == nil {
		return Copy{}, fmt.Errorf("operation %s: the record holds no value from before it", op.ID)
	}
	if string(topic) == string(op.Topic) {
		switch o := op.Outcome; {
		case o == nil:
		case !o.Verdict.Sent():
			return Copy{}, fmt.Errorf("operation %s sent nothing: there is nothing to undo", op.ID)
		case o.Verdict == Refused && o.Found != NotObserved:
			return Copy{}, fmt.Errorf("the broker refused operation %s: it took nothing away", op.ID)
		}
		if op.Outcome != nil && op.Outcome.Overrun != nil { // what was there last
			return *op.Outcome.Overrun, savedOrWhy(*op.Outcome.Overrun)
		}
		return op.Baseline.Topic, savedOrWhy(op.Baseline.Topic)
	}
	for _, c := range op.Baseline.Controls {
		if string(c.Topic) == string(topic) {
			return c, savedOrWhy(c)
		}
	}
	return Copy{}, fmt.Errorf("operation %s holds nothing of topic %s", op.ID, Quote(topic))
}

func savedOrWhy(c Copy) error {
	if !c.Saved {
		return fmt.Errorf("the value of %s was not saved: its %d bytes were more than the limit for undo", Quote(c.Topic), c.Size)
	}
	return nil
}
