package readings

// Frigate: PREFIX/available is the will topic. It gives no list of cameras, but when it starts it publishes the same
// set of states for each camera, retained, so a camera that lacks several of them was not published by what runs now,
// unless it is being published just now or somebody cleared the rest.
//
// Source: Frigate, comms/mqtt.py, _set_initial_topics.

import "strings"

// frigateSet are the states that Frigate publishes for every camera, whatever its configuration.
func frigateSet(feature string) bool {
	switch feature {
	case "enabled", "detect", "motion", "recordings", "snapshots", "improve_contrast", "motion_threshold", "motion_contour_area":
		return true
	default:
		return false
	}
}

func frigate() convention {
	words := wordRule("online", several("offline", "stopped"))
	return convention{
		name: "Frigate",
		signs: func(t topicName, payload []byte, _ bool, say func(sign)) {
			switch t.leaf {
			case "available":
				switch string(payload) {
				case "online", "offline", "stopped":
					if t.above != "" {
						say(sign{area: t.above, live: t.full, rule: words})
					}
				}
			case "state":
				camera, feature := lastLevel(t.above)
				prefix, _ := lastLevel(camera)
				if prefix != "" && frigateSet(feature) {
					say(sign{area: prefix, mark: feature, scope: camera})
				}
			}
		},
		place: func(a *area, _, rest string) (place, bool) {
			// "available" alone is not enough to be Frigate.
			if a.marked("detect") == 0 && a.marked("recordings") == 0 && a.marked("snapshots") == 0 {
				return place{}, false
			}
			p := place{role: leafRole(rest)}
			camera, _, deep := strings.Cut(rest, "/")
			switch {
			case rest == "available":
				p.role = RoleLiveness
			case rest == "restart":
				p.role = RoleCommand
			case !deep, camera == "notifications", camera == "profile", camera == "stats", camera == "events":
			default:
				p.device, p.partial = camera, a.lacks(camera)
				if strings.HasSuffix(rest, "/ptz") {
					p.role = RoleCommand
				}
			}
			return p, true
		},
	}
}

// lacks reports whether a camera lacks at least two states of the set that another camera has. One alone may have been
// cleared by hand.
func (a *area) lacks(camera string) bool {
	missing, has := 0, 0
	var room [256]byte
	for _, f := range [...]string{"enabled", "detect", "motion", "recordings", "snapshots", "improve_contrast", "motion_threshold", "motion_contour_area"} {
		b := append(append(room[:0], a.name...), '/')
		b = append(append(append(append(b, camera...), '/'), f...), "/state"...)
		if i := a.r.lookupBytes(b); i != 0 && a.r.nodes[i].held != 0 {
			has++
		} else if a.marked(f) > 0 && (a.r.sight.filters == nil || a.r.sees(string(b))) {
			missing++
		}
	}
	return has > 0 && missing >= 2
}
