package actions

import (
	"bytes"
	"context"
)

// sighted reports whether an observer is shown anything at all that is retained around topic, as far out as it takes,
// and adds to looks what it did. A login that is shown nothing proves nothing by seeing nothing: brokers grant a
// subscription to a login that may not read. far lets it look at the whole store in the end.
func (c *Clearer) sighted(ctx context.Context, topic []byte, far bool, looks *[]Look) bool {
	scans := neighbourFilters(topic)
	if !far && len(scans) > 1 {
		scans = scans[:len(scans)-1]
	}
	for _, filters := range scans {
		look, err := c.look(ctx, Question{Filters: filters, Max: c.Bounds.orDefaults().Scan})
		*looks = append(*looks, lookOf("sight", 0, look, err))
		for _, p := range look.Seen {
			if p.Retain && len(p.Payload) > 0 && !bytes.Equal(p.Topic, topic) {
				return true
			}
		}
		if err != nil {
			break // what the next look would say as well
		}
	}
	return false
}

// claimOwn marks the controls that were cleared from here after the given operation was begun, as the record tells:
// what the program took away itself is neither an alarm nor somebody else's doing.
func (c *Clearer) claimOwn(ctx context.Context, op Operation, rs []ControlResult) {
	if count(rs, Lost)+count(rs, ClearedBySomeone) == 0 {
		return
	}
	l, err := c.Desk.List(ctx)
	if err != nil {
		return // then nothing is known, and what was seen stands
	}
	past := PastOf(l)
	for i := range rs {
		if s := rs[i].State; (s == Lost || s == ClearedBySomeone) && past.clearedHere(rs[i].Topic, op.Begun) {
			rs[i].State = ClearedHere
		}
	}
}
