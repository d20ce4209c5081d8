package actions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// RestoreRequest is one restore that a person asked for.
type RestoreRequest struct {
	Operation string // whose clear is undone
	Topic     []byte // nil = the topic of the operation; else one of its controls, where a clear took a neighbour along
	By        string // who asks; see Person
	// Overwrite is the fingerprint of what the topic holds now, as it was shown to the person who confirmed that it is
	// overwritten. Empty = only an empty slot is filled.
	Overwrite string
}

// restore is one restore under way.
type restore struct {
	*Clearer
	req    RestoreRequest
	op     Operation
	topic  []byte
	id     string
	guard  Protection
	out    UndoOutcome
	saved  Copy
	letter Outgoing
	// witness sees what is written between the look and the put-back.
	witness Witness
}

// Restore puts back what an operation removed, or a neighbour that went with it: the same bytes, QoS and properties in
// order, and what remains of the expiry, counted from when it was read. It is refused where less than a second is
// left, and where the topic holds something unless overwriting exactly that was confirmed. Then it reads back and
// compares. Before and after stand in the record. The error tells only that the outcome could not be written.
func (c *Clearer) Restore(ctx context.Context, req RestoreRequest) (UndoOutcome, error) {
	r := &restore{Clearer: c, req: req, out: UndoOutcome{Of: req.Operation}}
	op, err := c.Desk.Operation(ctx, req.Operation)
	if err != nil {
		return r.refuse(NothingToRestore, err), nil
	}
	r.op, r.topic = op, op.Topic
	if req.Topic != nil {
		r.topic = bytes.Clone(req.Topic)
	}
	done, err := c.Desk.begin(ctx, r.topic)
	if err != nil {
		if errors.Is(err, ErrLocked) {
			return r.refuse(Busy, err), nil
		}
		return r.refuse(RecordUnwritable, err), nil
	}
	defer done()
	if why, err := r.check(ctx); err != nil {
		return r.refuse(why, err), nil
	}
	c.tell("", StepChecked, "checked")
	intent := r.intent()
	l, err := c.Desk.append(ctx, func(seq int64) Line {
		id := operationID(c.Now(), seq)
		c.Desk.acts("restore", id)
		return Line{Kind: LineUndoIntent, Operation: id, UndoIntent: intent}
	})
	if err != nil {
		return r.refuse(RecordUnwritable, err), nil
	}
	r.id = l.Operation
	c.tell(r.id, StepIntended, "intent recorded")
	r.act(ctx)
	if r.witness != nil {
		_ = r.witness.Close() // what it saw is kept
	}
	return r.conclude(ctx)
}

func (r *restore) refuse(o Obstacle, err error) UndoOutcome {
	r.stop(o, err.Error())
	r.out.Sentence = r.out.sentence(r.topic)
	return r.out
}

func (r *restore) stop(o Obstacle, why string) {
	r.out.Result, r.out.Obstacle, r.out.Why = RestoreNotSent, o, why
}

func (r *restore) check(ctx context.Context) (Obstacle, error) {
	if err := r.op.Intent.Broker.Same(r.Broker); err != nil {
		return AnotherBroker, err
	}
	m, err := r.Desk.Manifest()
	if err != nil {
		return ManifestUnreadable, err
	}
	if r.guard, err = Protect(r.Protection.filters, m.protect); err != nil {
		return ManifestUnreadable, err
	}
	if r.saved, err = r.op.Undoable(r.topic); err != nil {
		return NothingToRestore, err
	}
	if f, yes := r.guard.Match(r.topic); yes {
		return Protected, fmt.Errorf("topic %s is protected by %s", Quote(r.topic), Quote([]byte(f)))
	}
	if r.letter, err = restoration(r.saved, r.guard, r.Now()); err != nil {
		return NothingToRestore, err
	}
	if ctx.Err() != nil {
		return Left, errors.New("left before anything was begun")
	}
	return NoObstacle, nil
}

func (r *restore) intent() *UndoIntent {
	i := &UndoIntent{Of: r.op.ID, Broker: r.Broker, Topic: r.topic, Fingerprint: r.saved.Fingerprint, Size: r.saved.Size,
		QoS: r.letter.qos, Overwrites: r.req.Overwrite, By: r.req.By}
	if s, ok := r.letter.interval.Seconds(); ok {
		i.Seconds = &s
	}
	return i
}

// act does everything between the intent and the outcome.
func (r *restore) act(ctx context.Context) {
	watchCtx, cancel := context.WithTimeout(ctx, r.Bounds.orDefaults().Look)
	witness, err := r.Observer.Watch(watchCtx, [][]byte{filterFor(r.topic)}, false)
	cancel()
	if err != nil {
		r.stop(ObserverFailed, err.Error())
		if ctx.Err() != nil {
			r.stop(Left, "left before anything was sent")
		}
		return
	}
	r.witness = witness
	look, err := r.look(ctx, Question{Filters: [][]byte{filterFor(r.topic)}})
	r.out.Looks = append(r.out.Looks, lookOf("before", 0, look, err))
	if why := look.blind(r.topic, r.Bounds.orDefaults().Quiet, err); why != "" {
		if ctx.Err() != nil {
			r.stop(Left, "left before anything was sent")
		} else {
			r.stop(ObserverFailed, why)
		}
		return
	}
	if p, there := look.replay(r.topic); there && len(p.Payload) > 0 {
		c := copyOf(p, r.Stamps, -1)
		r.out.Occupant = &c
		if !SameValue(r.req.Overwrite, p, r.Stamps) {
			r.stop(Occupied, fmt.Sprintf("topic %s holds %s with the fingerprint %.12s", Quote(r.topic), Counted(c.Size, "byte"), c.Fingerprint))
			return
		}
	}
	r.tell(r.id, StepRead, "topic read")
	// Made again at the last moment: time has passed, and what remains of the expiry is what counts.
	if r.letter, err = restoration(r.saved, r.guard, r.Now()); err != nil {
		r.stop(NothingToRestore, err.Error())
		return
	}
	sendCtx, cancel := context.WithTimeout(ctx, r.Bounds.orDefaults().Send)
	receipt, err := r.Sender.Send(sendCtx, r.letter, func() error { return r.ready(ctx) })
	cancel()
	r.sent(ctx, receipt, err)
}

// ready looks once more, as late as possible, whether somebody wrote the topic since it was read.
func (r *restore) ready(ctx context.Context) error {
	confirmed := true
	fence := r.witness.Fence(ctx)
	for _, p := range r.witness.Drain() {
		if string(p.Topic) != string(r.topic) || !p.Retain {
			continue
		}
		r.out.Occupant, confirmed = nil, true
		if len(p.Payload) > 0 {
			c := copyOf(p, r.Stamps, -1)
			r.out.Occupant, confirmed = &c, SameValue(r.req.Overwrite, p, r.Stamps)
		}
	}
	switch {
	case !confirmed:
		c := r.out.Occupant
		r.stop(Occupied, fmt.Sprintf("topic %s was written just now: it holds %d bytes with the fingerprint %.12s", Quote(r.topic), c.Size, c.Fingerprint))
	case cmp.Or(r.witness.Err(), fence) != nil && ctx.Err() == nil:
		r.stop(ObserverFailed, "the witness was lost: "+cmp.Or(r.witness.Err(), fence).Error())
	case ctx.Err() != nil:
		r.stop(Left, "left before anything was sent")
	default:
		return nil
	}
	return errNotReady
}

// overrun finds a value that somebody wrote between the last look and the put-back, and that was overwritten.
func (r *restore) overrun() {
	var last *inventory.Publication
	for _, p := range r.witness.Drain() {
		switch {
		case string(p.Topic) != string(r.topic) || !p.Retain:
		case bytes.Equal(p.Payload, r.letter.payload) && inventory.Fingerprint(nil, p.Properties, expiry.None()) == inventory.Fingerprint(nil, r.letter.properties, expiry.None()):
			if last != nil && len(last.Payload) > 0 {
				c := copyOf(*last, r.Stamps, -1)
				r.out.Overrun = &c
			}
			return
		default:
			last = &p
		}
	}
}

func (r *restore) sent(ctx context.Context, receipt Receipt, err error) {
	if why, nothing := receipt.unsent(err); nothing {
		if errors.Is(err, errNotReady) {
			return
		}
		r.stop(NotConnected, why)
		return
	}
	r.out.Receipt = receiptOf(receipt, err)
	packet, fault := r.letter.Check(receipt.Packet)
	r.out.Packet = &packet
	r.tell(r.id, StepSent, receipt.answer())
	readBack := r.readBack(ctx)
	if err := r.witness.Fence(ctx); err != nil {
		r.out.Notes = append(r.out.Notes, lostWitness(err))
	}
	r.overrun()
	switch {
	case fault != nil:
		r.out.Result, r.out.Why = UndoUnknown, fault.Error()
	case r.letter.qos == 0 && err != nil || r.letter.qos > 0 && !receipt.Answered:
		r.out.Result, r.out.Why = RestoreNoAnswer, sent{receipt: receipt, sendErr: err, left: ctx.Err() != nil}.silence()
	case receipt.Answered && receipt.Code >= 0x80:
		r.out.Result = RestoreRefused
	case readBack != "":
		r.out.Result, r.out.Why = RestoreUnverified, readBack
	case len(r.out.Differs) > 0, r.out.Overrun != nil:
		r.out.Result = RestoredOtherwise
	default:
		r.out.Result = Restored
	}
}

// readBack looks at the topic with a new observer and compares. It returns why the look tells nothing, or "".
func (r *restore) readBack(ctx context.Context) string {
	if ctx.Err() != nil {
		return "the program was left before the topic was read back"
	}
	look, err := r.look(ctx, Question{Filters: [][]byte{filterFor(r.topic)}, QoS: r.Bounds.orDefaults().QoS})
	r.out.Looks = append(r.out.Looks, lookOf("read-back", r.Bounds.orDefaults().QoS, look, err))
	if why := look.blind(r.topic, r.Bounds.orDefaults().Quiet, err); why != "" {
		return why
	}
	p, there := look.replay(r.topic)
	if !there {
		if !r.reads(ctx) {
			return "it was not observed, and neither was anything around it: this login may not be allowed to read"
		}
		r.out.Differs = []string{"it was not observed"}
		return ""
	}
	c := copyOf(p, r.Stamps, -1)
	r.out.Now = &c
	r.out.Differs = r.letter.differences(p, r.Stamps, look.To.Sub(r.out.Receipt.SentAt))
	if r.saved.QoS == nil {
		r.out.Notes = append(r.out.Notes, "the stored QoS was not known: it was put back at QoS 1")
	} else if *r.saved.QoS > 1 {
		r.out.Notes = append(r.out.Notes, "it was stored at QoS 2 and was put back at QoS 1")
	}
	r.tell(r.id, StepReadBack, "read back")
	return ""
}

// reads reports whether the login that looks is shown a control of the clear, or anything else nearby.
func (r *restore) reads(ctx context.Context) bool {
	var near [][]byte
	if r.op.Baseline != nil {
		for _, c := range r.op.Baseline.Controls {
			if !bytes.Equal(c.Topic, r.topic) {
				near = append(near, filterFor(c.Topic))
			}
		}
	}
	if len(near) > 0 {
		look, err := r.look(ctx, Question{Filters: near})
		r.out.Looks = append(r.out.Looks, lookOf("controls", 0, look, err))
		if slices.ContainsFunc(look.Seen, func(p inventory.Publication) bool { return p.Retain && len(p.Payload) > 0 }) {
			return true
		}
	}
	return r.sighted(ctx, r.topic, false, &r.out.Looks)
}

// differences returns in what a copy that was read back, some time after it was put back, differs from it. Where the
// broker stamps intervals of its own they cannot be compared.
func (o Outgoing) differences(p inventory.Publication, stamps bool, after time.Duration) []string {
	var diff []string
	if !bytes.Equal(p.Payload, o.payload) {
		diff = append(diff, fmt.Sprintf("payload: %s put back, %s read, and they are not the same", Counted(len(o.payload), "byte"), Counted(len(p.Payload), "byte")))
	}
	if inventory.Fingerprint(nil, p.Properties, expiry.None()) != inventory.Fingerprint(nil, o.properties, expiry.None()) {
		diff = append(diff, "properties: content type, format, response topic, correlation data or user properties differ")
	}
	want, wanted := o.interval.Seconds()
	got, has := p.Interval.Seconds()
	late := uint64(max(0, after)/time.Second) + 3 // brokers round, and remove up to two seconds early or late
	switch {
	case stamps:
	case wanted != has:
		diff = append(diff, fmt.Sprintf("expiry: put back %s, read %s", o.interval, p.Interval))
	case wanted && (got > want || uint64(got)+late < uint64(want)):
		diff = append(diff, fmt.Sprintf("expiry: put back %d s, read %d s", want, got))
	}
	if p.QoSKnown && p.QoS != o.qos {
		diff = append(diff, fmt.Sprintf("QoS: put back %d, read %d", o.qos, p.QoS))
	}
	return diff
}

func (r *restore) conclude(ctx context.Context) (UndoOutcome, error) {
	r.out.Sentence = r.out.sentence(r.topic)
	out := r.out
	_, err := r.Desk.append(context.WithoutCancel(ctx), func(int64) Line {
		return Line{Kind: LineUndoOutcome, Operation: r.id, UndoOutcome: &out}
	})
	if err != nil {
		return out, unrecorded(fmt.Sprintf("the outcome of the restore %s (%s)", r.id, out.Result), err)
	}
	r.tell(r.id, StepRecorded, out.Result.String())
	return out, nil
}

func (o UndoOutcome) sentence(topic []byte) string {
	name := Quote(topic)
	switch o.Result {
	case Restored:
		return fmt.Sprintf("%s was put back and read back at %s: bytes, properties and expiry are the same", name, at(o.lookedAt()))
	case RestoredOtherwise:
		if c := o.Overrun; c != nil {
			return fmt.Sprintf("%s was put back over another value, %d bytes, fingerprint %.12s, that somebody wrote after the last look", name, c.Size, c.Fingerprint)
		}
		return fmt.Sprintf("%s was put back, and what was read back differs: %s", name, join(o.Differs))
	case RestoreUnverified:
		return fmt.Sprintf("%s was put back; whether it is there could not be verified: %s", name, o.Why)
	case RestoreRefused:
		return fmt.Sprintf("%s was not put back: %s", name, explainAnswer(o.Receipt.Code))
	case RestoreNoAnswer:
		return fmt.Sprintf("%s was sent, and no answer: %s. This is neither success nor failure", name, o.Why)
	case RestoreNotSent:
		return fmt.Sprintf("nothing was put back (%s): %s", o.Obstacle, o.Why)
	default:
		return fmt.Sprintf("what became of %s is not known: %s", name, o.Why)
	}
}

func (o UndoOutcome) lookedAt() (t time.Time) {
	if n := len(o.Looks); n > 0 {
		t = o.Looks[n-1].To
	}
	return t
}
