package readings

// ESPHome: NODE/status is birth and will, esphome/discover/NODE names the board by its MAC.
// Configs are hints: they say "esphome" in the device's version, have the old unique ids, or the shape of its topics.
//
// Source: ESPHome, components/mqtt/mqtt_component.cpp, send_discovery_.

import "strings"

func esphome() convention {
	words := wordRule("online", "offline")
	return convention{
		name: "ESPHome",
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			switch {
			case t.leaf == "status" && t.above != "":
				if w := string(payload); w == "online" || w == "offline" {
					say(sign{area: t.above, live: t.full, rule: words, guess: true})
				}
			case t.above == "esphome/discover" && t.leaf != "" && !cut:
				s := sign{area: t.leaf, live: t.leaf + "/status", rule: words}
				s.key, _ = memberText(payload, "mac")
				s.version, _ = memberText(payload, "version")
				if s.key == "" && s.version == "" {
					return
				}
				say(s)
				s.area, s.name, s.role = t.full, t.leaf, RoleAnnouncement
				say(s)
			}
		},
		hint: func(d *discovery) (string, bool) {
			ours := strings.HasPrefix(d.deviceVersion, "esphome") || strings.HasPrefix(d.deviceVersion, "ESPHome") ||
				strings.Contains(d.deviceVersion, "(ESPHome ") || strings.Contains(d.deviceVersion, "(config hash 0x")
			for _, u := range d.uids {
				// The old unique ids: ESP, the platform, the object's id.
				ours = ours || strings.HasPrefix(u.id, "ESP"+u.platform)
			}
			node, waits := statusArea(d)
			if waits && !ours && d.origin == "" {
				// It names no program: then the shape of what it reads, beside the node's status.
				for _, t := range d.topics {
					ours = ours || t.kind == refReads && strings.HasSuffix(t.topic, "/state") && strings.HasPrefix(t.topic, node+"/"+d.platform+"/")
				}
			}
			return node, waits && ours
		},
		place: func(a *area, topic, rest string) (place, bool) {
			if a.guess && !a.hinted() {
				return place{}, false
			}
			p := place{role: leafRole(rest)}
			switch {
			case rest == "status":
				p.role = RoleLiveness
			case rest == "" && strings.HasPrefix(topic, "esphome/discover/"):
				p.role = RoleAnnouncement
			case rest != "debug" && !esphomeShape(rest):
				return place{}, false // others may publish below the same prefix
			}
			return p, true
		},
		stray: func(r *Reader, topic string) (claim, bool) {
			// A command of a node that nothing announces, but that says that it is there.
			if !strings.HasSuffix(topic, "/command") {
				return claim{}, false
			}
			node := topic
			for range 5 {
				above, level := lastLevel(node)
				if node = above; node == "" {
					return claim{}, false
				}
				if at := r.lookup(node + "/status"); esphomeComponent(level) && at != 0 && r.sayPlain(at, words) != Unknown {
					return claim{owner: node, rule: ruleShape, live: at, state: r.sayPlain(at, words), place: place{role: RoleCommand}}, true
				}
			}
			return claim{}, false
		},
	}
}

// esphomeShape reports whether a topic below a node is one of COMPONENT/OBJECT/...
//
// Source: ESPHome, MQTT Client Component, topic_prefix.
func esphomeShape(rest string) bool {
	component, object, _ := strings.Cut(rest, "/")
	return object != "" && esphomeComponent(component)
}

func esphomeComponent(level string) bool {
	switch level {
	case "text_sensor", "media_player", "output", "stepper", "servo":
		return true
	default:
		return isPlatform(level)
	}
}
