package readings

// One component of a discovery config: abbreviations, then "~", then the topics it names.
// The rules are Home Assistant's; nothing is kept here.

import (
	"hash/maphash"
	"strconv"
)

// scope is what one object of a config says, its keys long and its "~" not yet put in.
type scope struct {
	base      string
	topics    []namedTopic
	list      []listed // availability as a list
	single    string   // availability_topic
	template  string
	on, off   string
	mode      mode
	set       int // of the component's availability, -1 for none
	uid       string
	shaped    [3]string // value template, class, unit
	stateLeaf string
	expire    int64
}

type listed struct {
	topic, template, on, off string
}

// take reads one member whose key is long already.
func (s *scope) take(key string, v []byte) {
	switch key {
	case "~":
		s.base, _ = text(v)
	case "availability":
		s.list = s.list[:0]
		if v[0] == '{' {
			s.takeListed(v)
			return
		}
		elements(v, func(e []byte) bool { s.takeListed(e); return true })
	case "availability_topic":
		s.single, _ = text(v)
	case "availability_template":
		s.template, _ = text(v)
	case "payload_available":
		s.on = scalarText(v)
	case "payload_not_available":
		s.off = scalarText(v)
	case "availability_mode":
		s.mode = modeLatest
		switch m, _ := text(v); m {
		case "all":
			s.mode = modeAll
		case "any":
			s.mode = modeAny
		}
	case "unique_id":
		s.uid, _ = text(v)
	case "value_template":
		s.shaped[0], _ = text(v)
	case "device_class":
		s.shaped[1], _ = text(v)
	case "unit_of_measurement":
		s.shaped[2], _ = text(v)
	case "expire_after":
		s.expire, _ = strconv.ParseInt(scalarText(v), 10, 64)
	default:
		kind := topicKind(key)
		if kind == 0 {
			return
		}
		if t, ok := text(v); ok && t != "" {
			s.topics = append(s.topics, namedTopic{topic: t, kind: kind})
			if key == "state_topic" {
				_, s.stateLeaf = lastLevel(t)
			}
		}
	}
}

func (s *scope) takeListed(v []byte) {
	var l listed
	members(v, func(k, v []byte) bool {
		switch string(k) {
		case "topic", "t":
			l.topic, _ = text(v)
		case "payload_available", "pl_avail":
			l.on = scalarText(v)
		case "payload_not_available", "pl_not_avail":
			l.off = scalarText(v)
		case "value_template", "val_tpl":
			l.template, _ = text(v)
		}
		return true
	})
	if l.topic != "" {
		s.list = append(s.list, l)
	}
}

// scalarText returns a string, or a number or word as it is written.
func scalarText(v []byte) string {
	if s, ok := text(v); ok {
		return s
	}
	if len(v) > 0 && v[0] != '{' && v[0] != '[' {
		return string(v)
	}
	return ""
}

// topicKind says how a key names a topic; 0 for a key that names none. Availability has its own way.
func topicKind(key string) refKind {
	const suffix = "_topic"
	if key == "topic" {
		return refReads
	}
	if len(key) <= len(suffix) || key[len(key)-len(suffix):] != suffix {
		return 0
	}
	if len(key) > 4 && key[:4] == "set_" {
		return refWrites
	}
	for i := 0; i+len("command") <= len(key); i++ {
		if key[i:i+len("command")] == "command" {
			return refWrites
		}
	}
	return refReads
}

// component adds one component. In the device form the root's availability counts where it has none of its own.
func (d *discovery) component(raw []byte, platform string, root *scope, seed maphash.Seed) {
	s := &scope{set: -1}
	members(raw, func(k, v []byte) bool {
		s.take(longKey(k), v)
		return true
	})
	d.components++
	d.addTopics(s, s.base)
	switch {
	case stateless(platform):
		d.eventOnly++
	case platform == "sensor":
		d.sensors++
	}
	if s.expire > d.expireAfter {
		d.expireAfter = s.expire
	}
	if s.uid != "" {
		d.uids = append(d.uids, uid{platform: platform, id: s.uid})
	}
	if root == nil {
		var h maphash.Hash
		h.SetSeed(seed)
		for _, p := range [...]string{platform, s.shaped[0], s.shaped[1], s.shaped[2], s.stateLeaf} {
			h.WriteString(p)
			h.WriteByte(0)
		}
		d.shape = h.Sum64()
	}
}

// addTopics adds what a scope names, with "~" put in at the start and at the end of each.
func (d *discovery) addTopics(s *scope, base string) {
	for _, t := range s.topics {
		t.topic = withBase(t.topic, base)
		d.topics = append(d.topics, t)
	}
	if len(s.list) == 0 && s.single == "" {
		return
	}
	// Some programs repeat the same set in each component; it is kept once.
	set := len(d.sets)
	if set >= maxSets {
		return
	}
	d.sets = append(d.sets, availability{mode: s.mode})
	from := len(d.topics)
	if s.single != "" {
		d.addAvailability(set, withBase(s.single, base), parseTemplate(s.template, orDefault(s.on, "online"), orDefault(s.off, "offline")))
	}
	for _, l := range s.list {
		d.addAvailability(set, withBase(l.topic, base), parseTemplate(l.template, orDefault(l.on, "online"), orDefault(l.off, "offline")))
	}
	s.set = set
	if set > 0 && d.sameAsFirst(from, s.mode) {
		d.topics, d.sets = d.topics[:from], d.sets[:set]
		s.set = 0
	}
}

// maxSets is how many different availability sets of one config are read.
const maxSets = 1 << 15

// sameAsFirst reports whether the topics from there on are those of the first set again.
func (d *discovery) sameAsFirst(from int, m mode) bool {
	if d.sets[0].mode != m {
		return false
	}
	i := 0
	for ; i < from && !(d.topics[i].kind == refAvailability && d.topics[i].set == 0); i++ {
	}
	for _, t := range d.topics[from:] {
		if i >= from || d.topics[i].kind != refAvailability || d.topics[i].set != 0 ||
			d.topics[i].topic != t.topic || d.topics[i].rule != t.rule {
			return false
		}
		i++
	}
	return i >= from || d.topics[i].kind != refAvailability || d.topics[i].set != 0
}

func (d *discovery) addAvailability(set int, topic string, r rule) {
	d.topics = append(d.topics, namedTopic{topic: topic, kind: refAvailability, set: set, rule: r})
}

func orDefault(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// withBase puts the base in for a "~" at the start or at the end of a topic. In a topic that has both, the one at the
// start stays as it is: Home Assistant makes both replacements from the original.
//
// Source: Home Assistant, components/mqtt/discovery.py, _replace_topic_base.
func withBase(topic, base string) string {
	if base == "" || topic == "" {
		return topic
	}
	if end := len(topic) - 1; topic[end] == '~' {
		return topic[:end] + base
	}
	if topic[0] == '~' {
		return base + topic[1:]
	}
	return topic
}
