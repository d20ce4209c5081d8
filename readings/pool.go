package readings

// Equal values kept once and counted, so that thirty thousand configs of one program share its rule and its origin.

// pool keeps comparable values. Number 0 is the zero value and always there.
type pool[T comparable] struct {
	at    map[T]uint32
	items []pooled[T]
	free  []uint32
}

type pooled[T comparable] struct {
	value T
	count int
}

func (p *pool[T]) init() {
	p.at = map[T]uint32{}
	p.items = make([]pooled[T], 1)
}

// take returns the number of v and counts it once more.
func (p *pool[T]) take(v T) uint32 {
	var zero T
	if v == zero {
		return 0
	}
	if i, ok := p.at[v]; ok {
		p.items[i].count++
		return i
	}
	var i uint32
	if n := len(p.free); n > 0 {
		i = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		p.items = append(p.items, pooled[T]{})
		i = uint32(len(p.items) - 1)
	}
	p.items[i] = pooled[T]{value: v, count: 1}
	p.at[v] = i
	return i
}

// drop counts one less, and forgets the value at zero.
func (p *pool[T]) drop(i uint32) {
	if i == 0 {
		return
	}
	it := &p.items[i]
	if it.count--; it.count > 0 {
		return
	}
	delete(p.at, it.value)
	*it = pooled[T]{}
	p.free = append(p.free, i)
}

func (p *pool[T]) get(i uint32) T { return p.items[i].value }
