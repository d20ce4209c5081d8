package inventory

import "hash/maphash"

// node is one level of the tree of topics. Like a record it holds no pointers. Its name is a part of a topic that is
// held at it or below it; when that topic goes the name is pointed to another one.
type node struct {
	parent     uint32 // number; the root is its own parent
	next, prev uint32 // siblings, number plus one; new ones come first
	rec        uint32 // its own slot, number plus one
	branch     uint32 // sums and children, number plus one; only where there are children
	named      uint32 // the slot whose topic holds the name
	hash       uint32
	off, n     uint16 // the name in that topic
	depth      uint16 // levels of the path; 0 for the root
	flags      uint16
}

// A child is in one of two chains of its parent. New ones wait; they are moved to the other when they are put in order,
// so that who still has to be is known without a search.
const (
	nodePlaced  = 1 << iota // in the chain of those that are in order, or will be in a moment
	nodeOrdered             // in the order
	nodeTaken               // somebody is sorting it outside the lock
	nodeWide                // its children are in the index
)

// fewChildren is up to how many children of a level are found by going through them.
const fewChildren = 8

// branch is what a node with children has beside.
type branch struct {
	sums    sums
	waiting uint32 // first child that waits, node number plus one
	placed  uint32 // first child that does not
	kids    uint32 // in both chains
	late    uint32 // that wait
	order   uint32 // index in tree.orders plus one; 0 = children were never shown
}

// sums count the slots at a level and below.
type sums struct{ all, never, expiring, unknown, due, findings, left, hazards uint32 }

// sumsOf returns what one slot with flags f adds.
func sumsOf(f Flags) sums {
	s := sums{all: 1}
	switch {
	case f&FlagNever != 0:
		s.never = 1
	case f&FlagExpiring != 0:
		s.expiring = 1
	default:
		s.unknown = 1
	}
	if f&FlagDue != 0 {
		s.due = 1
	}
	if f&findings != 0 {
		s.findings = 1
	}
	if f&FlagLeft != 0 {
		s.left = 1
	}
	if f&FlagHazard != 0 {
		s.hazards = 1
	}
	return s
}

func (s *sums) add(o sums) {
	s.all += o.all
	s.never += o.never
	s.expiring += o.expiring
	s.unknown += o.unknown
	s.due += o.due
	s.findings += o.findings
	s.left += o.left
	s.hazards += o.hazards
}

func (s *sums) sub(o sums) {
	s.all -= o.all
	s.never -= o.never
	s.expiring -= o.expiring
	s.unknown -= o.unknown
	s.due -= o.due
	s.findings -= o.findings
	s.left -= o.left
	s.hazards -= o.hazards
}

func (s *sums) counts() Counts {
	return Counts{
		Topics: int64(s.all), Never: int64(s.never), Expiring: int64(s.expiring), Unknown: int64(s.unknown),
		Due: int64(s.due), Findings: int64(s.findings), Left: int64(s.left), Hazards: int64(s.hazards),
	}
}

const (
	nodeShift   = 12
	branchShift = 10
)

// wayStep is one level on the way to the slot inserted last.
type wayStep struct {
	id   uint32
	owed sums // what its sums lack
}

// tree keeps the levels of all topics, with sums that follow every change.
type tree struct {
	nodes    [][]node
	n        uint32
	free     uint32 // number plus one, chained through next
	branches [][]branch
	bn       uint32
	bfree    uint32   // chained through waiting
	orders   []*order // of children that were shown
	ofree    []uint32
	index    table     // of the children of wide levels, by parent and name
	way      []wayStep // from the root to the slot inserted last; empty when it may be gone
	seed     maphash.Seed
	topic    func(id uint32) []byte // of a slot
	flags    func(id uint32) Flags  // of a slot
}

func (t *tree) init(topic func(uint32) []byte, flags func(uint32) Flags, expected int) {
	t.topic, t.flags = topic, flags
	t.seed = maphash.MakeSeed()
	t.index = newTable(indexedOf(expected))
	t.takeNode()
	t.node(0).branch = t.takeBranch() + 1
}

// indexedOf returns how many levels n topics are expected to have in the index. A million topics were seen to have a
// sixth more levels than topics, and half of them to be one of few children.
func indexedOf(n int) int { return n/2 + n/12 }

func (t *tree) node(id uint32) *node { return &t.nodes[id>>nodeShift][id&(1<<nodeShift-1)] }

// below returns what a node with children has beside; number is that number plus one.
func (t *tree) below(number uint32) *branch {
	return &t.branches[(number-1)>>branchShift][(number-1)&(1<<branchShift-1)]
}

func (t *tree) takeNode() uint32 {
	if t.free != 0 {
		id := t.free - 1
		nd := t.node(id)
		t.free = nd.next
		*nd = node{}
		return id
	}
	if t.n&(1<<nodeShift-1) == 0 {
		t.nodes = append(t.nodes, make([]node, 1<<nodeShift))
	}
	t.n++
	return t.n - 1
}

func (t *tree) takeBranch() uint32 {
	if t.bfree != 0 {
		id := t.bfree - 1
		b := t.below(id + 1)
		t.bfree = b.waiting
		*b = branch{}
		return id
	}
	if t.bn&(1<<branchShift-1) == 0 {
		t.branches = append(t.branches, make([]branch, 1<<branchShift))
	}
	t.bn++
	return t.bn - 1
}
