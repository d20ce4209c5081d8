package readings

// Reading a payload once: either a discovery config, or what the conventions hear in it. Nothing is taken back and said
// anew when the meaning is the same, so a heartbeat whose uptime moves touches nobody.

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
)

// listen reads the payload of a topic that came or whose bytes changed.
func (r *Reader) listen(h *held, payload []byte, cut, came bool) {
	topic := r.name(h.node)
	d := &r.scratch.discovery
	if discoveryTopic(topic, d) {
		d.parse(payload, cut, r.seed)
		r.dropConfig(h)
		r.silence(h)
		h.meaning = 1
		r.keepConfig(h, d)
		r.bindAlways(h, topic)
		return
	}
	signs := r.scratch.signs[:0]
	name := nameOf(topic)
	for i := range r.convs {
		r.convs[i].signs(name, payload, cut, func(s sign) { signs = append(signs, heardSign{conv: uint8(i), sign: s}) })
	}
	r.scratch.signs = signs
	meaning := r.meaning(signs)
	if meaning == h.meaning && !came {
		return
	}
	r.silence(h)
	h.meaning = meaning
	for i := range signs {
		r.speak(h, signs[i].conv, signs[i].sign)
		signs[i] = heardSign{}
	}
	r.bindAlways(h, topic)
}

// bindAlways adds the references that a topic has for its name alone.
func (r *Reader) bindAlways(h *held, topic string) {
	if look, ok := skeleton(topic); ok {
		to := r.ensure(keyName('l', look))
		r.bind(h, to, refLook, 0, 0)
		r.looks++
		r.peers(to)
		// The plain topic that it looks like has to be read again too.
		if twin := r.lookup(look); twin != 0 {
			r.touch(twin)
		}
	}
	if live := r.rulesOf.liveness(topic); live != "" {
		r.bind(h, r.ensure(live), refLiveness, 0, 0)
	}
}

// meaning sums up what was heard; 0 for nothing.
func (r *Reader) meaning(signs []heardSign) uint64 {
	if len(signs) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	var n [4]byte
	put := func(s string) {
		binary.LittleEndian.PutUint32(n[:], uint32(len(s)))
		h.Write(n[:])
		h.WriteString(s)
	}
	flag := func(b bool) byte {
		if b {
			return 1
		}
		return 0
	}
	for i := range signs {
		s := &signs[i].sign
		h.Write([]byte{signs[i].conv, byte(s.role), flag(s.list), flag(s.guess), flag(s.root), byte(s.rule.form)})
		for _, t := range [...]string{s.area, s.name, s.live, s.key, s.version, s.mark, s.scope, s.rule.field, s.rule.yes, s.rule.no, s.rule.on, s.rule.off} {
			put(t)
		}
		binary.LittleEndian.PutUint32(n[:], uint32(len(s.names)))
		h.Write(n[:])
		for _, t := range s.names {
			put(t)
		}
	}
	return h.Sum64() | 1
}

// keepConfig keeps a discovery config and ties it to what it names.
func (r *Reader) keepConfig(h *held, d *discovery) {
	var i uint32
	if n := len(r.freeConf); n > 0 {
		i = r.freeConf[n-1]
		r.freeConf = r.freeConf[:n-1]
	} else {
		r.configs = append(r.configs, config{})
		i = uint32(len(r.configs) - 1)
	}
	h.config = i
	if d.illegal {
		d.components = 0 // Home Assistant reads none of it
	}
	o := origin{name: d.origin, version: d.version, prefix: d.prefix}
	o.convention, o.identifier = r.identified(d.ids)
	c := &r.configs[i]
	*c = config{
		node: h.node, origin: r.origins.take(o), components: clamp32(d.components), eventOnly: clamp32(d.eventOnly),
		expireAfter: clamp32(int(max(0, min(d.expireAfter, 1<<31)))), shape: d.shape, label: d.deviceName,
	}
	whole := !d.cut && !d.invalid && !d.marker
	meant := d.prefix == defaultPrefix || whole && (len(d.topics) > 0 || len(d.uids) > 0 || len(d.ids) > 0)
	for flag, set := range map[configFlags]bool{
		cfgDevice: d.device, cfgMarker: d.marker, cfgInvalid: d.invalid, cfgIllegal: d.illegal, cfgCut: d.cut,
		cfgVia: d.via != "", cfgTrusted: meant, cfgMeasures: d.components > 0 && d.sensors == d.components,
	} {
		if set {
			c.flags |= flag
		}
	}
	if d.cut {
		r.hidden(1)
	}
	r.count.Configs++
	r.count.Components += d.components
	if len(d.sets) > 0 {
		c.modes = make([]mode, len(d.sets))
		for k, s := range d.sets {
			c.modes[k] = s.mode
		}
	}
	if d.prefix != defaultPrefix && meant {
		r.addMark(h, r.convs[0].name, d.prefix, prefixMark)
	}
	for k := range d.topics {
		t := &d.topics[k]
		if t.topic == "" || t.topic[0] == 0 {
			continue
		}
		rule := uint32(0)
		if t.kind == refAvailability {
			rule = r.rules.take(t.rule)
			c.family += r.familyOf(d.topics[:k], t)
		}
		r.bind(h, r.ensure(t.topic), t.kind, uint16(t.set), rule)
	}
	for _, u := range d.uids {
		r.bindKey(h, r.hashKey('u', u.platform, u.id), refID)
	}
	for _, id := range d.ids {
		r.bindKey(h, r.hashKey('d', id), refDevice)
	}
	for k := range r.convs {
		if hint := r.convs[k].hint; hint != nil && whole {
			if area, ok := hint(d); ok {
				r.addMark(h, r.convs[k].name, area, hintMark)
			}
		}
	}
	r.deep(h.node)
}

const prefixMark = "prefix"

// familyOf returns what one availability topic adds to the family of its config: nothing when it was there already.
func (r *Reader) familyOf(before []namedTopic, t *namedTopic) uint64 {
	if len(before) > maxAsked {
		before = before[:maxAsked]
	}
	for i := range before {
		if before[i].kind == refAvailability && before[i].topic == t.topic {
			return 0
		}
	}
	return maphash.String(r.seed, t.topic) | 1
}

func (r *Reader) bindKey(h *held, name string, kind refKind) {
	to := r.ensure(name)
	r.bind(h, to, kind, 0, 0)
	r.peers(to)
}

// hashKey is the name of a key that is only compared, never shown: nine bytes instead of what may be hundreds.
func (r *Reader) hashKey(kind byte, parts ...string) string {
	var h maphash.Hash
	h.SetSeed(r.seed)
	for _, p := range parts {
		h.WriteString(p)
		h.WriteByte(0)
	}
	b := binary.BigEndian.AppendUint64([]byte{0, kind}, h.Sum64())
	return string(b)
}

func (r *Reader) dropConfig(h *held) {
	if h.config == 0 {
		return
	}
	c := &r.configs[h.config]
	r.expandDeep(h.node) // while its references still tell who its neighbours are
	if c.flags&cfgCut != 0 {
		r.hidden(-1)
	}
	r.count.Configs--
	r.count.Components -= int(c.components)
	r.origins.drop(c.origin)
	*c = config{}
	r.freeConf = append(r.freeConf, h.config)
	h.config = 0
}

// hidden counts a config that cannot be read. The first and the last one change what the others prove.
func (r *Reader) hidden(by int) {
	r.unread += by
	if r.unread == 0 || r.unread == by {
		r.touchAll()
	}
}

// identified returns the convention that one of the identifiers betrays, and the owner's name in it.
func (r *Reader) identified(ids []string) (convention, owner string) {
	for _, id := range ids {
		for i := range r.convs {
			p := r.convs[i].identifier
			if p == "" || !strings.HasPrefix(id, p) {
				continue
			}
			name, _, _ := strings.Cut(id[len(p):], "_")
			return r.convs[i].name, strings.Trim(name, "_")
		}
	}
	return "", ""
}
