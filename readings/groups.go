package readings

// What looks left behind, gathered by owner and device: everything of one thing in one place.
// A group is what to look at together; nothing in it is approved by being here.

import (
	"cmp"
	"slices"
	"time"
)

// Group is what one owner, or one device of an owner, left behind, or the hazards under its name.
type Group struct {
	Key      string // tells it from every other group of this reader, whatever their names
	Owner    Owner
	Device   string // empty where the owner itself is offline, or has no devices
	State    State  // of the owner
	Hazard   bool   // at least one member does something by itself
	Strength Strength
	Kinds    []Kind   // what was found, strongest first
	Reasons  []string // one sentence for each of Kinds
	// Strengths are those of Reasons.
	Strengths []Strength
	Members   []Member // config first, then announcements, states, availability, attributes
	Go        int      // members that look left behind: as many topics would go
	// Silent is how long no member was seen live while somebody watched; 0 before anybody did.
	Silent time.Duration
}

// Member is one topic of a group.
type Member struct {
	Topic        string
	Role         Role
	Left, Hazard bool
	Phrase       string
}

// Groups returns what looks left behind or is a hazard at now, in Unix milliseconds: hazards first, then the strongest
// evidence, then by owner and device. It reads again whatever was marked, so the first call after a scan costs most.
func (r *Reader) Groups(now int64) []Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle(now, 0)
	ids := make([]uint32, 0, len(r.flagged))
	for id := range r.flagged {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Compare(r.name(a), r.name(b)) })

	type key struct {
		convention, owner, device string
		whose                     uint32
	}
	at := map[key]*Group{}
	heard := map[*Group]int64{}
	var order []*Group
	for _, id := range ids {
		h := r.heldAt(id)
		v := r.judge(id, now)
		k := key{v.claim.convention, v.claim.owner, v.claim.place.device, v.claim.whose}
		if v.left == OwnerOffline {
			// The owner is what left, with all it has. Programs of one name are told apart by where they say that they live.
			k.device, k.whose = "", v.claim.live
		}
		g := at[k]
		if g == nil {
			g = &Group{Owner: r.owner(&v), Device: v.claim.place.device, Key: k.convention + "\x00" + k.owner + "\x00" + k.device + "\x00" + r.name(k.whose)}
			at[k] = g
			order = append(order, g)
		}
		if g.Device != v.claim.place.device {
			g.Device = ""
		}
		g.Members = append(g.Members, Member{
			Topic: r.name(id), Role: v.claim.place.role, Left: v.left != NoFinding, Hazard: v.hazard, Phrase: r.phrase(&v, h, now),
		})
		g.State = max(g.State, v.claim.state)
		g.Hazard = g.Hazard || v.hazard
		if v.left != NoFinding {
			g.Go++
		}
		heard[g] = max(heard[g], int64(h.lastLive)*1000)
		r.addReasons(g, &v, h, now)
	}
	out := make([]Group, 0, len(order))
	for _, g := range order {
		slices.SortStableFunc(g.Members, func(a, b Member) int { return cmp.Compare(rankRole(a.Role), rankRole(b.Role)) })
		g.sortReasons()
		if r.since > 0 {
			g.Silent = time.Duration(max(0, now-max(r.since, heard[g]))) * time.Millisecond
		}
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(
			compareBool(b.Hazard, a.Hazard), cmp.Compare(b.Strength, a.Strength), cmp.Compare(a.Owner.Name, b.Owner.Name),
			cmp.Compare(a.Device, b.Device), cmp.Compare(a.Owner.Convention, b.Owner.Convention),
			cmp.Compare(a.Members[0].Topic, b.Members[0].Topic),
		)
	})
	return out
}

// addReasons adds the findings that a group does not have yet, strongest first.
func (r *Reader) addReasons(g *Group, v *verdict, h *held, now int64) {
	for s := Hazard; ; s-- {
		for _, n := range v.notes[:v.n] {
			if n.strength != s || s == Weak && n.kind != v.left {
				continue
			}
			g.Strength = max(g.Strength, s)
			if !slices.Contains(g.Kinds, n.kind) {
				g.Kinds = append(g.Kinds, n.kind)
				g.Strengths = append(g.Strengths, s)
				g.Reasons = append(g.Reasons, r.reason(v, n, h, now))
			}
		}
		if s == Weak {
			return
		}
	}
}

// sortReasons puts the strongest first; what the first members gave stays first among equals.
func (g *Group) sortReasons() {
	order := make([]int, len(g.Reasons))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Strengths[b], g.Strengths[a]) })
	was := *g
	g.Kinds, g.Strengths, g.Reasons = nil, nil, nil
	for _, i := range order {
		g.Kinds, g.Strengths, g.Reasons = append(g.Kinds, was.Kinds[i]), append(g.Strengths, was.Strengths[i]), append(g.Reasons, was.Reasons[i])
	}
}

func rankRole(x Role) int {
	if x == RoleOther {
		return int(RoleAttribute)
	}
	return int(x)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
