package inventory

// What a person approved to clear is marked, also on a topic that comes back later.

// SetApproved says for which topics an approval to clear holds, byte for byte, and gives exactly those FlagApproved: the
// slots held now and every slot that comes later. Whether one still holds when the value changes is for the caller. A
// call takes the place of the one before. The topics are copied.
func (inv *Inventory) SetApproved(topics [][]byte) {
	next := make(map[string]struct{}, len(topics))
	for _, t := range topics {
		next[string(t)] = struct{}{}
	}
	inv.mu.Lock()
	defer inv.mu.Unlock()
	before := inv.approved
	inv.approved = next
	for t := range before {
		if _, still := next[t]; !still {
			inv.approve(t, 0)
		}
	}
	for t := range next {
		if _, already := before[t]; !already {
			inv.approve(t, FlagApproved)
		}
	}
}

// approve sets or takes the mark of one topic, where it is held.
func (inv *Inventory) approve(topic string, mark Flags) {
	id, ok := inv.lookupTopic([]byte(topic))
	if !ok {
		return
	}
	rec := inv.records.at(id)
	inv.reflag(rec, rec.flags&^FlagApproved|mark)
	inv.version++
}

// Flagged reports whether a word of the filter asks for any of the flags, for a caller that has to set them first.
func (f *Filter) Flagged(flags Flags) bool {
	if f == nil {
		return false
	}
	for i := range f.terms {
		if f.terms[i].kind == termFlags && f.terms[i].flags&flags != 0 {
			return true
		}
	}
	return false
}
