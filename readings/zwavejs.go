package readings

// Z-Wave JS UI: PREFIX/_CLIENTS/ZWAVE_GATEWAY-NAME/status is the gateway's will topic, PREFIX/NODE/status the node's.

import "strings"

func zwaveJS() convention {
	gateway := rule{form: formField, field: "value", on: "True", off: "False"}
	return convention{
		name: "Z-Wave JS UI", identifier: "zwavejs2mqtt_",
		signs: func(t topicName, _ []byte, _ bool, say func(sign)) {
			if t.leaf != "status" {
				return
			}
			clients, name := lastLevel(t.above)
			if prefix, ok := strings.CutSuffix(clients, "/_CLIENTS"); ok && strings.HasPrefix(name, "ZWAVE_GATEWAY-") {
				say(sign{area: prefix, live: t.full, rule: gateway})
			}
		},
		place: func(a *area, topic, rest string) (place, bool) {
			head, tail, _ := strings.Cut(rest, "/")
			p := place{role: RoleState}
			switch _, leaf := lastLevel(topic); {
			case leaf == "set" && tail != "":
				p.role = RoleCommand
			case head == "_CLIENTS":
				p.role = RoleAttribute
				if leaf == "status" {
					p.role = RoleLiveness
				}
			case head == "driver":
				p.role = RoleAttribute
			case tail == "status":
				p.role = RoleAvailability
			}
			if head != "" && head != "_CLIENTS" && head != "driver" {
				p.device, p.live, p.rule = head, a.name+"/"+head+"/status", &gateway
			}
			return p, true
		},
	}
}
