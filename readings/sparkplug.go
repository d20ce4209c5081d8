package readings

// Sparkplug B: the only retained message it knows is the state of a host application. Everything else that is found
// retained under its namespace is a birth, a death, data or a command that is replayed to whoever subscribes.

import "strings"

func sparkplug() convention {
	state3 := rule{form: formField, field: "online", on: "True", off: "False"}
	state2 := wordRule("ONLINE", "OFFLINE")
	return convention{
		name: "Sparkplug B",
		signs: func(t topicName, payload []byte, _ bool, say func(sign)) {
			switch t.above {
			case "spBv1.0/STATE":
				say(sign{area: t.full, name: t.leaf, live: t.full, rule: state3})
			case "STATE":
				if w := string(payload); w == "ONLINE" || w == "OFFLINE" {
					say(sign{area: t.full, name: t.leaf, live: t.full, rule: state2})
				}
			}
		},
		place: func(_ *area, _, rest string) (place, bool) { return place{role: RoleLiveness}, rest == "" },
		stray: func(_ *Reader, topic string) (claim, bool) {
			levels := strings.SplitN(topic, "/", 6)
			if len(levels) < 4 || levels[0] != "spBv1.0" {
				return claim{}, false
			}
			c := claim{owner: levels[1] + "/" + levels[3], rule: ruleShape}
			switch levels[2] {
			case "NBIRTH", "NDEATH", "NDATA", "DBIRTH", "DDEATH", "DDATA":
				c.place.role, c.place.hazard = RoleOther, Sparkplug
			case "NCMD", "DCMD":
				c.place.role, c.place.hazard = RoleCommand, Sparkplug
			default:
				return claim{}, false
			}
			if len(levels) > 4 {
				c.place.device = levels[4]
			}
			return c, true
		},
	}
}
