package readings

// The key property: however a reader came to its facts, it reads as a fresh one would that was told only the last
// state; and Touched tells of every reading that changed.

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retainscope/expiry"
)

// world is a set of facts that a random walk goes through.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	rows  []row
	facts map[string]Fact
	now   int64
	since int64
	rules Rules
	saw   []string
	whole bool
}

// vary returns a fact for a row: mostly as the house has it, otherwise changed in one of the ways that matter.
func (w *world) vary(x row) Fact {
	f := x.fact(w.now)
	p := x.payload
	swap := func(from, to string) {
		if strings.Contains(p, from) {
			p = strings.ReplaceAll(p, from, to)
		} else {
			p = strings.ReplaceAll(p, to, from)
		}
	}
	switch w.rng.IntN(16) {
	case 0:
		swap("online", "offline")
	case 1:
		swap("Online", "Offline")
	case 2:
		swap("ready", "lost")
	case 3:
		swap("true", "false")
	case 4:
		p = []string{"null", " ", "{", "[]", `{"state":"online"}`, "online", "offline", "x"}[w.rng.IntN(8)]
	case 5:
		swap("0.10.1", "0.2.0")
		swap("14.6.0", "12.1.0")
		swap("2026.10.1", "2024.2.0")
	case 6:
		p = strings.Replace(p, `"identifiers":["`, `"identifiers":["other_`, 1)
	case 7:
		p = strings.Replace(p, `"unique_id":"`, `"unique_id":"same`, 1)
	case 8:
		// A list that lost a name.
		p = strings.Replace(p, `"friendly_name":"kitchen_motion"`, `"friendly_name":"moved"`, 1)
		p = strings.Replace(p, `"garbage":{"status":"ok"},`, "", 1)
	case 9:
		f.Cut, f.Size = true, len(p)+100
	}
	f.Payload, f.Size = []byte(p), max(len(p), f.Size)
	switch w.rng.IntN(8) {
	case 0:
		f.Interval = expiry.None()
	case 1:
		f.Interval = expiry.Seconds(uint32(100 + w.rng.IntN(5000)))
		f.History = expiry.History{Window: 6000, Refreshes: uint16(w.rng.IntN(4))}
	case 2:
		f.Interval = expiry.NotKnown()
	}
	f.FirstSeen, f.LiveCount = w.since-hour, uint32(w.rng.IntN(6))
	switch w.rng.IntN(8) {
	case 0:
		f.LastLive = w.now
	case 1:
		f.LastLive = w.now - int64(w.rng.IntN(7200))*1000
	case 2:
		f.Fell = true
	case 3:
		f.Gained = true
	case 4:
		f.StillServed = true
	}
	return f
}

func (w *world) reader() *Reader {
	w.t.Helper()
	r, err := New(w.rules)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) fresh() *Reader {
	r := w.reader()
	topics := make([]string, 0, len(w.facts))
	for topic := range w.facts {
		topics = append(topics, topic)
	}
	slices.Sort(topics)
	w.rng.Shuffle(len(topics), func(i, k int) { topics[i], topics[k] = topics[k], topics[i] })
	for _, topic := range topics {
		r.Put(w.facts[topic])
	}
	r.Watched(w.since, w.now)
	r.Saw(w.saw, w.whole)
	return r
}

// drain returns every topic that Touched tells of.
func drain(r *Reader, now int64) map[string]bool {
	out := map[string]bool{}
	for {
		topics, more := r.Touched(nil, now)
		for _, topic := range topics {
			out[string(topic)] = true
		}
		if !more {
			return out
		}
	}
}

// mark is the part of a reading that Touched promises to tell of.
func mark(g Reading) string {
	return fmt.Sprint(g.Owner.Name, "|", g.Owner.Convention, "|", g.Device, "|", g.Role, g.Liveness.State, g.Left, g.Hazard, findingNames(g))
}

func (w *world) compare(r *Reader, step int) {
	w.t.Helper()
	f := w.fresh()
	for topic := range w.facts {
		got, ok1 := r.Reading([]byte(topic), w.now)
		wanted, ok2 := f.Reading([]byte(topic), w.now)
		if !ok1 || !ok2 || !reflect.DeepEqual(got, wanted) {
			w.t.Fatalf("step %d: %q reads otherwise than in a fresh reader\n got %+v\nwant %+v", step, topic, got, wanted)
		}
	}
	got, wanted := keyless(r.Groups(w.now)), keyless(f.Groups(w.now))
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || !reflect.DeepEqual(got[i], wanted[i]) {
			w.t.Fatalf("step %d: group %d of %d, fresh %d\n got %+v\nwant %+v", step, i, len(got), len(wanted), at(got, i), at(wanted, i))
		}
	}
	if got, wanted := r.Prefixes(), f.Prefixes(); !reflect.DeepEqual(got, wanted) {
		for i := range min(len(got), len(wanted)) {
			if got[i] != wanted[i] {
				w.t.Fatalf("step %d: prefix %d\n got %+v\nwant %+v", step, i, got[i], wanted[i])
			}
		}
		w.t.Fatalf("step %d: %d prefixes, fresh %d", step, len(got), len(wanted))
	}
	if got, wanted := r.Counts(), f.Counts(); got != wanted {
		w.t.Fatalf("step %d: counts %+v, fresh %+v", step, got, wanted)
	}
}

func TestAnyOrderOfPutAndRemoveReadsAsAFreshReader(t *testing.T) {
	all := house(t)
	for seed := range uint64(16) {
		w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 7)), facts: map[string]Fact{}, now: scanEnd, since: scanEnd - hour/2, whole: true}
		// Some walks see the whole house, others a few families of topics so that the same ones come back often.
		w.rows = all
		if seed%3 != 0 {
			stems := []string{"caldates2mqtt", "airthings2mqtt", "tas_pump", "esp-garden", "esp-shed", "homie/", "zigbee2mqtt", "frigate/", "heatmeter", "edge/", "zwave", "rtl_433", "valetudo", "statestream", "homeassistant/status", "Robot"}
			keep := stems[w.rng.IntN(len(stems))]
			also := stems[w.rng.IntN(len(stems))]
			w.rows = slices.DeleteFunc(slices.Clone(all), func(x row) bool {
				return !strings.Contains(x.topic+x.payload, keep) && !strings.Contains(x.topic+x.payload, also)
			})
		}
		if seed%5 == 4 {
			w.rules = Rules{Ignore: []string{"homie/+/#"}, Conventions: []UserRule{
				{Owner: "own {1}", Topics: []string{"zwave/+/#", "frigate/+/#"}, LivenessTopic: "zwave/{1}/status", Field: "value", Online: []string{"true"}, Offline: []string{"false"}},
				{Owner: "robots", Topics: []string{"valetudo/#"}, LivenessTopic: "valetudo/RobotSample/$state", Online: []string{"ready"}, Offline: []string{"lost"}},
			}}
		}
		r := w.reader()
		r.Watched(w.since, w.now)
		shadow := map[string]string{}
		for step := range 160 {
			for range 1 + w.rng.IntN(6) {
				x := w.rows[w.rng.IntN(len(w.rows))]
				if w.rng.IntN(4) == 0 {
					delete(w.facts, x.topic)
					r.Remove([]byte(x.topic))
					continue
				}
				f := w.vary(x)
				w.facts[x.topic] = f
				r.Put(f)
				if w.rng.IntN(8) == 0 {
					r.Reading(f.Topic, w.now)
				}
			}
			w.now += int64(w.rng.IntN(900)) * 1000
			switch w.rng.IntN(40) {
			case 0:
				w.now += 30 * hour
			case 1:
				w.whole = !w.whole
			case 2:
				w.saw = [][]string{nil, {"homeassistant/#"}, {"+/+/#", "zigbee2mqtt/#"}}[w.rng.IntN(3)]
			}
			r.Watched(w.since, w.now)
			r.Saw(w.saw, w.whole)
			told := drain(r, w.now)
			for topic := range w.facts {
				g, _ := r.Reading([]byte(topic), w.now)
				m := mark(g)
				if m != shadow[topic] && !told[topic] {
					t.Fatalf("seed %d step %d: nobody was told that %q changed\n was %s\n is  %s", seed, step, topic, shadow[topic], m)
				}
				shadow[topic] = m
			}
			for topic := range shadow {
				if _, ok := w.facts[topic]; !ok {
					delete(shadow, topic)
				}
			}
			if step%16 == 15 {
				w.compare(r, step)
			}
		}
		for topic := range w.facts {
			r.Remove([]byte(topic))
		}
		if r.used != 0 || len(r.shares) != 0 || len(r.flagged) != 0 || r.Counts() != (Counts{}) {
			t.Fatalf("seed %d: something is left of an empty store: %d nodes, %d shares, %d flagged, %+v", seed, r.used, len(r.shares), len(r.flagged), r.Counts())
		}
		if n := len(r.held) - 1 - len(r.freeHeld); n != 0 {
			t.Fatalf("seed %d: %d held", seed, n)
		}
		if n := len(r.refs) - 1 - len(r.freeRefs) + len(r.says) - 1 - len(r.freeSays) + len(r.configs) - 1 - len(r.freeConf); n != 0 {
			t.Fatalf("seed %d: %d references, signs and configs", seed, n)
		}
		if len(r.rules.at) != 0 || len(r.origins.at) != 0 {
			t.Fatalf("seed %d: rules %v origins %v", seed, r.rules.at, r.origins.at)
		}
	}
}

func TestTheOrderOfArrivalDoesNotMatter(t *testing.T) {
	rows := house(t)
	first := load(t, rows, scanEnd)
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 11))
		shuffled := slices.Clone(rows)
		rng.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		r := load(t, shuffled, scanEnd)
		for _, x := range rows {
			got, _ := r.Reading([]byte(x.topic), scanEnd+second)
			wanted, _ := first.Reading([]byte(x.topic), scanEnd+second)
			if !reflect.DeepEqual(got, wanted) {
				t.Fatalf("seed %d: %q\n got %+v\nwant %+v", seed, x.topic, got, wanted)
			}
		}
		if !reflect.DeepEqual(keyless(r.Groups(scanEnd+second)), keyless(first.Groups(scanEnd+second))) {
			t.Fatalf("seed %d: groups differ", seed)
		}
	}
}

// keyless returns groups without what only tells them apart within one reader, having seen that it does.
func keyless(groups []Group) []Group {
	seen := map[string]bool{}
	for i := range groups {
		if seen[groups[i].Key] {
			panic("two groups of one key: " + groups[i].Key)
		}
		seen[groups[i].Key] = true
		groups[i].Key = ""
	}
	return groups
}

func at(groups []Group, i int) Group {
	if i < len(groups) {
		return groups[i]
	}
	return Group{}
}
