package cli

// What a scan could not see, or not keep, is no reason to call anything left behind.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"retainscope/demo"
	"retainscope/testbroker"
)

// bigConfig is a discovery config of ten thousand components in more than five megabytes.
func bigConfig() []byte {
	var b strings.Builder
	b.WriteString(`{"dev":{"ids":["big"],"name":"Big"},"o":{"name":"big2mqtt"},"avty_t":"big/status","cmps":{`)
	for i := range 10_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"c%d":{"p":"sensor","uniq_id":"u%d","stat_t":"big/s%d","note":"%s"}`, i, i, i, strings.Repeat("n", 470))
	}
	b.WriteString("}}")
	return []byte(b.String())
}

func reading(t *testing.T, url, topic string, more ...string) listed {
	t.Helper()
	o := run(t, nil, append([]string{"list", "--json", "--broker", url, "--quiet-time", "300ms"}, more...)...)
	topics, _ := lines(t, o)
	l, ok := topics[topic]
	if !ok {
		t.Fatalf("no %q in %d topics: %s", topic, len(topics), o.errout)
	}
	return l
}

// TestAConfigOfFiveMegabytesIsReadFromARealBroker was cut to 256 KiB and not read.
func TestAConfigOfFiveMegabytesIsReadFromARealBroker(t *testing.T) {
	t.Parallel()
	b := quick(t)
	config := bigConfig()
	if len(config) < 5_000_000 {
		t.Fatalf("%d bytes", len(config))
	}
	const topic = "homeassistant/device/big/config"
	fill(t, b.URL(), []demo.Message{
		{Topic: topic, Payload: config}, {Topic: "big/status", Payload: []byte("online")}, {Topic: "big/s9999", Payload: []byte("1")},
	})
	for _, name := range []string{topic, "big/s9999"} {
		l := reading(t, b.URL(), name)
		if l.Owner == nil || *l.Owner != "big2mqtt" || l.Liveness.State != "online" || l.Left || len(l.Findings) != 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	cut := reading(t, b.URL(), topic, "--payload-per-document", "1MiB", "--payload-per-topic", "1KiB")
	if cut.Left || cut.Reading != "too large to be read here" || len(cut.Findings) != 1 || !strings.Contains(cut.Findings[0].Reason, fmt.Sprintf("%d bytes, 1024 kept", len(config))) ||
		strings.Contains(cut.Liveness.Note, "no topic says") {
		t.Errorf("cut: %+v", cut)
	}
	if l := reading(t, b.URL(), "big/s9999", "--payload-per-document", "1MiB"); l.Left || len(l.Findings) != 0 {
		t.Errorf("a topic of the config that was not read: %+v", l)
	}
}

// TestWhatTheFiltersLeaveOutIsNotMissing: under a narrow filter every config that waited for another topic counted as one
// that never becomes available.
func TestWhatTheFiltersLeaveOutIsNotMissing(t *testing.T) {
	t.Parallel()
	b := quick(t)
	const topic = "homeassistant/sensor/x/config"
	fill(t, b.URL(), []demo.Message{
		{Topic: topic, Payload: []byte(`{"stat_t":"app/x","avty":[{"t":"app/status"},{"t":"app/x/availability"}],"avty_mode":"all"}`)},
		{Topic: "app/x", Payload: []byte("1")},
	})
	kinds := func(l listed) []string {
		var out []string
		for _, f := range l.Findings {
			out = append(out, f.Kind+" "+f.Strength)
		}
		return out
	}
	if got := kinds(reading(t, b.URL(), topic)); !slices.Contains(got, "never-available strong") {
		t.Errorf("everything in view: %q", got)
	}
	got := reading(t, b.URL(), topic, "--filter", "homeassistant/#")
	if k := kinds(got); len(k) != 1 || k[0] != "dangling weak" || !strings.Contains(got.Findings[0].Reason, "not all of it would have been seen here") {
		t.Errorf("only configs in view: %+v", got)
	}
}

// TestWhatALoginMayNotReadIsNotMissing is a login to which the broker shows configs and no states.
func TestWhatALoginMayNotReadIsNotMissing(t *testing.T) {
	t.Parallel()
	acl := file(t, "acl", "topic readwrite #\nuser half\ntopic read homeassistant/#\ntopic read $SYS/#\n")
	b := testbroker.Start(t, testbroker.Config{
		Lines: []string{"acl_file " + acl, "password_file " + passwords(t, "half", "x"), "sys_interval 1"},
	})
	const topic = "homeassistant/sensor/x/config"
	m := messages(50, 10)
	m = append(m, demo.Message{Topic: topic, Payload: []byte(`{"stat_t":"app/x"}`)}, demo.Message{Topic: "app/x", Payload: []byte("1")})
	fill(t, b.URL(), m)
	// The broker publishes its count once a second.
	var topics map[string]listed
	var summary listed
	eventually(t, func() string {
		o := run(t, []string{"MQTT__PASSWORD=x"}, "list", "--json", "--broker", b.URL(), "--user", "half", "--quiet-time", "300ms")
		if topics, summary = lines(t, o); summary.Known == nil || *summary.Known < 52 {
			return fmt.Sprintf("the broker does not tell its count: %+v", summary)
		}
		return ""
	})
	if l := topics[topic]; len(l.Findings) != 1 || l.Findings[0].Strength != "weak" {
		t.Errorf("%+v", l)
	}
}
