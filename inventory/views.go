package inventory

// entry is one topic, or one level of it, taken down under the lock so that it can be read, compared and sorted
// without: the bytes of the arena never change once written.
type entry struct {
	id   uint32
	gen  uint32
	view uint32 // index in views.data
	off  uint32
	n    uint16
}

func (e *entry) ref() Ref { return Ref{id: e.id + 1, gen: e.gen} }

// views holds the chunks of the arena that entries point into. It keeps them alive after the arena has dropped them.
type views struct {
	data [][]byte
	from []viewFrom // of each in data
	of   []viewOf   // by number of the chunk
}

// viewFrom says which chunk of the arena a view is of.
type viewFrom struct {
	chunk  *chunk
	number uint16
}

type viewOf struct {
	chunk *chunk
	index uint32
}

// note returns an entry for n bytes of the topic at p from skip on. Call it with the lock held.
func (v *views) note(a *arena, id, gen uint32, p place, skip, n int) entry {
	if int(p.chunk) >= len(v.of) {
		v.of = append(v.of, make([]viewOf, len(a.chunks)-len(v.of))...)
	}
	o := &v.of[p.chunk]
	c := a.chunks[p.chunk]
	if o.chunk != c {
		*o = viewOf{chunk: c, index: uint32(len(v.data))}
		v.data = append(v.data, c.data)
		v.from = append(v.from, viewFrom{chunk: c, number: p.chunk})
	} else if len(v.data[o.index]) < len(c.data) {
		v.data[o.index] = c.data
	}
	return entry{id: id, gen: gen, view: o.index, off: p.off + uint32(skip), n: uint16(n)}
}

// bytes returns what an entry stands for.
func (v *views) bytes(e *entry) []byte {
	return v.data[e.view][e.off : e.off+uint32(e.n) : e.off+uint32(e.n)]
}

// seal lets go of what only note needs.
func (v *views) seal() { v.of = nil }
