package readings

// cosalette applications: PREFIX/status is a heartbeat that names every device, or the plain word of the last will.

import "strings"

func cosalette() convention {
	status := rule{form: formFieldOrPlain, field: "status", on: "online", off: "offline"}
	device := wordRule("online", "offline")
	return convention{
		name: "cosalette", identifier: "cosalette_",
		whole: func(t topicName) bool { return t.leaf == "status" },
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			if t.leaf != "status" || t.above == "" || cut {
				return
			}
			if names, ok := heartbeat(payload); ok {
				say(sign{area: t.above, live: t.full, rule: status, names: names, list: true})
			} else if w := string(payload); w == "online" || w == "offline" {
				say(sign{area: t.above, live: t.full, rule: status, guess: true})
			}
		},
		hint: func(d *discovery) (string, bool) {
			ours := false
			for _, id := range d.ids {
				ours = ours || strings.HasPrefix(id, "cosalette_")
			}
			for _, t := range d.topics {
				// The template that reads both the heartbeat and the plain word of the will.
				ours = ours || t.kind == refAvailability && t.rule == status
			}
			if !ours {
				return "", false
			}
			return statusArea(d)
		},
		place: func(a *area, _, rest string) (place, bool) {
			if a.guess && !a.hinted() {
				return place{}, false
			}
			p := place{role: leafRole(rest), stamped: true}
			head, tail, deep := strings.Cut(rest, "/")
			switch {
			case rest == "status":
				p.role = RoleLiveness
			case !deep, head == "schema", strings.HasPrefix(head, "_"), head == "error":
			default:
				p.device, p.named = head, a.named(head)
				p.live, p.rule = a.name+"/"+head+"/availability", &device
				if tail == "error" {
					p.role = RoleAttribute
				}
			}
			return p, true
		},
	}
}

// heartbeat returns the devices that an application's heartbeat names, and false where the payload is none.
func heartbeat(payload []byte) (names []string, ok bool) {
	if i := space(payload, 0); i >= len(payload) || payload[i] != '{' {
		return nil, false
	}
	status, devices, own := false, false, false
	whole := members(payload, func(k, v []byte) bool {
		switch string(k) {
		case "status":
			_, status = text(v)
		case "uptime_s", "version":
			own = true
		case "devices":
			names, devices = names[:0], true
			devices = members(v, func(name, entry []byte) bool {
				if _, has := member(entry, "status"); !has {
					devices = false
				}
				names = append(names, string(name))
				return true
			}) && devices
		}
		return true
	})
	return names, whole && status && devices && own
}

// statusArea returns the prefix of the first topic PREFIX/status that a config waits for.
func statusArea(d *discovery) (string, bool) { return areaOf(d, "status") }

// areaOf returns the topic above the first topic a config waits for, or reads, that ends in the leaf.
func areaOf(d *discovery, leaf string) (string, bool) {
	for _, kind := range [...]refKind{refAvailability, refReads} {
		for _, t := range d.topics {
			if t.kind != kind {
				continue
			}
			if above, l := lastLevel(t.topic); l == leaf && above != "" {
				return above, true
			}
		}
	}
	return "", false
}

// leafRole guesses a role from the last level, as most conventions name it.
func leafRole(rest string) Role {
	_, leaf := lastLevel(rest)
	if commandLeaf(leaf) {
		return RoleCommand
	}
	switch leaf {
	case "availability", "online", "LWT":
		return RoleAvailability
	case "state", "status":
		return RoleState
	default:
		return RoleOther
	}
}
