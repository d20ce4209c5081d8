package readings

// Home Assistant's statestream: BASE/DOMAIN/OBJECT/ATTRIBUTE, mirrored by Home Assistant itself. The shape is common,
// so it counts only where at least two objects of the base have a state, the topic's own has one, no config names the
// topic and nobody speaks for its base.

func statestream() convention {
	const birth = defaultPrefix + "/status"
	words := wordRule("online", "offline")
	shape := func(topic string) (base, object, attribute string, ok bool) {
		object, attribute = lastLevel(topic)
		domain, _ := lastLevel(object)
		base, name := lastLevel(domain)
		return base, object, attribute, base != "" && attribute != "" && isDomain(name)
	}
	return convention{
		name: "statestream",
		signs: func(t topicName, _ []byte, _ bool, say func(sign)) {
			base, _, attribute, ok := shape(t.full)
			if !ok {
				return
			}
			say(sign{live: birth})
			if attribute == "state" {
				say(sign{area: base, mark: "state"})
			}
		},
		place: func(*area, string, string) (place, bool) { return place{}, false },
		stray: func(r *Reader, topic string) (claim, bool) {
			base, object, attribute, ok := shape(topic)
			if !ok || r.markedBy("statestream", base, "state") < 2 {
				return claim{}, false
			}
			if n := r.lookup(object + "/state"); n == 0 || r.nodes[n].held == 0 {
				return claim{}, false
			}
			if n := r.lookup(topic); n != 0 && r.namedByConfig(n) {
				return claim{}, false
			}
			for at := r.lookup(base); at != 0; at = r.nodes[at].parent {
				if r.nodes[at].voices != 0 {
					return claim{}, false
				}
			}
			c := claim{owner: "Home Assistant", rule: ruleShape, place: place{role: RoleState}}
			if attribute != "state" {
				c.place.role = RoleAttribute
			}
			if c.live = r.lookup(birth); c.live != 0 {
				c.state = r.sayPlain(c.live, words)
			}
			return c, true
		},
	}
}

// isDomain reports whether Home Assistant has entities of that domain.
func isDomain(s string) bool {
	switch s {
	case "automation", "calendar", "counter", "group", "input_boolean", "input_button", "input_datetime", "input_number",
		"input_select", "input_text", "media_player", "person", "remote", "schedule", "script", "sun", "timer", "todo",
		"weather", "zone":
		return true
	default:
		return isPlatform(s) && !stateless(s)
	}
}
