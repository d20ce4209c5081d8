package inventory

import (
	"math"

	"retainscope/expiry"
)

// answerGuard is how long, in milliseconds, a live publication or tombstone outweighs an answer to a question: the
// broker may have taken the copy before, and the answer come on its own connection after.
const answerGuard = 10_000

// lastSecond is how close to its end, in milliseconds, a copy is when a broker may deliver it without its interval.
const lastSecond = 3000

// apply takes in one publication. d gives the digests of its payload, which are computed only where they are needed.
func (inv *Inventory) apply(q *Publication, hash uint64, d func() digests) {
	if len(q.Topic) == 0 || len(q.Topic) > math.MaxUint16 {
		return // not a topic [MQTT-4.7.3-1], [MQTT-4.7.3-3]
	}
	inv.now = max(inv.now, q.ReceivedAt)
	id, held := inv.lookup(uint32(hash), q.Topic)
	switch {
	case q.Origin != Live && q.Origin != Own:
		inv.applyCopy(q, hash, id, held, d)
	case !q.Retain:
		if held {
			inv.noteLive(inv.records.at(id), q, d)
			inv.tell(id)
		} else {
			inv.feed.hear(hash, q.Topic, q.ReceivedAt)
		}
	case len(q.Payload) == 0: // [MQTT-3.3.1-6]
		inv.tombs.add(hash, q.ReceivedAt)
		kind := Cleared
		if q.Origin == Own {
			kind = ClearedHere
		}
		inv.news.put(q.ReceivedAt, kind, q.Topic)
		inv.version++
		if held {
			inv.tellGone(id)
			inv.remove(id)
		}
	default: // [MQTT-3.3.1-5]
		if !held {
			inv.tombs.lift(hash)
		}
		inv.applySet(q, hash, id, held, d)
	}
}

// noteLive takes note of a live publication without RETAIN, which leaves the slot as it is [MQTT-3.3.1-8].
func (inv *Inventory) noteLive(rec *record, q *Publication, d func() digests) {
	f := rec.flags &^ FlagLiveDiffers
	if !inv.limited && !inv.samePayload(rec, q, d) {
		f |= FlagLiveDiffers
	}
	inv.reflag(rec, f|FlagLive)
	rec.live = q.ReceivedAt
	if rec.count < math.MaxUint32 {
		rec.count++
	}
	inv.version++
}

// applyCopy takes in a retained copy that was sent because it was asked for.
func (inv *Inventory) applyCopy(q *Publication, hash uint64, id uint32, held bool, d func() digests) {
	inv.habits.Copy(q.Interval)
	if !held {
		if inv.emptied(q, hash) {
			return
		}
		id, rec := inv.create(uint32(hash), q.Topic, q.ReceivedAt)
		if q.Origin == Replay {
			inv.brought++
		}
		inv.tellNew(id)
		inv.fill(id, rec, q, 0, d)
		rec.history = rec.history.Replay(q.Interval)
		rec.epoch = inv.epoch
		return
	}
	rec := inv.records.at(id)
	rec.epoch = inv.epoch
	inv.version++
	inv.tell(id)
	same := inv.sameContent(rec, q, d)
	end := *inv.records.deadline(id)
	past := end != 0 && int64(end)*1000 <= q.ReceivedAt
	if inv.newerLive(rec, q) && !(same && past) {
		if same {
			rec.flags = withQoS(rec.flags, q)
		}
		return
	}
	had, interval := rec.interval(), q.Interval
	if same {
		inv.learnHabits(rec, had, interval, q.ReceivedAt)
		if q.QoS > 0 && interval.Kind() == expiry.Absent && inv.nearEnd(rec, q.ReceivedAt) {
			// A copy that leaves a queue in its last second may have lost the property: no proof of a fall.
			return
		}
		if inv.stamps && had.Kind() == expiry.Absent && rec.flags&flagTold != 0 {
			// The publisher set none; what the copy carries is the broker's.
			rec.received = q.ReceivedAt
			rec.flags = withQoS(rec.flags, q)
			return
		}
	}
	var keep Flags
	if past {
		keep = flagPast
	}
	if !same {
		inv.keepPast(id, rec, FoundChanged, q)
	}
	inv.transition(rec, had, q)
	if same {
		inv.renew(id, rec, q, rec.flags, keep)
	} else {
		inv.fill(id, rec, q, keep, d)
	}
	rec.history = rec.history.Replay(interval)
}

// applySet takes in a live publication with RETAIN and a payload, somebody's or our own.
func (inv *Inventory) applySet(q *Publication, hash uint64, id uint32, held bool, d func() digests) {
	inv.habits.Publish(q.Interval)
	var rec *record
	if !held {
		id, rec = inv.create(uint32(hash), q.Topic, q.ReceivedAt)
		inv.tellNew(id)
		inv.fill(id, rec, q, flagTold, d)
		inv.news.put(q.ReceivedAt, Appeared, q.Topic)
	} else {
		rec = inv.records.at(id)
		inv.tell(id)
		same := inv.sameContent(rec, q, d)
		if !same {
			inv.keepPast(id, rec, Replaced, q)
		}
		inv.transition(rec, rec.interval(), q)
		if same {
			inv.renew(id, rec, q, rec.flags, flagTold)
		} else {
			inv.fill(id, rec, q, flagTold, d)
		}
	}
	second := uint32(max(q.ReceivedAt/1000, 1))
	if q.Origin == Own {
		// Newer than any copy that a scan brings, and otherwise no more than that: it tells of no publisher.
		inv.reflag(rec, rec.flags&^(FlagStillServed|FlagLiveDiffers))
		rec.history = expiry.History{}.Replay(q.Interval)
		rec.set, rec.setEpoch, rec.epoch = second, inv.epoch, inv.epoch
		inv.version++
		return
	}
	f := rec.flags&^(FlagStillServed|FlagLiveDiffers) | FlagLive
	inv.reflag(rec, f)
	since := uint32(0)
	if rec.set != 0 && second > rec.set {
		since = second - rec.set
	}
	rec.history = rec.history.Live(q.Interval, since)
	rec.set, rec.setEpoch, rec.epoch = second, inv.epoch, inv.epoch
	rec.live = q.ReceivedAt
	if rec.count < math.MaxUint32 {
		rec.count++
	}
	inv.version++
}

// newerLive reports whether what is held came live so recently that a copy may be older. Live and copies come on
// different connections; the order in which they reach us is not the order in which the broker stored them. The live
// connection stands before a scan begins, so what was live since then is at least as new as any copy of that scan.
func (inv *Inventory) newerLive(rec *record, q *Publication) bool {
	if rec.set == 0 {
		return false
	}
	if q.Origin == Answer {
		return q.ReceivedAt-int64(rec.set)*1000 < answerGuard
	}
	return inv.epoch != 0 && rec.setEpoch == inv.epoch
}

// emptied reports whether a copy of a topic that is not held is older than a live tombstone on it.
func (inv *Inventory) emptied(q *Publication, hash uint64) bool {
	at, ok := inv.tombs.find(hash)
	if !ok {
		return false
	}
	older := q.ReceivedAt-at < answerGuard
	if q.Origin != Answer {
		older = inv.tombs.scanning
	}
	if !older {
		inv.tombs.lift(hash) // it is about to be held
	}
	return older
}

func (inv *Inventory) nearEnd(rec *record, at int64) bool {
	end, ok := rec.interval().Deadline(rec.received)
	return ok && end-at <= lastSecond && at-end <= lastSecond
}

// learnHabits notes what an unchanged copy tells about the broker.
func (inv *Inventory) learnHabits(rec *record, had, now expiry.Interval, at int64) {
	if rec.flags&flagTold != 0 {
		inv.habits.Pair(had, now)
		return
	}
	inv.habits.Again(had, now, at-rec.received)
}

// transition notes that a topic begins or ends to expire.
func (inv *Inventory) transition(rec *record, had expiry.Interval, q *Publication) {
	switch now := q.Interval.Kind(); {
	case had.Kind() == expiry.Finite && now == expiry.Absent:
		inv.reflag(rec, rec.flags&^flagGained|FlagFell)
		inv.news.put(q.ReceivedAt, FellToNever, q.Topic)
	case had.Kind() == expiry.Absent && now == expiry.Finite:
		inv.reflag(rec, rec.flags&^FlagFell|flagGained)
		inv.news.put(q.ReceivedAt, GainedExpiry, q.Topic)
	}
}

// keepPast puts what is held into the ring of earlier contents before it is replaced.
func (inv *Inventory) keepPast(id uint32, rec *record, kind EventKind, q *Publication) {
	payload, _, _ := inv.parts(rec)
	rec.change = inv.past.put(id, rec.gen, rec.change, kind, q.ReceivedAt, rec.interval(), int(rec.size), payload)
	inv.news.put(q.ReceivedAt, kind, q.Topic)
	rec.flags |= FlagChanged
}

// fill puts content and everything that follows from it into a slot. keep are inner flags that this publication sets.
func (inv *Inventory) fill(id uint32, rec *record, q *Publication, keep Flags, d func() digests) {
	f := rec.flags &^ (FlagCut | FlagEmptyReplay | FlagLooksEmpty | flagsQoS)
	f |= inv.write(rec, q, &inv.opts, d)
	if len(q.Payload) == 0 {
		f |= FlagEmptyReplay
	} else if looksEmpty(q.Payload) {
		f |= FlagLooksEmpty
	}
	inv.renew(id, rec, q, f, keep)
}

// renew puts in what a publication tells beside its content. f are the flags so far.
func (inv *Inventory) renew(id uint32, rec *record, q *Publication, f, keep Flags) {
	f = f&^(flagPast|flagTold|flagsWire|flagsClass|FlagDue) | keep
	rec.seconds = 0
	end := inv.records.deadline(id)
	*end = 0
	switch q.Interval.Kind() {
	case expiry.Absent:
		f |= flagAbsent
	case expiry.Finite:
		f |= flagFinite
		rec.seconds, _ = q.Interval.Seconds()
		*end = packDeadline(q.ReceivedAt, rec.seconds)
	}
	rec.received = q.ReceivedAt
	rec.asked = 0
	inv.reflag(rec, withQoS(f|inv.class(f, rec.seconds), q))
	inv.version++
}

func withQoS(f Flags, q *Publication) Flags {
	if q.QoSKnown {
		return f&^flagsQoS | qosFlags(q.QoS)
	}
	return f
}

// packDeadline returns the end of an interval in Unix seconds, rounded up; what is beyond 32 bits is their maximum,
// which is never reached.
func packDeadline(received int64, seconds uint32) uint32 {
	end := (received+999)/1000 + int64(seconds)
	return uint32(min(max(end, 1), math.MaxUint32))
}

// class returns which of never, expiring and unknown a slot is, from its inner flags and its seconds.
func (inv *Inventory) class(f Flags, seconds uint32) Flags {
	switch {
	case f&flagAbsent != 0:
		return FlagNever
	case f&flagFinite == 0:
		return FlagUnknown
	case inv.stamps && !inv.told(f, seconds):
		return FlagUnknown
	default:
		return FlagExpiring
	}
}

// told reports whether an interval is the publisher's although the broker adds some of its own. A broker that adds
// decades leaves everything shorter as it was. One that adds a day adds it to live copies as well, so there only a live
// copy with something else tells.
func (inv *Inventory) told(f Flags, seconds uint32) bool {
	const decades, day = 1 << 30, 86400
	if seconds >= decades {
		return false
	}
	ceiling, _ := inv.habits.Stamps()
	return ceiling >= decades || f&flagTold != 0 && seconds != day && seconds != ceiling
}
