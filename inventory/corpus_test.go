package inventory

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"retainscope/expiry"
)

// corpus is a store like those of houses and plants, the same in every run: unique topics of 46 bytes in the mean,
// payloads of 49 to 823 bytes and 293 in the mean, some with an expiry, a content type, user properties.
type corpus struct {
	pubs []Publication
	raw  int64 // bytes of topics and payloads
}

var corpora = struct {
	sync.Mutex
	made map[int]*corpus
}{made: map[int]*corpus{}}

func corpusOf(n int) *corpus {
	corpora.Lock()
	defer corpora.Unlock()
	if c := corpora.made[n]; c != nil {
		return c
	}
	clear(corpora.made) // one at a time: a million are 400 MB
	c := &corpus{}
	r := rand.New(rand.NewPCG(uint64(n), 77))
	filler := make([]byte, 4096)
	for i := range filler {
		filler[i] = `{"value":21.5,"unit":"C","linkquality":87,"last_seen":"2026-11-30T02:00:00Z"},`[i%78]
	}
	rooms := []string{"kitchen", "living_room", "bedroom", "hallway", "garage", "office", "bathroom", "cellar"}
	kinds := []string{"temperature", "humidity", "pressure", "battery", "occupancy", "illuminance", "voltage", "power"}
	sites := []string{"lund", "gera", "porto"}
	areas := []string{"welding", "painting", "assembly", "packing", "press-shop"}
	now := int64(1_790_000_000_000)
	for i := range n {
		var topic string
		switch k := i % 10; {
		case k < 3:
			j := i/10*3 + k
			topic = fmt.Sprintf("acme/%s/%s/line-%d/cell-%03d/sensor-%d/%s", sites[j/8/20%3], areas[j/8/60%5], j/8/300%40,
				j/8/12000, j/8%20, kinds[j%8])
		case k < 5:
			topic = fmt.Sprintf("zigbee2mqtt/%s_%s_%06d", rooms[i/10%8], kinds[i/80%8], i)
		case k == 5:
			topic = fmt.Sprintf("zigbee2mqtt/%s_%s_%06d/availability", rooms[i/10%8], kinds[i/80%8], i-2)
		case k == 6, k == 7:
			topic = fmt.Sprintf("homeassistant/sensor/0x00158d%010x/%s_%d/config", i/80, kinds[i/10%8], k)
		case k == 8:
			topic = fmt.Sprintf("tele/tasmota_%06X/%s", i/30, []string{"STATE", "SENSOR", "LWT"}[i/10%3])
		default:
			topic = fmt.Sprintf("shellies/shelly1pm-%06x/relay/0/%s", i/40, []string{"power", "energy", "state", "temperature"}[i/10%4])
		}
		size := 49 + int(r.ExpFloat64()*300)
		if size > 823 {
			size = 49 + size%775
		}
		q := Publication{Topic: []byte(topic), Payload: filler[i%78 : i%78+size], Interval: expiry.None(), ReceivedAt: now, Retain: true}
		if i%5 < 2 {
			q.Interval = expiry.Seconds(uint32(3600 + r.IntN(82800)))
		}
		if i%11 == 0 {
			q.Properties = append([]byte{propContentType, 0, 16}, "application/json"...)
		}
		c.pubs = append(c.pubs, q)
		c.raw += int64(len(topic) + size)
	}
	r.Shuffle(n, func(i, j int) { c.pubs[i], c.pubs[j] = c.pubs[j], c.pubs[i] })
	corpora.made[n] = c
	return c
}

func (c *corpus) load(o Options) *Inventory {
	inv := New(o)
	for i := 0; i < len(c.pubs); i += batchLimit {
		inv.Apply(c.pubs[i:min(i+batchLimit, len(c.pubs))])
	}
	return inv
}

// heapOf returns the live heap that f leaves behind, and what it made so that it stays alive.
func heapOf[T any](f func() T) (T, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return v, after.HeapAlloc - before.HeapAlloc
}

func TestTheCorpusHasTheSizesItClaims(t *testing.T) {
	c := corpusOf(20000)
	topics := 0
	seen := map[string]bool{}
	for _, q := range c.pubs {
		topics += len(q.Topic)
		seen[string(q.Topic)] = true
	}
	n := len(c.pubs)
	if mean := float64(topics) / float64(n); mean < 38 || mean > 50 || len(seen) != n {
		t.Fatalf("topics are %.1f bytes in the mean, %d of %d unique", mean, len(seen), n)
	}
	if mean := float64(c.raw-int64(topics)) / float64(n); mean < 270 || mean > 310 {
		t.Fatalf("payloads are %.1f bytes in the mean", mean)
	}
}

func TestATopicCostsAtMost280BytesBesideItsOwn(t *testing.T) {
	c := corpusOf(100000)
	inv, heap := heapOf(func() *Inventory { return c.load(Options{}) })
	over := (float64(heap) - float64(c.raw)) / float64(len(c.pubs))
	if over > 280 {
		t.Fatalf("%.0f bytes a topic beside topic and payload", over)
	}
	runtime.KeepAlive(inv)
}
