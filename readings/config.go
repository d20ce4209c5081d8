package readings

// A discovery config as it is kept, and its neighbours. What it says is view.go, what they prove is proof.go.

// config is one discovery topic. Numbers name entries of the reader's pools.
type config struct {
	node        uint32
	flags       configFlags
	origin      uint32 // of Reader.origins
	components  uint32
	eventOnly   uint32
	expireAfter uint32 // seconds
	modes       []mode // of its availability sets
	shape       uint64 // of the component in the single form
	family      uint64 // of its availability topics together, whatever their order; 0 = none
	label       string // the device's name
	view        view
	proof       proof
}

type configFlags uint16

const (
	cfgDevice   configFlags = 1 << iota // the device form
	cfgMarker                           // a migration marker
	cfgInvalid                          // not JSON
	cfgIllegal                          // the topic is not for Home Assistant
	cfgCut                              // the payload is not whole
	cfgTrusted                          // it is a config for certain; others only under a prefix that has some
	cfgVia                              // a gateway speaks for the device
	cfgMeasures                         // all it has are sensors, which speak by the clock
	cfgViewed                           // view is up to date
	cfgProved                           // proof is up to date
)

// origin is who announced a config, as far as it says so.
type origin struct {
	name, version string
	prefix        string // of its discovery topic
	convention    string // betrayed by its identifiers
	identifier    string // the owner's name in an identifier, for want of anything better
}

// adopt takes the owner of another config that announces the same device and says whose it is.
func (r *Reader) adopt(c *config, v *view) bool {
	var from *config
	r.eachPeer(c, func(p *config) {
		if r.origins.get(p.origin).name != "" && (from == nil || r.name(p.node) < r.name(from.node)) {
			from = p
		}
	})
	if from == nil {
		return false
	}
	v.owner = r.viewOf(from).owner
	v.owner.rule, v.owner.by = ruleDevice, from.node
	if v.waits > 0 {
		v.owner.state, v.owner.live = v.state, v.source
	}
	return true
}

// eachPeer calls f for every other config that shares a device with c. Where there are too many of them nobody is
// compared, so that which ones would be does not matter.
func (r *Reader) eachPeer(c *config, f func(*config)) {
	for i := r.heldAt(c.node).own; i != 0; i = r.refs[i].nextOwn {
		x := &r.refs[i]
		if x.kind != refDevice || r.nodes[x.to].nrefs > maxPeers {
			continue
		}
		for k := r.nodes[x.to].refs; k != 0; k = r.refs[k].next {
			if from := r.refs[k].from; from != c.node {
				f(r.configAt(from))
			}
		}
	}
}

// maxPeers is how many configs of one device are compared with each other.
const maxPeers = 256

// deviceKey returns the device of a config, by the first identifier that it gives; 0 where it gives none.
func (r *Reader) deviceKey(c *config) uint32 {
	key := uint32(0)
	for i := r.heldAt(c.node).own; i != 0; i = r.refs[i].nextOwn { // the first is the last of these
		if x := &r.refs[i]; x.kind == refDevice {
			key = x.to
		}
	}
	return key
}

// objectOf returns the name of a discovery topic: node and object.
func (r *Reader) objectOf(c *config) string {
	var d discovery
	discoveryTopic(r.name(c.node), &d)
	return d.object
}
