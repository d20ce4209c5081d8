package readings

// What can be seen at all: that a topic is not retained is known only where somebody looked, with a login that may read
// it, and nothing was lost on the way. Absence elsewhere proves nothing.

import "slices"

// sight is what the facts were gathered with.
type sight struct {
	filters []string // nil = everything
	lost    bool     // the scan does not claim to be whole
	configs bool     // every discovery config under the usual prefix was in view
}

// Saw tells what the facts were gathered with: the topic filters, nil for everything, and whether the scan claims that it
// brought all that they match. At first everything counts as seen. It costs a reading of everything when it changes.
func (r *Reader) Saw(filters []string, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := sight{lost: !whole}
	if !slices.Contains(filters, "#") {
		s.filters = slices.Clone(filters)
	}
	s.configs = s.covers(defaultPrefix)
	if slices.Equal(s.filters, r.sight.filters) && s.lost == r.sight.lost {
		return
	}
	r.sight = s
	r.touchAll()
}

// covers reports whether one of the filters matches everything below a prefix.
func (s *sight) covers(prefix string) bool {
	if s.filters == nil {
		return true
	}
	for _, f := range s.filters {
		if n := len(f) - len("/#"); n > 0 && f[n:] == "/#" {
			if _, ok := matchFilter(f, prefix); ok {
				return true
			}
		}
	}
	return false
}

// sees reports whether a retained message on a topic would have been brought.
func (r *Reader) sees(topic string) bool {
	if r.sight.lost {
		return false
	}
	if r.sight.filters == nil {
		return true
	}
	for _, f := range r.sight.filters {
		if _, ok := matchFilter(f, topic); ok {
			return true
		}
	}
	return false
}

// mayHideConfigs reports whether there may be discovery configs that were not read: what a topic is to them is not known.
func (r *Reader) mayHideConfigs() bool { return r.sight.lost || !r.sight.configs || r.unread > 0 }

// touchAll has everything read again.
func (r *Reader) touchAll() {
	for i := range r.held {
		if r.held[i].node != 0 {
			r.touch(r.held[i].node)
		}
	}
}
