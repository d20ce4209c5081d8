package inventory

import "sort"

// snapshot is the topics that matched when a listing was made, in the order in which they are shown. It can be read
// without the lock; whether a slot still lives needs it.
type snapshot struct {
	v       views
	items   []entry
	sorted  bool // in the order of topics, or desc in the reverse of it
	desc    bool
	total   int  // topics that matched
	partial bool // items are only the first of them
	places  []uint32
	marks   []mark // how far the arena had grown, see Spec.Within; nil where it was not swept
}

func (s *snapshot) topic(i int) []byte { return s.v.bytes(&s.items[i]) }

// search returns the first item whose topic does not come before path in the order shown; len(items) when there is none.
func (s *snapshot) search(path []byte) int {
	return sort.Search(len(s.items), func(i int) bool {
		c := compareTopics(s.topic(i), path)
		if s.desc {
			return c <= 0
		}
		return c >= 0
	})
}

// prepare lets place find items by slot without a search. Call it before others can see the snapshot.
func (s *snapshot) prepare() {
	if s.sorted || len(s.items) <= fewTopics {
		return
	}
	last := uint32(0)
	for i := range s.items {
		last = max(last, s.items[i].id)
	}
	s.places = make([]uint32, last+1)
	for i := range s.items {
		s.places[s.items[i].id] = uint32(i) + 1
	}
}

// place returns the item of a slot, -1 when it is not listed.
func (s *snapshot) place(id, gen uint32) int {
	if s.places != nil {
		if int(id) < len(s.places) && s.places[id] != 0 {
			if i := int(s.places[id]) - 1; s.items[i].gen == gen {
				return i
			}
		}
		return -1
	}
	for i := range s.items {
		if s.items[i].id == id && s.items[i].gen == gen {
			return i
		}
	}
	return -1
}

// snapFlat goes over a snapshot one topic a row. Slots that went are passed over.
type snapFlat struct {
	inv *Inventory
	*snapshot
	i      int
	ended  bool // a step wanted to go beyond the items of a partial snapshot
	recent map[string]int
}

func (w *snapFlat) alive() bool {
	_, ok := w.inv.held(w.items[w.i].ref())
	return ok
}

// settle goes to the next living row in a direction, else the other way.
func (w *snapFlat) settle(down bool) bool {
	return w.alive() || w.step(down) || w.step(!down)
}

func (w *snapFlat) begin(last bool) bool {
	if len(w.items) == 0 {
		return false
	}
	w.i = 0
	if last {
		w.ended = w.ended || w.partial
		w.i = len(w.items) - 1
	}
	return w.settle(!last)
}

func (w *snapFlat) seek(path string) bool {
	if len(w.items) == 0 {
		return false
	}
	p := []byte(path)
	switch {
	case w.sorted:
		w.i = min(w.search(p), len(w.items)-1)
	default:
		w.i = -1
		if id, ok := w.inv.lookupTopic(p); ok {
			w.i = w.place(id, w.inv.records.at(id).gen)
		}
		if w.i < 0 {
			// A row that is gone: the place where it was shown last, if it was.
			w.i = min(w.recent[path], len(w.items)-1)
			w.ended = w.ended || w.partial
		}
	}
	return w.settle(true)
}

func (w *snapFlat) step(down bool) bool {
	d := -1
	if down {
		d = 1
	}
	from := w.i
	for w.i += d; w.i >= 0 && w.i < len(w.items); w.i += d {
		if w.alive() {
			return true
		}
	}
	w.ended = w.ended || down && w.partial
	w.i = from
	return false
}

func (w *snapFlat) goTo(i int) bool {
	if len(w.items) == 0 {
		return false
	}
	w.ended = w.ended || w.partial && i >= len(w.items)
	w.i = min(max(i, 0), len(w.items)-1)
	return w.settle(true)
}

func (w *snapFlat) index() int { return w.i }

func (w *snapFlat) path() []byte { return w.topic(w.i) }

func (w *snapFlat) row(r *Row, buf []byte) []byte {
	e := &w.items[w.i]
	buf = w.inv.copySlot(e.id, w.inv.records.at(e.id), &r.Slot, buf)
	r.Held, r.Matched = true, 1
	r.Prefix, r.Name = r.Slot.Topic, r.Slot.Topic
	r.Pos = posOf(r.Slot.Topic)
	if !w.sorted {
		w.recent[r.Pos.path] = w.i
	}
	return buf
}
