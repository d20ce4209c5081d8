package cli

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
	"retainscope/readings"
)

// BenchmarkFeeding reads 100 000 topics of which 30 000 are discovery configs: from the end of the scan to every slot
// marked, then one update to its mark.
func BenchmarkFeeding(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		inv := inventory.New(inventory.Options{Expected: 100_000})
		put := func(topic, payload string, origin inventory.Origin) {
			inv.Apply([]inventory.Publication{{Topic: []byte(topic), Payload: []byte(payload), Interval: expiry.None(), Retain: true, Origin: origin, ReceivedAt: 1_796_018_400_000}})
		}
		put("zigbee2mqtt/bridge/state", `{"state":"online"}`, inventory.Replay)
		for i := range 30_000 {
			put(fmt.Sprintf("homeassistant/sensor/dev%05d/t/config", i), fmt.Sprintf(`{"name":"t","unique_id":"u%d","state_topic":"house/dev%05d/state","availability_topic":"house/dev%05d/availability","device":{"identifiers":["d%d"],"name":"Device %d"}}`, i, i, i, i, i), inventory.Replay)
			put(fmt.Sprintf("house/dev%05d/state", i), `{"t":21.5}`, inventory.Replay)
			put(fmt.Sprintf("house/dev%05d/availability", i), []string{"online", "offline"}[i%10/9], inventory.Replay)
			if i%3 == 0 {
				put(fmt.Sprintf("other/%d/value", i), "1", inventory.Replay)
			}
		}
		reader, err := readings.New(readings.Rules{})
		if err != nil {
			b.Fatal(err)
		}
		at := time.UnixMilli(1_796_018_400_000)
		link := inventory.Link{State: inventory.Watching, Since: at}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		b.StartTimer()
		f := newFeeder(inv, reader, []string{"#"})
		if err := f.catchUp(context.Background(), link, inventory.Coverage{Claim: inventory.Verified, Known: -1}, at); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		runtime.GC()
		runtime.ReadMemStats(&after)
		c := inv.Counts()
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(c.Topics), "B/topic")
		b.ReportMetric(float64(c.Left), "left")
		const updates = 2000
		start := time.Now()
		for i := range updates {
			put(fmt.Sprintf("house/dev%05d/availability", i), []string{"offline", "online"}[i%2], inventory.Live)
			f.round(context.Background(), link, inventory.Coverage{Claim: inventory.Verified, Known: -1}, at)
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/updates, "us/update")
		e := newEvidence(reader, nil)
		start = time.Now()
		g := e.LeftBehind(at.UnixMilli())
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/groups")
		b.ReportMetric(float64(len(g.Groups)), "groups")
		runtime.KeepAlive(g)
		b.StartTimer()
	}
}
