package readings

// The house under other names, in other spellings, with owners that go and come back: same readings.

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
)

// renamed returns the rows with words replaced in topics and payloads.
func renamed(rows []row, pairs ...string) []row {
	put := strings.NewReplacer(pairs...)
	out := slices.Clone(rows)
	for i := range out {
		out[i].was = out[i].topic
		out[i].topic = put.Replace(out[i].topic)
		if !strings.HasPrefix(out[i].payload, "\xff") {
			out[i].payload = put.Replace(out[i].payload)
		}
	}
	return out
}

func TestOtherNamesReadTheSame(t *testing.T) {
	rows := house(t)
	for name, pairs := range map[string][]string{
		"other applications and devices": {
			"gas2mqtt", "boiler", "caldates2mqtt", "agenda", "birthday", "anniversaries", "garbage", "bins", "airthings_edge01", "cellar_new",
			"airthings2mqtt-upper", "radon/floor1", "airthings2mqtt", "radonapp", "airthings", "cellar", "velux2mqtt", "roof", "cover_device", "phantom",
			"jeelink2mqtt", "jee", "suncast", "sky", "wallpanel2mqtt", "kiosk", "vito2mqtt", "heat-pump", "wiz2mqtt_a", "lamps_one", "wiz2mqtt-a", "lamps-one",
			"wiz2mqtt_b", "lamps_two", "wiz2mqtt-b", "lamps-two", "wiz2mqtt", "lamps",
		},
		"other identifiers": {
			"cosalette_", "app_", "0x00005e00530000", "0xa4c13800000000", "zigbee2mqtt_0x", "bridge_0x", "00005E0053", "A4CF12BB00", "00005e0053", "a4cf12bb00",
			"zwavejs2mqtt_0x00000000", "home_1234abcd",
		},
		"other base topics": {
			"zigbee2mqtt-garage", "site/b/mesh", "zigbee2mqtt/", "site/a/mesh/", `"base_topic":"zigbee2mqtt"`, `"base_topic":"site/a/mesh"`,
			"zwave/", "wave/one/", "frigate/", "cctv/north/", "valetudo/", "robots/", "statestream/", "mirror/ha/", "rtl_433/sample", "radio/868",
			"esp-garden", "garden-node", "esp-shed", "shed-node", "tas_pump", "well_pump", "tas_heater_old", "stove_old", "homie/5/", "conv/5/", "homie/th01", "homie/th02",
			"shellyplus1-00005e005351", "hall/relay",
		},
		"another discovery prefix": {"homeassistant/sensor/", "disco/ha/sensor/", "homeassistant/binary_sensor/", "disco/ha/binary_sensor/",
			"homeassistant/switch/", "disco/ha/switch/", "homeassistant/cover/", "disco/ha/cover/", "homeassistant/light/", "disco/ha/light/",
			"homeassistant/vacuum/", "disco/ha/vacuum/", "homeassistant/number/", "disco/ha/number/", "homeassistant/climate/", "disco/ha/climate/",
			"homeassistant/device/", "disco/ha/device/"},
	} {
		t.Run(name, func(t *testing.T) {
			other := renamed(rows, pairs...)
			r := load(t, other, scanEnd)
			c := check(t, r, other, scanEnd+second, left)
			t.Log(c.String())
		})
	}
}

// respelled returns the rows with every discovery config written in the other way: long keys where it had short ones,
// short ones where it had long ones, other order of keys, and "~" for a common beginning.
func respelled(t *testing.T, rows []row) []row {
	short := map[string]string{
		"availability": "avty", "availability_topic": "avty_t", "availability_mode": "avty_mode", "payload_available": "pl_avail",
		"payload_not_available": "pl_not_avail", "components": "cmps", "device": "dev", "origin": "o", "platform": "p",
		"unique_id": "uniq_id", "value_template": "val_tpl", "device_class": "dev_cla", "state_topic": "stat_t", "command_topic": "cmd_t",
		"topic": "t", "identifiers": "ids", "manufacturer": "mf", "sw_version": "sw", "json_attributes_topic": "json_attr_t",
		"set_fan_speed_topic": "set_fan_spd_t", "temperature_command_topic": "temp_cmd_t", "temperature_state_topic": "temp_stat_t",
		"current_temperature_topic": "curr_temp_t", "expire_after": "exp_aft", "migrate_discovery": "migr_discvry",
	}
	long := map[string]string{}
	for k, v := range short {
		long[v] = k
	}
	var turn func(v any, table map[string]string, inDevice bool) any
	turn = func(v any, table map[string]string, inDevice bool) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for k, e := range v {
				key := k
				if to, ok := table[k]; ok {
					key = to
				}
				out[key] = turn(e, table, k == "device" || k == "dev")
			}
			return out
		case []any:
			for i := range v {
				v[i] = turn(v[i], table, inDevice)
			}
			return v
		default:
			return v
		}
	}
	out := slices.Clone(rows)
	for i, x := range out {
		if !strings.HasPrefix(x.topic, "homeassistant/") || !strings.HasSuffix(x.topic, "/config") {
			continue
		}
		var v map[string]any
		if json.Unmarshal([]byte(x.payload), &v) != nil {
			continue
		}
		table := short
		if _, ok := v["uniq_id"]; ok || v["cmps"] != nil {
			table = long
		}
		_, base := v["~"]
		v = turn(v, table, false).(map[string]any)
		if st, ok := v["stat_t"].(string); ok && !base {
			if at := strings.IndexByte(st, '/'); at > 0 {
				v["~"] = st[:at]
				for k, e := range v {
					if s, ok := e.(string); ok && (strings.HasSuffix(k, "_t")) && strings.HasPrefix(s, st[:at]+"/") {
						v[k] = "~" + s[at:]
					}
				}
				if list, ok := v["avty"].([]any); ok {
					for _, e := range list {
						m := e.(map[string]any)
						if s := m["t"].(string); strings.HasPrefix(s, st[:at]+"/") {
							m["t"] = "~" + s[at:]
						}
					}
				}
			}
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(i%2 == 0)
		e.SetIndent("", strings.Repeat(" ", i%3))
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		out[i].payload = b.String()
	}
	return out
}

func TestShortAndLongKeysReadTheSame(t *testing.T) {
	rows := house(t)
	other := respelled(t, rows)
	changed := 0
	for i := range rows {
		if rows[i].payload != other[i].payload {
			changed++
		}
	}
	if changed < 80 {
		t.Fatalf("only %d configs were written otherwise", changed)
	}
	r := load(t, other, scanEnd)
	c := check(t, r, other, scanEnd+second, left)
	t.Log(c.String())
}

// offlines are the owners of the house with what their liveness topic holds when they go.
var offlines = map[string]string{
	"gas2mqtt/status": "offline", "jeelink2mqtt/status": "offline", "zigbee2mqtt/bridge/state": `{"state":"offline"}`,
	"tele/tas_washer/LWT": "Offline", "tas_fan/tele/LWT": "Offline", "esp-garden/status": "offline", "homie/th01/$state": "lost",
	"homie/5/bridge1/$state": "lost", "valetudo/RobotSample/$state": "lost", "frigate/available": "offline",
	"zwave/_CLIENTS/ZWAVE_GATEWAY-sample/status": `{"value":false,"time":1796018400001}`, "shellyplus1-00005e005351/online": "false",
	"shellies/shelly1-005352/online": "false", "spBv1.0/STATE/host_sample": `{"online":false,"timestamp":1}`, "heatmeter/status": "offline",
	"homeassistant/status": "offline",
}

func TestAnOwnerThatGoesAndComesBackReadsAsBefore(t *testing.T) {
	rows := house(t)
	byTopic := map[string]row{}
	for _, x := range rows {
		byTopic[x.topic] = x
	}
	r := load(t, rows, scanEnd)
	drain(r, scanEnd)
	before := map[string]Reading{}
	for _, x := range rows {
		before[x.topic], _ = r.Reading([]byte(x.topic), scanEnd+second)
	}
	groups := r.Groups(scanEnd + second)
	for _, live := range slices.Sorted(maps.Keys(offlines)) {
		x := byTopic[live]
		x.payload = offlines[live]
		r.Put(x.fact(scanEnd))
		told := drain(r, scanEnd+second)
		gone := 0
		for _, x := range rows {
			was := before[x.topic]
			now, _ := r.Reading([]byte(x.topic), scanEnd+second)
			if was.Liveness.Source == live && was.Liveness.State == Alive {
				gone++
				if now.Liveness.State != Offline {
					t.Errorf("%s went and %q is %v: %+v", live, x.topic, now.Liveness.State, now.Liveness)
				}
				if !told[x.topic] {
					t.Errorf("%s went and nobody was told of %q", live, x.topic)
				}
				if wantLeft := x.seconds == nil; now.Left != wantLeft && !now.Hazard {
					t.Errorf("%s went and %q: left behind %v, want %v, %q", live, x.topic, now.Left, wantLeft, now.Phrase)
				}
			}
		}
		if gone == 0 {
			t.Errorf("nothing followed %s", live)
		}
		r.Put(byTopic[live].fact(scanEnd))
		drain(r, scanEnd+second)
		for _, x := range rows {
			if now, _ := r.Reading([]byte(x.topic), scanEnd+second); !reflect.DeepEqual(now, before[x.topic]) {
				t.Fatalf("%s came back and %q reads otherwise\n got %+v\n was %+v", live, x.topic, now, before[x.topic])
			}
		}
		if now := r.Groups(scanEnd + second); !reflect.DeepEqual(now, groups) {
			t.Fatalf("%s came back and the groups differ", live)
		}
	}
}

func TestAnOwnerSeenToGoHasAnHourToComeBack(t *testing.T) {
	rows := house(t)
	r := load(t, rows, scanEnd)
	drain(r, scanEnd)
	went := scanEnd + 10*60*second
	r.Put(Fact{Topic: []byte("esp-garden/status"), Payload: []byte("offline"), Size: 7, Interval: rows[0].fact(0).Interval, ReceivedAt: went, LastLive: went, LiveCount: 1})
	r.Put(Fact{Topic: []byte("esp-garden/status"), Payload: []byte("offline"), Size: 7, ReceivedAt: went, LastLive: went, Interval: never(), LiveCount: 1})
	state := []byte("esp-garden/sensor/soil/state")
	if g, _ := r.Reading(state, went+second); g.Left || g.Liveness.State != Offline || g.Phrase != "never expires, owner offline" {
		t.Errorf("a second later: %+v", g)
	}
	drain(r, went+second)
	if told := drain(r, went+3599*second); told[string(state)] {
		t.Error("told too early")
	}
	if told := drain(r, went+3601*second); !told[string(state)] {
		t.Error("time passed and nobody was told")
	}
	if g, _ := r.Reading(state, went+3601*second); !g.Left || g.Phrase != "left behind: owner offline" {
		t.Errorf("an hour later: %+v", g)
	}
	// Published since: somebody is there whatever the liveness topic says.
	r.Put(Fact{Topic: state, Payload: []byte("32"), Size: 2, Interval: never(), ReceivedAt: went + 3700*second, LastLive: went + 3700*second})
	if g, _ := r.Reading(state, went+3701*second); g.Left {
		t.Errorf("it was published after its owner went: %+v", g)
	}
}

// TestAnOwnerThatSleepsIsNotLeftBehind is a sensor that wakes every two hours and says offline whenever it sleeps again.
func TestAnOwnerThatSleepsIsNotLeftBehind(t *testing.T) {
	const turn = 2 * hour
	r := store(t, []string{espNode, "node/sensor/t/state=1", "node/sensor/name/state=x"})
	live := func(topic, payload string, at int64, count uint32) {
		f := fact(topic, payload)
		f.ReceivedAt, f.LastLive, f.FirstSeen, f.LiveCount = at, at, scanEnd, count
		r.Put(f)
	}
	at := scanEnd
	for n := range uint32(6) {
		live("node/status", "online", at, 2*n+1)
		live("node/sensor/t/state", "1", at+second, n+1)
		live("node/status", "offline", at+20*second, 2*n+2)
		at += turn
		if n == 0 {
			continue // nothing is known of its turns yet
		}
		for _, topic := range []string{"node/status", "node/sensor/t/state", "node/sensor/name/state", "homeassistant/sensor/node/t/config"} {
			if g, _ := r.Reading([]byte(topic), at-second); g.Left || g.Liveness.State != Offline {
				t.Errorf("turn %d, about to wake: %s: %q", n, topic, g.Phrase)
			}
		}
	}
	if g, _ := r.Reading([]byte("node/sensor/name/state"), at+25*hour); !g.Left {
		t.Errorf("it does not wake any more: %+v", g)
	}
}

// Over MQTT 3.1.1 no expiry is seen: what an offline owner left may go by itself, so nothing that needs to know is claimed.
func TestWithoutExpiryOnTheWireAnOfflineOwnersTopicsWereCalledLeftBehind(t *testing.T) {
	known := load(t, house(t), scanEnd)
	hidden := house(t)
	blind := newReader(t)
	for i := range hidden {
		f := hidden[i].fact(scanEnd)
		f.Interval = expiry.NotKnown()
		blind.Put(f)
	}
	blind.Watched(scanEnd, scanEnd)
	claimed, offline := 0, 0
	for i := range hidden {
		topic := hidden[i].fact(scanEnd).Topic
		with, _ := known.Reading(topic, scanEnd)
		without, _ := blind.Reading(topic, scanEnd)
		if without.Left && !with.Left {
			t.Errorf("%s: %q without expiry, %q with it", topic, without.Phrase, with.Phrase)
		}
		if without.Left {
			claimed++
		}
		for _, f := range without.Findings {
			if f.Kind == OwnerOffline {
				offline++
				if without.Left || !strings.Contains(f.Reason, "cannot be told") {
					t.Errorf("%s: left %v, %q", topic, without.Left, f.Reason)
				}
			}
		}
	}
	if claimed == 0 || offline == 0 {
		t.Errorf("%d left behind, %d with an offline owner", claimed, offline)
	}
}

func TestATopicThatWasPublishedAndIsNotCalledLeftBehindSaysSo(t *testing.T) {
	const app = `app/status={"status":"online","version":"1","devices":{"a":{"status":"ok"}}}`
	r := store(t, []string{app, "app/b/availability=online", "app/b/state=1"})
	sibling, spoke := []byte("app/b/state"), scanEnd+second
	if g, _ := r.Reading(sibling, spoke); !g.Left || g.Spared != "" {
		t.Fatalf("before: %+v", g)
	}
	f := fact("app/b/availability", "online")
	f.ReceivedAt, f.LastLive, f.LiveCount = spoke, spoke, 1
	r.Put(f)
	now := spoke + 300*second
	want := "not called left behind (unknown-name) for another 55m: app/b/availability was published live 5m ago, at " +
		time.UnixMilli(spoke).UTC().Format("2006-01-02 15:04:05Z")
	for _, topic := range []string{"app/b/availability", string(sibling)} {
		if g, _ := r.Reading([]byte(topic), now); g.Left || g.Spared != want {
			t.Errorf("%s: left %t, %q, want %q", topic, g.Left, g.Spared, want)
		}
	}
	if g, _ := r.Reading([]byte("app/status"), now); g.Spared != "" {
		t.Errorf("nothing speaks against it: %q", g.Spared)
	}
	if g, _ := r.Reading(sibling, spoke+3601*second); !g.Left || g.Spared != "" {
		t.Errorf("an hour later: %+v", g)
	}
}
