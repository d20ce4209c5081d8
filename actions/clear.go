package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"retainscope/inventory"
)

// run is one clear under way.
type run struct {
	*Clearer
	req     Request
	bounds  Bounds
	op      Operation
	guard   Protection
	out     Outcome // what is known so far
	reader  string  // login of the baseline
	witness Witness
	seen    []inventory.Publication // by the witness
}

// Clear empties the slot of one exact topic that the manifest approves, with evidence, and returns the operation with
// its outcome. In order: preconditions; the intent is written and synced; the topic and its neighbours are read; the
// value is compared with the approval; what was there is written and synced; one tombstone; its acknowledgement; a new
// observer reads topic and neighbours again; the outcome is written. Where a step fails nothing further is sent, and
// nothing is ever sent twice. When ctx ends before the tombstone nothing is sent; after it the answer is not known.
//
// The operation has no ID when it was refused before anything was written. The error tells only that the outcome could
// not be written into the record; the outcome in the operation is true nevertheless. After a clear that was accepted
// call WatchReturn: the next Clear may run at the same time.
func (c *Clearer) Clear(ctx context.Context, req Request) (Operation, error) {
	r := &run{Clearer: c, req: req, bounds: c.Bounds.orDefaults()}
	r.op.Topic = bytes.Clone(req.Topic)
	if err := RefuseTopic(req.Topic); err != nil {
		return r.refuse(BadTopic, err), nil
	}
	if _, err := c.Desk.Manifest(); errors.Is(err, fs.ErrNotExist) {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("there is no manifest %s", Quote([]byte(path.Path)))
		}
		return r.refuse(ManifestUnreadable, err), nil // and no lock is left where there is nothing to guard
	}
	done, err := c.Desk.begin(ctx, req.Topic)
	if err != nil {
		if errors.Is(err, ErrLocked) {
			return r.refuse(Busy, err), nil
		}
		return r.refuse(RecordUnwritable, err), nil
	}
	defer done()
	intent, why, err := r.check(ctx)
	if err != nil {
		return r.refuse(why, err), nil
	}
	if err := ctx.Err(); err != nil {
		return r.refuse(Left, errors.New("left before anything was begun")), nil
	}
	c.tell("", StepChecked, "checked")
	l, err := c.Desk.append(ctx, func(seq int64) Line {
		id := operationID(c.Now(), seq)
		c.Desk.acts("clear", id)
		return Line{Kind: LineIntent, Operation: id, Intent: intent}
	})
	if err != nil {
		// The line may stand though its end could not be synced: then it is an intent that nothing followed.
		return r.refuse(RecordUnwritable, err), nil
	}
	r.op.fold(l)
	r.out.Provisional = intent.Provisional
	c.tell(r.op.ID, StepIntended, "intent recorded")
	r.act(ctx)
	if r.witness != nil {
		_ = r.witness.Close() // what it saw is kept; how it ends tells nothing
	}
	return r.conclude(ctx)
}

func operationID(now time.Time, seq int64) string {
	return fmt.Sprintf("%s-%d", now.UTC().Format("20060102-150405"), seq)
}

// refuse returns an operation of which nothing is in the record.
func (r *run) refuse(o Obstacle, err error) Operation {
	r.stop(o, err.Error())
	r.out.Sentence = r.out.sentence(r.op.Topic)
	r.op.Outcome = &r.out
	return r.op
}

// stop notes that nothing was sent.
func (r *run) stop(o Obstacle, why string) {
	r.out.Verdict, r.out.Obstacle, r.out.Why = NotSent, o, why
}

// check looks at everything that must hold before the first line is written.
func (r *run) check(ctx context.Context) (*Intent, Obstacle, error) {
	m, err := r.Desk.Manifest()
	if err != nil {
		return nil, ManifestUnreadable, err
	}
	if err := m.Broker().Same(r.Broker); err != nil {
		return nil, AnotherBroker, err
	}
	e, ok := m.Find(r.req.Topic)
	if !ok {
		return nil, NotApproved, fmt.Errorf("topic %s is not in the manifest: what is not listed is on hold", Quote(r.req.Topic))
	}
	if err := e.CheckApproval(); err != nil {
		return nil, NotApproved, err
	}
	if r.req.Fingerprint != "" && r.req.Fingerprint != e.Fingerprint {
		return nil, ApprovalMoved, fmt.Errorf("the approval is for the fingerprint %.12s, shown was %.12s", e.Fingerprint, r.req.Fingerprint)
	}
	if r.guard, err = Protect(r.Protection.filters, m.protect); err != nil {
		return nil, ManifestUnreadable, err
	}
	if _, err := tombstone(e.Topic, r.guard); err != nil {
		return nil, Protected, err
	}
	listed, err := r.Desk.List(ctx)
	if err != nil {
		return nil, RecordUnwritable, err
	}
	if s, spent := PastOf(listed).Spent(e); spent {
		return nil, ApprovalSpent, fmt.Errorf("the approval of %s at %s was used by operation %s (%s), and nothing is sent twice: approve it anew", Quote(e.Topic), at(e.ApprovedAt), s.ID, s.standing())
	}
	if drift := m.Broker().Drift(r.Broker); drift != "" {
		r.out.Notes = append(r.out.Notes, drift)
	}
	return &Intent{Broker: r.Broker, Topic: e.Topic, Entry: e, Provisional: e.Provisional(), Expect: r.req.Expect, Tool: r.Tool}, NoObstacle, nil
}

// act does everything between the intent and the outcome.
func (r *run) act(ctx context.Context) {
	base, ok := r.baseline(ctx)
	if !ok {
		return
	}
	r.tell(r.op.ID, StepRead, fmt.Sprintf("baseline read, %s", Counted(len(base.Controls), "control")))
	l, err := r.Desk.append(ctx, func(int64) Line {
		return Line{Kind: LineBaseline, Operation: r.op.ID, Baseline: base}
	})
	if err != nil {
		r.stop(RecordUnwritable, err.Error())
		return
	}
	r.op.fold(l)
	if r.ready(ctx) != nil {
		return
	}
	r.tell(r.op.ID, StepCompared, "value as approved")
	r.send(ctx, base)
}

// errNotReady ends a send before its first byte; the reason stands in the outcome.
var errNotReady = errors.New("not sent")

// ready looks once more, as late as possible, whether somebody wrote the topic meanwhile. Between here and the broker
// nobody can look: what comes then is found by the witness, afterwards.
func (r *run) ready(ctx context.Context) error {
	fence := r.witness.Fence(ctx)
	if !r.unchanged(r.witness.Drain()) {
		return errNotReady
	}
	if err := cmp.Or(r.witness.Err(), fence); err != nil && ctx.Err() == nil {
		r.stopLooking(ctx, "the witness was lost: "+err.Error())
		return errNotReady
	}
	if ctx.Err() != nil {
		r.stop(Left, "left before anything was sent")
		return errNotReady
	}
	return nil
}

// send puts the tombstone on the wire, once, and looks what became of it.
func (r *run) send(ctx context.Context, base *Baseline) {
	out, err := tombstone(r.op.Topic, r.guard)
	if err != nil {
		r.stop(Protected, err.Error())
		return
	}
	sendCtx, cancel := context.WithTimeout(ctx, r.bounds.Send)
	receipt, err := r.Sender.Send(sendCtx, out, func() error { return r.ready(ctx) }) // a connection takes its time
	cancel()
	if why, nothing := receipt.unsent(err); nothing {
		if errors.Is(err, errNotReady) {
			return
		}
		r.stop(NotConnected, why)
		if ctx.Err() != nil {
			r.stop(Left, "left before anything was sent")
		}
		return
	}
	s := sent{receipt: receipt, sendErr: err, approved: r.op.Intent.Entry.Fingerprint, before: base.Topic, stamps: r.Stamps, limit: r.bounds.Payload}
	packet, err := out.Check(receipt.Packet)
	switch {
	case err != nil:
		s.fault = err.Error()
	case receipt.Publishes != 1:
		s.fault = fmt.Sprintf("%d PUBLISH packets were counted at the socket, not 1", receipt.Publishes)
	case receipt.Answered && receipt.AnswerID != packet.ID:
		s.fault = fmt.Sprintf("the acknowledgement is for the packet %d, not %d", receipt.AnswerID, packet.ID)
	}
	r.tell(r.op.ID, StepSent, receipt.answer())
	looks := r.readBack(ctx, base, &s)
	notes := r.out.Notes
	provisional := r.out.Provisional
	r.out = s.judge(r.op.Topic)
	r.out.Packet, r.out.Looks, r.out.Provisional = &packet, looks, provisional
	r.out.Notes = append(notes, r.out.Notes...)
	r.out.Limits = limitsOf(s.look.User, r.bounds.Quiet)
}

// readBack lets a new observer look at the topic and the controls.
func (r *run) readBack(ctx context.Context, base *Baseline, s *sent) []Look {
	defer func() { s.lookedAt = r.Now() }()
	if s.left = ctx.Err() != nil; s.left {
		s.blind = "the program was left before the topic was read back"
		return nil
	}
	q := Question{Filters: watched(r.op.Topic, base.Controls)}
	var err error
	s.look, err = r.look(ctx, q)
	looks := []Look{lookOf("read-back", 0, s.look, err)}
	fence := r.witness.Fence(ctx) // a connection that is late may have more than the look
	r.seen = append(r.seen, r.witness.Drain()...)
	s.controls = compareControls(base.Controls, s.look, r.bounds.Quiet, err, r.seen, r.Stamps)
	if lost(s.controls) > 0 && ctx.Err() == nil {
		// An alarm is raised on two looks, not on one.
		if second, err := r.look(ctx, q); second.blind(r.op.Topic, r.bounds.Quiet, err) == "" {
			looks = append(looks, lookOf("confirmation", 0, second, err))
			r.seen = append(r.seen, r.witness.Drain()...)
			s.look = second
			s.controls = compareControls(base.Controls, second, r.bounds.Quiet, err, r.seen, r.Stamps)
		}
	}
	if err := cmp.Or(r.witness.Err(), fence); err != nil {
		r.out.Notes = append(r.out.Notes, lostWitness(err))
	}
	s.witness = r.seen
	s.blind = s.look.blind(r.op.Topic, r.bounds.Quiet, err)
	switch {
	case s.blind != "" && ctx.Err() != nil:
		s.blind, s.left = "the program was left while the topic was being read back", true
	case s.blind == "" && s.look.ClientID == s.receipt.ClientID:
		s.blind = "the observer had the client id of the sender: it is no separate observer"
	case s.blind == "" && s.look.User != r.reader:
		s.blind = fmt.Sprintf("the observer's login was %s before and %s after", userName(r.reader), userName(s.look.User))
	}
	r.tell(r.op.ID, StepReadBack, controlsText(s.controls))
	return looks
}

// lostWitness is the note about a witness that did not stand to the end, or did not answer.
func lostWitness(err error) string {
	return "the witness was lost (" + err.Error() + "): not everything that was published meanwhile was seen"
}

// conclude writes the outcome, whether or not the person waits for it.
func (r *run) conclude(ctx context.Context) (Operation, error) {
	r.out.Sentence = r.out.sentence(r.op.Topic)
	out := r.out
	l, err := r.Desk.append(context.WithoutCancel(ctx), func(int64) Line {
		return Line{Kind: LineOutcome, Operation: r.op.ID, Outcome: &out}
	})
	if err != nil {
		r.op.Outcome = &out
		return r.op, unrecorded(fmt.Sprintf("the outcome of operation %s (%s)", r.op.ID, out.Verdict), err)
	}
	r.op.fold(l)
	r.tell(r.op.ID, StepRecorded, out.Verdict.String())
	return r.op, nil
}
