package cli

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/demo"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/readings"
)

// watched is a broker that is watched, with the readings of what it retains.
type watched struct {
	t       *testing.T
	inv     *inventory.Inventory
	reader  *readings.Reader
	watcher *broker.Watcher
	first   <-chan struct{}
}

func watch(t *testing.T, url string) *watched {
	t.Helper()
	reader, err := readings.New(readings.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	x := &watched{t: t, inv: inventory.New(inventory.Options{}), reader: reader}
	ctx, stop := context.WithCancel(context.Background())
	x.watcher, err = broker.Watch(ctx, broker.WatchConfig{Config: broker.Config{URL: url, ClientID: "test"}, Quiet: 200 * time.Millisecond, SysWait: time.Second}, x.inv)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	var wait func()
	x.first, wait = startFeeder(ctx, x.inv, reader, []string{"#"}, x.watcher.Scanned(), x.watcher.Status)
	t.Cleanup(func() {
		leave(ctx, x.watcher)
		stop()
		wait()
	})
	return x
}

// until waits for a condition on a topic's flags.
func (x *watched) until(topic string, what string, ok func(inventory.Flags) bool) {
	x.t.Helper()
	deadline := time.After(hang)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		r, held := x.inv.Find([]byte(topic))
		if s, alive := x.inv.Slot(r); held && alive && ok(s.Flags) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			g, _ := x.reader.Reading([]byte(topic), time.Now().UnixMilli())
			x.t.Fatalf("%s: never %s; reading %+v", topic, what, g)
		}
	}
}

// filtered waits until a topic passes a filter, or does not.
func (x *watched) filtered(text, topic string, want bool) {
	x.t.Helper()
	f, err := parseFilter(text)
	if err != nil {
		x.t.Fatal(err)
	}
	x.until(topic, fmt.Sprintf("%v for %s", want, text), func(inventory.Flags) bool {
		found := false
		err := x.inv.Walk(x.t.Context(), inventory.Spec{Filter: f, Now: time.Now().UnixMilli()}, func(d inventory.Detail) error {
			found = found || string(d.Topic) == topic
			return nil
		})
		return err == nil && found == want
	})
}

func has(f inventory.Flags) func(inventory.Flags) bool {
	return func(g inventory.Flags) bool { return g.Has(f) }
}

func lacks(f inventory.Flags) func(inventory.Flags) bool {
	return func(g inventory.Flags) bool { return g&f == 0 }
}

// story is one row of the fixture house.
type story struct {
	Topic, Payload, Encoding, Story string
	Expiry                          *uint32
}

func houseRows(t *testing.T) []story {
	t.Helper()
	f, err := os.Open("../demo/house.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []story
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var s story
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if s.Encoding == "base64" {
			b, err := base64.StdEncoding.DecodeString(s.Payload)
			if err != nil {
				t.Fatal(err)
			}
			s.Payload = string(b)
		}
		out = append(out, s)
	}
	return out
}

// straight reads the house without a broker, as the readings' own test does against the text of every story.
func straight(t *testing.T, rows []story, at int64) *readings.Reader {
	t.Helper()
	r, err := readings.New(readings.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		f := readings.Fact{Topic: []byte(x.Topic), Payload: []byte(x.Payload), Size: len(x.Payload), Interval: expiry.None(), ReceivedAt: at, FirstSeen: at}
		if x.Expiry != nil {
			f.Interval = expiry.Seconds(*x.Expiry)
			f.History = f.History.Replay(f.Interval)
		}
		r.Put(f)
	}
	r.Watched(at, at)
	return r
}

func digest(g readings.Reading) string {
	var kinds []string
	for _, f := range g.Findings {
		kinds = append(kinds, f.Kind.String()+" "+f.Strength.String())
	}
	return fmt.Sprintf("%q %q %v %v left %v hazard %v %q", g.Owner.Name, g.Owner.Convention, g.Role, g.Liveness.State, g.Left, g.Hazard, kinds)
}

// TestTheHouseReadFromARealMosquitto goes the whole way: broker, wire, inventory, feed, readings, marks. What the readings
// say of every topic must be what they say of the same house put in by hand, which their own test holds against every
// story; so the confusion table is the same.
func TestTheHouseReadFromARealMosquitto(t *testing.T) {
	t.Parallel()
	b := quick(t)
	fill(t, b.URL(), lastingHouse(t))
	x := watch(t, b.URL())
	<-x.watcher.Scanned()
	scanned := time.Now()
	select {
	case <-x.first:
	case <-time.After(hang):
		t.Fatal("the house is not read")
	}
	took := time.Since(scanned)
	rows := slices.DeleteFunc(houseRows(t), func(s story) bool { return s.Expiry != nil && *s.Expiry < 1800 })
	now := time.Now().UnixMilli()
	byHand := straight(t, rows, now)
	var left, hazards, living, livingLeft, hazardMissed, strong, strongMissed int
	for _, row := range rows {
		topic := []byte(row.Topic)
		want, _ := byHand.Reading(topic, now)
		got, ok := x.reader.Reading(topic, now)
		if !ok {
			t.Errorf("%q has no reading", row.Topic)
			continue
		}
		if digest(got) != digest(want) {
			t.Errorf("%q (%s) reads\n%s, by hand\n%s", row.Topic, row.Story, digest(got), digest(want))
		}
		r, _ := x.inv.Find(topic)
		s, _ := x.inv.Slot(r)
		if s.Flags.Has(inventory.FlagLeft) != got.Left || s.Flags.Has(inventory.FlagHazard) != got.Hazard {
			t.Errorf("%q is marked %v, and reads left %v, hazard %v", row.Topic, s.Flags.Names(), got.Left, got.Hazard)
		}
		for _, f := range want.Findings {
			found := slices.ContainsFunc(got.Findings, func(g readings.Finding) bool { return g.Kind == f.Kind && g.Strength == f.Strength })
			switch {
			case f.Strength == readings.Strong && found:
				strong++
			case f.Strength == readings.Strong:
				strongMissed++
			case f.Strength == readings.Hazard && !found:
				hazardMissed++
			}
		}
		slug, _, _ := strings.Cut(row.Story, ":")
		if strings.HasSuffix(slug, "-live") {
			living++
			if got.Left {
				livingLeft++
				t.Errorf("%q: its owner lives (%s)", row.Topic, row.Story)
			}
		}
		if got.Left {
			left++
		}
		if got.Hazard {
			hazards++
		}
	}
	if c := x.inv.Counts(); int(c.Left) != left || int(c.Hazards) != hazards || hazards != 3 || left == 0 {
		t.Errorf("%d left behind and %d hazards marked; %d and %d read", c.Left, c.Hazards, left, hazards)
	}
	t.Logf("read and marked %v after the scan: %d left behind, %d hazards (%d missed), %d strong findings (%d missed), %d of %d topics of living owners called left behind",
		took.Round(time.Millisecond), left, hazards, hazardMissed, strong, strongMissed, livingLeft, living)
	x.incidents(now)
}

// incidents checks that the two that began all this stand in one group each, with the right reason.
func (x *watched) incidents(now int64) {
	groups := x.reader.Groups(now)
	if len(groups) == 0 || !groups[0].Hazard {
		x.t.Errorf("hazards do not stand first")
	}
	for prefix, kind := range map[string]readings.Kind{"caldates2mqtt/birthday/": readings.Unnamed, "airthings2mqtt-upper/airthings/": readings.Renamed} {
		found := false
		for _, g := range groups {
			in := slices.ContainsFunc(g.Members, func(m readings.Member) bool { return m.Left && strings.HasPrefix(m.Topic, prefix) })
			if in && slices.Contains(g.Kinds, kind) && g.Go > 0 {
				found = true
				x.t.Logf("%s: %s / %s, %d would go: %q", prefix, g.Owner.Name, g.Device, g.Go, g.Reasons)
			}
		}
		if !found {
			x.t.Errorf("%s: no group with %v", prefix, kind)
		}
	}
}

func TestAnOwnerThatGoesAndComesBackMovesTheMarks(t *testing.T) {
	t.Parallel()
	b := quick(t)
	fill(t, b.URL(), lastingHouse(t))
	x := watch(t, b.URL())
	<-x.first
	rows := houseRows(t)
	const state, source = "zigbee2mqtt-garage/garage_door/availability", "zigbee2mqtt-garage/bridge/state"
	var online, offline = []byte(`{"state":"online"}`), []byte(`{"state":"offline"}`)
	x.until(state, "marked", has(inventory.FlagLeft))
	x.filtered("is:left owner:garage finding:owner-offline", state, true)
	fill(t, b.URL(), []demo.Message{{Topic: source, Payload: online}})
	x.until(state, "unmarked", lacks(inventory.FlagLeft))
	x.filtered("finding:owner-offline", state, false)
	fill(t, b.URL(), []demo.Message{{Topic: source, Payload: offline}})
	x.filtered("owner:GARAGE finding:owner-offline -is:left", state, true)

	// A slot that goes and comes again is marked again although its reading is what it was.
	i := slices.IndexFunc(rows, func(s story) bool {
		g, _ := x.reader.Reading([]byte(s.Topic), time.Now().UnixMilli())
		return g.Hazard && g.Role == readings.RoleCommand
	})
	if i < 0 {
		t.Fatal("the house has no retained command")
	}
	x.until(rows[i].Topic, "a hazard", has(inventory.FlagHazard))
	fill(t, b.URL(), []demo.Message{{Topic: rows[i].Topic}, {Topic: rows[i].Topic, Payload: []byte(rows[i].Payload)}})
	x.until(rows[i].Topic, "a hazard again", has(inventory.FlagHazard|inventory.FlagLive))
}

// TestAnOwnerThatStaysAwayIsMarkedAgain lets hours pass: an owner that just went offline is given an hour.
func TestAnOwnerThatStaysAwayIsMarkedAgain(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	reader, err := readings.New(readings.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
	put := func(at time.Time, origin inventory.Origin, topic, payload string) {
		inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte(payload), Interval: expiry.None(), Retain: true, Origin: origin, ReceivedAt: at.UnixMilli()}})
	}
	for _, row := range houseRows(t) {
		put(start, inventory.Replay, row.Topic, row.Payload)
	}
	f := newFeeder(inv, reader, []string{"#"})
	link := inventory.Link{State: inventory.Watching, Since: start}
	const state, source = "zigbee2mqtt-garage/garage_door/availability", "zigbee2mqtt-garage/bridge/state"
	marked := func(at time.Time, want bool, why string) {
		t.Helper()
		if err := f.catchUp(t.Context(), link, inventory.Coverage{Claim: inventory.Verified, Known: -1}, at); err != nil {
			t.Fatal(err)
		}
		r, ok := inv.Find([]byte(state))
		if s, _ := inv.Slot(r); !ok || s.Flags.Has(inventory.FlagLeft) != want {
			g, _ := reader.Reading([]byte(state), at.UnixMilli())
			t.Fatalf("%s: held %v, flags %v, reading %+v", why, ok, s.Flags.Names(), g)
		}
	}
	marked(start, true, "offline at the scan")
	put(start.Add(time.Minute), inventory.Live, source, `{"state":"online"}`)
	marked(start.Add(time.Minute), false, "online")
	put(start.Add(2*time.Minute), inventory.Live, source, `{"state":"offline"}`)
	marked(start.Add(3*time.Minute), false, "offline a minute ago")
	marked(start.Add(2*time.Hour), true, "offline for hours")
	link = inventory.Link{State: inventory.Lost, Since: start.Add(2 * time.Hour)}
	marked(start.Add(99*time.Hour), true, "nobody watches")
}

// TestAStateThatIsOnlyHeardIsNotDangling: what nobody retains is heard on the wire alone, and that must reach the readings.
func TestAStateThatIsOnlyHeardIsNotDangling(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	reader, err := readings.New(readings.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)
	const config = "homeassistant/sensor/passing/config"
	inv.Apply([]inventory.Publication{{Topic: []byte(config), Payload: []byte(`{"name":"p","unique_id":"p1","state_topic":"radio/passing/state","device":{"identifiers":["p"]}}`),
		Interval: expiry.None(), Retain: true, Origin: inventory.Replay, ReceivedAt: start.UnixMilli()}})
	f := newFeeder(inv, reader, []string{"#"})
	link := inventory.Link{State: inventory.Watching, Since: start}
	left := func(at time.Time) bool {
		t.Helper()
		if err := f.catchUp(t.Context(), link, inventory.Coverage{Claim: inventory.Verified, Known: -1}, at); err != nil {
			t.Fatal(err)
		}
		return inv.Counts().Left == 1
	}
	if left(start) {
		t.Fatal("it is called left behind before anybody watched")
	}
	later := start.Add(48 * time.Hour)
	if !left(later) {
		t.Fatal("days of silence say nothing")
	}
	inv.Apply([]inventory.Publication{{Topic: []byte("radio/passing/state"), Payload: []byte("1"), Origin: inventory.Live, ReceivedAt: later.UnixMilli()}})
	if left(later.Add(time.Second)) {
		t.Fatal("it was heard, and still nothing is said to stand behind it")
	}
}
