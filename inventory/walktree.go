package inventory

// treeWalk goes over the tree of the store itself, so that it follows every change. It visits and puts in order only
// what is shown.
type treeWalk struct {
	inv   *Inventory
	open  *openness
	wide  wideLevels // what Work should put in order
	stack []spot     // from the first level to the row

	// For warm:
	kept    []spot
	ids     []uint32
	touched uint32 // keeps the reading of what is touched from being left out as useless
}

// spot is a level and its place in the order of its parent.
type spot struct {
	node      uint32
	block, at int
}

// kids returns the children of a level that are in order, nil when there are none to show.
func (w *treeWalk) kids(id uint32) *order {
	o := w.inv.orderKids(id)
	if o == nil {
		return nil
	}
	if w.inv.tree.waits(id) {
		w.wide.add(id)
	}
	if o.n == 0 {
		return nil
	}
	return o
}

func (w *treeWalk) parentOrder(depth int) *order {
	parent := uint32(0)
	if depth > 0 {
		parent = w.stack[depth-1].node
	}
	return w.inv.tree.orderOf(parent)
}

func (w *treeWalk) push(o *order, block, at int) {
	w.stack = append(w.stack, spot{node: o.blocks[block][at], block: block, at: at})
}

func (w *treeWalk) pushLast(o *order) {
	k := len(o.blocks) - 1
	w.push(o, k, len(o.blocks[k])-1)
}

// below returns the children of the row where they are shown, else nil.
func (w *treeWalk) below() *order {
	id := w.stack[len(w.stack)-1].node
	if w.inv.tree.node(id).branch == 0 || !w.shows(id) {
		return nil
	}
	return w.kids(id)
}

// shows reports whether a level is open. Where all or none are, its path is not looked at.
func (w *treeWalk) shows(id uint32) bool {
	if len(w.open.except) == 0 {
		return w.open.all
	}
	return w.open.is(w.inv.tree.path(id))
}

// warm touches what the next n rows will need. Of a store of a million topics a row costs several places in memory that
// are far apart; asked for one after the other each is waited for, asked for together the waits overlap.
func (w *treeWalk) warm(n int) {
	inv := w.inv
	w.kept, w.ids = append(w.kept[:0], w.stack...), w.ids[:0]
	for {
		w.ids = append(w.ids, w.stack[len(w.stack)-1].node)
		if len(w.ids) == n || !w.step(true) {
			break
		}
	}
	w.stack = append(w.stack[:0], w.kept...)
	touched := uint32(0)
	for _, id := range w.ids {
		nd := inv.tree.node(id)
		rec := inv.records.at(nd.named)
		touched += rec.hash + uint32(rec.received)
		if nd.branch != 0 {
			touched += inv.tree.below(nd.branch).sums.all
		}
	}
	for _, id := range w.ids {
		nd := inv.tree.node(id)
		rec := inv.records.at(nd.named)
		touched += uint32(inv.arena.chunks[rec.topic.chunk].data[rec.topic.off])
		if nd.rec != 0 {
			rec = inv.records.at(nd.rec - 1)
			if blob := inv.blobs.at(rec.blob, int(rec.blobLen)); len(blob) > 0 {
				touched += uint32(blob[0])
			}
		}
	}
	w.touched = touched
}

func (w *treeWalk) descend() {
	for o := w.below(); o != nil; o = w.below() {
		w.pushLast(o)
	}
}

func (w *treeWalk) begin(last bool) bool {
	w.stack = w.stack[:0]
	o := w.kids(0)
	switch {
	case o == nil:
		return false
	case last:
		w.pushLast(o)
		w.descend()
	default:
		w.push(o, 0, 0)
	}
	return true
}

func (w *treeWalk) step(down bool) bool {
	if !down {
		return w.up()
	}
	if o := w.below(); o != nil {
		w.push(o, 0, 0)
		return true
	}
	for d := len(w.stack) - 1; d >= 0; d-- {
		s, o := w.stack[d], w.parentOrder(d)
		if s.at++; s.at == len(o.blocks[s.block]) {
			s.block, s.at = s.block+1, 0
		}
		if s.block < len(o.blocks) {
			w.stack = w.stack[:d]
			w.push(o, s.block, s.at)
			return true
		}
	}
	return false
}

func (w *treeWalk) up() bool {
	d := len(w.stack) - 1
	s, o := w.stack[d], w.parentOrder(d)
	if s.block == 0 && s.at == 0 {
		if d > 0 {
			w.stack = w.stack[:d]
		}
		return d > 0
	}
	if s.at--; s.at < 0 {
		s.block--
		s.at = len(o.blocks[s.block]) - 1
	}
	w.stack = w.stack[:d]
	w.push(o, s.block, s.at)
	w.descend()
	return true
}

func (w *treeWalk) seek(path string) bool {
	w.stack = w.stack[:0]
	p := []byte(path)
	id := uint32(0)
	for start, depth := 0, 0; start <= len(p); depth++ {
		o := w.kids(id)
		if o == nil {
			break
		}
		end := levelEnd(p, start, depth)
		name := p[start:end]
		block, at := o.find(func(other uint32) int { return compareTopics(w.inv.tree.name(other), name) })
		if block == len(o.blocks) {
			w.pushLast(o)
			break
		}
		w.push(o, block, at)
		id = o.blocks[block][at]
		if compareTopics(w.inv.tree.name(id), name) != 0 {
			break
		}
		if w.inv.tree.node(id).branch == 0 || !w.open.is(p[:end]) {
			break
		}
		start = end + 1
	}
	return len(w.stack) > 0
}

func (w *treeWalk) path() []byte { return w.inv.tree.path(w.stack[len(w.stack)-1].node) }

func (w *treeWalk) row(r *Row, buf []byte) []byte {
	t := &w.inv.tree
	id := w.stack[len(w.stack)-1].node
	nd := t.node(id)
	path := t.path(id)
	buf = pathRow(r, path, len(w.stack), buf)
	sums := t.sums(id)
	r.Matched = int(sums.all)
	if r.Branch = nd.branch != 0; r.Branch {
		r.Sub = sums.counts()
		r.Open = w.shows(id)
		r.Pending = r.Open && t.waits(id)
	}
	if nd.rec != 0 {
		r.Held = true
		buf = w.inv.copySlotOf(nd.rec-1, w.inv.records.at(nd.rec-1), &r.Slot, r.Prefix, buf)
	}
	return buf
}
