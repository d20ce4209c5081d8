package inventory

import (
	"cmp"
	"context"
	"slices"
)

// sortTopics puts entries in the order of topics, and keys with them unless they are nil. It may run without the lock. It gives up when ctx ends and returns its
// error; the entries are then in no particular order.
//
// Topics share long beginnings, so comparing them again and again from the first byte is slow: it sorts by eight bytes
// at a time, and goes on with the next eight only among those that are equal so far.
func sortTopics(ctx context.Context, v *views, entries []entry, keys []uint64) error {
	if len(entries) < 2 {
		return nil
	}
	s := topicSorter{ctx: ctx, v: v, entries: entries, keys: make([]sortKeyed, len(entries))}
	for i := range s.keys {
		s.keys[i].index = uint32(i)
	}
	if err := s.sort(s.keys, 0); err != nil {
		return err
	}
	sorted := make([]entry, len(entries))
	for i, k := range s.keys {
		sorted[i] = entries[k.index]
	}
	copy(entries, sorted)
	if keys != nil {
		moved := make([]uint64, len(keys))
		for i, k := range s.keys {
			moved[i] = keys[k.index]
		}
		copy(keys, moved)
	}
	return nil
}

type sortKeyed struct {
	key   uint64
	index uint32
	ended bool // the topic has no more bytes after this key
}

type topicSorter struct {
	ctx     context.Context
	v       *views
	entries []entry
	keys    []sortKeyed
}

// eight returns the rank of the eight bytes of b from at on, with zeroes behind its end, and whether it ends there.
func eight(b []byte, at int) (key uint64, ended bool) {
	end := min(at+8, len(b))
	for i := at; i < end; i++ {
		key = key<<8 | uint64(slashFirst[b[i]])
	}
	return key << (8 * (at + 8 - end)), at+8 >= len(b)
}

func (s *topicSorter) sort(keys []sortKeyed, at int) error {
	for {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if len(keys) <= 12 {
			s.small(keys, at)
			return nil
		}
		for i := range keys {
			k := &keys[i]
			k.key, k.ended = eight(s.v.bytes(&s.entries[k.index]), at)
		}
		slices.SortFunc(keys, func(a, b sortKeyed) int { return cmp.Compare(a.key, b.key) })
		// What shares a key goes on with the next bytes; the largest such group without a call, so that topics of
		// 65 535 equal bytes are no deep recursion.
		var rest []sortKeyed
		for lo := 0; lo < len(keys); {
			hi := lo + 1
			for hi < len(keys) && keys[hi].key == keys[lo].key {
				hi++
			}
			if hi-lo > 1 {
				group := s.endedFirst(keys[lo:hi])
				if len(group) > len(rest) {
					rest, group = group, rest
				}
				if len(group) > 1 {
					if err := s.sort(group, at+8); err != nil {
						return err
					}
				}
			}
			lo = hi
		}
		if len(rest) < 2 {
			return nil
		}
		keys, at = rest, at+8
	}
}

// endedFirst puts the topics that end within the key in front and returns the others. Equal keys of different length
// differ only by slashes, or zeroes that stand for the end, so the shorter one comes first.
func (s *topicSorter) endedFirst(keys []sortKeyed) []sortKeyed {
	n := 0
	for i := range keys {
		if keys[i].ended {
			keys[n], keys[i] = keys[i], keys[n]
			n++
		}
	}
	if n > 1 {
		slices.SortFunc(keys[:n], func(a, b sortKeyed) int {
			return cmp.Compare(s.entries[a.index].n, s.entries[b.index].n)
		})
	}
	return keys[n:]
}

func (s *topicSorter) small(keys []sortKeyed, at int) {
	for i := 1; i < len(keys); i++ {
		for j := i; j > 0; j-- {
			a, b := s.v.bytes(&s.entries[keys[j-1].index]), s.v.bytes(&s.entries[keys[j].index])
			// All of them share what stands before at, but one may end there.
			if compareTopics(a[min(at, len(a)):], b[min(at, len(b)):]) <= 0 {
				break
			}
			keys[j-1], keys[j] = keys[j], keys[j-1]
		}
	}
}

// keyed is a number to sort by and the index of what it belongs to.
type keyed struct {
	key   uint64
	index uint32
}

// sortKeys puts keys in ascending order and keeps the order of equal ones. It sorts by bytes from the last to the
// first, and passes over those in which all keys agree.
func sortKeys(keys []keyed) []keyed {
	if len(keys) < 256 {
		slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return keys
	}
	var differ uint64
	for i := range keys {
		differ |= keys[i].key ^ keys[0].key
	}
	other := make([]keyed, len(keys))
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xFF == 0 {
			continue
		}
		var count [257]int
		for i := range keys {
			count[keys[i].key>>shift&0xFF+1]++
		}
		for i := 1; i < len(count); i++ {
			count[i] += count[i-1]
		}
		for i := range keys {
			b := keys[i].key >> shift & 0xFF
			other[count[b]] = keys[i]
			count[b]++
		}
		keys, other = other, keys
	}
	return keys
}
