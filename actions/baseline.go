package actions

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"retainscope/inventory"
)

// baseline reads the topic, its stored QoS and the controls, opens the witness, and compares with the approval.
func (r *run) baseline(ctx context.Context) (*Baseline, bool) {
	topic := r.op.Topic
	base := &Baseline{}
	var wanted [][]byte
	for _, t := range r.req.Controls {
		if len(wanted) < MaxControls && RefuseTopic(t) == nil && utf8.Valid(t) && !bytes.Equal(t, topic) {
			wanted = append(wanted, t)
		}
	}
	if len(wanted) == 0 {
		wanted = r.scan(ctx, base)
	}
	look, err := r.look(ctx, Question{Filters: append([][]byte{filterFor(topic)}, wanted...)})
	base.Looks = append(base.Looks, lookOf("baseline", 0, look, err))
	if !r.usable(ctx, look, err) {
		return nil, false
	}
	p, there := look.replay(topic)
	if !r.approved(p, there) {
		r.out.Looks, r.out.Until = base.Looks, look.To.UTC()
		return nil, false
	}
	r.reader = look.User
	base.Topic = copyOf(p, r.Stamps, r.bounds.Payload)
	base.Controls = r.controls(look, wanted)
	opening, cancel := context.WithTimeout(ctx, r.bounds.Look)
	r.witness, err = r.Observer.Watch(opening, watched(topic, base.Controls), false)
	cancel()
	if err != nil {
		r.stopLooking(ctx, "the witness could not watch: "+err.Error())
		return nil, false
	}
	base.Looks = append(base.Looks, lookOf("witness", 0, r.witness.About(), nil))
	again, err := r.look(ctx, Question{Filters: [][]byte{filterFor(topic)}, QoS: r.bounds.QoS})
	base.Looks = append(base.Looks, lookOf("stored QoS", r.bounds.QoS, again, err))
	if !r.usable(ctx, again, err) {
		return nil, false
	}
	if p, there := again.replay(topic); there {
		if !r.approved(p, true) {
			r.out.Looks, r.out.Until = base.Looks, again.To.UTC()
			return nil, false
		}
		base.Topic.QoS = copyOf(p, r.Stamps, -1).QoS
	} // a copy that is missing at a higher QoS was dropped by a queue, or went: the witness tells
	r.limits(base, look, len(wanted))
	return base, true
}

// scan looks at the neighbourhood, bounded, and chooses controls out of it; where there are fewer than three it looks
// further out. Where it sees nothing at all there are no controls.
func (r *run) scan(ctx context.Context, base *Baseline) (chosen [][]byte) {
	var near []Candidate
	known := map[string]bool{}
	for _, filters := range neighbourFilters(r.op.Topic) {
		look, err := r.look(ctx, Question{Filters: filters, Max: r.bounds.Scan})
		base.Looks = append(base.Looks, lookOf("scan for controls", 0, look, err))
		if err != nil {
			break // what the next look would say as well
		}
		for _, p := range look.Seen {
			if p.Retain && len(p.Payload) > 0 && !known[string(p.Topic)] {
				known[string(p.Topic)] = true
				near = append(near, Candidate{Topic: p.Topic, Interval: p.Interval, ReceivedAt: p.ReceivedAt})
			}
		}
		if chosen = SelectControls(r.op.Topic, near, r.Now().UnixMilli(), 0); len(chosen) >= enoughControls {
			break
		}
	}
	return chosen
}

// controls takes the copies of the neighbours out of the baseline.
func (r *run) controls(look Observation, wanted [][]byte) []Copy {
	controls := []Copy{}
	spare := r.bounds.Spare
	for _, t := range wanted {
		p, there := look.replay(t)
		if !there || len(p.Payload) == 0 || bytes.Equal(t, r.op.Topic) ||
			slices.ContainsFunc(controls, func(c Copy) bool { return bytes.Equal(c.Topic, t) }) {
			continue
		}
		c := copyOf(p, r.Stamps, spare)
		if c.Saved {
			spare -= len(c.Payload) + len(c.Properties)
		}
		controls = append(controls, c)
	}
	return controls
}

// limits says what is not known or not possible before anything is sent.
func (r *run) limits(base *Baseline, look Observation, wanted int) {
	add := func(format string, args ...any) { base.Limits = append(base.Limits, fmt.Sprintf(format, args...)) }
	if !base.Topic.Saved {
		add("the value of %s is not saved: it is larger than the limit for undo", Counted(base.Topic.Size, "byte"))
	}
	switch q := base.Topic.QoS; {
	case q == nil:
		add("the stored QoS is not known; an undo would use 1")
	case *q == 1 && r.bounds.QoS == 1:
		add("the stored QoS is 1 or 2: it was read at QoS 1")
	}
	switch n := len(base.Controls); {
	case n == 0:
		add("no control was seen: a read-back will prove nothing")
	case n < wanted:
		add("%d of %d controls were not seen and are left out", wanted-n, wanted)
	}
	for _, p := range look.Seen {
		if !p.Retain && bytes.Equal(p.Topic, r.op.Topic) {
			add("somebody published on the topic while the baseline was read: a writer is alive")
			return
		}
	}
}

// watched returns the filters for a topic and its controls.
func watched(topic []byte, controls []Copy) [][]byte {
	all := [][]byte{filterFor(topic)}
	for _, c := range controls {
		all = append(all, c.Topic)
	}
	return all
}

// usable reports whether a look before the clear can be relied on; otherwise nothing is sent.
func (r *run) usable(ctx context.Context, look Observation, err error) bool {
	if why := look.blind(r.op.Topic, r.bounds.Quiet, err); why != "" {
		r.stopLooking(ctx, why)
		return false
	}
	return true
}

func (r *run) stopLooking(ctx context.Context, why string) {
	if ctx.Err() != nil {
		r.stop(Left, "left while the topic was being read")
		return
	}
	r.stop(ObserverFailed, why)
}

// approved compares what is there with what was approved.
func (r *run) approved(p inventory.Publication, there bool) bool {
	if !there {
		r.out.Verdict, r.out.Found = Vanished, NotObserved
		return false
	}
	if !SameValue(r.op.Intent.Entry.Fingerprint, p, r.Stamps) {
		c := copyOf(p, r.Stamps, -1)
		r.out.Verdict, r.out.Found, r.out.Now = Changed, Present, &c
		return false
	}
	return true
}

// unchanged looks at what the witness saw before anything was sent.
func (r *run) unchanged(seen []inventory.Publication) bool {
	for _, p := range seen {
		if string(p.Topic) != string(r.op.Topic) || !p.Retain {
			continue
		}
		if len(p.Payload) == 0 {
			r.out.Verdict, r.out.Why = Vanished, "somebody else cleared it just now"
			return false
		}
		if !r.approved(p, true) {
			return false
		}
		r.out.Notes = append(r.out.Notes, "the same value was published while the clear was being prepared: a writer is alive")
	}
	return true
}
