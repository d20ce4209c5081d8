package readings

// Home Assistant: discovery configs in the single and in the device form, and its own birth topic.
// What is read here is what Home Assistant would read; what it means for somebody's liveness is config.go.

import (
	"hash/maphash"
	"strings"
)

const defaultPrefix = "homeassistant"

func homeAssistant() convention {
	return convention{
		name:  "Home Assistant",
		whole: func(t topicName) bool { return discoveryTopic(t.full, &discovery{}) },
		signs: func(t topicName, _ []byte, _ bool, say func(sign)) {
			if t.leaf == "status" && t.above == defaultPrefix {
				say(sign{area: t.full, name: "Home Assistant", role: RoleLiveness, live: t.full, rule: wordRule("online", "offline")})
			}
		},
		place: func(_ *area, _, rest string) (place, bool) { return place{role: RoleLiveness}, rest == "" },
	}
}

// discovery is one config topic as Home Assistant would read it. The slices are used again for the next one.
type discovery struct {
	prefix, platform  string // platform is "device" in the device form
	object            string // the node and object of the topic, for want of a better name
	illegal           bool   // the topic has characters that Home Assistant refuses
	cut               bool   // the payload is not whole: nothing can be said of it
	invalid           bool   // not JSON, or not an object
	marker            bool   // {"migrate_discovery": true} and no config
	device            bool   // the device form
	components        int
	eventOnly         int // components that have no state to retain
	sensors           int // components that measure
	origin, version   string
	url               string
	maker, deviceName string
	deviceVersion     string
	via               string
	ids               []string
	topics            []namedTopic
	sets              []availability
	uids              []uid
	expireAfter       int64 // seconds, the largest of its components
	shape             uint64
}

type namedTopic struct {
	topic string
	kind  refKind
	set   int // of sets, for availability
	rule  rule
}

type uid struct{ platform, id string }

type availability struct{ mode mode }

// mode is how several availability topics count together.
type mode uint8

const (
	modeLatest mode = iota
	modeAll
	modeAny
)

// discoveryTopic cuts a config topic into its parts; false when it is none. Any prefix of levels is taken, so that
// another discovery prefix is found by itself; prefixes that are not the default count only when their payload looks
// like a config.
//
// Source: Home Assistant's discovery topic: PREFIX/PLATFORM/[NODE/]OBJECT/config.
func discoveryTopic(topic string, d *discovery) bool {
	above, leaf := lastLevel(topic)
	if leaf != "config" {
		return false
	}
	rest, object := lastLevel(above)
	for range 2 {
		prefix, level := lastLevel(rest)
		if prefix == "" {
			return false
		}
		if level == "device" || isPlatform(level) {
			d.prefix, d.platform, d.object = prefix, level, object
			d.illegal = !legalLevels(above[len(rest)+1:])
			d.device = level == "device"
			return true
		}
		object = above[len(prefix)+1:]
		rest = prefix
	}
	return false
}

// legalLevels reports whether node and object hold only what Home Assistant's pattern takes.
func legalLevels(s string) bool {
	for _, level := range strings.Split(s, "/") {
		if level == "" {
			return false
		}
		for i := range len(level) {
			c := level[i]
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
				return false
			}
		}
	}
	return true
}

// isPlatform reports whether Home Assistant reads configs of that platform.
func isPlatform(s string) bool {
	switch s {
	case "alarm_control_panel", "binary_sensor", "button", "camera", "climate", "cover", "device_automation",
		"device_tracker", "event", "fan", "humidifier", "image", "lawn_mower", "light", "lock", "notify", "number",
		"scene", "select", "sensor", "siren", "switch", "tag", "text", "update", "vacuum", "valve", "water_heater",
		"date", "datetime", "time":
		return true
	default:
		return false
	}
}

// stateless reports whether a platform speaks only in events, so that nothing of it is ever retained.
func stateless(platform string) bool {
	switch platform {
	case "button", "device_automation", "event", "notify", "scene", "tag":
		return true
	default:
		return false
	}
}

// parse fills d from the payload of a config topic. discoveryTopic has been called.
func (d *discovery) parse(payload []byte, cut bool, seed maphash.Seed) {
	*d = discovery{
		prefix: d.prefix, platform: d.platform, object: d.object, illegal: d.illegal, device: d.device,
		topics: d.topics[:0], sets: d.sets[:0], uids: d.uids[:0], ids: d.ids[:0],
	}
	if d.cut = cut; cut {
		return
	}
	if d.invalid = !validJSON(payload) || payload[space(payload, 0)] != '{'; d.invalid {
		return
	}
	var parts [][]byte // raw components
	migrate, known := false, false
	members(payload, func(k, v []byte) bool {
		switch longKey(k) {
		case "migrate_discovery":
			migrate = string(v) == "true"
		case "device":
			d.readDevice(v)
			known = true
		case "origin":
			d.readOrigin(v)
		case "components":
			if d.device {
				members(v, func(_, c []byte) bool { parts = append(parts, c); return true })
			}
			known = true
		default:
			known = true
		}
		return true
	})
	if migrate && !known {
		d.marker = true
		return
	}
	if d.device {
		d.deviceForm(payload, parts, seed)
	} else {
		d.component(payload, d.platform, nil, seed)
	}
	d.bound()
}

// maxNamed is how much a config may name: levels of topics, unique ids and identifiers together. A few megabytes of the
// shortest names would take hundreds here.
const maxNamed = 1 << 18

// bound takes a config that names too much for one that is not whole.
func (d *discovery) bound() {
	n := len(d.uids) + len(d.ids)
	for i := range d.topics {
		if n += 1 + min(strings.Count(d.topics[i].topic, "/"), maxDepth); n > maxNamed {
			break
		}
	}
	if n > maxNamed {
		*d = discovery{
			prefix: d.prefix, platform: d.platform, object: d.object, illegal: d.illegal, device: d.device, cut: true,
			topics: d.topics[:0], sets: d.sets[:0], uids: d.uids[:0], ids: d.ids[:0],
		}
	}
}

// deviceForm reads the components of a device config. Of the root's keys only a few are inherited.
func (d *discovery) deviceForm(payload []byte, parts [][]byte, seed maphash.Seed) {
	root := &scope{set: -1}
	members(payload, func(k, v []byte) bool {
		switch key := longKey(k); key {
		case "availability", "availability_mode", "availability_template", "availability_topic", "command_topic",
			"payload_available", "payload_not_available", "state_topic":
			root.take(key, v)
		}
		return true
	})
	d.addTopics(root, "")
	for _, c := range parts {
		platform, removed := "", true
		members(c, func(k, v []byte) bool {
			if longKey(k) == "platform" {
				platform, _ = text(v)
			} else {
				removed = false
			}
			return true
		})
		if !removed {
			d.component(c, platform, root, seed)
		}
	}
}

func (d *discovery) readDevice(v []byte) {
	members(v, func(k, v []byte) bool {
		switch string(k) {
		case "identifiers", "ids":
			if s, ok := text(v); ok {
				d.ids = append(d.ids, s)
			} else {
				elements(v, func(e []byte) bool {
					if s, ok := text(e); ok {
						d.ids = append(d.ids, s)
					}
					return true
				})
			}
		case "name":
			d.deviceName, _ = text(v)
		case "manufacturer", "mf":
			d.maker, _ = text(v)
		case "sw_version", "sw":
			d.deviceVersion, _ = text(v)
		case "via_device":
			d.via, _ = text(v)
		}
		return true
	})
}

func (d *discovery) readOrigin(v []byte) {
	members(v, func(k, v []byte) bool {
		switch string(k) {
		case "name":
			d.origin, _ = text(v)
		case "sw_version", "sw":
			d.version, _ = text(v)
		case "support_url", "url":
			d.url, _ = text(v)
		}
		return true
	})
}
