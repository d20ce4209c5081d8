package inventory

import "slices"

// orderBlock is how many numbers one block of an order holds at most.
const orderBlock = 512

// order is a sorted sequence of numbers in blocks, so that putting one in or taking one out moves at most a block. It
// does not know what it sorts by: every call brings the comparison.
type order struct {
	blocks [][]uint32
	n      int
	before []int // how many stand before each block; rebuilt when it is needed
	fresh  bool  // before is right
}

// find returns the block and the place of the first number for which compare is not negative; compare tells how a
// number stands to what is looked for.
func (o *order) find(compare func(id uint32) int) (block, at int) {
	lo, hi := 0, len(o.blocks)
	for lo < hi { // the first block whose last number is not before
		mid := int(uint(lo+hi) >> 1)
		b := o.blocks[mid]
		if compare(b[len(b)-1]) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(o.blocks) {
		return lo, 0
	}
	b := o.blocks[lo]
	i, j := 0, len(b)
	for i < j {
		mid := int(uint(i+j) >> 1)
		if compare(b[mid]) < 0 {
			i = mid + 1
		} else {
			j = mid
		}
	}
	return lo, i
}

// insert puts id in where compare says. Numbers that come in order are appended without a search.
func (o *order) insert(id uint32, compare func(other uint32) int) {
	o.n++
	o.fresh = false
	last := len(o.blocks) - 1
	if last < 0 {
		o.blocks = append(o.blocks, append(make([]uint32, 0, 4), id))
		return
	}
	if b := o.blocks[last]; compare(b[len(b)-1]) < 0 {
		if len(b) < orderBlock {
			o.blocks[last] = append(b, id)
		} else {
			o.blocks = append(o.blocks, append(make([]uint32, 0, orderBlock), id))
		}
		return
	}
	k, at := o.find(compare)
	if b := o.blocks[k]; len(b) < orderBlock {
		o.blocks[k] = slices.Insert(b, at, id)
		return
	}
	o.split(k)
	if half := len(o.blocks[k]); at > half {
		k, at = k+1, at-half
	}
	o.blocks[k] = slices.Insert(o.blocks[k], at, id)
}

func (o *order) split(k int) {
	b := o.blocks[k]
	half := len(b) / 2
	right := append(make([]uint32, 0, orderBlock), b[half:]...)
	o.blocks[k] = b[:half]
	o.blocks = slices.Insert(o.blocks, k+1, right)
}

// remove takes id out. compare must still work for every number in the order.
func (o *order) remove(id uint32, compare func(other uint32) int) {
	k, at := o.find(compare)
	if k == len(o.blocks) || o.blocks[k][at] != id {
		return
	}
	o.n--
	o.fresh = false
	b := slices.Delete(o.blocks[k], at, at+1)
	o.blocks[k] = b
	if len(b) == 0 {
		o.blocks = slices.Delete(o.blocks, k, k+1)
		return
	}
	// Two thin neighbours become one block: an order that shrinks would end in blocks of one otherwise.
	if k+1 < len(o.blocks) && len(b)+len(o.blocks[k+1]) <= orderBlock/4 {
		o.blocks[k] = append(b, o.blocks[k+1]...)
		o.blocks = slices.Delete(o.blocks, k+1, k+2)
	}
}

func (o *order) sumUp() {
	if o.fresh {
		return
	}
	o.before = o.before[:0]
	n := 0
	for _, b := range o.blocks {
		o.before = append(o.before, n)
		n += len(b)
	}
	o.fresh = true
}

// place returns the block and the place of the i-th number, 0 <= i < n.
func (o *order) place(i int) (block, at int) {
	o.sumUp()
	k, ok := slices.BinarySearch(o.before, i)
	if !ok {
		k--
	}
	return k, i - o.before[k]
}

// number returns which one the number at a place is, counted from 0.
func (o *order) number(block, at int) int {
	o.sumUp()
	if block == len(o.blocks) {
		return o.n
	}
	return o.before[block] + at
}
