package readings

// What programs and devices in the field retain, beside each other in one store. The first letter of a line is what must
// be read: L = a living owner means it, U = nobody known, never left behind, D = left behind at the end of the scan, W =
// left behind after days of watching, H = a hazard.

import (
	"strings"
	"testing"
)

const field = `
# zigbee2mqtt under a base of two levels; a device was renamed in the file, one has slashes in its name
L z2m/home/bridge/state={"state":"online"}
L z2m/home/bridge/info={"version":"2.1.0","config":{"mqtt":{"base_topic":"z2m/home"}}}
L z2m/home/bridge/devices=[{"friendly_name":"Coordinator","type":"Coordinator"},{"friendly_name":"kitchen/lamp/left"},{"friendly_name":"plug"},{"friendly_name":"0xdead"}]
L z2m/home/bridge/groups=[{"friendly_name":"all lamps","id":1}]
L z2m/home/bridge/extensions=[]
L z2m/home/bridge/converters=[]
L z2m/home/bridge/definitions={"clusters":{}}
L z2m/home/bridge/health={"response_time":1}
L z2m/home/bridge/event={"type":"device_joined"}
L z2m/home/kitchen/lamp/left={"state":"ON","linkquality":90}
L z2m/home/kitchen/lamp/left/availability={"state":"online"}
L z2m/home/plug={"state":"ON"}
L z2m/home/plug/availability={"state":"offline"}
L z2m/home/plug/power=12
L z2m/home/0xdead/availability={"state":"online"}
L z2m/home/all lamps={"state":"ON"}
L z2m/home/all lamps/availability={"state":"online"}
D z2m/home/kitchen/lamp/right/availability={"state":"online"}
D z2m/home/old plug={"state":"ON"}
H z2m/home/kitchen/lamp/left/set={"state":"OFF"}
H z2m/home/plug/l1/set=ON
H z2m/home/plug/set/state=ON
H z2m/home/plug/get={"state":""}
H z2m/home/bridge/request/device/remove={"id":"plug"}
L homeassistant/switch/0xdead/switch/config={"uniq_id":"0xdead_switch_z2m/home","state_topic":"z2m/home/plug","command_topic":"z2m/home/plug/set","availability":[{"topic":"z2m/home/bridge/state","value_template":"{{ value_json.state }}"},{"topic":"z2m/home/plug/availability","value_template":"{{ value_json.state }}"}],"availability_mode":"all","device":{"identifiers":["zigbee2mqtt_0xdead"],"via_device":"zigbee2mqtt_bridge_0x1"},"origin":{"name":"Zigbee2MQTT"}}
D homeassistant/light/0xbeef/light/config={"uniq_id":"0xbeef_light_z2m/home","state_topic":"z2m/home/kitchen/lamp/right","command_topic":"z2m/home/kitchen/lamp/right/set","availability":[{"topic":"z2m/home/bridge/state","value_template":"{{ value_json.state }}"},{"topic":"z2m/home/kitchen/lamp/right/availability","value_template":"{{ value_json.state }}"}],"availability_mode":"all","device":{"identifiers":["zigbee2mqtt_0xbeef"]},"origin":{"name":"Zigbee2MQTT"}}

# ESPHome: without discovery; with a prefix of levels; a new one that does not say esphome; one that is off
L nodisc/status=online
L nodisc/sensor/t/state=21
H nodisc/switch/relay/command=ON
H nodisc/fan/vent/speed_level/command=3
L home/esp/garage/status=online
L home/esp/garage/binary_sensor/door/state=ON
L home/esp/garage/custom/topic=1
L homeassistant/binary_sensor/garage/door/config={"dev_cla":"door","name":"door","stat_t":"home/esp/garage/binary_sensor/door/state","avty_t":"home/esp/garage/status","uniq_id":"a4cf12aabb01-binary_sensor-1234abcd","dev":{"ids":"a4cf12aabb01","name":"garage","sw":"2026.1.0 (config hash 0x01020304)","mdl":"esp32dev","mf":"Espressif","cns":[["mac","a4cf12aabb01"]]}}
L homeassistant/sensor/garage/custom/config={"name":"custom","stat_t":"home/esp/garage/custom/topic","avty_t":"home/esp/garage/status","uniq_id":"a4cf12aabb01-sensor-1234abcd","dev":{"ids":"a4cf12aabb01","name":"garage","sw":"2026.1.0 (config hash 0x01020304)"}}
D espoff/status=offline
D espoff/sensor/t/state=3
D homeassistant/sensor/espoff/t/config={"name":"t","stat_t":"espoff/sensor/t/state","avty_t":"espoff/status","uniq_id":"a4cf12aabb02-sensor-1234abcd","dev":{"ids":"a4cf12aabb02","name":"espoff","sw":"2024.6.1 (Jun 20 2024, 12:00:00)"}}
U espoff/notes=somebody else's

# Tasmota: custom full topic, with its record, without, off; native discovery of old; a group command
L tasmota/discovery/AABBCC000001/config={"ip":"192.0.2.1","dn":"Boiler","fn":["Boiler"],"hn":"boiler-1","mac":"AABBCC000001","md":"Plug","ofln":"Offline","onln":"Online","sw":"14.6.0","t":"boiler","ft":"house/%topic%/%prefix%/","tp":["cmnd","stat","tele"],"ver":1}
L tasmota/discovery/AABBCC000001/sensors={"sn":{},"ver":1}
L house/boiler/tele/LWT=Online
L house/boiler/tele/STATE={"POWER":"ON"}
L house/boiler/stat/POWER=ON
H house/boiler/cmnd/POWER=ON
L house/fan/tele/LWT=Online
L house/fan/stat/RESULT={"POWER":"ON"}
D house/dead/tele/LWT=Offline
D house/dead/stat/POWER=OFF
H cmnd/tasmotas/POWER=OFF
H house/nobody/cmnd/Backlog=Reset 1
L homeassistant/switch/AABBCC_RL_1/config={"name":"Boiler","cmd_t":"~cmnd/POWER","stat_t":"~tele/STATE","val_tpl":"{{value_json.POWER}}","pl_off":"OFF","pl_on":"ON","avty_t":"~tele/LWT","pl_avail":"Online","pl_not_avail":"Offline","uniq_id":"AABBCC_RL_1","device":{"identifiers":["AABBCC"]},"~":"house/boiler/"}

# Homie 5 with a root and a child that sleeps; 4 with stats; 3 with arrays; a half-cleared one
L homie/5/root/$state=ready
L homie/5/root/$description={"homie":"5.0","version":1,"children":["leaf"],"nodes":{"main":{}}}
L homie/5/root/main/power=on
L homie/5/root/main/power/$target=off
L homie/5/leaf/$state=sleeping
L homie/5/leaf/$description={"homie":"5.0","version":1,"root":"root","parent":"root","nodes":{"n":{}}}
L homie/5/leaf/n/text=` + "\x00" + `
D homie/5/leaf/old/text=1
H homie/5/root/main/power/set=on
U homie/5/$broadcast/alert=flood
L homie/four/$homie=4.0.0
L homie/four/$name=Four
L homie/four/$state=alert
L homie/four/$nodes=env
L homie/four/$stats/uptime=12
L homie/four/$fw/name=x
L homie/four/env/$properties=t
L homie/four/env/t=21
L homie/three/$homie=3.0.1
L homie/three/$state=ready
L homie/three/$nodes=lights[]
L homie/three/lights/$array=0-1
L homie/three/lights_1/power=on
D homie/half/env/$name=Env
D homie/half/env/t=1
H homie/half/env/t/set=1

# Sparkplug: a will that was retained by mistake, a host that went
H spBv1.0/plant/NDEATH/edge1=bdSeq
H spBv1.0/plant/NBIRTH/edge1=x
H spBv1.0/plant/DDATA/edge1/pump=x
H spBv1.0/plant/NCMD/edge1=x
L spBv1.0/STATE/scada={"online":true,"timestamp":1796018400000}
D spBv1.0/STATE/old={"online":false,"timestamp":1}

# Home Assistant and its mirror; a second one under another prefix
L homeassistant/status=online
L ha1/light/hall/state=on
L ha1/light/hall/brightness=3
L ha1/sensor/t/state=21
U ha2/status=offline

# Shelly of both generations; one under a prefix of its own; a dead one
L shellies/shelly1-AA/online=true
L shellies/shelly1-AA/relay/0=on
L shellies/shelly1-AA/info={"wifi_sta":{}}
U shellies/announce={"id":"shelly1-AA"}
H shellies/command=update
H shellies/shelly1-AA/relay/0/command=on
L shellyplus1-BB/online=true
L shellyplus1-BB/status/switch:0={"output":true}
L shellyplus1-BB/events/rpc={"src":"shellyplus1-BB"}
H shellyplus1-BB/rpc={"id":1,"method":"Switch.Set"}
H shellyplus1-BB/command/switch:0=on
L house/pump/online=true
L house/pump/status/sys={"mac":"CC"}
D shellies/shellyht-CC/online=false
D shellies/shellyht-CC/sensor/temperature=3

# rtl_433 with retained states; passers-by that a script announced
L rtl_433/host/availability=online
L rtl_433/host/devices/Acurite/606TX/1/temperature_C=3
L rtl_433/host/events={"model":"Acurite"}
L homeassistant/sensor/Acurite-1/Acurite-1-T/config={"device_class":"temperature","name":"T","state_topic":"rtl_433/host/devices/Acurite/606TX/1/temperature_C","unique_id":"Acurite-1-T","device":{"identifiers":["Acurite-1"],"name":"Acurite-1","manufacturer":"rtl_433"}}
W homeassistant/sensor/Ford-9/Ford-9-P/config={"device_class":"pressure","name":"P","state_topic":"rtl_433/host/devices/Ford/9/pressure_kPa","unique_id":"Ford-9-P","device":{"identifiers":["Ford-9"],"name":"Ford-9","manufacturer":"rtl_433"}}

# Frigate with a camera that is being added; its commands
L frigate/available=online
L frigate/yard/enabled/state=ON
L frigate/yard/detect/state=ON
L frigate/yard/motion/state=ON
L frigate/yard/recordings/state=ON
L frigate/yard/snapshots/state=ON
L frigate/yard/improve_contrast/state=ON
L frigate/yard/motion_threshold/state=30
L frigate/yard/person/snapshot=jpeg
L frigate/stats={"cameras":{}}
H frigate/yard/detect/set=OFF
H frigate/restart=x

# zwave-js-ui
L zwave/_CLIENTS/ZWAVE_GATEWAY-main/status={"value":true,"time":1}
L zwave/driver/status={"value":true}
L zwave/cellar/node_4/status={"value":false}
L zwave/cellar/node_4/37/0/currentValue={"value":true}
H zwave/cellar/node_4/37/0/targetValue/set=true
H zwave/_CLIENTS/ZWAVE_GATEWAY-main/api/refreshInfo/set={"args":[4]}

# programs without a convention here
L ems-esp/status=online
L ems-esp/boiler_data={"flow":40}
L homeassistant/sensor/ems-esp/boiler_flow/config={"uniq_id":"boiler_flow","stat_t":"ems-esp/boiler_data","val_tpl":"{{value_json.flow if value_json.flow is defined else 0}}","avty":[{"t":"ems-esp/status","val_tpl":"{{value == 'online'}}"},{"t":"ems-esp/boiler_data","val_tpl":"{{'online' if value_json.flow is defined else 'offline'}}"}],"avty_mode":"all","dev":{"ids":["ems-esp-boiler"],"name":"EMS"},"o":{"name":"EMS-ESP"}}
U wled/desk/status=online
U wled/desk/g=128
U wled/desk/c=#FFAA00
U evcc/status=online
U evcc/site/pvPower=1200
U teslamate/cars/1/state=asleep
U owntracks/me/phone={"_type":"location"}
U espresense/rooms/hall/status=online
L home/OMG1/LWT=online
L home/OMG1/SYStoMQTT={"uptime":1}
L homeassistant/sensor/OMG1-uptime/config={"stat_t":"home/OMG1/SYStoMQTT","avty_t":"home/OMG1/LWT","name":"uptime","uniq_id":"OMG1-uptime","device":{"ids":["OMG1"],"name":"OMG1","sw":"1.7"},"o":{"name":"OpenMQTTGateway"}}
D home/OMG2/LWT=offline
D home/OMG2/SYStoMQTT={"uptime":1}
D homeassistant/sensor/OMG2-uptime/config={"stat_t":"home/OMG2/SYStoMQTT","avty_t":"home/OMG2/LWT","name":"uptime","uniq_id":"OMG2-uptime","device":{"ids":["OMG2"],"name":"OMG2","sw":"1.8"},"o":{"name":"OpenMQTTGateway"}}
U home/kitchen/temperature=21
U OpenHAB/lights/command=ON
L ring/house/camera/c1/status=online
L ring/house/camera/c1/motion/state=OFF
L homeassistant/binary_sensor/ring/c1_motion/config={"name":"Motion","unique_id":"c1_motion","availability_topic":"ring/house/camera/c1/status","payload_available":"online","payload_not_available":"offline","state_topic":"ring/house/camera/c1/motion/state","device":{"ids":["c1"],"name":"Front","mf":"Ring"}}
H ring/house/camera/c1/light/command=ON
L homeassistant/light/ring/c1_light/config={"name":"Light","unique_id":"c1_light","availability_topic":"ring/house/camera/c1/status","state_topic":"ring/house/camera/c1/light/state","command_topic":"ring/house/camera/c1/light/command","device":{"ids":["c1"],"name":"Front","mf":"Ring"}}
L ring/house/camera/c1/light/state=OFF
`

// fieldLines returns the lines, and what must be read by topic.
func fieldLines() (lines []string, want map[string]byte) {
	want = map[string]byte{}
	for l := range strings.Lines(field) {
		l = strings.TrimSuffix(l, "\n")
		if l == "" || l[0] == '#' {
			continue
		}
		topic, _, _ := strings.Cut(l[2:], "=")
		want[topic] = l[0]
		lines = append(lines, l[2:])
	}
	return lines, want
}

func TestTheField(t *testing.T) {
	lines, want := fieldLines()
	r := store(t, lines)
	for _, hours := range []int64{0, 2, 300} {
		for topic, w := range want {
			g, _ := r.Reading([]byte(topic), scanEnd+second+hours*hour)
			wantLeft := w == 'D' || w == 'W' && hours > 24
			if g.Left != wantLeft || g.Hazard != (w == 'H') {
				t.Errorf("%c after %d h: %q: %q %q\n\towner %+v %+v", w, hours, topic, g.Phrase, findingNames(g), g.Owner, g.Liveness)
			}
			if w == 'L' && g.Liveness.State == Offline {
				t.Errorf("%q: its owner lives and is said to be offline: %+v", topic, g.Liveness)
			}
			if w == 'U' && g.Owner.Name != "" && g.Owner.Convention == "" {
				t.Errorf("%q: %+v", topic, g.Owner)
			}
		}
	}
	t.Log(len(want), "topics")
}

// TestTheFieldWithOneTopicLess takes each topic away in turn: no other one of a living owner may look left behind for
// it, but for a Homie device without a state, which looks as if somebody had half cleared it, and a transmitter of which
// nothing is there any more.
func TestTheFieldWithOneTopicLess(t *testing.T) {
	lines, want := fieldLines()
	for _, whole := range []bool{true, false} {
		for i, gone := range lines {
			gone, _, _ = strings.Cut(gone, "=")
			if whole && (strings.HasSuffix(gone, "/$state") || strings.HasPrefix(gone, "rtl_433/host/devices/")) {
				continue
			}
			r := store(t, append(append([]string(nil), lines[:i]...), lines[i+1:]...))
			r.Saw(nil, whole)
			for topic, w := range want {
				if g, ok := r.Reading([]byte(topic), scanEnd+300*hour); ok && g.Left && (w == 'L' || w == 'U') {
					t.Errorf("without %q, whole %v: %q: %q %q %+v", gone, whole, topic, g.Phrase, findingNames(g), g.Owner)
				}
			}
		}
	}
}
