package readings

// zigbee2mqtt: BASE/bridge/state says whether the bridge lives, BASE/bridge/devices and groups name everything it has.
// A friendly name may hold slashes, so a topic belongs to the longest name that it begins with.

import "strings"

func zigbee2mqtt() convention {
	state := rule{form: formFieldOrPlain, field: "state", on: "online", off: "offline"}
	return convention{
		name: "zigbee2mqtt", identifier: "zigbee2mqtt_",
		whole: func(t topicName) bool {
			return strings.HasSuffix(t.above, "/bridge") && (t.leaf == "devices" || t.leaf == "groups")
		},
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			base, ok := strings.CutSuffix(t.above, "/bridge")
			if !ok || base == "" {
				return
			}
			switch t.leaf {
			case "state":
				if state.read(keep(payload, []string{"state"})) != Unknown {
					say(sign{area: base, live: t.full, rule: state})
				}
			case "devices", "groups":
				if names, ok := friendlyNames(payload); ok && !cut {
					say(sign{area: base, names: names, list: t.leaf == "devices"})
					if t.leaf == "groups" {
						say(sign{area: base, mark: "groups"})
					}
				}
			}
		},
		place: func(a *area, _, rest string) (place, bool) {
			if rest == "" {
				return place{}, true
			}
			if rest == "bridge" || strings.HasPrefix(rest, "bridge/") {
				p := place{role: RoleAttribute}
				switch {
				case rest == "bridge/state":
					p.role = RoleLiveness
				case strings.HasPrefix(rest, "bridge/request/"):
					p.role = RoleCommand
				}
				return p, true
			}
			p := place{}
			p.device, p.named = longestName(a, rest)
			tail := ""
			if p.device != rest {
				tail = rest[len(p.device)+1:]
			}
			// A group is a name too: without them the devices are not all that it has.
			p.unsure = a.marked("groups") == 0
			switch head, more, _ := strings.Cut(tail, "/"); {
			case head == "":
				p.role = RoleState
			case head == "availability":
				p.role = RoleAvailability
			case zigbeeCommand(head), zigbeeCommand(firstLevel(more)): // of one endpoint
				p.role = RoleCommand
			default:
				p.role = RoleAttribute
			}
			p.live, p.rule = a.name+"/"+p.device+"/availability", &state
			return p, true
		},
		stray: func(r *Reader, topic string) (claim, bool) {
			// Commands of a bridge that says nothing of itself, under the name that it has by default.
			above, leaf := lastLevel(topic)
			rest, ok := strings.CutPrefix(above, "zigbee2mqtt/")
			if !ok || !strings.HasPrefix(rest, "bridge/request") && !zigbeeCommand(leaf) {
				return claim{}, false
			}
			if at := r.lookup(topic); at != 0 && r.namedByConfig(at) {
				return claim{}, false
			}
			return claim{owner: above, rule: ruleShape, place: place{role: RoleCommand}}, true
		},
	}
}

// zigbeeCommand reports whether a level below a device, or below its endpoint, is where commands go.
//
// Source: zigbee2mqtt, MQTT topics and messages, zigbee2mqtt/FRIENDLY_NAME/[ENDPOINT/]set.
func zigbeeCommand(level string) bool { return level == "set" || level == "get" }

// friendlyNames returns the friendly names of a list of devices or groups.
func friendlyNames(payload []byte) (names []string, ok bool) {
	ok = elements(payload, func(e []byte) bool {
		if n, has := memberText(e, "friendly_name"); has {
			names = append(names, n)
		}
		return true
	})
	return names, ok
}

// maxNameLevels is how many levels of a topic are tried as a name.
const maxNameLevels = 16

// longestName returns the longest name of the list that rest begins with; without one, what the name would be.
func longestName(a *area, rest string) (string, answer) {
	longest, list := 0, notKnown
	for at, levels := 0, 0; at < len(rest) && levels < maxNameLevels; levels++ {
		if next := strings.IndexByte(rest[at:], '/'); next >= 0 {
			at += next
		} else {
			at = len(rest)
		}
		switch n := a.named(rest[:at]); n {
		case yes:
			longest = at
		default:
			list = n
		}
		at++
	}
	if longest > 0 {
		return rest[:longest], yes
	}
	name := rest
	for _, tail := range [...]string{"/availability", "/set", "/get"} {
		if i := strings.Index(name, tail); i > 0 && (i+len(tail) == len(name) || name[i+len(tail)] == '/') {
			name = name[:i]
		}
	}
	return name, list
}
