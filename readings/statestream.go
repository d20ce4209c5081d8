package readings

// Home Assistant's statestream: BASE/DOMAIN/OBJECT/ATTRIBUTE, mirrored by Home Assistant itself. The shape is common,
// so it counts only where no config names the topic and nobody speaks for its base.

func statestream() convention {
	const birth = defaultPrefix + "/status"
	words := wordRule("online", "offline")
	shape := func(topic string) (base string, ok bool) {
		object, attribute := lastLevel(topic)
		domain, _ := lastLevel(object)
		base, name := lastLevel(domain)
		return base, base != "" && attribute != "" && isDomain(name)
	}
	return convention{
		name: "statestream",
		signs: func(t topicName, _ []byte, _ bool, say func(sign)) {
			if _, ok := shape(t.full); ok {
				say(sign{live: birth})
			}
		},
		place: func(*area, string, string) (place, bool) { return place{}, false },
		stray: func(r *Reader, topic string) (claim, bool) {
			base, ok := shape(topic)
			if !ok {
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
			if _, leaf := lastLevel(topic); leaf != "state" {
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
