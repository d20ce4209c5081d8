package inventory

import "crypto/sha256"

// copySlot fills a Slot. Bytes are appended to buf, which is returned; what was cut from an earlier buf stays valid.
func (inv *Inventory) copySlot(id uint32, rec *record, s *Slot, buf []byte) []byte {
	n := len(buf)
	buf = append(buf, inv.arena.at(rec.topic)...)
	return inv.copySlotOf(id, rec, s, buf[n:len(buf):len(buf)], buf)
}

// copySlotOf is copySlot for a slot of which topic is a copy that the caller has already.
func (inv *Inventory) copySlotOf(id uint32, rec *record, s *Slot, topic, buf []byte) []byte {
	payload, _, _ := inv.parts(rec)
	mid := len(buf)
	buf = append(buf, payload[:min(len(payload), headLength)]...)
	end := len(buf)
	f := rec.flags & flagsPublic
	if rec.epoch != inv.epoch {
		f |= FlagNotSeen
	}
	*s = Slot{
		Ref:        Ref{id: id + 1, gen: rec.gen},
		Topic:      topic,
		Size:       int(rec.size),
		Head:       buf[mid:end:end],
		Interval:   rec.shownInterval(),
		History:    rec.history,
		ReceivedAt: rec.received,
		FirstSeen:  rec.first,
		LastLive:   rec.live,
		LiveCount:  rec.count,
		Flags:      f,
		QoS:        rec.qos(),
		StoppedAt:  inv.awayAt,
	}
	return buf
}

func (inv *Inventory) slot(r Ref) (Slot, bool) {
	rec, ok := inv.held(r)
	if !ok {
		return Slot{}, false
	}
	var s Slot
	inv.copySlot(r.id-1, rec, &s, nil)
	return s, true
}

func (inv *Inventory) find(topic []byte) (Ref, bool) {
	id, ok := inv.lookupTopic(topic)
	if !ok {
		return Ref{}, false
	}
	return Ref{id: id + 1, gen: inv.records.at(id).gen}, true
}

func (inv *Inventory) detail(r Ref) (Detail, bool) {
	inv.mu.Lock()
	rec, ok := inv.held(r)
	if !ok {
		inv.mu.Unlock()
		return Detail{}, false
	}
	var d Detail
	inv.copySlot(r.id-1, rec, &d.Slot, nil)
	payload, props, tail := inv.parts(rec)
	d.Payload = append([]byte(nil), payload...)
	d.Properties = append([]byte(nil), props...)
	d.Changes = inv.past.list(r.id-1, rec.gen, rec.change)
	wire := rec.interval().Kind()
	var content [32]byte
	if tail != nil {
		copy(d.SHA256[:], tail[:32])
		copy(content[:], tail[32:])
	}
	inv.mu.Unlock()

	d.Kept = len(d.Payload)
	if tail == nil {
		d.SHA256 = sha256.Sum256(d.Payload)
		content = contentDigest(d.SHA256, d.Properties)
	}
	d.Fingerprint = fingerprintOf(content, wire)
	return d, true
}
