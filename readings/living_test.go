package readings

// What a living owner still means is never called left behind: by no finding, in no order, at no moment of its start, and
// not after days of silence either.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	espNode = `homeassistant/sensor/node/t/config={"uniq_id":"n-t","stat_t":"node/sensor/t/state","avty_t":"node/status","dev":{"ids":"n","sw":"esphome v2026.1.0"}}`
	plug    = `homeassistant/switch/0xa/switch/config={"uniq_id":"0xa_switch","stat_t":"zigbee2mqtt/plug","cmd_t":"zigbee2mqtt/plug/set","avty":[{"t":"zigbee2mqtt/bridge/state","val_tpl":"{{ value_json.state }}"},{"t":"zigbee2mqtt/plug/availability","val_tpl":"{{ value_json.state }}"}],"avty_mode":"all","dev":{"ids":"zigbee2mqtt_0xa"},"o":{"name":"Zigbee2MQTT"}}`
)

// frigateStart is what Frigate publishes for one camera when it connects, in its order.
func frigateStart(camera string) []string {
	var out []string
	for _, f := range []string{"enabled", "recordings", "snapshots", "audio", "detect", "motion", "improve_contrast", "ptz_autotracker", "motion_threshold", "motion_contour_area", "birdseye"} {
		out = append(out, "frigate/"+camera+"/"+f+"/state=ON")
	}
	return out
}

// living are stores in which everybody lives, each in the order in which it is published.
func living() map[string][]string {
	both := func(version, node string) string {
		return strings.NewReplacer("NODE", node, "VERSION", version).Replace(`homeassistant/sensor/NODE/tag/config={"uniq_id":"NODE-tag","stat_t":"ble/NODE/tag","avty_t":"ble/NODE/status","dev":{"ids":"tag"},"o":{"name":"ble2mqtt","sw":"VERSION"}}`)
	}
	record := func(mac, version string) string {
		return fmt.Sprintf(`tasmota/discovery/%s/config={"t":"plug","ft":"%%prefix%%/%%topic%%/","tp":["cmnd","stat","tele"],"mac":"%s","sw":"%s","onln":"Online","ofln":"Offline"}`, mac, mac, version)
	}
	return map[string][]string{
		"a Frigate that starts":              append(append(frigateStart("yard"), frigateStart("door")...), "frigate/available=online"),
		"a camera that Frigate just got":     append(append([]string{"frigate/available=online"}, frigateStart("yard")...), "frigate/new/detect/state=ON", "frigate/new/motion/state=ON"),
		"a camera whose states were cleared": append(append([]string{"frigate/available=online"}, frigateStart("yard")...), frigateStart("door")[5:]...),
		"two versions that hear one tag":     {both("1.9", "hall"), both("1.10", "attic"), "ble/hall/tag=1", "ble/attic/tag=1", "ble/hall/status=online", "ble/attic/status=online"},
		"two plugs under one name":           {"tele/plug/LWT=Online", record("00AA", "12.1.0"), record("00AB", "14.6.0"), "stat/plug/POWER=ON"},
		"a newer board with older firmware":  {"tele/plug/LWT=Online", record("00AB", "14.6.0"), record("00AA", "12.1.0")},
		"a zigbee network that starts":       {z2mOnline, `zigbee2mqtt/bridge/devices=[{"friendly_name":"plug"}]`, `zigbee2mqtt/bridge/groups=[{"friendly_name":"all"}]`, `zigbee2mqtt/plug/availability={"state":"online"}`, plug, `zigbee2mqtt/all={"state":"ON"}`},
		"a network whose list is too large":  {z2mOnline, "zigbee2mqtt/bridge/devices=CUT", z2mGroups, `zigbee2mqtt/plug/availability={"state":"online"}`, plug},
		"an ESPHome node":                    {"node/status=online", "node/sensor/t/state=1", `esphome/discover/node={"mac":"aa","version":"1"}`, espNode},
		"a node without discovery":           {"node/status=online", "node/sensor/t/state=1", "node/switch/s/state=ON"},
		"somebody else below a node that is off": {"home/status=offline", strings.NewReplacer("node/", "home/", `"n"`, `"m"`).Replace(espNode), "home/kitchen/temperature=21",
			`homeassistant/sensor/k/config={"uniq_id":"k","stat_t":"home/sensor/kitchen","avty_t":"kitchen/lwt","dev":{"ids":"k"}}`, "home/sensor/kitchen=3", "kitchen/lwt=online"},
		"a mirror":                      {"homeassistant/status=online", "mirror/light/hall/state=on", "mirror/sensor/t/state=1", "mirror/sensor/t/unit=x"},
		"Homie 3 with arrays":           {"homie/d/$state=init", "homie/d/$homie=3.0.1", "homie/d/$name=D", "homie/d/$nodes=a,lights[]", "homie/d/lights/$array=0-1", "homie/d/lights_0/power=on", "homie/d/lights_0/$name=L", "homie/d/a/x=1", "homie/d/$state=ready"},
		"Homie 5":                       {"homie/5/d/$state=init", `homie/5/d/$description={"homie":"5.0","nodes":{"n":{}}}`, "homie/5/d/n/x=1", "homie/5/d/n/y=\x00", "homie/5/d/$state=ready"},
		"a Homie device that sleeps":    {"homie/d/$state=sleeping", "homie/d/$homie=4.0.0", "homie/d/$nodes=n", "homie/d/n/x=1"},
		"Tasmota, full topic turned":    {"fan/tele/LWT=Online", `tasmota/discovery/00AB/config={"t":"fan","ft":"%topic%/%prefix%/","tp":["cmnd","stat","tele"],"mac":"00AB","onln":"Online","ofln":"Offline"}`, "fan/stat/POWER=ON", "fan/tele/SENSOR={}"},
		"Tasmota, words and full topic": {`tasmota/discovery/00AB/config={"t":"fan","ft":"house/%topic%/%prefix%/","tp":["do","is","says"],"mac":"00AB","onln":"hier","ofln":"weg"}`, "house/fan/says/LWT=hier", "house/fan/is/POWER=ON"},
		"Shellies":                      {"shellies/s1/online=true", "shellies/s1/relay/0=on", "hall/online=true", `hall/status/switch:0={"output":true}`, "hall/events/rpc={}"},
		"a Shelly below a common prefix, which is off": {"home/online=false", `home/status/switch:0={"output":true}`, "home/kitchen/lamp=on"},
		"rtl_433 that retains":                         {"rtl_433/h/availability=online", "rtl_433/h/devices/M/1/temperature=3", "rtl_433/h/events={}"},
		"Sparkplug host":                               {`spBv1.0/STATE/scada={"online":true,"timestamp":1}`, "STATE/old=ONLINE"},
		"zwave":                                        {`zwave/_CLIENTS/ZWAVE_GATEWAY-a/status={"value":true}`, `zwave/node_1/status={"value":false}`, "zwave/node_1/37/0/currentValue=1"},
		"no availability at all": {`homeassistant/binary_sensor/door/config={"uniq_id":"d","stat_t":"rf/door"}`, `homeassistant/light/strip/config={"uniq_id":"s","cmd_t":"strip/set","stat_t":"strip/state"}`,
			"strip/state=ON"},
		"two devices that share a state":                     {`homeassistant/sensor/aa5/config={"uniq_id":"5","stat_t":"aa5/state","avty_t":"aa5/status","dev":{"ids":"five"}}`, `homeassistant/sensor/aa6/config={"uniq_id":"6","stat_t":"aa5/state","avty_t":"aa6/status","dev":{"ids":"six"}}`, "aa5/state=1", "aa5/status=offline", "aa6/status=online"},
		"an application that does not stamp a foreign topic": {`app/status={"status":"online","version":"1","uptime_s":4,"devices":{"a":{"status":"ok"}}}` + "\x00", "app/a/state=1\x00", "app/note=of somebody else"},
	}
}

// living values that a store may hold although all live: the end of a device is not that of its owner.
var notLiving = map[string]string{
	"somebody else below a node that is off":       "home/status home/sensor/t/state homeassistant/sensor/home/t/config homeassistant/sensor/node/t/config",
	"a Shelly below a common prefix, which is off": "home/online home/status/switch:0",
	"two devices that share a state":               "aa5/status homeassistant/sensor/aa5/config",
}

func livingFact(line string) Fact {
	topic, payload, _ := strings.Cut(line, "=")
	f := fact(topic, strings.TrimSuffix(payload, "\x00"))
	if f.Size < len(payload) { // stamped
		f.Interval = row{seconds: new(uint32(86400))}.fact(0).Interval
	}
	if payload == "CUT" {
		f.Payload, f.Size, f.Cut = []byte("[{"), 9<<20, true
	}
	return f
}

func TestWhatALivingOwnerMeansIsNeverLeftBehind(t *testing.T) {
	for name, lines := range living() {
		t.Run(name, func(t *testing.T) {
			// Every moment of its start, and then every order.
			for n := 1; n <= len(lines); n++ {
				stillMeant(t, name, lines[:n], fmt.Sprintf("after %d of %d topics", n, len(lines)))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				shuffled := append([]string(nil), lines...)
				rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
				stillMeant(t, name, shuffled, "in another order")
			}
		})
	}
}

func stillMeant(t *testing.T, name string, lines []string, when string) {
	t.Helper()
	for _, hours := range []int64{0, 2, 20} {
		r := newReader(t)
		for _, l := range lines {
			r.Put(livingFact(l))
		}
		r.Watched(scanEnd, scanEnd)
		for _, l := range lines {
			topic, _, _ := strings.Cut(l, "=")
			if strings.Contains(" "+notLiving[name]+" ", " "+topic+" ") {
				continue
			}
			if g, _ := r.Reading([]byte(topic), scanEnd+hours*hour); g.Left {
				t.Errorf("%s, %d h later: %q: %q %q\n%+v", when, hours, topic, g.Phrase, findingNames(g), g.Findings)
			}
		}
	}
}

// TestAStoreInPartProvesNoAbsence is a store of which some topics were not seen: by the filters, or lost on the way.
func TestAStoreInPartProvesNoAbsence(t *testing.T) {
	rows := house(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		r := newReader(t)
		for _, x := range rows {
			if rng.IntN(4) > 0 {
				r.Put(x.fact(scanEnd))
			}
		}
		r.Watched(scanEnd, scanEnd)
		r.Saw(nil, false)
		for _, x := range rows {
			if g, ok := r.Reading([]byte(x.topic), scanEnd+240*hour); ok && g.Left && wantOf(x).living {
				t.Errorf("%q of a living owner: %q %q", x.topic, g.Phrase, findingNames(g))
			}
		}
	}
	for _, filters := range [][]string{{"homeassistant/#"}, {"homeassistant/#", "zigbee2mqtt/+/availability"}, {"homie/+/+/#"}, {"+/+"}, {"frigate/+/detect/state", "frigate/+/motion/state", "frigate/available"}, {"homeassistant/sensor/#", "#"}} {
		r := newReader(t)
		for _, x := range rows {
			for _, f := range filters {
				if _, ok := matchFilter(f, x.topic); ok {
					r.Put(x.fact(scanEnd))
					break
				}
			}
		}
		r.Watched(scanEnd, scanEnd)
		r.Saw(filters, true)
		for _, x := range rows {
			g, ok := r.Reading([]byte(x.topic), scanEnd+240*hour)
			if ok && g.Left && wantOf(x).living {
				t.Errorf("%q: %q of a living owner: %q %q", filters, x.topic, g.Phrase, findingNames(g))
			}
			for _, f := range g.Findings {
				if f.Kind == NeverAvailable && f.Strength == Strong && filters[len(filters)-1] != "#" {
					t.Errorf("%q: %q: %s", filters, x.topic, f.Reason)
				}
			}
		}
	}
}

// TestADeviceThatIsHeardIsNotLeftBehind is a name that the owner's list does not have yet, and that speaks.
func TestADeviceThatIsHeardIsNotLeftBehind(t *testing.T) {
	r := store(t, []string{z2mOnline, z2mDevices, z2mGroups, `zigbee2mqtt/new/availability={"state":"online"}`, strings.ReplaceAll(plug, "zigbee2mqtt/plug", "zigbee2mqtt/new")})
	const topic, config = "zigbee2mqtt/new/availability", "homeassistant/switch/0xa/switch/config"
	drain(r, scanEnd)
	for _, x := range []string{topic, config} {
		if g, _ := r.Reading([]byte(x), scanEnd); !g.Left {
			t.Errorf("before: %+v", g)
		}
	}
	r.Heard([]byte("zigbee2mqtt/new"), scanEnd+second) // its state, which is not retained
	if told := drain(r, scanEnd+2*second); !told[topic] || !told[config] {
		t.Errorf("it spoke and nobody was told: %v", told)
	}
	for _, x := range []string{topic, config} {
		if g, _ := r.Reading([]byte(x), scanEnd+2*second); g.Left {
			t.Errorf("it speaks: %+v", g)
		}
	}
	if told := drain(r, scanEnd+2*hour); !told[topic] {
		t.Error("an hour passed and nobody was told")
	}
	if g, _ := r.Reading([]byte(topic), scanEnd+2*hour); !g.Left {
		t.Errorf("an hour of silence: %+v", g)
	}
}

// TestACameraThatIsHeardIsNotLeftBehind is a camera that lacks states, for days, and of which something is heard.
func TestACameraThatIsHeardIsNotLeftBehind(t *testing.T) {
	lines := append(append([]string{"frigate/available=online"}, frigateStart("yard")...), "frigate/door/detect/state=ON")
	r := store(t, lines)
	const topic = "frigate/door/detect/state"
	drain(r, scanEnd)
	at := scanEnd + 25*hour
	if told := drain(r, at); !told[topic] {
		t.Error("a day passed and nobody was told")
	}
	if g, _ := r.Reading([]byte(topic), at); !g.Left || g.Phrase != "left behind: lacks what its owner publishes" {
		t.Errorf("a day of silence: %+v", g)
	}
	r.Heard([]byte("frigate/door/person"), at)
	if told := drain(r, at+second); !told[topic] {
		t.Error("it spoke and nobody was told")
	}
	if g, _ := r.Reading([]byte(topic), at+second); g.Left {
		t.Errorf("it speaks: %+v", g)
	}
}
