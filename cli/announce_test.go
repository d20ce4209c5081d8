package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"retainscope/broker"
	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/readings"
)

// What Home Assistant asks of a device discovery message, as far as a machine can hold it against one.
var (
	discoveryTopic = regexp.MustCompile(`^[^+#$]+/device/(?:[a-zA-Z0-9_-]+/)?[a-zA-Z0-9_-]+/config$`)
	componentID    = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	simpleTemplate = regexp.MustCompile(`^\{\{ value_json\.([a-z_]+) \}\}$`)
)

// faults returns what Home Assistant would not take of a device discovery message, or take otherwise than it is meant.
// state holds an example of what is published on the state topic.
func faults(topic string, payload, state []byte) (wrong []string) {
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if !discoveryTopic.MatchString(topic) {
		fault("the topic %s is none of a device", topic)
	}
	var root map[string]json.RawMessage
	var example map[string]any
	if err := json.Unmarshal(payload, &root); err != nil {
		fault("%v", err)
		return
	}
	if err := json.Unmarshal(state, &example); err != nil {
		fault("%v", err)
	}
	// Only these members of the root reach a component.
	inherited := []string{"availability", "availability_mode", "availability_template", "availability_topic", "command_topic",
		"payload_available", "payload_not_available", "state_topic", "encoding", "qos"}
	for k := range root {
		if !slices.Contains(append([]string{"device", "origin", "components"}, inherited...), k) {
			fault("the root member %s reaches nobody", k)
		}
	}
	var origin map[string]string
	if json.Unmarshal(root["origin"], &origin) != nil || origin["name"] == "" {
		fault("a device discovery needs an origin with a name")
	}
	var device struct {
		Identifiers []string
		Name        string
	}
	if json.Unmarshal(root["device"], &device) != nil || len(device.Identifiers) == 0 || device.Name == "" {
		fault("a device needs identifiers and a name")
	}
	var components map[string]map[string]any
	if json.Unmarshal(root["components"], &components) != nil || len(components) == 0 {
		fault("there is no component")
	}
	ids := map[string]bool{}
	for id, c := range components {
		if !componentID.MatchString(id) {
			fault("%s is no name of a component", id)
		}
		if c["platform"] != "sensor" {
			fault("%s has the platform %v", id, c["platform"])
		}
		unique, _ := c["unique_id"].(string)
		if unique == "" || ids[unique] {
			fault("%s has the unique id %q", id, unique)
		}
		ids[unique] = true
		if c["name"] == nil || c["name"] == "" {
			fault("%s has no name", id)
		}
		if _, own := c["state_topic"]; !own && root["state_topic"] == nil {
			fault("%s has no state topic", id)
		}
		template, _ := c["value_template"].(string)
		m := simpleTemplate.FindStringSubmatch(template)
		var value any
		if m == nil {
			fault("%s has the template %q", id, template)
		} else if v, there := example[m[1]]; !there {
			fault("%s takes %s, which is not published", id, m[1])
		} else {
			value = v
		}
		class, _ := c["device_class"].(string)
		_, unit := c["unit_of_measurement"]
		_, measured := c["state_class"]
		options, _ := c["options"].([]any)
		switch {
		case (class == "enum") != (options != nil), class == "enum" && (unit || measured), class == "timestamp" && (unit || measured):
			fault("%s: class %q with options %v, unit %t, state class %t", id, class, options, unit, measured)
		case class == "enum" && !slices.Contains(options, value):
			fault("%s: %v is none of %v", id, value, options)
		case class == "timestamp":
			if at, err := time.Parse(time.RFC3339, fmt.Sprint(value)); err != nil || at.Location() == nil {
				fault("%s: %v is no instant with a zone", id, value)
			}
		case class == "data_size" && !slices.Contains([]any{"B", "kB", "MB", "GB", "KiB", "MiB", "GiB"}, c["unit_of_measurement"]):
			fault("%s: a size in %v", id, c["unit_of_measurement"])
		case class != "" && class != "enum" && class != "data_size":
			fault("%s has the class %s", id, class)
		}
		if measured {
			if _, number := value.(float64); !number || c["state_class"] != "measurement" {
				fault("%s measures %v as %v", id, value, c["state_class"])
			}
		}
		switch c["entity_category"] { // a sensor cannot be one of configuration
		case nil, "diagnostic":
		default:
			fault("%s has the category %v", id, c["entity_category"])
		}
		if icon, has := c["icon"].(string); has && !strings.HasPrefix(icon, "mdi:") {
			fault("%s has the icon %s", id, icon)
		}
		known := []string{"platform", "name", "unique_id", "value_template", "state_class", "device_class", "unit_of_measurement", "options", "entity_category", "icon", "state_topic"}
		for k := range c {
			if !slices.Contains(known, k) {
				fault("%s has the member %s", id, k)
			}
		}
	}
	return wrong
}

// example are figures in which everything is known.
func example() figures {
	n, at := int64(7), time.Date(2026, 11, 30, 14, 2, 11, 0, time.UTC)
	return figures{Retained: 330, WithExpiry: 94, WithoutExpiry: 236, LeftBehind: &n, Hazards: &n, Bytes: 5, Coverage: "verified", NotSeen: &n, LastChange: &at}
}

func TestHomeAssistantTakesTheDiscoveryMessage(t *testing.T) {
	r := settled(t, "RETAINSCOPE_WATCH__INSTANCE=pi-4")
	topics, instance := r.topics()
	if want := (watchTopics{"retainscope/pi-4/status", "retainscope/pi-4/state", "homeassistant/device/retainscope_pi-4/config"}); topics != want {
		t.Errorf("the topics are %v", topics)
	}
	for _, withReadings := range []bool{true, false} {
		f := example()
		if !withReadings {
			f.LeftBehind, f.Hazards = nil, nil
		}
		payload := announce(topics, instance, withReadings)
		if wrong := faults(topics.config, payload, f.payload()); len(wrong) > 0 {
			t.Errorf("with readings %t: %s\n%s", withReadings, strings.Join(wrong, "\n"), payload)
		}
		var d discovery
		if err := json.Unmarshal(payload, &d); err != nil {
			t.Fatal(err)
		}
		if d.Availability != topics.status || d.Available != online || d.NotAvailable != offline || d.StateTopic != topics.state {
			t.Errorf("it reads %+v", d)
		}
		// A sensor for each figure.
		var members map[string]any
		_ = json.Unmarshal(f.payload(), &members)
		if got, want := slices.Sorted(maps.Keys(d.Components)), slices.Sorted(maps.Keys(members)); !slices.Equal(got, want) {
			t.Errorf("sensors %v for figures %v", got, want)
		}
	}
	if got, want := string(announce(topics, instance, true)), string(announce(topics, instance, true)); got != want {
		t.Error("it is another message every time")
	}
}

func TestTheRulesOfDiscoveryFindWhatIsWrong(t *testing.T) {
	r := settled(t, "RETAINSCOPE_WATCH__INSTANCE=a")
	topics, instance := r.topics()
	good := string(announce(topics, instance, true))
	for _, x := range []struct{ name, old, with string }{
		{"no origin", `"origin":{"name":"retainscope"`, `"origin":{"name":""`},
		{"a platform that is none", `"platform":"sensor"`, `"platform":"gauge"`},
		{"two of one id", `"unique_id":"retainscope_a_due"`, `"unique_id":"retainscope_a_retained"`},
		{"a figure that is not published", `value_json.due`, `value_json.duo`},
		{"an enumeration without options", `"options":[`, `"opts":[`},
		{"a category that a sensor cannot have", `"entity_category":"diagnostic"`, `"entity_category":"config"`},
		{"a member that reaches nobody", `"state_topic":`, `"stat_topic":`},
		{"no identifiers", `"identifiers":["retainscope_a"]`, `"identifiers":[]`},
		{"a size without a unit", `"unit_of_measurement":"B"`, `"unit_of_measurement":"topics"`},
		{"no JSON", `{"device"`, `"device"`},
	} {
		if !strings.Contains(good, x.old) {
			t.Errorf("%s: %s is not in it", x.name, x.old)
		}
		if len(faults(topics.config, []byte(strings.ReplaceAll(good, x.old, x.with)), example().payload())) == 0 {
			t.Errorf("%s is not found", x.name)
		}
	}
	if len(faults("homeassistant/device/a b/config", []byte(good), example().payload())) == 0 {
		t.Error("a topic that Home Assistant ignores is not found")
	}
}

func TestWhatAWatcherPublishesIsNoFindingForAScreen(t *testing.T) {
	r := settled(t, "RETAINSCOPE_WATCH__INSTANCE=a")
	topics, instance := r.topics()
	for _, status := range []string{online, offline} {
		reader, err := readings.New(readings.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		now := int64(1_790_000_000_000)
		for topic, payload := range map[string][]byte{topics.status: []byte(status), topics.state: example().payload(), topics.config: announce(topics, instance, true)} {
			reader.Put(readings.Fact{Topic: []byte(topic), Payload: payload, Size: len(payload), Interval: expiry.Seconds(86400), ReceivedAt: now, FirstSeen: now})
		}
		reader.Watched(now, now)
		for _, topic := range topics.all() {
			g, ok := reader.Reading([]byte(topic), now+5*3600*1000)
			if !ok || g.Left || g.Hazard {
				t.Errorf("%s while it is %s: %+v", topic, status, g)
			}
			for _, f := range g.Findings {
				if f.Strength > readings.Weak && status == online {
					t.Errorf("%s: %v", topic, f)
				}
			}
			if g.Owner.Name != "retainscope" {
				t.Errorf("%s is of %+v", topic, g.Owner)
			}
			if want := map[string]readings.State{online: readings.Alive, offline: readings.Offline}[status]; g.Liveness.State != want {
				t.Errorf("%s: its owner is %v while it is %s", topic, g.Liveness.State, status)
			}
		}
	}
}

func TestAnInstanceIsOneLevelThatHomeAssistantTakes(t *testing.T) {
	if h := hostInstance(); checkInstance(h) != nil || h == "" {
		t.Errorf("the name of this host is %q", h)
	}
	for _, s := range []string{"a b", "a/b", "ü", strings.Repeat("x", 65), "+"} {
		if checkInstance(s) == nil {
			t.Errorf("%q is taken for an instance", s)
		}
	}
	for _, s := range []string{"", "/a", "a/", "$a", "a/+/b", "#", "a\x00", "\xff"} {
		if checkPrefix(s) == nil {
			t.Errorf("%q is taken for a prefix", s)
		}
	}
	if checkPrefix("my house/retained") != nil || checkDiscovery("") != nil {
		t.Error("a good prefix is refused")
	}
	o := run(t, nil, "watch", "--instance", "a/b")
	if o.code != ExitUsage || !strings.Contains(o.errout, "watch.instance") || !strings.Contains(o.errout, "--instance") {
		t.Errorf("exit %d: %s", o.code, o.errout)
	}
}

func TestTheFiguresLeaveTheWatchersOwnTopicsOut(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	at := time.Now().UnixMilli()
	put := func(topic, payload string, i expiry.Interval) {
		inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte(payload), Interval: i, ReceivedAt: at, Retain: true, Origin: inventory.Live}})
	}
	own := []string{"r/a/status", "r/a/state"}
	c := &counter{inv: inv, own: own, readings: true}
	link := inventory.Link{State: inventory.Watching}
	cov := inventory.Coverage{Claim: inventory.Verified, Known: 10, Seen: 4}
	none := c.count(link, cov)
	put("r/a/status", "online", expiry.Seconds(60))
	put("r/a/state", "{}", expiry.Seconds(60))
	if f := c.count(link, cov); f.news(none, time.Hour) {
		t.Errorf("its own topics are news: %s", f.payload())
	}
	put("x", "12", expiry.Seconds(60))
	put("y", "123", expiry.None())
	f := c.count(link, cov)
	if f.Retained != 2 || f.WithExpiry != 1 || f.WithoutExpiry != 1 || f.Bytes != 5 || f.Coverage != "verified" || *f.NotSeen != 6 || f.LastChange == nil {
		t.Errorf("it counts %s", f.payload())
	}
	before := *f.LastChange
	at += 5000
	put("r/a/state", "{\"other\":1}", expiry.Seconds(60))
	if g := c.count(link, cov); !g.LastChange.Equal(before) || g.news(f, time.Hour) {
		t.Errorf("what it said itself is news: %s", g.payload())
	}
	put("y", "1234", expiry.None())
	g := c.count(link, cov)
	if !g.LastChange.After(before) || g.news(f, time.Second) || !g.news(f, slowTime) {
		t.Errorf("a value of another length: %s", g.payload())
	}
	inv.Tick(at + 120_000)
	if h := c.count(link, cov); h.Due != 1 || !h.news(g, time.Second) {
		t.Errorf("something is due: %s", h.payload())
	}
	link.State = inventory.Lost
	if h := c.count(link, cov); h.Coverage != disconnected {
		t.Errorf("without a connection: %s", h.payload())
	}
	if !slices.Contains(coverages(), cov.Claim.String()) || len(coverages()) != 6 {
		t.Errorf("coverage takes %v", coverages())
	}
}

func TestASecondWatcherOfTheSameInstanceIsSuspected(t *testing.T) {
	var log strings.Builder
	x := &reporter{log: slog.New(slog.NewTextHandler(&log, nil)), topics: watchTopics{status: "r/a/status"}, instance: "a"}
	at := time.Unix(1_790_000_000, 0)
	up, down := figures{Coverage: "verified"}, figures{Coverage: disconnected}
	for i := range 100 { // a broker that is restarted takes both connections
		x.suspect(broker.PublisherStatus{Connections: int64(i)}, down, at.Add(time.Duration(i)*time.Second))
	}
	for i := range 100 { // a line that drops now and then
		x.suspect(broker.PublisherStatus{Connections: 100 + int64(i/60)}, up, at.Add(time.Duration(100+i)*time.Second))
	}
	if log.Len() > 0 {
		t.Errorf("it says %s", log.String())
	}
	for i := range 20 {
		x.suspect(broker.PublisherStatus{Connections: 200 + int64(i)}, up, at.Add(time.Duration(300+i)*time.Second))
	}
	if n := strings.Count(log.String(), "second watcher"); n != 1 || !strings.Contains(log.String(), "--instance") {
		t.Errorf("told %d times: %s", n, log.String())
	}
}

func TestATakeoverThatTheBrokerTellsIsNamedAtOnce(t *testing.T) {
	var log strings.Builder
	x := &reporter{log: slog.New(slog.NewTextHandler(&log, nil)), instance: "pi"}
	s := broker.PublisherStatus{Connections: 1}
	at := time.Unix(1_790_000_000, 0)
	up := figures{Coverage: "verified"}
	x.suspect(s, up, at)
	s.Connections, s.Lost = 2, fmt.Errorf("read: %w", io.EOF)
	x.suspect(s, up, at.Add(time.Second))
	if log.Len() > 0 {
		t.Fatalf("one lost connection: %s", log.String())
	}
	s.Connections, s.Lost = 3, &broker.ServerDisconnect{Code: 0x8E}
	for range 3 { // one takeover is told once
		x.suspect(s, up, at.Add(2*time.Second))
	}
	if got := log.String(); strings.Count(got, "taken over") != 2 || !strings.Contains(got, "Session taken over (0x8E)") || !strings.Contains(got, "--instance") {
		t.Errorf("told: %s", got)
	}
}
