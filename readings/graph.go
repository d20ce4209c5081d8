package readings

// The tree of topics, found by name. Beside the retained topics it holds their prefixes, the topics that only a
// discovery config names, and keys that no topic can be (they begin with a NUL byte), such as a unique id.
// Structure only; nothing here knows what a topic means.

import (
	"hash/maphash"
	"strings"
)

// maxDepth is how many levels have a prefix of their own. What lies deeper hangs under the prefix of this depth, so
// that a topic of 65 535 slashes costs no more than one of 32.
const maxDepth = 32

// node is one name in the tree. Number 0 is the root.
type node struct {
	name                      string
	parent, child, next, prev uint32
	held                      uint32 // the retained message, 0 for none
	refs, nrefs               uint32 // who names this: the first reference, and how many
	reads, writes             uint32 // of these, configs that read it or wait for it, and configs that publish to it
	voices                    uint32 // who speaks for the topics from here down: the first voice
	heard                     uint32 // Unix seconds of the last live publication; 0 = not heard
	flags                     nodeFlags
}

type nodeFlags uint16

const (
	fUsed     nodeFlags = 1 << iota
	fTouched            // its reading is to be made again
	fDeep               // a config whose neighbours are to be read again
	fArea               // all below is to be read again
	fAreaDone           // walked through in this turn
	fSpread             // its topics were marked in this turn
	fNamed              // whoever names it is to be read again
	fPeers              // whoever shares this key is to be read again
	fScope              // what lies below is compared together
	fSaidOff            // some rule read "offline" here since the value came
)

// graph is the tree and its index, an open table of node numbers.
type graph struct {
	seed  maphash.Seed
	nodes []node
	free  []uint32
	table []uint32 // 0 = empty
	used  int
}

func (g *graph) init(expected int) {
	g.seed = maphash.MakeSeed()
	size := 64
	for size*3 < expected*4 {
		size *= 2
	}
	g.table = make([]uint32, size)
	g.nodes = make([]node, 1, 1+expected)
}

func (g *graph) name(id uint32) string { return g.nodes[id].name }

// lookup returns the node of that name, or 0.
func (g *graph) lookup(name string) uint32 {
	mask := uint64(len(g.table) - 1)
	for i := maphash.String(g.seed, name) & mask; ; i = (i + 1) & mask {
		id := g.table[i]
		if id == 0 || g.nodes[id].name == name {
			return id
		}
	}
}

// lookupBytes is lookup without making a string.
func (g *graph) lookupBytes(name []byte) uint32 {
	mask := uint64(len(g.table) - 1)
	for i := maphash.Bytes(g.seed, name) & mask; ; i = (i + 1) & mask {
		id := g.table[i]
		if id == 0 || g.nodes[id].name == string(name) {
			return id
		}
	}
}

// parentName returns the name of the prefix above a topic, and false when that is the root.
func parentName(name string) (string, bool) {
	if len(name) == 0 || name[0] == 0 {
		return "", false
	}
	depth, at := 0, 0
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		at = i
		if depth++; depth == maxDepth {
			break
		}
	}
	if at == 0 {
		return "", false
	}
	return name[:at], true
}

// ensure returns the node of that name and makes it, and the prefixes above it, where there are none. The name is
// kept: it must not share memory with a payload.
func (g *graph) ensure(name string) uint32 {
	if id := g.lookup(name); id != 0 {
		return id
	}
	if name == "" {
		return 0
	}
	var parent uint32
	if up, ok := parentName(name); ok {
		parent = g.ensure(up)
	}
	return g.add(name, parent)
}

// ensureBytes is ensure with a copy of the name where it is new.
func (g *graph) ensureBytes(name []byte) uint32 {
	if id := g.lookupBytes(name); id != 0 {
		return id
	}
	return g.ensure(string(name))
}

func (g *graph) add(name string, parent uint32) uint32 {
	if (g.used+1)*4 > len(g.table)*3 {
		g.grow()
	}
	var id uint32
	if n := len(g.free); n > 0 {
		id = g.free[n-1]
		g.free = g.free[:n-1]
	} else {
		g.nodes = append(g.nodes, node{})
		id = uint32(len(g.nodes) - 1)
	}
	g.nodes[id] = node{name: name, parent: parent, flags: fUsed}
	// Keys are found by name alone: the root's list is for topics.
	if name[0] != 0 {
		first := g.nodes[parent].child
		g.nodes[id].next = first
		if first != 0 {
			g.nodes[first].prev = id
		}
		g.nodes[parent].child = id
	}
	g.place(id)
	g.used++
	return id
}

func (g *graph) place(id uint32) {
	mask := uint64(len(g.table) - 1)
	i := maphash.String(g.seed, g.nodes[id].name) & mask
	for g.table[i] != 0 {
		i = (i + 1) & mask
	}
	g.table[i] = id
}

func (g *graph) grow() {
	old := g.table
	g.table = make([]uint32, 2*len(old))
	for _, id := range old {
		if id != 0 {
			g.place(id)
		}
	}
}

// release removes a node that nothing needs any more, and the prefixes above it for which the same now holds.
func (g *graph) release(id uint32) {
	for id != 0 {
		n := &g.nodes[id]
		if n.flags&fUsed == 0 || n.held != 0 || n.child != 0 || n.nrefs != 0 || n.voices != 0 {
			return
		}
		parent := n.parent
		g.unindex(id)
		if n.name[0] != 0 {
			if n.prev != 0 {
				g.nodes[n.prev].next = n.next
			} else {
				g.nodes[parent].child = n.next
			}
			if n.next != 0 {
				g.nodes[n.next].prev = n.prev
			}
		}
		*n = node{}
		g.free = append(g.free, id)
		g.used--
		id = parent
	}
}

// unindex takes a node out of the table and closes the gap behind it.
func (g *graph) unindex(id uint32) {
	mask := uint64(len(g.table) - 1)
	i := maphash.String(g.seed, g.nodes[id].name) & mask
	for g.table[i] != id {
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		other := g.table[j]
		if other == 0 {
			break
		}
		home := maphash.String(g.seed, g.nodes[other].name) & mask
		// An entry may move into the gap only when its home is not between the gap and where it stands.
		if (j-home)&mask >= (j-i)&mask {
			g.table[i] = other
			i = j
		}
	}
	g.table[i] = 0
}

// below calls f for id and for every node under it.
func (g *graph) below(id uint32, f func(uint32)) {
	f(id)
	for at := g.nodes[id].child; at != 0; {
		f(at)
		if g.nodes[at].child != 0 {
			at = g.nodes[at].child
			continue
		}
		for at != id && g.nodes[at].next == 0 {
			at = g.nodes[at].parent
		}
		if at == id {
			return
		}
		at = g.nodes[at].next
	}
}

// firstLevel returns the first level of a topic; empty for one that begins with a slash.
func firstLevel(topic string) string {
	head, _, _ := strings.Cut(topic, "/")
	return head
}

// lastLevel returns the topic above and the last level; the first result is empty for a topic of one level.
func lastLevel(topic string) (above, leaf string) {
	if i := strings.LastIndexByte(topic, '/'); i >= 0 {
		return topic[:i], topic[i+1:]
	}
	return "", topic
}
