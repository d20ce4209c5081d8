package inventory

// Blobs hold payload and properties of a slot. Up to blobSmall bytes they lie in slabs of one size class each; above
// that every blob is an allocation of its own. A blob is named by a number that means something only together with its
// length.
const (
	blobFine   = 512  // up to here classes are 32 bytes apart
	blobSmall  = 2048 // and up to here 128
	classes    = blobFine/32 + (blobSmall-blobFine)/128
	fineItems  = 256 // items of one slab: its size is then a whole number of 8 KiB pages in every class
	wideItems  = 64
	noItem     = ^uint16(0)
	spareBytes = 4 << 20 // of large allocations kept for the next one
)

// blobClass returns the class of n bytes, 1 <= n <= blobSmall.
func blobClass(n int) int {
	if n <= blobFine {
		return (n - 1) / 32
	}
	return blobFine/32 + (n-blobFine-1)/128
}

// classSize returns the bytes of one item of a class and the items of one slab.
func classSize(class int) (size, items int) {
	if class < blobFine/32 {
		return (class + 1) * 32, fineItems
	}
	return blobFine + (class-blobFine/32+1)*128, wideItems
}

// slab holds the items of one class. Free items are chained through their first two bytes.
type slab struct {
	data       []byte // nil when the slab is not used
	free       uint16 // first item that was given back, noItem for none
	fresh      uint16 // items handed out so far: those from here on were never touched
	live       uint16
	next, prev int32 // among the slabs of the class with room; -1 for none
	listed     bool
}

type slabClass struct {
	slabs []slab
	room  int32   // first slab with room, -1 for none
	empty []int32 // slabs without data
}

type blobs struct {
	class [classes]slabClass
	large [][]byte
	empty []uint32         // free places of large
	spare map[int][][]byte // allocations to use again, by capacity
	kept  int              // bytes in spare
}

func (b *blobs) init() {
	for i := range b.class {
		b.class[i].room = -1
	}
	b.spare = map[int][][]byte{}
}

// at returns the n bytes of a blob.
func (b *blobs) at(ref uint32, n int) []byte {
	if n == 0 {
		return nil
	}
	if n > blobSmall {
		return b.large[ref]
	}
	class := blobClass(n)
	size, items := classSize(class)
	off := int(ref) % items * size
	return b.class[class].slabs[int(ref)/items].data[off : off+n : off+n]
}

// alloc returns room for n bytes, which may hold anything.
func (b *blobs) alloc(n int) uint32 {
	switch {
	case n == 0:
		return 0
	case n > blobSmall:
		return b.allocLarge(n)
	}
	class := blobClass(n)
	size, items := classSize(class)
	c := &b.class[class]
	if c.room < 0 {
		c.addSlab(size, items)
	}
	at := c.room
	s := &c.slabs[at]
	item := s.free
	if item != noItem {
		s.free = uint16(s.data[int(item)*size]) | uint16(s.data[int(item)*size+1])<<8
	} else {
		item = s.fresh
		s.fresh++
	}
	s.live++
	if s.free == noItem && int(s.fresh) == items {
		c.unlist(at)
	}
	return uint32(int(at)*items + int(item))
}

func (c *slabClass) addSlab(size, items int) {
	at := int32(len(c.slabs))
	if n := len(c.empty); n > 0 {
		at = c.empty[n-1]
		c.empty = c.empty[:n-1]
	} else {
		c.slabs = append(c.slabs, slab{})
	}
	c.slabs[at] = slab{data: make([]byte, size*items), free: noItem}
	c.list(at)
}

func (c *slabClass) list(at int32) {
	s := &c.slabs[at]
	s.listed, s.prev, s.next = true, -1, c.room
	if c.room >= 0 {
		c.slabs[c.room].prev = at
	}
	c.room = at
}

func (c *slabClass) unlist(at int32) {
	s := &c.slabs[at]
	if s.prev >= 0 {
		c.slabs[s.prev].next = s.next
	} else {
		c.room = s.next
	}
	if s.next >= 0 {
		c.slabs[s.next].prev = s.prev
	}
	s.listed = false
}

// release gives the room of a blob back. A slab that is empty then goes, unless it is the only one with room: a class
// whose last item comes and goes would allocate each time.
func (b *blobs) release(ref uint32, n int) {
	switch {
	case n == 0:
		return
	case n > blobSmall:
		b.releaseLarge(ref)
		return
	}
	class := blobClass(n)
	size, items := classSize(class)
	c := &b.class[class]
	at, item := int32(int(ref)/items), int(ref)%items
	s := &c.slabs[at]
	s.data[item*size], s.data[item*size+1] = byte(s.free), byte(s.free>>8)
	s.free = uint16(item)
	s.live--
	if !s.listed {
		c.list(at)
	}
	if s.live == 0 && (s.next >= 0 || s.prev >= 0) {
		c.unlist(at)
		s.data = nil
		c.empty = append(c.empty, at)
	}
}

// resize returns room for n bytes in place of a blob of old bytes. Nothing is copied.
func (b *blobs) resize(ref uint32, old, n int) uint32 {
	switch {
	case old > 0 && old <= blobSmall && n > 0 && n <= blobSmall && blobClass(old) == blobClass(n):
		return ref
	case old > blobSmall && n > blobSmall && largeCap(n) == cap(b.large[ref]):
		b.large[ref] = b.large[ref][:n]
		return ref
	}
	b.release(ref, old)
	return b.alloc(n)
}

// largeCap returns the capacity for n bytes: quarter steps of powers of two up to 64 KiB, whole pages above.
func largeCap(n int) int {
	if n > 64<<10 {
		return (n + 8191) &^ 8191
	}
	step := 512
	for step*8 < n {
		step *= 2
	}
	return (n + step - 1) / step * step
}

func (b *blobs) allocLarge(n int) uint32 {
	size := largeCap(n)
	var buf []byte
	if have := b.spare[size]; len(have) > 0 {
		buf = have[len(have)-1]
		b.spare[size] = have[:len(have)-1]
		b.kept -= size
	} else {
		buf = make([]byte, size)
	}
	buf = buf[:n]
	if k := len(b.empty); k > 0 {
		ref := b.empty[k-1]
		b.empty = b.empty[:k-1]
		b.large[ref] = buf
		return ref
	}
	b.large = append(b.large, buf)
	return uint32(len(b.large) - 1)
}

func (b *blobs) releaseLarge(ref uint32) {
	buf := b.large[ref]
	b.large[ref] = nil
	b.empty = append(b.empty, ref)
	if size := cap(buf); b.kept+size <= spareBytes {
		b.spare[size] = append(b.spare[size], buf)
		b.kept += size
	}
}
