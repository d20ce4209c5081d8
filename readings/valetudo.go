package readings

// Valetudo: PREFIX/ROBOT/$state and $nodes like Homie's, with discovery configs that say so.

import "strings"

func valetudo() convention {
	states := wordRule(several("ready", "init", "alert", "sleeping"), several("lost", "disconnected"))
	return convention{
		name: "Valetudo",
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			if t.above == "" {
				return
			}
			if t.leaf == "$nodes" && !cut {
				say(sign{area: t.above, names: homieNodes(string(payload)), list: true})
			}
			if t.leaf != "$state" {
				return
			}
			switch string(payload) {
			case "init", "ready", "alert", "sleeping", "lost", "disconnected":
				say(sign{area: t.above, live: t.full, rule: states})
			}
		},
		hint: func(d *discovery) (string, bool) {
			if d.origin != "Valetudo" && d.maker != "Valetudo" {
				return "", false
			}
			return areaOf(d, "$state")
		},
		place: func(a *area, topic, rest string) (place, bool) {
			if firstLevel(a.name) != "valetudo" && !a.hinted() {
				return place{}, false
			}
			p := place{role: RoleState}
			_, leaf := lastLevel(topic)
			switch {
			case rest == "$state":
				p.role = RoleLiveness
			case leaf == "set":
				p.role = RoleCommand
			case strings.Contains(topic, "/$"):
				p.role = RoleAttribute
			}
			// What it keeps for Home Assistant below "hass" is none of its nodes.
			if head, _, _ := strings.Cut(rest, "/"); head != "" && head[0] != '$' && head != "hass" {
				p.device, p.named = head, a.named(head)
			}
			return p, true
		},
	}
}
