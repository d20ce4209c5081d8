package inventory

// flatWalk goes over the order of all topics that the store keeps, so that it follows every change.
type flatWalk struct {
	inv       *Inventory
	desc      bool
	block, at int
}

func (w *flatWalk) order() *order {
	w.inv.flat.some(&w.inv.store, inlineOrder)
	return w.inv.flat.order
}

// go to the first number of the order, or the last.
func (w *flatWalk) edge(o *order, last bool) bool {
	if o.n == 0 {
		return false
	}
	w.block, w.at = 0, 0
	if last {
		w.block = len(o.blocks) - 1
		w.at = len(o.blocks[w.block]) - 1
	}
	return true
}

func (w *flatWalk) begin(last bool) bool { return w.edge(w.order(), last != w.desc) }

func (w *flatWalk) seek(path string) bool {
	o := w.order()
	p := []byte(path)
	w.block, w.at = o.find(func(id uint32) int { return compareTopics(w.inv.topicOf(id), p) })
	if w.block < len(o.blocks) {
		return true
	}
	return w.edge(o, true)
}

func (w *flatWalk) step(down bool) bool {
	o := w.inv.flat.order
	if down != w.desc {
		switch {
		case w.at+1 < len(o.blocks[w.block]):
			w.at++
		case w.block+1 < len(o.blocks):
			w.block, w.at = w.block+1, 0
		default:
			return false
		}
		return true
	}
	switch {
	case w.at > 0:
		w.at--
	case w.block > 0:
		w.block--
		w.at = len(o.blocks[w.block]) - 1
	default:
		return false
	}
	return true
}

// goTo goes to the i-th row, which is brought into the range; false when there is none.
func (w *flatWalk) goTo(i int) bool {
	o := w.order()
	if o.n == 0 {
		return false
	}
	i = min(max(i, 0), o.n-1)
	if w.desc {
		i = o.n - 1 - i
	}
	w.block, w.at = o.place(i)
	return true
}

func (w *flatWalk) index() int {
	o := w.inv.flat.order
	i := o.number(w.block, w.at)
	if w.desc {
		i = o.n - 1 - i
	}
	return i
}

func (w *flatWalk) id() uint32 { return w.inv.flat.order.blocks[w.block][w.at] }

func (w *flatWalk) path() []byte { return w.inv.topicOf(w.id()) }

func (w *flatWalk) row(r *Row, buf []byte) []byte {
	id := w.id()
	buf = w.inv.copySlot(id, w.inv.records.at(id), &r.Slot, buf)
	r.Held, r.Matched = true, 1
	r.Prefix, r.Name = r.Slot.Topic, r.Slot.Topic
	r.Pos = posOf(r.Slot.Topic)
	return buf
}
