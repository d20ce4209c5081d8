package actions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// Forecast returns how long after a clear a return must be expected, and a sentence that says so: the refresh cadence
// that was learned, or a third of the window where a refreshing publisher was seen at all, or nothing and "" when
// watching taught nothing. A ledger re-asserts what it holds at its next refresh.
func Forecast(h expiry.History) (time.Duration, string) {
	if gap, ok := h.Cadence(); ok {
		d := time.Duration(gap) * time.Second
		return d, fmt.Sprintf("its owner published it every %v while watched: if it still runs, expect it back within %v", d, d)
	}
	if h.Refreshes > 0 && h.Window > 0 {
		d := time.Duration(h.Window) * time.Second / 3
		return d, fmt.Sprintf("it was published live with an expiry of %d s: an owner that refreshes every third of it brings it back within %v", h.Window, d)
	}
	return 0, ""
}

// Window returns how long a return is watched for by default.
func (c *Clearer) Window() time.Duration { return c.Bounds.orDefaults().Window }

// WatchReturn watches the topic of an operation whose tombstone may have been accepted, from now until the given
// instant, on a subscription of its own that also shows what came since the clear, and looks once more at the end. It
// ends early when a value comes back, when ctx ends, or when the observer is lost. What it saw is appended to the
// record as a line of its own and returned. The error tells what could not be written. It sends nothing and may run
// beside another Clear.
func (c *Clearer) WatchReturn(ctx context.Context, op Operation, until time.Time) (Later, error) {
	if op.ID == "" {
		return Later{}, errors.New("watch for a return: the operation was never begun")
	}
	w := &watcher{Clearer: c, op: op, later: Later{From: c.Now().UTC()}}
	w.watch(ctx, until)
	return w.record(ctx, LineWatch)
}

// Recheck looks once at the topic of an operation and at its controls, for instance after a broker or a gateway was
// restarted, or to learn what became of an intent without an outcome, and appends what it saw. note is in the person's
// words. The error says that there is no such operation, that it belongs to another broker, or what could not be
// written; a look that failed is in the result.
func (c *Clearer) Recheck(ctx context.Context, id, note string) (Later, error) {
	op, err := c.Desk.Operation(ctx, id)
	if err != nil {
		return Later{}, fmt.Errorf("recheck: %w", err)
	}
	if err := op.Intent.Broker.Same(c.Broker); err != nil {
		return Later{}, fmt.Errorf("recheck operation %s: %w", id, err)
	}
	w := &watcher{Clearer: c, op: op, later: Later{From: c.Now().UTC(), Note: note}}
	w.lookAgain(ctx, "recheck")
	return w.record(ctx, LineRecheck)
}

// watcher collects what is seen of one operation after its outcome.
type watcher struct {
	*Clearer
	op    Operation
	later Later
	stays string                  // says that the topic holds a value though nothing tells that it ever went; empty otherwise
	live  []inventory.Publication // of the topic and the controls
}

func (w *watcher) watch(ctx context.Context, until time.Time) {
	topic := w.op.Topic
	opening, cancel := context.WithTimeout(ctx, w.Bounds.orDefaults().Look)
	witness, err := w.Observer.Watch(opening, watched(topic, w.controls()), true)
	cancel()
	if err != nil {
		w.later.Why = "the observer could not watch: " + err.Error()
		return
	}
	defer func() { _ = witness.Close() }() // what it saw is kept
	w.later.Looks = append(w.later.Looks, lookOf("watch", 0, witness.About(), nil))
	window, cancel := context.WithTimeout(ctx, until.Sub(w.Now()))
	defer cancel()
	asked := 0
	for {
		p, err := witness.Next(window)
		switch {
		case err != nil && ctx.Err() != nil:
			w.later.Why = "the watch was left"
			return
		case err != nil && window.Err() != nil:
			w.lookAgain(ctx, "end of watch")
			return
		case err != nil:
			w.later.Why = "the observer was lost: " + err.Error()
			w.lookAgain(ctx, "after the loss")
			return
		}
		w.note(p)
		if !bytes.Equal(p.Topic, topic) || len(p.Payload) == 0 {
			continue // an empty message is an echo of a clear, ours or another's, and triggers nothing
		}
		if p.Retain {
			w.there(p, time.UnixMilli(p.ReceivedAt).UTC())
			return
		}
		// Without RETAIN it is not stored, or the broker does not tell: one look decides, and not for every message.
		if asked++; asked <= 3 {
			if w.lookAgain(ctx, "after a publication"); w.later.Return != nil || ctx.Err() != nil {
				return
			}
		}
	}
}

// note keeps what was published on the topic, and of each control the last: a busy one must not fill the memory.
func (w *watcher) note(p inventory.Publication) {
	if !bytes.Equal(p.Topic, w.op.Topic) {
		p.Payload = p.Payload[:min(1, len(p.Payload))] // whether it was empty is all that counts
		for i := range w.live {
			if bytes.Equal(w.live[i].Topic, p.Topic) {
				w.live[i] = p
				return
			}
		}
	}
	w.live = append(w.live, p)
}

func (w *watcher) controls() []Copy {
	if w.op.Baseline == nil {
		return nil
	}
	return w.op.Baseline.Controls
}

// there notes a value that the topic holds: one that came back, seen at the given instant or found by a look when that
// is zero, or one that never went.
func (w *watcher) there(p inventory.Publication, seen time.Time) {
	c, same := copyOf(p, w.Stamps, -1), SameValue(w.approved(), p, w.Stamps)
	w.later.Found, w.later.Now, w.stays = Present, &c, ""
	if _, ours := w.op.restored(); ours {
		return // what we put back ourselves did not come back
	}
	if !w.op.went() {
		w.stays = "is still there, as approved"
		if !same {
			w.stays = "is there with another value than the one approved"
		}
		return
	}
	w.later.Return = &Return{At: seen, Same: same, Fingerprint: c.Fingerprint}
	if seen.IsZero() {
		seen = w.Now()
	}
	w.later.Return.AfterMS = max(0, seen.Sub(w.since()).Milliseconds())
}

// went reports whether anything tells that the topic was empty after the clear: a look that did not observe it, or an
// acknowledgement that no look contradicted. Only what went can come back.
func (op Operation) went() bool {
	o := op.Outcome
	switch {
	case o == nil || o.Found == Present && o.Return == nil:
		return false
	case o.Found == NotObserved || o.Found == EmptyCopy:
		return true
	}
	return o.Verdict.Accepted()
}

func (w *watcher) approved() string {
	if w.op.Intent == nil {
		return ""
	}
	return w.op.Intent.Entry.Fingerprint
}

// since returns when the tombstone was acknowledged, or the nearest instant that is known.
func (w *watcher) since() time.Time {
	switch o := w.op.Outcome; {
	case o != nil && o.Receipt != nil && o.Receipt.Answered:
		return o.Receipt.AnsweredAt
	case o != nil && o.Receipt != nil && !o.Receipt.SentAt.IsZero():
		return o.Receipt.SentAt
	}
	return w.op.Begun
}

// lookAgain makes one look at topic and controls.
func (w *watcher) lookAgain(ctx context.Context, role string) {
	controls, quiet := w.controls(), w.Bounds.orDefaults().Quiet
	q := Question{Filters: watched(w.op.Topic, controls)}
	look, err := w.look(ctx, q)
	w.later.Looks = append(w.later.Looks, lookOf(role, 0, look, err))
	if why := look.blind(w.op.Topic, quiet, err); why != "" {
		w.later.Found, w.later.Why = FoundNothingOut, why
		return
	}
	w.later.Controls = compareControls(controls, look, quiet, err, w.live, w.Stamps)
	w.claimOwn(ctx, w.op, w.later.Controls)
	if lost(w.later.Controls) > 0 {
		if second, err := w.look(ctx, q); second.blind(w.op.Topic, quiet, err) == "" {
			look = second
			w.later.Looks = append(w.later.Looks, lookOf("confirmation", 0, second, err))
			w.later.Controls = compareControls(controls, second, quiet, err, w.live, w.Stamps)
			w.claimOwn(ctx, w.op, w.later.Controls)
		}
	}
	p, there := look.replay(w.op.Topic)
	switch {
	case !there && seenAgain(w.later.Controls) == 0 && !w.sighted(ctx, w.op.Topic, true, &w.later.Looks):
		w.later.Found, w.later.Why = FoundNothingOut, shownNothing
		for i := range w.later.Controls {
			if w.later.Controls[i].State == Lost {
				w.later.Controls[i].State = NotCompared
			}
		}
	case !there:
		w.later.Found = NotObserved
	case len(p.Payload) == 0:
		w.later.Found = EmptyCopy
	default:
		var seen time.Time
		if first, ok := w.firstLive(); ok {
			seen = time.UnixMilli(first.ReceivedAt).UTC()
		}
		w.there(p, seen)
	}
}

func (w *watcher) firstLive() (inventory.Publication, bool) {
	for _, p := range w.live {
		if bytes.Equal(p.Topic, w.op.Topic) && len(p.Payload) > 0 {
			return p, true
		}
	}
	return inventory.Publication{}, false
}

// record writes the line. Whoever leaves is not waited for by the lock of another process for long.
func (w *watcher) record(ctx context.Context, kind LineKind) (Later, error) {
	const patience = 5 * time.Second
	w.later.Until = w.Now().UTC()
	w.later.Sentence = w.later.sentence(w.op.Topic, w.stays)
	later := w.later
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, err := w.Desk.append(ctx, func(int64) Line {
		return Line{Kind: kind, Operation: w.op.ID, Later: &later}
	})
	return later, err
}

// sentence says what was seen; stays is what it says of a value that never went, empty when there is none.
func (l Later) sentence(topic []byte, stays string) string {
	name := Quote(topic)
	s := ""
	if l.Note != "" {
		s = "rechecked (" + Quote([]byte(l.Note)) + "): "
	}
	span := fmt.Sprintf("from %s to %s", at(l.From), at(l.Until))
	switch {
	case l.Return != nil:
		s += l.Return.text(name)
	case l.Found == NotObserved:
		s += fmt.Sprintf("%s was not observed %s", name, span)
	case l.Found == Present && stays != "":
		s += fmt.Sprintf("%s %s, at %s", name, stays, at(l.Until))
	case l.Found == Present:
		s += fmt.Sprintf("%s is served to a new subscription at %s", name, at(l.Until))
	case l.Found == EmptyCopy:
		s += fmt.Sprintf("the broker replays a retained message without payload for %s", name)
	default:
		s += fmt.Sprintf("what %s holds could not be told %s", name, span)
	}
	if len(l.Controls) > 0 {
		s += "; " + controlsText(l.Controls)
	}
	if l.Why != "" {
		s += "; " + l.Why
	}
	return s
}
