package inventory

// arenaChunk is the size of one chunk of topics in bytes. A longer topic does not exist: MQTT ends at 65 535.
const arenaChunk = 256 << 10

// arenaEntries is how many topics of 48 bytes a chunk has; more make the list of them grow.
const arenaEntries = arenaChunk / 48

// place is where a topic stands: bytes off to off+n of a chunk.
type place struct {
	off      uint32
	chunk, n uint16
}

// chunkEntry says that the topic of slot id, in its generation gen, begins at off.
type chunkEntry struct{ id, gen, off uint32 }

// chunk holds topics one behind the other, and never changes a byte that was written: whoever took its slices under
// the lock may read them without. Entries are in the order of off, so a place in data leads back to its topic.
type chunk struct {
	data    []byte
	entries []chunkEntry
	dead    int // bytes of topics that went
}

// arena keeps every topic once. Chunks in which more than half is dead are written again without it.
type arena struct {
	chunks []*chunk // nil where a chunk went
	spare  []uint16 // numbers of the nil ones
	open   int      // the chunk that takes new topics; -1 for none
}

func (a *arena) init() { a.open = -1 }

func (a *arena) at(p place) []byte {
	return a.chunks[p.chunk].data[p.off : p.off+uint32(p.n) : p.off+uint32(p.n)]
}

// add copies a topic.
func (a *arena) add(id, gen uint32, topic []byte) place {
	if a.open < 0 || len(a.chunks[a.open].data)+len(topic) > cap(a.chunks[a.open].data) {
		a.open = a.put(&chunk{data: make([]byte, 0, arenaChunk), entries: make([]chunkEntry, 0, arenaEntries)})
	}
	c := a.chunks[a.open]
	p := place{off: uint32(len(c.data)), chunk: uint16(a.open), n: uint16(len(topic))}
	c.data = append(c.data, topic...)
	c.entries = append(c.entries, chunkEntry{id: id, gen: gen, off: p.off})
	return p
}

func (a *arena) put(c *chunk) int {
	if n := len(a.spare); n > 0 {
		i := int(a.spare[n-1])
		a.spare = a.spare[:n-1]
		a.chunks[i] = c
		return i
	}
	a.chunks = append(a.chunks, c)
	return len(a.chunks) - 1
}

func (a *arena) drop(i int) {
	a.chunks[i] = nil
	a.spare = append(a.spare, uint16(i))
}

// forget says that the topic at p is not needed any more. It returns true when the chunk should be written again; the
// caller does it with rewrite, since only it knows who is alive.
func (a *arena) forget(p place) bool {
	c := a.chunks[p.chunk]
	c.dead += int(p.n)
	if int(p.chunk) == a.open {
		if c.dead*2 <= len(c.data) || len(c.data)*2 < cap(c.data) {
			return false
		}
		a.open = -1 // it is written again like any other
	}
	if c.dead == len(c.data) {
		a.drop(int(p.chunk))
		return false
	}
	return c.dead*2 > len(c.data)
}

// rewrite copies what is alive in a chunk to where new topics go, and calls moved for each. Readers that hold the old
// slices keep them.
func (a *arena) rewrite(i uint16, alive func(id uint32, p place) (n uint16, ok bool), moved func(id uint32, p place)) {
	c := a.chunks[i]
	for _, e := range c.entries {
		p := place{off: e.off, chunk: i}
		n, ok := alive(e.id, p)
		if !ok {
			continue
		}
		moved(e.id, a.add(e.id, e.gen, c.data[e.off:e.off+uint32(n)]))
	}
	a.drop(int(i))
}
