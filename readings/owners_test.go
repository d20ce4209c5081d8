package readings

// A shared prefix is evidence, never ownership: whatever levels devices share, none of them gets the other's topics.

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// layouts are how a device D may lay its topics below a root R. The parts of a topic come in any order.
var layouts = []struct{ state, command, availability string }{
	{"R/D/state", "R/D/set", "R/D/status"},
	{"R/state/D", "R/cmd/D", "R/status/D"},
	{"stat/D/x", "cmd/D/x", "tele/D/LWT"},
	{"R/D", "cmd/D", "avail/D"},
	{"", "cmd/D/power", ""},
	{"", "cmd/D", "R/D/online"},
	{"R/D/state", "", ""},
	{"R/x/y/D/z", "R/x/y/set", "D/status"},
	{"R/same", "R/D/set", "R/D/lwt"},
}

type maker struct {
	rng   *rand.Rand
	facts []Fact
	of    map[string]int // topic to device
}

func (m *maker) put(device int, topic, payload string) {
	if topic == "" {
		return
	}
	if had, ok := m.of[topic]; ok && had != device {
		device = -1 // several devices have it
	}
	m.of[topic] = device
	m.facts = append(m.facts, fact(topic, payload))
}

// device adds one device with a few configs, all of which name its own topics and, in some layouts, one that all share.
func (m *maker) device(i int, root string, layout int, block, retained bool) {
	l := layouts[layout]
	at := func(pattern, part string) string {
		return strings.NewReplacer("R", root, "D", fmt.Sprintf("dev%d", i)).Replace(pattern) + part
	}
	for k := range 1 + m.rng.IntN(3) {
		var b strings.Builder
		fmt.Fprintf(&b, `{"uniq_id":"u%d-%d"`, i, k)
		part := ""
		if k > 0 && l.state != "R/same" {
			part = fmt.Sprint("/", k)
		}
		for _, t := range []struct{ key, topic, payload string }{{"stat_t", l.state, "1"}, {"cmd_t", l.command, "ON"}, {"avty_t", l.availability, "offline"}} {
			if t.topic == "" {
				continue
			}
			topic := at(t.topic, part)
			if t.key == "avty_t" {
				topic = at(t.topic, "")
			}
			fmt.Fprintf(&b, `,"%s":"%s"`, t.key, topic)
			if t.key == "avty_t" || retained {
				m.put(i, topic, t.payload)
			}
		}
		if block {
			fmt.Fprintf(&b, `,"dev":{"ids":["id%d"],"name":"Sensor"}`, i) // of one name: it is the identifier that counts
		}
		b.WriteString("}")
		m.put(i, fmt.Sprintf("homeassistant/switch/dev%d/o%d/config", i, k), b.String())
	}
}

func TestDevicesUnderOneRootNeverMergeIntoOneOwner(t *testing.T) {
	roots := []string{"home", "cmd", "devices", "stat", "zigbee2mqtt", "homie", "frigate", "shellies", "site/floor/room", "node"}
	for seed := range uint64(300) {
		m := &maker{rng: rand.New(rand.NewPCG(seed, 5)), of: map[string]int{}}
		root, layout, block, retained := roots[m.rng.IntN(len(roots))], m.rng.IntN(len(layouts)), m.rng.IntN(2) == 0, m.rng.IntN(2) == 0
		devices := 2 + m.rng.IntN(12)
		for i := range devices {
			m.device(i, root, layout, block, retained)
		}
		what := fmt.Sprintf("seed %d: %d devices below %q in layout %d, device block %v, retained %v", seed, devices, root, layout, block, retained)
		m.rng.Shuffle(len(m.facts), func(i, k int) { m.facts[i], m.facts[k] = m.facts[k], m.facts[i] })
		r := newReader(t)
		for _, f := range m.facts {
			r.Put(f)
		}
		r.Watched(scanEnd, scanEnd)
		owners := map[string]int{}
		for topic, device := range m.of {
			g, _ := r.Reading([]byte(topic), scanEnd+240*hour)
			if device < 0 {
				if g.Owner.Name != "" && g.Owner.Convention == "Home Assistant discovery" {
					t.Fatalf("%s: %q, which several have, is said to be of %+v", what, topic, g.Owner)
				}
				continue
			}
			name := g.Owner.Name
			if name == "" || block && name == "Sensor" {
				continue
			}
			if had, ok := owners[name]; ok && had != device {
				t.Fatalf("%s: %q is the owner of devices %d and %d, the last by %q (%s)", what, name, had, device, topic, g.Owner.Rule)
			}
			owners[name] = device
		}
		for _, g := range r.Groups(scanEnd + 240*hour) {
			one := -1
			for _, x := range g.Members {
				switch d := m.of[x.Topic]; {
				case d < 0 || one == d:
				case one < 0:
					one = d
				default:
					t.Fatalf("%s: one group has topics of devices %d and %d: %+v", what, one, d, g)
				}
			}
		}
	}
}

// TestAnotherDevicesLivenessIsNotGivenAway is two configs that read one state: each waits for its own.
func TestAnotherDevicesLivenessIsNotGivenAway(t *testing.T) {
	lines := []string{
		`homeassistant/sensor/aa5/config={"uniq_id":"5","stat_t":"aa5/state","avty_t":"aa5/status"}`,
		`homeassistant/sensor/aa6/config={"uniq_id":"6","stat_t":"aa5/state","avty_t":"aa6/status"}`,
		"aa5/state=1", "aa5/status=online", "aa6/status=offline",
	}
	r := store(t, lines)
	for topic, want := range map[string]string{"aa5/status": "aa5", "aa6/status": "aa6", "aa5/state": "aa5", "homeassistant/sensor/aa5/config": "aa5", "homeassistant/sensor/aa6/config": "aa6"} {
		if g, _ := r.Reading([]byte(topic), scanEnd); g.Owner.Name != want {
			t.Errorf("%s: %+v, want %q", topic, g.Owner, want)
		}
	}
}

// TestProgramsOfOneNameAreTwoGroups is two boards that announce themselves by the same program.
func TestProgramsOfOneNameAreTwoGroups(t *testing.T) {
	var lines []string
	for i := range 2 {
		lines = append(lines, strings.ReplaceAll(`homeassistant/sensor/bN/config={"uniq_id":"N","stat_t":"gw/N/s","avty_t":"gw/N/lwt","dev":{"ids":"N","name":"Board N"},"o":{"name":"OpenGateway"}}`, "N", fmt.Sprint(i)),
			fmt.Sprintf("gw/%d/s=1", i), fmt.Sprintf("gw/%d/lwt=offline", i))
	}
	groups := store(t, lines).Groups(scanEnd + second)
	if len(groups) != 2 || groups[0].Device != "Board 0" || groups[1].Device != "Board 1" || groups[0].Key == groups[1].Key || groups[0].Go != 3 {
		t.Errorf("%d groups: %+v", len(groups), groups)
	}
}

// TestTheStrongestReasonOfAGroupStandsFirst whichever of its topics it is about.
func TestTheStrongestReasonOfAGroupStandsFirst(t *testing.T) {
	groups := store(t, []string{"homie/x/$homie=4", "homie/half/env/$name=Env", "homie/half/env/t=1", "homie/half/env/t/set=1"}).Groups(scanEnd)
	if len(groups) != 1 || groups[0].Strengths[0] != Hazard || groups[0].Kinds[0] != Command || groups[0].Kinds[1] != HalfCleared || !strings.Contains(groups[0].Reasons[0], "command") {
		t.Errorf("%+v", groups)
	}
}
