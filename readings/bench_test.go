package readings

// What reading a large house costs: 100 000 topics, 30 000 of them discovery configs.

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"retainscope/expiry"
)

// largeHouse makes about n topics: a zigbee2mqtt with many devices, ESPHome nodes, and plain values nobody describes.
func largeHouse(n int, withConfigs bool) []Fact {
	var out []Fact
	put := func(payload, format string, a ...any) {
		out = append(out, Fact{
			Topic: fmt.Appendf(nil, format, a...), Payload: []byte(payload), Size: len(payload), Interval: expiry.None(), ReceivedAt: scanEnd,
		})
	}
	config := func(payload, format string, a ...any) {
		if withConfigs {
			put(payload, format, a...)
		}
	}
	devices, nodes := n*4/100, n*14/1000
	list := "["
	for i := range devices {
		name := fmt.Sprintf("room%d/thing_%d", i%50, i)
		ieee := fmt.Sprintf("0x%016x", i)
		list += fmt.Sprintf(`%s{"ieee_address":"%s","type":"EndDevice","friendly_name":"%s"}`, map[bool]string{true: "", false: ","}[i == 0], ieee, name)
		put(`{"state":"online"}`, "zigbee2mqtt/%s/availability", name)
		if i%2 == 0 {
			put(`{"temperature":21.5,"humidity":40,"linkquality":96}`, "zigbee2mqtt/%s", name)
		}
		for _, k := range []string{"temperature", "humidity", "battery", "linkquality"} {
			config(fmt.Sprintf(`{"availability":[{"topic":"zigbee2mqtt/bridge/state","value_template":"{{ value_json.state }}"},{"topic":"zigbee2mqtt/%s/availability","value_template":"{{ value_json.state }}"}],"availability_mode":"all","device":{"identifiers":["zigbee2mqtt_%s"],"manufacturer":"SampleCo","model":"TH-4","name":"%s","via_device":"zigbee2mqtt_bridge_0x0"},"device_class":"%s","enabled_by_default":true,"object_id":"%s_%s","origin":{"name":"Zigbee2MQTT","sw":"2.12.1","url":"https://www.zigbee2mqtt.io"},"state_class":"measurement","state_topic":"zigbee2mqtt/%s","unique_id":"%s_%s_zigbee2mqtt","unit_of_measurement":"x","value_template":"{{ value_json.%s }}"}`,
				name, ieee, name, k, name, k, name, ieee, k, k), "homeassistant/sensor/%s/%s/config", ieee, k)
		}
	}
	put(list+"]", "zigbee2mqtt/bridge/devices")
	put(`{"state":"online"}`, "zigbee2mqtt/bridge/state")
	for i := range nodes {
		node := fmt.Sprintf("esp-node-%d", i)
		mac := fmt.Sprintf("%012x", i)
		put("online", "%s/status", node)
		put(fmt.Sprintf(`{"ip":"192.0.2.1","name":"%s","mac":"%s","version":"2026.10.1"}`, node, mac), "esphome/discover/%s", node)
		for k := range 10 {
			put("12.5", "%s/sensor/s%d/state", node, k)
			config(fmt.Sprintf(`{"name":"s%d","avty_t":"%s/status","uniq_id":"%s-sensor-%d","stat_t":"~/state","~":"%s/sensor/s%d","dev":{"ids":"%s","name":"%s","sw":"esphome v2026.10.1","mdl":"esp32dev","mf":"espressif"}}`,
				k, node, mac, k, node, k, mac, node), "homeassistant/sensor/%s/s%d/config", node, k)
		}
	}
	for i := 0; len(out) < n; i++ {
		put("3.14", "plant/line%d/machine%d/value%d", i%20, i%400, i)
	}
	return out
}

func fill100k(b testing.TB, facts []Fact) *Reader {
	r := newReader(b)
	for i := range facts {
		r.Put(facts[i])
	}
	r.Watched(scanEnd, scanEnd)
	return r
}

func BenchmarkFirstReading(b *testing.B) {
	facts := largeHouse(100_000, true)
	r := fill100k(b, facts)
	b.Logf("%+v", r.Counts())
	b.ResetTimer()
	for range b.N {
		r := fill100k(b, facts)
		r.Groups(scanEnd)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(facts)), "ns/topic")
}

func BenchmarkGroups(b *testing.B) {
	r := fill100k(b, largeHouse(100_000, true))
	r.Groups(scanEnd)
	b.ResetTimer()
	for range b.N {
		r.Groups(scanEnd)
	}
}

// BenchmarkUpdate puts one changed fact and asks what it touched.
func BenchmarkUpdate(b *testing.B) {
	facts := largeHouse(100_000, true)
	r := fill100k(b, facts)
	drain(r, scanEnd)
	index := map[string]Fact{}
	for _, f := range facts {
		index[string(f.Topic)] = f
	}
	for _, u := range []struct{ name, topic, one, two string }{
		{"plain value", "plant/line7/machine7/value7", "3.15", "3.16"},
		{"state named by four configs", "zigbee2mqtt/room2/thing_102", `{"temperature":21.6,"linkquality":90}`, `{"temperature":21.7,"linkquality":91}`},
		{"device goes offline", "zigbee2mqtt/room2/thing_102/availability", `{"state":"offline"}`, `{"state":"online"}`},
		{"node goes offline", "esp-node-77/status", "offline", "online"},
		{"config changes", "homeassistant/sensor/esp-node-77/s3/config", "", ""},
		{"config again", "homeassistant/sensor/esp-node-78/s3/config", "same", ""},
		{"bridge goes offline, 22 000 topics", "zigbee2mqtt/bridge/state", `{"state":"offline"}`, `{"state":"online"}`},
	} {
		b.Run(u.name, func(b *testing.B) {
			f, ok := index[u.topic]
			if !ok {
				b.Fatalf("no topic %q", u.topic)
			}
			one, two := []byte(u.one), []byte(u.two)
			switch u.one {
			case "":
				one = slices.Concat(f.Payload[:len(f.Payload)-1], []byte(`,"icon":"a"}`))
				two = slices.Concat(f.Payload[:len(f.Payload)-1], []byte(`,"icon":"b"}`))
			case "same":
				one, two = f.Payload, f.Payload
			}
			var dst [][]byte
			took := make([]time.Duration, 0, b.N)
			b.ResetTimer()
			for i := range b.N {
				f.Payload = one
				if i%2 == 1 {
					f.Payload = two
				}
				f.Size = len(f.Payload)
				f.ReceivedAt++
				start := time.Now()
				r.Put(f)
				more := true
				for more {
					dst, more = r.Touched(dst[:0], scanEnd)
				}
				took = append(took, time.Since(start))
			}
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
		})
	}
}

func BenchmarkReading(b *testing.B) {
	r := fill100k(b, largeHouse(100_000, true))
	r.Groups(scanEnd)
	topic := []byte("homeassistant/sensor/esp-node-77/s3/config")
	b.Run("full", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r.Reading(topic, scanEnd)
		}
	})
	b.Run("brief", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r.Brief(topic, scanEnd)
		}
	})
}

// BenchmarkMemory reports what one config costs, and one topic that is none.
func BenchmarkMemory(b *testing.B) {
	measure := func(facts []Fact) (bytes uint64) {
		runtime.GC()
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := fill100k(b, facts)
		r.Groups(scanEnd)
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(r)
		return after.HeapAlloc - before.HeapAlloc
	}
	with, plain := largeHouse(100_000, true), largeHouse(100_000, false)
	without := slices.DeleteFunc(slices.Clone(with), func(f Fact) bool { return len(f.Topic) > 14 && string(f.Topic[:14]) == "homeassistant/" })
	configs := len(with) - len(without)
	for range b.N {
		all, rest, bare := measure(with), measure(without), measure(plain)
		b.ReportMetric(float64(all-rest)/float64(configs), "B/config")
		b.ReportMetric(float64(bare)/float64(len(plain)), "B/topic")
		b.ReportMetric(float64(all)/1e6, "MB/house")
	}
}
