package readings

// The share of topics with an expiry, by first level. Kept as counters that follow every change.

import (
	"cmp"
	"slices"
	"strings"
)

// share counts the topics under one first level.
type share struct {
	topics, finite, never, fell, gained int
	named                               int // references of configs to topics here
}

// PrefixShare says how much of one first level carries an expiry.
type PrefixShare struct {
	Prefix  string // the first level; with its slash in front where a topic begins with one
	Topics  int
	Expiry  int // topics whose interval was on the wire
	Never   int // topics without; the rest is not known
	Fell    int // overwritten by a publisher without expiry after they had one
	Started int // overwritten by a publisher with expiry after they had none
}

// Share returns the part of the topics with expiry, 0 to 1, of those about which it is known; false when it is known
// of none.
func (p PrefixShare) Share() (float64, bool) {
	if p.Expiry+p.Never == 0 {
		return 0, false
	}
	return float64(p.Expiry) / float64(p.Expiry+p.Never), true
}

// Prefixes returns the share of every first level, those with the most topics first.
func (r *Reader) Prefixes() []PrefixShare {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]PrefixShare, 0, len(r.shares))
	for name, s := range r.shares {
		if s.topics > 0 {
			out = append(out, PrefixShare{
				Prefix: name, Topics: s.topics, Expiry: s.finite, Never: s.never, Fell: s.fell, Started: s.gained,
			})
		}
	}
	slices.SortFunc(out, func(a, b PrefixShare) int {
		return cmp.Or(cmp.Compare(b.Topics, a.Topics), cmp.Compare(a.Prefix, b.Prefix))
	})
	return out
}

// shareName returns the first level of a topic as it names a share.
func shareName(topic string) string {
	if strings.HasPrefix(topic, "/") {
		return topic[:1+len(firstLevel(topic[1:]))]
	}
	return firstLevel(topic)
}

func (r *Reader) shareAt(topic string) *share {
	name := shareName(topic)
	s := r.shares[name]
	if s == nil {
		s = &share{}
		r.shares[strings.Clone(name)] = s
	}
	return s
}

func (r *Reader) shareDone(topic string, s *share) {
	if *s == (share{}) {
		delete(r.shares, shareName(topic))
	}
}

// share counts a topic of that kind once more or once less.
func (r *Reader) share(id uint32, flags heldFlags, by int) {
	s := r.shareAt(r.name(id))
	s.topics += by
	switch {
	case flags&heldFinite != 0:
		s.finite += by
	case flags&heldNever != 0:
		s.never += by
	}
	r.shareDone(r.name(id), s)
}

// shareMoves counts who fell back and who started.
func (r *Reader) shareMoves(id uint32, was, is heldFlags) {
	if (was^is)&(heldFell|heldGained) == 0 {
		return
	}
	s := r.shareAt(r.name(id))
	for _, f := range [...]struct {
		flag heldFlags
		n    *int
	}{{heldFell, &s.fell}, {heldGained, &s.gained}} {
		if was&f.flag != 0 {
			*f.n--
		}
		if is&f.flag != 0 {
			*f.n++
		}
	}
	r.shareDone(r.name(id), s)
}

// shareNamed counts a config's reference to a topic. The first and the last one change what is said of every topic
// under the same first level.
func (r *Reader) shareNamed(id uint32, by int) {
	s := r.shareAt(r.name(id))
	s.named += by
	if s.named == 0 || s.named == by {
		if at := r.lookup(shareName(r.name(id))); at != 0 {
			r.areaChanged(at)
		}
	}
	r.shareDone(r.name(id), s)
}

// sharesConfigs reports whether configs name topics under the same first level.
func (r *Reader) sharesConfigs(id uint32) bool {
	s := r.shares[shareName(r.name(id))]
	return s != nil && s.named > 0
}
