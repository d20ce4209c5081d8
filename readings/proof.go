package readings

// What a discovery config's neighbours prove about it: the same unique id twice, a device that was renamed, a device
// form that replaced it, a newer announcement.

import "strings"

// proof is what the neighbours of a config say. Numbers are nodes of the other config, 0 for none.
type proof struct {
	duplicate uint32 // has a unique id of this one too
	crowded   bool   // so many have it that nobody was compared
	replaced  bool   // that one is the device form of the same device
	renamed   uint32 // claims the same device, with the same component, under other topics
	old       bool   // and this is the old one of the two
	sure      bool   // and nothing says that it lives
	why       Kind   // what tells that it is the old one
	older     uint32 // of the same device, announced by a newer version
}

func (r *Reader) proofOf(c *config) *proof {
	if c.flags&cfgProved != 0 {
		return &c.proof
	}
	c.proof = proof{}
	p := &c.proof
	for i := r.heldAt(c.node).own; i != 0; i = r.refs[i].nextOwn {
		if x := &r.refs[i]; x.kind == refID && r.nodes[x.to].nrefs > 1 {
			r.proveDuplicate(c, p, x.to)
		}
	}
	mine := r.viewOf(c)
	r.eachPeer(c, func(other *config) {
		if other.flags&(cfgMarker|cfgInvalid|cfgCut) != 0 {
			return
		}
		if r.outdated(c, other) && (p.older == 0 || r.name(other.node) < r.name(p.older)) {
			p.older = other.node
		}
		if c.family == 0 || other.family == 0 || c.family == other.family || c.shape != other.shape {
			return
		}
		why := r.oldOne(c, mine, other)
		if old := why != NoFinding; p.renamed == 0 || old && !p.old || old == p.old && r.name(other.node) < r.name(p.renamed) {
			// The new one of a pair is not renamed; it is where the other went.
			if !old && r.oldOne(other, r.viewOf(other), c) != NoFinding {
				return
			}
			p.renamed, p.old, p.why = other.node, old, why
			// Two instances of a program, of two versions, may both live and announce what both of them hear.
			p.sure = old && (why == Unnamed || mine.state != Alive && r.viewOf(other).state == Alive)
		}
	})
	c.flags |= cfgProved
	return p
}

// proveDuplicate notes another config with the same unique id. One in the device form that announces the same device
// is what replaced this one.
func (r *Reader) proveDuplicate(c *config, p *proof, id uint32) {
	n := &r.nodes[id]
	if n.nrefs > maxPeers {
		p.crowded = true // who else has it is not looked for
		return
	}
	for i := n.refs; i != 0; i = r.refs[i].next {
		other := r.refs[i].from
		if other == c.node {
			continue
		}
		if r.earlier(other, p.duplicate) {
			p.duplicate = other
		}
		o := r.configAt(other)
		if c.flags&cfgDevice == 0 && o.flags&cfgDevice != 0 && r.sameDevice(c, o) {
			p.replaced = true
		}
	}
	if p.duplicate == 0 {
		p.duplicate = c.node // twice in one config
	}
}

func (r *Reader) sameDevice(a, b *config) bool {
	same := false
	r.eachPeer(a, func(p *config) { same = same || p == b })
	return same
}

// oldOne returns what tells that c is what was left of a rename and other is what it became; NoFinding when nothing does.
func (r *Reader) oldOne(c *config, v *view, other *config) Kind {
	o := r.viewOf(other)
	switch {
	case v.named == no && o.named == yes:
		return Unnamed
	case v.named == yes:
		return NoFinding
	case r.heldAt(c.node).flags&heldNever != 0 && r.heldAt(other.node).flags&heldFinite != 0:
		return Unstamped
	case r.outdated(c, other) && r.origins.get(c.origin).name != "":
		return Older
	default:
		return NoFinding
	}
}

// outdated reports whether other was announced by a newer version of the same program, or says who announced it and
// c does not.
func (r *Reader) outdated(c, other *config) bool {
	a, b := r.origins.get(c.origin), r.origins.get(other.origin)
	if a.name == "" {
		return b.name != ""
	}
	return a.name == b.name && newer(b.version, a.version)
}

// newer reports whether version a is greater than b, number by number. What is no number ends the comparison.
func newer(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	for a != "" || b != "" {
		na, ra, oka := versionPart(a)
		nb, rb, okb := versionPart(b)
		if !oka || !okb {
			return oka && !okb && b == "" && na > 0
		}
		if na != nb {
			return na > nb
		}
		a, b = ra, rb
	}
	return false
}

// versionPart cuts the first number off a version. A missing part counts as nothing.
func versionPart(s string) (n uint64, rest string, ok bool) {
	s = strings.TrimLeft(s, "vV. ")
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i < 18 {
		n = n*10 + uint64(s[i]-'0')
		i++
	}
	return n, s[i:], i > 0
}
