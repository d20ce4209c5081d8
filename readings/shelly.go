package readings

// Shelly: shellies/ID/online in the first generation, PREFIX/online with PREFIX/status/... in the later ones.

import "strings"

func shelly() convention {
	words := wordRule("true", "false")
	return convention{
		name: "Shelly",
		signs: func(t topicName, payload []byte, _ bool, say func(sign)) {
			if t.leaf == "online" && t.above != "" {
				if w := string(payload); w == "true" || w == "false" {
					say(sign{area: t.above, live: t.full, rule: words})
				}
				return
			}
			if prefix, ok := strings.CutSuffix(t.above, "/status"); ok && prefix != "" && shellyComponent(t.leaf) {
				say(sign{area: prefix, mark: "status"})
			}
		},
		place: func(a *area, _, rest string) (place, bool) {
			_, id := lastLevel(a.name)
			first := strings.HasPrefix(a.name, "shellies/")
			if !first && !strings.HasPrefix(id, "shelly") && a.marked("status") == 0 {
				return place{}, false
			}
			p := place{role: leafRole(rest)}
			head, _, _ := strings.Cut(rest, "/")
			if !first {
				switch head {
				case "online", "status", "events", "rpc", "command", "debug", "":
				default:
					return place{}, false // others may publish below the same prefix
				}
			}
			switch {
			case rest == "online":
				p.role = RoleLiveness
			case !first && (head == "rpc" || head == "command"):
				p.role = RoleCommand
			case p.role == RoleOther:
				p.role = RoleState
			}
			return p, true
		},
		stray: func(_ *Reader, topic string) (claim, bool) {
			// Commands of the first generation, also the one that all devices hear.
			rest, ok := strings.CutPrefix(topic, "shellies/")
			if _, leaf := lastLevel(topic); !ok || !commandLeaf(leaf) {
				return claim{}, false
			}
			id, _, one := strings.Cut(rest, "/")
			if !one {
				id = "every Shelly"
			}
			return claim{owner: id, rule: ruleShape, place: place{role: RoleCommand}}, true
		},
	}
}

// shellyComponent reports whether a level is the name of a component, such as "switch:0" or "sys".
func shellyComponent(s string) bool {
	name, number, numbered := strings.Cut(s, ":")
	if name == "" || numbered && (number == "" || strings.Trim(number, "0123456789") != "") {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && (numbered || name == "sys" || name == "wifi" || name == "mqtt" || name == "cloud" || name == "ble")
}
