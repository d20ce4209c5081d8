package readings

// Payloads and stores that somebody made to hurt: no panic, and time in proportion to what is there.

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
)

// hang is longer than a slow machine takes for anything here: what takes longer takes the square of what is there.
const hang = 2 * time.Minute

// quickest returns the shortest of three runs.
func quickest(f func()) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// growsInProportion runs f for n and for 4n and fails where the time grows as the square, every time it is tried: others
// use the machine too. A square makes 16 of it.
func growsInProportion(t *testing.T, n int, prepare func(n int) func()) {
	t.Helper()
	var small, large time.Duration
	for range 12 {
		small, large = quickest(prepare(n)), quickest(prepare(4*n))
		if large <= 10*small+20*time.Millisecond {
			t.Logf("%d: %v, %d: %v", n, small, 4*n, large)
			return
		}
	}
	t.Errorf("%d took %v, four times as much %v", n, small, large)
}

func fact(topic, payload string) Fact {
	return Fact{Topic: []byte(topic), Payload: []byte(payload), Size: len(payload), Interval: expiry.None(), ReceivedAt: scanEnd}
}

// all puts the facts into a new reader, reads everything, changes the last fact and takes the first away.
func all(t *testing.T, facts []Fact) func() {
	return func() {
		r := newReader(t)
		for _, f := range facts {
			r.Put(f)
		}
		r.Watched(scanEnd, scanEnd)
		r.Groups(scanEnd)
		last := facts[len(facts)-1]
		last.Payload = append(bytes.Clone(last.Payload), ' ')
		last.Size++
		r.Put(last)
		drain(r, scanEnd)
		r.Remove(facts[0].Topic)
		drain(r, scanEnd)
		r.Reading(last.Topic, scanEnd)
	}
}

func TestTimeGrowsInProportion(t *testing.T) {
	many := func(topic, payload func(i int) string) func(int) func() {
		return func(n int) func() {
			facts := make([]Fact, 0, n)
			for i := range n {
				facts = append(facts, fact(topic(i), payload(i)))
			}
			return all(t, facts)
		}
	}
	object := func(i int) string { return fmt.Sprintf("homeassistant/sensor/o%06d/config", i) }
	for name, prepare := range map[string]func(int) func(){
		"configs of one device": many(object, func(i int) string {
			return fmt.Sprintf(`{"unique_id":"u%d","state_topic":"s/%d","availability_topic":"a/%d","device":{"identifiers":["one"]}}`, i, i, i)
		}),
		"configs with one unique id":  many(object, func(i int) string { return fmt.Sprintf(`{"unique_id":"one","state_topic":"s/%d"}`, i) }),
		"configs that name one topic": many(object, func(int) string { return `{"state_topic":"one","availability_topic":"one/status"}` }),
		"names that look like one":    many(func(i int) string { return "look" + strings.Repeat("\u200b", i%200) + strings.Repeat("\u200c", i/200) }, func(int) string { return "x" }),
		"states of one device form": func(n int) func() {
			var b strings.Builder
			b.WriteString(`{"dev":{"ids":"one"},"avty_t":"one/status","cmps":{`)
			facts := []Fact{fact("one/status", "online")}
			for i := range n {
				if i > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, `"c%d":{"p":"sensor","uniq_id":"u%d","stat_t":"one/%d"}`, i, i, i)
				facts = append(facts, fact(fmt.Sprintf("one/%d", i), "1"))
			}
			b.WriteString("}}")
			return all(t, append(facts, fact("homeassistant/device/one/config", b.String())))
		},
		"cameras": many(func(i int) string {
			return fmt.Sprintf("frigate/cam%d/%s/state", i/4, []string{"detect", "motion", "recordings", "snapshots"}[i%4])
		}, func(int) string { return "ON" }),
		"topics of a camera that lacks states": func(n int) func() {
			facts := []Fact{fact("frigate/available", "online"), fact("frigate/new/detect/state", "ON")}
			for _, l := range frigateStart("yard") {
				facts = append(facts, livingFact(l))
			}
			for i := range n {
				facts = append(facts, fact(fmt.Sprintf("frigate/new/t%d", i), "1"))
			}
			return all(t, facts)
		},
		"boards with one address": many(func(i int) string { return fmt.Sprintf("esphome/discover/n%d", i) }, func(int) string { return `{"mac":"00","version":"1"}` }),
		"records with one topic": many(func(i int) string { return fmt.Sprintf("tasmota/discovery/%012X/config", i) },
			func(i int) string {
				return fmt.Sprintf(`{"t":"one","ft":"%%prefix%%/%%topic%%/","mac":"%012X","sw":"1.%d"}`, i, i)
			}),
		"gateways of one prefix":         many(func(i int) string { return fmt.Sprintf("zwave/_CLIENTS/ZWAVE_GATEWAY-%d/status", i) }, func(int) string { return `{"value":true}` }),
		"attributes of one Homie device": many(func(i int) string { return fmt.Sprintf("homie/one/n%d/$name", i) }, func(int) string { return "x" }),
		"children of one Homie root":     many(func(i int) string { return fmt.Sprintf("homie/5/d%d/$description", i) }, func(int) string { return `{"homie":"5.0","root":"one","nodes":{}}` }),
	} {
		t.Run(name, func(t *testing.T) { growsInProportion(t, 1500, prepare) })
	}
	t.Run("members of a list", func(t *testing.T) {
		growsInProportion(t, 8_000, func(n int) func() {
			p := "[" + strings.Repeat(`{"friendly_name":"a/b/c"},`, n) + `{"friendly_name":"x"}]`
			return all(t, []Fact{fact("z/bridge/state", `{"state":"online"}`), fact("z/bridge/devices", p), fact("z/q", "1")})
		})
	})
	t.Run("members of a payload", func(t *testing.T) {
		growsInProportion(t, 50_000, func(n int) func() {
			return all(t, []Fact{fact("homeassistant/sensor/x/config", "{"+strings.Repeat(`"state_class":"x","a":"b",`, n)+`"z":1}`)})
		})
	})
	t.Run("nesting", func(t *testing.T) {
		growsInProportion(t, 150_000, func(n int) func() {
			deep := strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2)
			return all(t, []Fact{fact("homeassistant/sensor/x/config", deep), fact("a/status", deep), fact("tasmota/discovery/x/config", deep)})
		})
	})
	t.Run("levels", func(t *testing.T) {
		growsInProportion(t, 15_000, func(n int) func() {
			return all(t, []Fact{fact(strings.Repeat("/", n), "x"), fact(strings.Repeat("a/", n), "x"), fact("homie/"+strings.Repeat("$/", n), "x"), fact("z/bridge/state", `{"state":"online"}`), fact("z/bridge/devices", `[]`), fact("z/"+strings.Repeat("a/", n), "1")})
		})
	})
}

func TestAnUnreadableConfigIsSaidToBeOne(t *testing.T) {
	for name, payload := range map[string]string{
		"deeper than Home Assistant reads": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		"ends early":                       `{"name":"x"`,
		"a list":                           `[1]`,
		"a word":                           `online`,
		"not UTF-8":                        "{\"name\":\"\xc3(\"}",
		"blank":                            "  ",
	} {
		r := newReader(t)
		r.Put(fact("homeassistant/sensor/x/config", payload))
		g, _ := r.Reading([]byte("homeassistant/sensor/x/config"), scanEnd)
		if !g.Left || findingNames(g)[0] != "invalid-json strong" {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

func TestAPayloadThatIsNotWholeProvesNothing(t *testing.T) {
	r := newReader(t)
	for _, f := range []Fact{
		fact("homeassistant/sensor/x/config", `{"name":"x"`), fact("z/bridge/state", `{"state":"online"}`),
		fact("z/bridge/devices", `[{"friendly_name":"a"}`), fact("z/b", "1"), fact("app/status", `{"status":"online","version":"1","devices":{"a":{"status":"ok"}`),
		fact("app/b/state", "1"),
	} {
		if len(f.Payload) > 20 || f.Payload[0] == '{' && !strings.HasSuffix(string(f.Payload), "}") {
			f.Cut, f.Size = true, 1<<20
		}
		r.Put(f)
	}
	if g := r.Groups(scanEnd); len(g) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestAConfigOfFiveMegabytesIsRead(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"dev":{"ids":["big"]},"o":{"name":"big"},"cmps":{`)
	for i := range 10_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"c%d":{"p":"sensor","uniq_id":"u%d","stat_t":"big/%d","avty":[{"t":"big/status"},{"t":"big/%d/availability"}],"avty_mode":"all","note":"%s"}`, i, i, i, i, strings.Repeat("n", 400))
	}
	b.WriteString(`}}`)
	payload := b.String()
	if len(payload) < 5<<20 {
		t.Fatalf("%d bytes", len(payload))
	}
	r := newReader(t)
	start := time.Now()
	r.Put(fact("homeassistant/device/big/config", payload))
	r.Put(fact("big/status", "online"))
	g, _ := r.Reading([]byte("homeassistant/device/big/config"), scanEnd)
	took := time.Since(start)
	t.Logf("%v for %d bytes", took, len(payload))
	if took > hang {
		t.Errorf("took %v", took)
	}
	if r.Counts().Components != 10_000 || g.RefsTotal != 10_000+1+10_000 || len(g.Refs) != MaxReferences {
		t.Errorf("%+v refs %d %d", r.Counts(), g.RefsTotal, len(g.Refs))
	}
}

// TestAConfigTooLargeToKeepIsSaidToBeOne: it is no reason to call anything left behind, and says why it was not read.
func TestAConfigTooLargeToKeepIsSaidToBeOne(t *testing.T) {
	const topic = "homeassistant/device/big/config"
	old := strings.NewReplacer("new", "old", "1.10", "1.9")
	single := `homeassistant/sensor/new/config={"uniq_id":"new","stat_t":"new/t","avty_t":"new/st","dev":{"ids":"d"},"o":{"name":"p","sw":"1.10"}}`
	lines := []string{single, old.Replace(single), "old/t=1", "new/t=1", "new/st=online",
		`homeassistant/sensor/gone/config={"uniq_id":"g","stat_t":"gone/t","avty_t":"gone/st"}`, "gone/t=1", "gone/st=offline"}
	r := store(t, lines)
	drain(r, scanEnd)
	for _, x := range []string{"old/t", "gone/t"} {
		if g, _ := r.Reading([]byte(x), scanEnd); !g.Left {
			t.Fatalf("%s: %+v", x, g)
		}
	}
	big := fact(topic, `{"dev":{"ids":"x"},"cmps":{"a":{"p":"sensor","stat_t":"old/t"`)
	big.Cut, big.Size = true, 20<<20
	r.Put(big)
	told := drain(r, scanEnd)
	g, _ := r.Reading([]byte(topic), scanEnd+240*hour)
	if g.Left || g.Phrase != "too large to be read here" || g.Findings[0].Kind != TooLarge || !strings.Contains(g.Findings[0].Reason, "20971520 bytes, 61 kept") {
		t.Errorf("%+v", g)
	}
	if g.Liveness.State != Unknown || g.Liveness.Note != "the config is too large to be read here, so what it waits for is not known" {
		t.Errorf("%+v", g.Liveness)
	}
	for _, x := range []string{"old/t", "gone/t"} {
		if g, _ := r.Reading([]byte(x), scanEnd+240*hour); g.Left || !told[x] {
			t.Errorf("%s may be named by what was not read: told %v, %+v", x, told[x], g)
		}
	}
	r.Remove([]byte(topic))
	if told := drain(r, scanEnd); !told["old/t"] || !told["gone/t"] {
		t.Errorf("it went and nobody was told: %v", told)
	}
}

// TestAConfigThatNamesTooMuchIsNotRead is sixteen megabytes of the shortest names.
func TestAConfigThatNamesTooMuchIsNotRead(t *testing.T) {
	for name, one := range map[string]string{"topics": `"%x":{"p":"sensor","t":"%[1]x"}`, "levels": `"%x":{"p":"sensor","t":"%[1]x/////////////////////////////////"}`, "ids": `"%x":{"p":"sensor","uniq_id":"%[1]x"}`} {
		var b strings.Builder
		b.WriteString(`{"dev":{"ids":["big"]},"cmps":{"z":{"p":"sensor"}`)
		for i := 0; b.Len() < 16<<20; i++ {
			fmt.Fprintf(&b, ","+one, i)
		}
		b.WriteString("}}")
		r := newReader(t)
		f := fact("homeassistant/device/big/config", b.String())
		r.Put(f)
		g, _ := r.Reading(f.Topic, scanEnd)
		if len(r.nodes) > 100 || g.Left || len(g.Findings) != 1 || !strings.HasPrefix(g.Findings[0].Reason, "config too large to read here: it names more") {
			t.Errorf("%s: %d nodes, %+v", name, len(r.nodes), g)
		}
		r.Remove(f.Topic)
		if r.used != 0 || r.unread != 0 {
			t.Errorf("%s: %d nodes are left", name, r.used)
		}
	}
}

func TestAListTooLargeToKeepIsSaidToBeOne(t *testing.T) {
	r := store(t, []string{z2mOnline, z2mGroups, "zigbee2mqtt/lamp=1"})
	f := fact("zigbee2mqtt/bridge/devices", `[{"friendly_name":"a"}`)
	f.Cut, f.Size = true, 17<<20
	r.Put(f)
	if g, _ := r.Reading(f.Topic, scanEnd); g.Phrase != "too large to be read here" || g.Liveness.State != Alive || !strings.HasPrefix(g.Findings[0].Reason, "too large to read here: 17825792 bytes") {
		t.Errorf("%+v", g)
	}
	if g, _ := r.Reading([]byte("zigbee2mqtt/lamp"), scanEnd); g.Left || len(g.Findings) != 0 {
		t.Errorf("%+v", g)
	}
}

func TestWhatMustBeKeptWhole(t *testing.T) {
	for topic, want := range map[string]bool{
		"homeassistant/device/x/config": true, "my/disco/sensor/n/x/config": true, "zigbee2mqtt/bridge/devices": true, "base/bridge/groups": true,
		"homie/5/d/$description": true, "tasmota/discovery/00AA/config": true, "app/status": true,
		"frigate/yard/person/snapshot": false, "plant/image": false, "zigbee2mqtt/bridge/info": false, "config": false, "": false,
	} {
		if got := Whole([]byte(topic)); got != want {
			t.Errorf("%q: %v", topic, got)
		}
	}
}
