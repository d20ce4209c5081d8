package inventory

import (
	"bytes"
	"hash/maphash"
)

// name returns the name of a level.
func (t *tree) name(id uint32) []byte {
	nd := t.node(id)
	return t.topic(nd.named)[nd.off : int(nd.off)+int(nd.n)]
}

// path returns the topic up to the end of a level; not for the root.
func (t *tree) path(id uint32) []byte {
	nd := t.node(id)
	return t.topic(nd.named)[:int(nd.off)+int(nd.n)]
}

func (t *tree) hashOf(parent uint32, name []byte) uint32 {
	h := maphash.Bytes(t.seed, name) ^ (uint64(parent)+1)*0x9E3779B97F4A7C15
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	return uint32(h >> 32)
}

// child returns the level called name below parent.
func (t *tree) child(parent uint32, name []byte) (uint32, bool) {
	return t.childWith(parent, name, t.hashOf(parent, name))
}

// childWith is child for a name whose hash is known. A level with few children is gone through: the index would cost a
// far place in memory for each of them, and most levels have one or two.
func (t *tree) childWith(parent uint32, name []byte, h uint32) (uint32, bool) {
	same := func(id uint32) bool {
		nd := t.node(id)
		return nd.parent == parent && int(nd.n) == len(name) && bytes.Equal(t.name(id), name)
	}
	p := t.node(parent)
	if p.branch == 0 {
		return 0, false
	}
	if p.flags&nodeWide != 0 {
		return t.index.find(h, same)
	}
	b := t.below(p.branch)
	for _, first := range [2]uint32{b.waiting, b.placed} {
		for kid := first; kid != 0; kid = t.node(kid - 1).next {
			if t.node(kid-1).hash == h && same(kid-1) {
				return kid - 1, true
			}
		}
	}
	return 0, false
}

// widen puts the children of a level into the index.
func (t *tree) widen(parent uint32) {
	p := t.node(parent)
	p.flags |= nodeWide
	b := t.below(p.branch)
	for _, first := range [2]uint32{b.waiting, b.placed} {
		for kid := first; kid != 0; kid = t.node(kid - 1).next {
			t.index.add(t.node(kid-1).hash, kid-1)
		}
	}
}

// seek returns the deepest level that exists on the way to path, and how many levels of path it has.
func (t *tree) seek(path []byte) (id uint32, depth int) {
	for start := 0; start <= len(path); {
		end := levelEnd(path, start, depth)
		next, ok := t.child(id, path[start:end])
		if !ok {
			return id, depth
		}
		id, start = next, end+1
		depth++
	}
	return id, depth
}

// insert adds the levels of a new slot, whose topic is there already. It counts it in none of them: see count.
func (t *tree) insert(rec uint32, topic []byte) uint32 {
	start := t.shared(topic)
	id := t.way[len(t.way)-1].id
	fresh := false
	for depth := len(t.way) - 1; start <= len(topic); depth++ {
		end := levelEnd(topic, start, depth)
		name := topic[start:end]
		h := t.hashOf(id, name)
		next, ok := uint32(0), false
		if !fresh {
			next, ok = t.childWith(id, name, h)
		}
		if !ok {
			fresh = true
			next = t.takeNode()
			nd := t.node(next)
			nd.parent, nd.named, nd.depth = id, rec, uint16(depth+1)
			nd.off, nd.n = uint16(start), uint16(end-start)
			nd.hash = h
			t.link(id, next)
		}
		id, start = next, end+1
		t.way = append(t.way, wayStep{id: id})
	}
	t.node(id).rec = rec + 1
	return id
}

// shared leaves on the way what topic has in common with the one inserted last, and returns where its next level begins.
// Brokers send topics level by level, so that this is most of it.
func (t *tree) shared(topic []byte) int {
	keep, start := 0, 0
	if last := len(t.way) - 1; last > 0 {
		n := sharedBytes(topic, t.path(t.way[last].id))
		for keep = last; keep > 0; keep-- {
			nd := t.node(t.way[keep].id)
			end := int(nd.off) + int(nd.n)
			// The last level that a topic can have takes slashes as well.
			if end <= n && (end == len(topic) || topic[end] == '/' && keep < maxLevels) {
				start = end + 1
				break
			}
		}
	}
	t.leave(keep + 1)
	if keep == 0 && len(t.way) == 0 {
		t.way = append(t.way, wayStep{})
	}
	return start
}

// link makes a node the first child of its parent, which gets a branch if it has none.
func (t *tree) link(parent, id uint32) {
	p := t.node(parent)
	if p.branch == 0 {
		p.branch = t.takeBranch() + 1
		if p.rec != 0 {
			// What the level itself counts was kept in its slot alone so far.
			t.below(p.branch).sums = sumsOf(t.flags(p.rec - 1))
		}
	}
	b := t.below(p.branch)
	b.kids++
	b.late++
	t.chain(&b.waiting, id)
	switch {
	case p.flags&nodeWide != 0:
		t.index.add(t.node(id).hash, id)
	case b.kids > fewChildren:
		t.widen(parent)
	}
}

// chain puts a node in front of a chain.
func (t *tree) chain(first *uint32, id uint32) {
	nd := t.node(id)
	nd.prev, nd.next = 0, *first
	if *first != 0 {
		t.node(*first - 1).prev = id + 1
	}
	*first = id + 1
}

// unchain takes a node out of the chain of its parent that it is in.
func (t *tree) unchain(b *branch, id uint32) {
	nd := t.node(id)
	switch {
	case nd.prev != 0:
		t.node(nd.prev - 1).next = nd.next
	case nd.flags&nodePlaced != 0:
		b.placed = nd.next
	default:
		b.waiting = nd.next
	}
	if nd.next != 0 {
		t.node(nd.next - 1).prev = nd.prev
	}
	if nd.flags&nodePlaced == 0 {
		b.late--
	}
}

// count adds what the slot inserted last counts to its level and to those above: to all of them at the latest when settle
// is called. Neighbours share most of the way up, so it is gone once for all of them.
func (t *tree) count(s sums) {
	at := len(t.way) - 1
	if t.node(t.way[at].id).branch == 0 {
		at-- // alone it is counted in its slot
	}
	t.way[at].owed.add(s)
}

// leave takes the levels from number depth on off the way, and hands up what was counted there.
func (t *tree) leave(depth int) {
	for len(t.way) > depth {
		at := len(t.way) - 1
		t.pay(at)
		t.way = t.way[:at]
	}
}

// pay adds what a level of the way owes to its sums, and to what the one above owes.
func (t *tree) pay(at int) {
	step := &t.way[at]
	if step.owed.all == 0 {
		return
	}
	t.below(t.node(step.id).branch).sums.add(step.owed)
	if at > 0 {
		t.way[at-1].owed.add(step.owed)
	}
	step.owed = sums{}
}

// settle brings the sums in line with what was counted. No lock may be let go before it was called.
func (t *tree) settle() {
	for at := len(t.way) - 1; at >= 0; at-- {
		t.pay(at)
	}
}

// change replaces what one slot adds to the sums of its level and of those above.
func (t *tree) change(id uint32, before, after sums) {
	for {
		nd := t.node(id)
		if nd.branch != 0 {
			s := &t.below(nd.branch).sums
			s.sub(before)
			s.add(after)
		}
		if id == 0 {
			return
		}
		id = nd.parent
	}
}

// remove takes a slot out of its level, and levels that hold nothing any more out of the tree. The topic of the slot
// must still be there.
func (t *tree) remove(rec, id uint32, f Flags) {
	t.leave(0)
	t.change(id, sumsOf(f), sums{})
	t.node(id).rec = 0
	for id != 0 {
		nd := t.node(id)
		if nd.rec != 0 || nd.branch != 0 {
			break
		}
		parent := nd.parent
		if t.node(parent).flags&nodeWide != 0 {
			t.index.remove(nd.hash, id)
		}
		t.unlink(parent, id)
		*nd = node{next: t.free}
		t.free = id + 1
		id = parent
	}
	t.rename(id, rec)
}

// unlink takes a child out of its parent, and the branch away with the last one.
func (t *tree) unlink(parent, id uint32) {
	p, nd := t.node(parent), t.node(id)
	b := t.below(p.branch)
	if nd.flags&nodeOrdered != 0 {
		t.orders[b.order-1].remove(id, func(other uint32) int { return compareTopics(t.name(other), t.name(id)) })
	}
	t.unchain(b, id)
	b.kids--
	if b.kids > 0 || parent == 0 {
		return
	}
	if b.order != 0 {
		t.orders[b.order-1] = nil
		t.ofree = append(t.ofree, b.order)
	}
	*b = branch{waiting: t.bfree}
	t.bfree = p.branch
	p.branch = 0
	p.flags &^= nodeWide
}

// rename points the names of a level and of those above away from a slot that goes.
func (t *tree) rename(id, rec uint32) {
	other, found := uint32(0), false
	for ; id != 0; id = t.node(id).parent {
		nd := t.node(id)
		if nd.named != rec {
			continue
		}
		if !found {
			other, found = t.anySlot(id), true
		}
		// The path is the same in every topic at or below it, so the place of the name in the topic is, too.
		nd.named = other
	}
}

// anySlot returns a slot at a level or below it. There is one, or the level would have gone.
func (t *tree) anySlot(id uint32) uint32 {
	for {
		nd := t.node(id)
		if nd.rec != 0 {
			return nd.rec - 1
		}
		b := t.below(nd.branch)
		id = b.waiting
		if id == 0 {
			id = b.placed
		}
		id--
	}
}

// sums returns what is counted at a level and below.
func (t *tree) sums(id uint32) sums {
	nd := t.node(id)
	if nd.branch != 0 {
		return t.below(nd.branch).sums
	}
	return sumsOf(t.flags(nd.rec - 1))
}

// sums0 returns what is counted in the whole tree.
func (t *tree) sums0() *sums { return &t.below(t.node(0).branch).sums }
