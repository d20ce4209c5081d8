package readings

// rtl_433: BASE/availability is the receiver's will topic. The transmitters it hears are nobody's: their states are
// not retained by default, and a script announces every one that passes by and never takes it back.

import "strings"

func rtl433() convention {
	words := wordRule("online", "offline")
	const devices = "/devices/"
	return convention{
		name: "rtl_433",
		signs: func(t topicName, payload []byte, _ bool, say func(sign)) {
			if t.leaf != "availability" || t.above == "" {
				return
			}
			if w := string(payload); w == "online" || w == "offline" {
				say(sign{area: t.above, live: t.full, rule: words, guess: firstLevel(t.above) != "rtl_433"})
			}
		},
		hint: func(d *discovery) (string, bool) {
			if d.maker != "rtl_433" {
				return "", false
			}
			for _, t := range d.topics {
				if at := strings.Index(t.topic, devices); at > 0 && t.kind == refReads {
					return t.topic[:at], true
				}
			}
			return "", false
		},
		place: func(a *area, _, rest string) (place, bool) {
			if a.guess && !a.hinted() {
				return place{}, false
			}
			p := place{role: RoleState}
			if rest == "availability" {
				p.role = RoleLiveness
			}
			if d, ok := strings.CutPrefix(rest, devices[1:]); ok {
				p.device, _ = lastLevel(d)
				p.own = true
			}
			switch head, _, _ := strings.Cut(rest, "/"); head {
			case "availability", "devices", "events", "states", "":
				return p, true
			}
			return place{}, false // others may publish below the same prefix
		},
		stray: func(r *Reader, topic string) (claim, bool) {
			at := strings.Index(topic, devices)
			if at <= 0 || firstLevel(topic) != "rtl_433" && r.markedBy("rtl_433", topic[:at], hintMark) == 0 {
				return claim{}, false
			}
			d, _ := lastLevel(topic[at+len(devices):])
			return claim{owner: topic[:at], rule: ruleShape, place: place{device: d, role: RoleState, own: true}}, true
		},
	}
}
