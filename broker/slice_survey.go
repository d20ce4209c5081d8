package broker

// What the topics seen so far tell about the ones not seen: which levels have names that repeat, so that asking by them
// finds topics whose other levels were never seen. Pure.

import (
	"cmp"
	"math"
	"slices"
)

// survey is a copy of the topics of the inventory, flat, with what is needed to size a slice.
type survey struct {
	arena []byte
	ends  []int    // end of topic i in arena
	bytes []uint32 // wire bytes of topic i, about
	first []int64  // when topic i first came, Unix milliseconds
}

func (v *survey) add(topic []byte, payload int, first int64) {
	v.arena = append(v.arena, topic...)
	v.ends = append(v.ends, len(v.arena))
	v.bytes = append(v.bytes, uint32(min(len(topic)+payload+16, math.MaxInt32)))
	v.first = append(v.first, first)
}

func (v *survey) len() int { return len(v.ends) }

func (v *survey) topic(i int) []byte {
	start := 0
	if i > 0 {
		start = v.ends[i-1]
	}
	return v.arena[start:v.ends[i]]
}

// part is one name of a level, or one depth, with what is known to be behind it.
type part struct {
	slice  slice
	copies int64
	bytes  int64
	walk   int64 // tree nodes the broker visits for it, about
}

// cut is one way to divide a slice: by the names of level k, and the depths above it.
type cut struct {
	level int
	parts []part
	// fresh is the share of the names that first came in the later half of the topics. A low share means that the names
	// repeat: those of the topics that are missing are most likely among them.
	fresh float64
	// largest is the share of the largest part, walked the number of tree nodes the broker visits for one filter.
	largest float64
	walked  int64
	copies  int64 // topics known in all parts
	skipped int   // names that no filter can carry
}

type nameStat struct {
	copies, bytes, first int64
}

// maxCutLevels bounds how deep names are looked for.
const maxCutLevels = 24

// cuts returns the ways to divide s, the best first: by names that repeat, then by the smallest parts. A way that
// divides nothing is not among them, nor one that would make the broker walk its tree too often.
func (v *survey) cuts(s slice) []cut {
	var (
		names  [maxCutLevels]map[string]*nameStat
		depths [maxCutLevels + 1]nameStat
		walks  [maxCutLevels + 1]int64
		firsts []int64
		levels [][]byte
		prior  [][]byte
	)
	for i := range v.len() {
		levels = topicLevels(levels[:0], v.topic(i))
		if !s.match(levels) {
			continue
		}
		size, first := int64(v.bytes[i]), v.first[i]
		firsts = append(firsts, first)
		d := &depths[min(len(levels), maxCutLevels)]
		d.copies++
		d.bytes += size
		same := commonLevels(prior, levels)
		for k := range min(len(levels), maxCutLevels) {
			if k >= same {
				walks[k+1]++
			}
			if !s.open(k) {
				continue
			}
			if names[k] == nil {
				names[k] = make(map[string]*nameStat)
			}
			n := names[k][string(levels[k])]
			if n == nil {
				n = &nameStat{first: first}
				names[k][string(levels[k])] = n
			}
			n.copies++
			n.bytes += size
			n.first = min(n.first, first)
		}
		prior = append(prior[:0], levels...)
	}
	if len(firsts) == 0 {
		return nil
	}
	walks[0] = 1
	slices.Sort(firsts)
	middle := firsts[len(firsts)/2]
	var out []cut
	for k := range names {
		if c, ok := makeCut(s, k, names[k], depths[:], middle, int64(len(firsts))); ok {
			c.walked = walks[k]
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b cut) int {
		return cmp.Or(
			cmp.Compare(a.class(), b.class()),
			cmp.Compare(a.largest, b.largest),
			cmp.Compare(a.cost(), b.cost()))
	})
	return out
}

// class ranks a cut: names that repeat before names that keep coming before those of single topics; within them, cheap
// before dear.
func (c cut) class() int {
	class := 0
	if c.fresh > 0.1 {
		class += 2
	}
	if c.flat() {
		class += 4
	}
	if c.cost() > walkDear {
		class++
	}
	return class
}

// cost is how many nodes of its tree the broker visits for all parts.
func (c cut) cost() int64 { return c.walked * int64(len(c.parts)) }

// flat reports whether nearly every name is that of one topic: then asking for the names seen most likely brings
// nothing, unless they return under parents that were never seen. A sample of them tells.
func (c cut) flat() bool { return c.copies < 2*int64(len(c.parts)) }

const (
	// walkDear is a cost in nodes from which another cut is tried first, about a second of a broker.
	walkDear = 10e6
	// walkMost is the cost beyond which a cut is not worth what it does to others.
	walkMost = 400e6
)

func makeCut(s slice, k int, names map[string]*nameStat, depths []nameStat, middle, topics int64) (cut, bool) {
	if len(names) < 2 {
		return cut{}, false
	}
	c := cut{level: k, copies: topics}
	for _, d := range s.shorter(k) {
		n := depths[min(len(d.levels), len(depths)-1)]
		c.parts = append(c.parts, part{slice: d, copies: n.copies, bytes: n.bytes})
		c.largest = max(c.largest, float64(n.copies)/float64(topics))
	}
	late := 0
	for name, n := range names {
		if n.first > middle {
			late++
		}
		if !asksFor([]byte(name)) {
			c.skipped++
			continue
		}
		c.parts = append(c.parts, part{slice: s.at(k, name), copies: n.copies, bytes: n.bytes})
		c.largest = max(c.largest, float64(n.copies)/float64(topics))
	}
	c.fresh = float64(late) / float64(len(names))
	// Largest first: what is most likely to hold what is missing comes early. The name decides among equals, so that two
	// runs over one store ask the same.
	slices.SortFunc(c.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.copies, a.copies), slices.Compare(a.slice.levels, b.slice.levels))
	})
	return c, true
}

// commonLevels returns how many levels a and b share from the left.
func commonLevels(a, b [][]byte) int {
	n := 0
	for n < len(a) && n < len(b) && string(a[n]) == string(b[n]) {
		n++
	}
	return n
}
