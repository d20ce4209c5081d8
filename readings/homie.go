package readings

// Homie 3, 4 and 5: DEVICE/$state is the will topic, and everything else of a device lies below it.
// A device names its nodes: $nodes in 3 and 4, $description in 5. In 5 the children follow the root's state.

import "strings"

func homie() convention {
	states := wordRule(several("ready", "alert", "sleeping"), several("lost", "disconnected"))
	return convention{
		name:  "Homie",
		whole: func(t topicName) bool { return t.leaf == "$description" || t.leaf == "$nodes" },
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			if t.leaf == "" || t.leaf[0] != '$' || t.above == "" || cut {
				return
			}
			switch t.leaf {
			case "$state":
				switch string(payload) {
				case "init", "ready", "alert", "sleeping", "lost", "disconnected":
					say(sign{area: t.above, live: t.full, rule: states})
				}
			case "$nodes":
				say(sign{area: t.above, names: homieNodes(string(payload)), list: true})
			case "$homie":
				root, _ := lastLevel(t.above)
				if root != "" {
					say(sign{area: root, mark: "root"})
				}
			case "$description":
				homieDescription(t, payload, say)
			default:
				if d := homieDevice(t.full); d != "" {
					say(sign{area: d, mark: "attribute"})
				}
			}
		},
		place: func(a *area, topic, rest string) (place, bool) {
			speaks := false
			a.each(func(s *said) bool { speaks = s.live != 0; return !speaks })
			if !speaks {
				return place{}, false // a description without a state
			}
			p := place{role: RoleState}
			head, _, _ := strings.Cut(rest, "/")
			switch _, leaf := lastLevel(topic); {
			case rest == "$state":
				p.role = RoleLiveness
			case leaf == "set":
				p.role = RoleCommand
			case strings.Contains(topic, "/$"):
				p.role = RoleAttribute
			}
			if head != "" && head[0] != '$' {
				p.device, p.named = head, homieNamed(a, head)
			}
			return p, true
		},
		stray: homieHalf,
	}
}

// homieNodes returns the names in $nodes. An array of Homie 3, "lights[]", stays as it is.
func homieNodes(list string) []string {
	var names []string
	for n := range strings.SplitSeq(list, ",") {
		names = append(names, strings.TrimSpace(n))
	}
	return names
}

// homieNamed reports whether a device names a node. An array names itself and its elements, "lights_0" and so on.
//
// Source: Homie 3.0, Node Attributes, Arrays.
func homieNamed(a *area, node string) answer {
	said := a.named(node)
	if said != no {
		return said
	}
	if a.named(node+"[]") == yes {
		return yes
	}
	if base := strings.TrimRight(node, "0123456789"); base != node && strings.HasSuffix(base, "_") && a.named(strings.TrimSuffix(base, "_")+"[]") == yes {
		return yes
	}
	return no
}

// homieDescription reads the description of a Homie 5 device.
func homieDescription(t topicName, payload []byte, say func(sign)) {
	s := sign{area: t.above, list: true}
	version, root := "", ""
	if !members(payload, func(k, v []byte) bool {
		switch string(k) {
		case "homie":
			version, _ = text(v)
		case "root":
			root, _ = text(v)
		case "nodes":
			members(v, func(n, _ []byte) bool { s.names = append(s.names, string(n)); return true })
		}
		return true
	}) || version == "" {
		return
	}
	above, device := lastLevel(t.above)
	if root != "" && root != device && above != "" {
		// The root's state counts for its children too.
		s.live = above + "/" + root + "/$state"
		s.rule, s.root = wordRule("", several("lost", "disconnected")), true
	}
	say(s)
	if base, ok := strings.CutSuffix(above, "/5"); ok && base != "" {
		say(sign{area: base, mark: "root"})
	}
}

// homieHalf claims what lies under a Homie root without a device that describes itself.
func homieHalf(r *Reader, topic string) (claim, bool) {
	rest := ""
	for at, levels := 0, 0; levels < maxNameLevels; levels++ {
		next := strings.IndexByte(topic[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
		if root := topic[:at-1]; root == "homie" || r.markedBy("Homie", root, "root") > 0 {
			rest = topic[at:]
		}
	}
	if rest == "" {
		return claim{}, false
	}
	rest = strings.TrimPrefix(rest, "5/")
	device, below, ok := strings.Cut(rest, "/")
	if !ok || device == "" || device[0] == '$' || below == "" {
		return claim{}, false
	}
	owner := topic[:len(topic)-len(below)-1]
	if r.markedBy("Homie", owner, "attribute") == 0 {
		return claim{}, false // nothing here looks like a Homie device
	}
	p := place{role: RoleState, orphan: r.sees(owner + "/$state")}
	switch _, leaf := lastLevel(topic); {
	case leaf == "set":
		p.role = RoleCommand
	case strings.Contains(topic, "/$"):
		p.role = RoleAttribute
	}
	return claim{owner: owner, rule: ruleShape, place: p}, true
}

// homieDevice returns ROOT/DEVICE, or ROOT/5/DEVICE, of an attribute further down; empty for one that is not.
func homieDevice(topic string) string {
	levels := 2
	if _, rest, ok := strings.Cut(topic, "/"); ok && strings.HasPrefix(rest, "5/") {
		levels = 3
	}
	for at := range len(topic) {
		if topic[at] == '/' {
			if levels--; levels == 0 {
				return topic[:at]
			}
		}
	}
	return ""
}
