package readings

// Tasmota: the discovery record of a MAC says where its topics lie and on which topic its last will is.
// Without a record, PREFIX/TOPIC/LWT is enough to know that somebody is there.

import "strings"

func tasmota() convention {
	words := wordRule("Online", "Offline")
	return convention{
		name:  "Tasmota",
		whole: func(t topicName) bool { return strings.HasPrefix(t.above, "tasmota/discovery/") },
		signs: func(t topicName, payload []byte, cut bool, say func(sign)) {
			switch {
			case t.leaf == "LWT":
				if w := string(payload); w != "Online" && w != "Offline" {
					return
				}
				name, areas, ok := tasmotaAreas(t.above)
				if !ok {
					return
				}
				for i, a := range areas {
					say(sign{area: a, name: name, live: t.full, rule: words, role: tasmotaRoles[i]})
				}
			case t.leaf == "config" && strings.HasPrefix(t.above, "tasmota/discovery/") && !cut:
				tasmotaRecord(t, payload, say)
			}
		},
		place: func(a *area, topic, rest string) (place, bool) {
			p := place{role: RoleState}
			// A full topic without a prefix puts commands and states in one place: then nothing tells them apart.
			commands, announced, others := false, false, false
			a.each(func(s *said) bool {
				commands = commands || s.role == RoleCommand
				announced = announced || s.role == RoleAnnouncement
				others = others || s.role == RoleOther
				return true
			})
			switch {
			case announced:
				p.role = RoleAnnouncement
			case commands && !others:
				p.role = RoleCommand
			}
			if _, leaf := lastLevel(topic); leaf == "LWT" {
				p.role = RoleLiveness
			}
			if p.role == RoleCommand && rest == "" {
				return place{}, false
			}
			return p, true
		},
		stray: func(_ *Reader, topic string) (claim, bool) {
			// A command is one by its shape, whether or not its device is known, and wherever the full topic has its prefix.
			const level = "cmnd/"
			at := 0
			if !strings.HasPrefix(topic, level) {
				if at = strings.Index(topic, "/"+level) + 1; at == 0 {
					return claim{}, false
				}
			}
			rest := topic[at+len(level):]
			if name, command, more := strings.Cut(rest, "/"); more && name != "" && command != "" && at == 0 {
				return claim{owner: name, rule: ruleShape, place: place{role: RoleCommand}}, true
			}
			if at == 0 || rest == "" {
				return claim{}, false
			}
			above, _ := lastLevel(rest)
			return claim{owner: strings.Trim(topic[:at]+above, "/"), rule: ruleShape, place: place{role: RoleCommand}}, true
		},
	}
}

// tasmotaRoles are the roles of the areas that tasmotaAreas and tasmotaRecord give: cmnd, stat, tele.
var tasmotaRoles = [3]Role{RoleCommand, RoleOther, RoleOther}

// tasmotaAreas returns the three areas of a device whose tele topic is given: the level "tele" stands anywhere.
func tasmotaAreas(tele string) (name string, areas [3]string, ok bool) {
	levels := strings.Split(tele, "/")
	at := -1
	for i, l := range levels {
		if l == "tele" {
			at = i
			break
		}
	}
	if at < 0 || len(levels) < 2 || len(levels) > maxDepth {
		return "", areas, false
	}
	for i, prefix := range [...]string{"cmnd", "stat", "tele"} {
		levels[at] = prefix
		areas[i] = strings.Join(levels, "/")
	}
	return strings.Join(append(levels[:at:at], levels[at+1:]...), "/"), areas, true
}

// tasmotaRecord reads a discovery record.
//
// Source: Tasmota's discovery message: t topic, ft full topic, tp prefixes, onln and ofln the words of its last will.
func tasmotaRecord(t topicName, payload []byte, say func(sign)) {
	var topic, full, host, mac, version string
	on, off := "Online", "Offline"
	prefixes := []string{"cmnd", "stat", "tele"}
	if !members(payload, func(k, v []byte) bool {
		switch string(k) {
		case "t":
			topic, _ = text(v)
		case "ft":
			full, _ = text(v)
		case "hn":
			host, _ = text(v)
		case "mac":
			mac, _ = text(v)
		case "sw":
			version, _ = text(v)
		case "onln":
			on, _ = text(v)
		case "ofln":
			off, _ = text(v)
		case "tp":
			var tp []string
			elements(v, func(e []byte) bool {
				s, _ := text(e)
				tp = append(tp, s)
				return len(tp) < 3
			})
			if len(tp) == 3 {
				prefixes = tp
			}
		}
		return true
	}) || topic == "" || full == "" || on == "" || off == "" {
		return
	}
	if mac == "" {
		_, mac = lastLevel(t.above)
	}
	put := strings.NewReplacer("%topic%", topic, "%hostname%", host, "%id%", mac)
	var areas [3]string
	for i, p := range prefixes {
		areas[i] = strings.Trim(put.Replace(strings.ReplaceAll(full, "%prefix%", p)), "/")
		if areas[i] == "" || areas[i] == p {
			return // every device of this full topic would have it
		}
	}
	s := sign{name: topic, live: areas[2] + "/LWT", rule: wordRule(on, off), key: mac, version: version}
	for i, a := range areas {
		s.area, s.role = a, tasmotaRoles[i]
		say(s)
	}
	s.area, s.role = t.above, RoleAnnouncement
	say(s)
}
