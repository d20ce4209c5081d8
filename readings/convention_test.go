package readings

// Each convention beyond what the house shows. One line is a small store, a topic of it and how it should read.

import (
	"slices"
	"strings"
	"testing"
)

const (
	z2mOnline  = `zigbee2mqtt/bridge/state={"state":"online"}`
	z2mDevices = `zigbee2mqtt/bridge/devices=[{"friendly_name":"lamp"},{"friendly_name":"up/stairs"}]`
	z2mGroups  = `zigbee2mqtt/bridge/groups=[]`
	tasPump    = `tasmota/discovery/00AA/config={"t":"pump","ft":"%prefix%/%topic%/","tp":["cmnd","stat","tele"],"mac":"00AA","sw":"14.1.0","onln":"Online","ofln":"Offline"}`
	robot      = `homeassistant/vacuum/r/r/config={"uniq_id":"r","stat_t":"valetudo/r/hass/r_state","avty_t":"valetudo/r/$state","pl_avail":"ready","pl_not_avail":"lost","dev":{"ids":"r"},"o":{"name":"Valetudo"}}`
)

func TestConventions(t *testing.T) {
	for _, x := range []struct {
		name  string
		store []string // TOPIC=PAYLOAD
		ask   string
		owner string
		conv  string
		state State
		left  bool
		finds string // joined with ", "; "-" = do not look
	}{
		{"a name with a slash is one name", []string{z2mOnline, z2mDevices, "zigbee2mqtt/up/stairs/availability=online"}, "zigbee2mqtt/up/stairs/availability", "zigbee2mqtt", "zigbee2mqtt", Alive, false, ""},
		{"a member of a known device is the device's", []string{z2mOnline, z2mDevices, "zigbee2mqtt/lamp/brightness=12"}, "zigbee2mqtt/lamp/brightness", "zigbee2mqtt", "zigbee2mqtt", Alive, false, ""},
		{"the beginning of a name is not the name", []string{z2mOnline, z2mDevices, z2mGroups, "zigbee2mqtt/up=1"}, "zigbee2mqtt/up", "zigbee2mqtt", "zigbee2mqtt", Alive, true, "unknown-name strong"},
		{"a group is a name too", []string{z2mOnline, z2mDevices, `zigbee2mqtt/bridge/groups=[{"friendly_name":"all"}]`, "zigbee2mqtt/all=1"}, "zigbee2mqtt/all", "zigbee2mqtt", "zigbee2mqtt", Alive, false, ""},
		{"groups alone are not the list", []string{z2mOnline, `zigbee2mqtt/bridge/groups=[{"friendly_name":"all"}]`, "zigbee2mqtt/lamp=1"}, "zigbee2mqtt/lamp", "zigbee2mqtt", "zigbee2mqtt", Alive, false, ""},
		{"an old bridge says online without JSON", []string{"zigbee2mqtt/bridge/state=online", z2mDevices, z2mGroups, "zigbee2mqtt/gone=1"}, "zigbee2mqtt/gone", "zigbee2mqtt", "zigbee2mqtt", Alive, true, "unknown-name strong"},
		{"without a state the list proves less", []string{z2mDevices, "zigbee2mqtt/gone=1"}, "zigbee2mqtt/gone", "zigbee2mqtt", "zigbee2mqtt", Unknown, false, "unknown-name medium"},
		{"a retained set is a hazard", []string{z2mOnline, z2mDevices, "zigbee2mqtt/lamp/set=ON"}, "zigbee2mqtt/lamp/set", "zigbee2mqtt", "zigbee2mqtt", Alive, false, "retained-command hazard"},
		{"a retained request to the bridge is a hazard", []string{z2mOnline, "zigbee2mqtt/bridge/request/permit_join=true"}, "zigbee2mqtt/bridge/request/permit_join", "zigbee2mqtt", "zigbee2mqtt", Alive, false, "retained-command hazard"},

		{"a heartbeat that is not online is not known", []string{`app/status={"status":"degraded","uptime_s":1,"devices":{"a":{"status":"ok"}}}`, "app/b/state=1"}, "app/b/state", "app", "cosalette", Unknown, false, "unknown-name medium"},
		{"a device that a 3.1.1 application does not name", []string{`app/status={"status":"online","version":"1","devices":{"a":{"status":"ok"}}}`, "app/b/state=1"}, "app/b/state", "app", "cosalette", Alive, true, "unknown-name strong"},
		{"an application's own topics are no devices", []string{`app/status={"status":"online","version":"1","devices":{"a":{"status":"ok"}}}`, "app/_meta/registry={\"x\":1}"}, "app/_meta/registry", "app", "cosalette", Alive, false, ""},
		{"another program's status is no heartbeat", []string{`app/status={"status":"online","version":"1","devices":{"a":3}}`, "app/b/state=1"}, "app/b/state", "", "", Unknown, false, ""},
		{"nor is one that only names devices", []string{`app/status={"status":"online","devices":{"a":{"status":"ok"}}}`, "app/b/state=1"}, "app/b/state", "", "", Unknown, false, ""},
		{"without groups the devices are not all that it has", []string{z2mOnline, z2mDevices, "zigbee2mqtt/all=1"}, "zigbee2mqtt/all", "zigbee2mqtt", "zigbee2mqtt", Alive, false, "unknown-name medium"},
		{"a command of one endpoint", []string{z2mOnline, z2mDevices, z2mGroups, "zigbee2mqtt/lamp/l1/set=ON"}, "zigbee2mqtt/lamp/l1/set", "zigbee2mqtt", "zigbee2mqtt", Alive, false, "retained-command hazard"},
		{"a command of one attribute", []string{z2mOnline, z2mDevices, z2mGroups, "zigbee2mqtt/lamp/set/state=ON"}, "zigbee2mqtt/lamp/set/state", "zigbee2mqtt", "zigbee2mqtt", Alive, false, "retained-command hazard"},
		{"a command of a bridge that says nothing", []string{"zigbee2mqtt/lamp/set=ON"}, "zigbee2mqtt/lamp/set", "zigbee2mqtt/lamp", "zigbee2mqtt", Unknown, false, "retained-command hazard"},
		{"an application below a prefix of two levels", []string{`site/app/status={"status":"online","version":"1","devices":{"a":{"status":"ok"}}}`, "site/app/b/state=1"}, "site/app/b/state", "site/app", "cosalette", Alive, true, "unknown-name strong"},

		{"a command where the record says commands go", []string{`tasmota/discovery/00AB/config={"t":"fan","ft":"%topic%/%prefix%/","tp":["do","stat","tele"],"mac":"00AB","onln":"Online","ofln":"Offline"}`, "fan/tele/LWT=Online", "fan/do/POWER=ON"}, "fan/do/POWER", "fan", "Tasmota", Alive, false, "retained-command hazard"},
		{"a command whose device is not known, prefix last", []string{"house/fan/cmnd/POWER=ON"}, "house/fan/cmnd/POWER", "house/fan", "Tasmota", Unknown, false, "retained-command hazard"},
		{"a command whose device is not known, prefix in the middle", []string{"house/cmnd/fan/POWER=ON"}, "house/cmnd/fan/POWER", "house/fan", "Tasmota", Unknown, false, "retained-command hazard"},
		{"a full topic that every device would have", []string{`tasmota/discovery/00AB/config={"t":"fan","ft":"%prefix%/","tp":["cmnd","stat","tele"],"mac":"00AB","onln":"Online","ofln":"Offline"}`, "tele/LWT=Offline", "stat/other/POWER=ON"}, "stat/other/POWER", "", "", Unknown, false, ""},
		{"words of its own for its last will", []string{`tasmota/discovery/00AB/config={"t":"fan","ft":"%prefix%/%topic%/","tp":["cmnd","stat","tele"],"mac":"00AB","onln":"hier","ofln":"fort"}`, "tele/fan/LWT=fort", "stat/fan/POWER=ON"}, "stat/fan/POWER", "fan", "Tasmota", Offline, true, "owner-offline medium"},
		{"a full topic without a prefix tells no commands", []string{`tasmota/discovery/00AB/config={"t":"fan","ft":"%topic%/","tp":["cmnd","stat","tele"],"mac":"00AB","onln":"Online","ofln":"Offline"}`, "fan/LWT=Online", "fan/POWER=ON"}, "fan/POWER", "fan", "Tasmota", Alive, false, ""},
		{"two records of one version decide nothing", []string{tasPump, strings.ReplaceAll(tasPump, "00AA", "00AB"), "tele/pump/LWT=Online"}, "tasmota/discovery/00AA/config", "pump", "Tasmota", Alive, false, "replaced medium"},
		{"the newer of two records stays", []string{tasPump, strings.ReplaceAll(strings.ReplaceAll(tasPump, "00AA", "00AB"), "14.1.0", "9.5"), "tele/pump/LWT=Online"}, "tasmota/discovery/00AA/config", "pump", "Tasmota", Alive, false, "replaced weak"},
		{"the older of two records may be the newer board", []string{tasPump, strings.ReplaceAll(strings.ReplaceAll(tasPump, "00AA", "00AB"), "14.1.0", "9.5"), "tele/pump/LWT=Online"}, "tasmota/discovery/00AB/config", "pump", "Tasmota", Unknown, false, "replaced medium"},

		{"a retained command of a node", []string{`esphome/discover/node={"mac":"aa","version":"1"}`, "node/status=online", "node/switch/pump/command=ON"}, "node/switch/pump/command", "node", "ESPHome", Alive, false, "retained-command hazard"},
		{"a retained command of a node that nothing announces", []string{"node/status=online", "node/switch/pump/command=ON"}, "node/switch/pump/command", "node", "ESPHome", Alive, false, "retained-command hazard"},
		{"what lies below a node's prefix and is none of it", []string{`esphome/discover/home={"mac":"aa","version":"1"}`, "home/status=offline", "home/kitchen/temperature=21"}, "home/kitchen/temperature", "", "", Unknown, false, ""},
		{"one board under two living names decides nothing", []string{`esphome/discover/a={"mac":"aa","version":"1"}`, `esphome/discover/b={"mac":"aa","version":"1"}`, "a/status=online", "b/status=online"}, "esphome/discover/a", "a", "ESPHome", Alive, false, "replaced medium"},
		{"a status that nobody hints at is nobody's", []string{"node/status=offline", "node/x=1"}, "node/x", "", "", Unknown, false, ""},

		{"a node that a Homie device does not name", []string{"homie/d/$homie=4.0.0", "homie/d/$state=ready", "homie/d/$nodes=a,b", "homie/d/c/x=1"}, "homie/d/c/x", "homie/d", "Homie", Alive, true, "unknown-name strong"},
		{"an element of an array that it names", []string{"homie/d/$homie=3.0.1", "homie/d/$state=ready", "homie/d/$nodes=a,lights[]", "homie/d/lights_1/power=on"}, "homie/d/lights_1/power", "homie/d", "Homie", Alive, false, ""},
		{"the array itself", []string{"homie/d/$homie=3.0.1", "homie/d/$state=ready", "homie/d/$nodes=a,lights[]", "homie/d/lights/$array=0-1"}, "homie/d/lights/$array", "homie/d", "Homie", Alive, false, ""},
		{"a node that it names", []string{"homie/d/$homie=4.0.0", "homie/d/$state=sleeping", "homie/d/$nodes=a,c", "homie/d/c/x=1"}, "homie/d/c/x", "homie/d", "Homie", Alive, false, ""},
		{"the end of a root is its children's", []string{"homie/5/r/$state=lost", `homie/5/c/$description={"homie":"5.0","root":"r","nodes":{"n":{}}}`, "homie/5/c/$state=ready", "homie/5/c/n/x=1"}, "homie/5/c/n/x", "homie/5/c", "Homie", Offline, true, "owner-offline medium"},
		{"a child of a living root", []string{"homie/5/r/$state=ready", `homie/5/c/$description={"homie":"5.0","root":"r","nodes":{"n":{}}}`, "homie/5/c/$state=ready", "homie/5/c/n/x=1"}, "homie/5/c/n/x", "homie/5/c", "Homie", Alive, false, ""},
		{"another root is one when its devices say so", []string{"haus/a/$homie=4.0.0", "haus/a/$state=ready", "haus/b/n/$name=N", "haus/b/n/x=1"}, "haus/b/n/x", "haus/b", "Homie", Unknown, true, "half-cleared strong"},
		{"a plain topic below homie is nobody's", []string{"homie/a/b=1"}, "homie/a/b", "", "", Unknown, false, ""},
		{"a retained set of a Homie property", []string{"homie/d/$homie=4.0.0", "homie/d/$state=ready", "homie/d/n/p/set=1"}, "homie/d/n/p/set", "homie/d", "Homie", Alive, false, "retained-command hazard"},

		{"a command of Sparkplug", []string{"spBv1.0/g/NCMD/e=x"}, "spBv1.0/g/NCMD/e", "g/e", "Sparkplug B", Unknown, false, "sparkplug hazard"},
		{"a device of Sparkplug", []string{"spBv1.0/g/DDATA/e/d=x"}, "spBv1.0/g/DDATA/e/d", "g/e", "Sparkplug B", Unknown, false, "sparkplug hazard"},

		{"a retained target value", []string{`z/_CLIENTS/ZWAVE_GATEWAY-a/status={"value":true}`, "z/node_1/37/0/targetValue/set=true"}, "z/node_1/37/0/targetValue/set", "z", "Z-Wave JS UI", Alive, false, "retained-command hazard"},
		{"a gateway that was given another name", []string{`z/_CLIENTS/ZWAVE_GATEWAY-a/status={"value":true}`, `z/_CLIENTS/ZWAVE_GATEWAY-b/status={"value":false}`}, "z/_CLIENTS/ZWAVE_GATEWAY-b/status", "z", "Z-Wave JS UI", Offline, true, "owner-offline medium, will medium"},
		{"what a living gateway of two has", []string{`z/_CLIENTS/ZWAVE_GATEWAY-a/status={"value":true}`, `z/_CLIENTS/ZWAVE_GATEWAY-b/status={"value":false}`, "z/node_1/x=1"}, "z/node_1/x", "z", "Z-Wave JS UI", Alive, false, ""},

		{"one state less may have been cleared by hand", []string{"f/available=online", "f/a/detect/state=ON", "f/a/motion/state=ON", "f/b/detect/state=ON"}, "f/b/detect/state", "f", "Frigate", Alive, false, ""},
		{"two states less", []string{"f/available=online", "f/a/detect/state=ON", "f/a/motion/state=ON", "f/a/enabled/state=ON", "f/b/detect/state=ON"}, "f/b/detect/state", "f", "Frigate", Alive, false, "incomplete medium"},
		{"a switch of a camera that is retained", []string{"f/available=online", "f/a/detect/state=ON", "f/a/detect/set=ON"}, "f/a/detect/set", "f", "Frigate", Alive, false, "retained-command hazard"},
		{"a restart that is retained", []string{"f/available=online", "f/a/detect/state=ON", "f/restart=x"}, "f/restart", "f", "Frigate", Alive, false, "retained-command hazard"},
		{"a camera that is told to turn whenever it connects", []string{"f/available=online", "f/a/detect/state=ON", "f/a/ptz=MOVE_LEFT"}, "f/a/ptz", "f", "Frigate", Alive, false, "retained-command hazard"},
		{"available alone is not Frigate", []string{"f/available=offline", "f/x=1"}, "f/x", "", "", Unknown, false, ""},

		{"a later Shelly under any prefix", []string{"hall/online=false", "hall/status/switch:0={\"output\":false}"}, "hall/status/switch:0", "hall", "Shelly", Offline, true, "owner-offline medium"},
		{"online alone is no Shelly", []string{"hall/online=false", "hall/x=1"}, "hall/x", "", "", Unknown, false, ""},
		{"what lies below a Shelly's prefix and is none of it", []string{"hall/online=false", "hall/status/switch:0={\"output\":false}", "hall/lamp/brightness=1"}, "hall/lamp/brightness", "", "", Unknown, false, ""},
		{"what every Shelly is told", []string{"shellies/command=update_fw"}, "shellies/command", "every Shelly", "Shelly", Unknown, false, "retained-command hazard"},
		{"what a Shelly is told that says nothing of itself", []string{"shellies/s1/relay/0/command=on"}, "shellies/s1/relay/0/command", "s1", "Shelly", Unknown, false, "retained-command hazard"},
		{"a call that is retained", []string{"shellyplus-1/online=true", "shellyplus-1/rpc={}"}, "shellyplus-1/rpc", "shellyplus-1", "Shelly", Alive, false, "retained-command hazard, looks-empty weak"},

		{"a robot that names its nodes", []string{robot, "valetudo/r/$state=ready", "valetudo/r/$nodes=A,B", "valetudo/r/C/x=1"}, "valetudo/r/C/x", "valetudo/r", "Valetudo", Alive, true, "unknown-name strong, state-without-config weak"},
		{"what it keeps for Home Assistant", []string{robot, "valetudo/r/$state=ready", "valetudo/r/$nodes=A,B", "valetudo/r/hass/r_state=1"}, "valetudo/r/hass/r_state", "valetudo/r", "Valetudo", Alive, false, ""},
		{"a robot under another prefix", []string{strings.ReplaceAll(robot, "valetudo/", "home/robots/"), "home/robots/r/$state=lost", "home/robots/r/B/x=1"}, "home/robots/r/B/x", "home/robots/r", "Valetudo", Offline, true, "owner-offline medium, state-without-config weak"},

		{"a receiver that is off", []string{"rtl_433/h/availability=offline", "rtl_433/h/devices/M/1/t=3"}, "rtl_433/h/devices/M/1/t", "rtl_433/h", "rtl_433", Offline, true, "owner-offline medium"},
		{"a transmitter whose state is retained", []string{"rtl_433/h/availability=online", "rtl_433/h/devices/M/1/t=3"}, "rtl_433/h/devices/M/1/t", "rtl_433/h", "rtl_433", Unknown, false, ""},

		{"a mirror of Home Assistant", []string{"homeassistant/status=offline", "mirror/light/hall/state=on", "mirror/sensor/t/state=1"}, "mirror/light/hall/state", "Home Assistant", "statestream", Offline, true, "owner-offline medium"},
		{"a mirror without a birth topic", []string{"mirror/light/hall/state=on", "mirror/sensor/t/state=1"}, "mirror/light/hall/state", "Home Assistant", "statestream", Unknown, false, ""},
		{"one topic of that shape is no mirror", []string{"homeassistant/status=offline", "plant/sensor/t/state=1"}, "plant/sensor/t/state", "", "", Unknown, false, ""},
		{"an object without a state is none of a mirror's", []string{"homeassistant/status=offline", "mirror/light/hall/state=on", "mirror/sensor/t/state=1", "mirror/sensor/x/config=1"}, "mirror/sensor/x/config", "", "", Unknown, false, ""},
		{"the same shape where somebody speaks for the base", []string{"homeassistant/status=online", "node/status=online", "node/light/hall/state=on", "node/light/den/state=on"}, "node/light/hall/state", "", "", Unknown, false, ""},
	} {
		t.Run(x.name, func(t *testing.T) { ask(t, x.store, x.ask, x.owner, x.conv, x.state, x.left, x.finds) })
	}
}

func store(t *testing.T, lines []string) *Reader {
	t.Helper()
	r := newReader(t)
	for _, l := range lines {
		topic, payload, ok := strings.Cut(l, "=")
		if !ok {
			t.Fatalf("%q", l)
		}
		r.Put(fact(topic, payload))
	}
	r.Watched(scanEnd, scanEnd)
	return r
}

func ask(t *testing.T, lines []string, topic, owner, conv string, state State, isLeft bool, finds string) {
	t.Helper()
	g, ok := store(t, lines).Reading([]byte(topic), scanEnd+second)
	if !ok {
		t.Fatalf("%q is not there", topic)
	}
	slices.Reverse(lines)
	other, _ := store(t, lines).Reading([]byte(topic), scanEnd+second)
	if g.Phrase != other.Phrase {
		t.Errorf("in the other order: %q and %q", g.Phrase, other.Phrase)
	}
	if g.Owner.Name != owner || g.Owner.Convention != conv || g.Liveness.State != state || g.Left != isLeft {
		t.Errorf("owner %+v %v left %v\nfindings %q phrase %q", g.Owner, g.Liveness, g.Left, findingNames(g), g.Phrase)
	}
	if have := strings.Join(findingNames(g), ", "); finds != "-" && have != finds {
		t.Errorf("findings %q, want %q", have, finds)
	}
}
