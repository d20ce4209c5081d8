package actions

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"retainscope/expiry"
	"retainscope/inventory"
)

// MaxControls is how many neighbours are read before and after a clear. With the topic itself they are the 50
// subscriptions that every known broker takes on one connection.
const MaxControls = 49

// enoughControls is how many are looked for further away where there are fewer nearby.
const enoughControls = 3

// quietFor is how long a topic must not have been published to be called quiet.
const quietFor = 10 * time.Minute

// controlMargin is how much longer than now a control must live to be worth reading.
const controlMargin = 2 * time.Minute

// Candidate is a topic that could serve as a control, with what is known of it.
type Candidate struct {
	Topic      []byte
	Interval   expiry.Interval
	ReceivedAt int64 // Unix ms, of the copy that Interval belongs to
	LastLive   int64 // Unix ms of the last live publication; 0 = none seen
}

// Neighbours returns the topics around topic in the inventory: those above it, and in the order of topics a few
// hundred before and after it, which holds children, siblings and cousins. It may take long with a large store. The
// error is that of ctx.
func Neighbours(ctx context.Context, inv *inventory.Inventory, topic []byte) ([]Candidate, error) {
	const window = 400
	l, err := inv.List(ctx, inventory.Spec{Sort: inventory.ByTopic})
	if err != nil {
		return nil, err
	}
	var near []Candidate
	add := func(s inventory.Slot) {
		if !bytes.Equal(s.Topic, topic) {
			near = append(near, Candidate{Topic: s.Topic, Interval: s.Interval, ReceivedAt: s.ReceivedAt, LastLive: s.LastLive})
		}
	}
	for up, ok := parentOf(topic); ok; up, ok = parentOf(up) {
		if r, held := inv.Find(up); held {
			if s, held := inv.Slot(r); held {
				add(s)
			}
		}
	}
	ancestors := len(near)
	from, _ := l.Move(l.Find(topic), -window)
	for _, row := range l.Rows(from, 2*window+1, nil) {
		if row.Held && !slices.ContainsFunc(near[:ancestors], func(c Candidate) bool { return bytes.Equal(c.Topic, row.Slot.Topic) }) {
			add(row.Slot)
		}
	}
	return near, ctx.Err()
}

// kinship says where a topic stands to another, nearest first.
type kinship uint8

const (
	above kinship = iota
	child
	sibling
	distant
)

func kin(topic, other []byte) kinship {
	below := func(a, b []byte) bool { return len(b) > len(a) && bytes.HasPrefix(b, a) && b[len(a)] == '/' }
	switch {
	case below(other, topic):
		return above
	case below(topic, other):
		return child
	}
	if p, ok := parentOf(topic); ok {
		if q, has := parentOf(other); has && bytes.Equal(p, q) {
			return sibling
		}
		return distant
	}
	if _, ok := parentOf(other); !ok {
		return sibling
	}
	return distant
}

// SelectControls chooses some topics, as many as most says (0 = MaxControls) to be read before and after a clear of topic:
// those above it, its children and its siblings, and others only where there are fewer than three of these. Topics
// that are quiet and never expire come first; topics that will run out soon, that the broker owns, or that cannot be a
// subscription are left out. The order of the result is the order of choice. now is Unix ms.
func SelectControls(topic []byte, near []Candidate, now int64, most int) [][]byte {
	if most <= 0 || most > MaxControls {
		most = MaxControls
	}
	var groups [distant + 1][]Candidate
	for _, c := range near {
		if bytes.Equal(c.Topic, topic) || RefuseTopic(c.Topic) != nil || !utf8.Valid(c.Topic) || c.Topic[0] == '$' {
			continue
		}
		if left, counts := c.Interval.Remaining(c.ReceivedAt, now); counts && left < controlMargin {
			continue
		}
		k := kin(topic, c.Topic)
		groups[k] = append(groups[k], c)
	}
	order := func(k kinship) {
		slices.SortStableFunc(groups[k], func(a, b Candidate) int {
			var near int
			if k == distant {
				// Of what is no neighbour the quiet ones that share most of the name say most.
				near = cmp.Or(cmp.Compare(a.rank(now)/2, b.rank(now)/2), cmp.Compare(shared(topic, b.Topic), shared(topic, a.Topic)))
			}
			return cmp.Or(near, cmp.Compare(a.rank(now), b.rank(now)), cmp.Compare(len(a.Topic), len(b.Topic)), bytes.Compare(a.Topic, b.Topic))
		})
	}
	order(child)
	order(sibling)
	slices.SortStableFunc(groups[above], func(a, b Candidate) int { return cmp.Compare(len(b.Topic), len(a.Topic)) })
	chosen := make([][]byte, 0, most)
	take := func(g []Candidate, n int) []Candidate {
		n = min(n, len(g), most-len(chosen))
		for _, c := range g[:n] {
			chosen = append(chosen, c.Topic)
		}
		return g[n:]
	}
	take(groups[above], most)
	half := (most - len(chosen) + 1) / 2
	children := take(groups[child], half)
	take(groups[sibling], most)
	take(children, most)
	if len(chosen) < enoughControls {
		order(distant) // may be the whole store: only where it is needed
		take(groups[distant], enoughControls-len(chosen))
	}
	return chosen
}

// shared returns how many levels two topics have in common from the first on.
func shared(a, b []byte) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return n
		}
		if a[i] == '/' {
			n++
		}
	}
	return n
}

// rank orders candidates: quiet and never expiring, quiet and expiring, the others.
func (c Candidate) rank(now int64) int {
	switch {
	case !c.quiet(now):
		return 2
	case c.Interval.Kind() == expiry.Finite:
		return 1
	}
	return 0
}

func (c Candidate) quiet(now int64) bool {
	return c.LastLive == 0 || now-c.LastLive > quietFor.Milliseconds()
}

// neighbourFilters returns the bounded scans around topic, each a set of filters, nearest first, for a clear without an
// inventory: everything below the level above it (for a topic of one level the first levels and what is below it), then
// below the level above that, and last everything. Never more than three: a name can have thousands of levels.
func neighbourFilters(topic []byte) [][][]byte {
	from := filterFor(topic)
	up, ok := parentOf(from)
	if !ok {
		return [][][]byte{{[]byte("+"), append(bytes.Clone(from), "/#"...)}, {[]byte("#")}}
	}
	var scans [][][]byte
	for ; ok && len(scans) < 2; up, ok = parentOf(up) {
		scans = append(scans, [][]byte{append(bytes.Clone(up), "/#"...)})
	}
	return append(scans, [][]byte{[]byte("#")})
}
