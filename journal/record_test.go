package journal

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"retainscope/expiry"
)

const hour = int64(time.Hour / time.Millisecond)

// day is midnight, UTC, of a day in 2026.
const day = int64(1789344000000)

func live(topic string, at int64, i expiry.Interval) Seen {
	return Seen{Topic: []byte(topic), At: at, Live: true, Retain: true, Interval: i, Digest: 7}
}

func replay(topic string, at int64, i expiry.Interval) Seen {
	return Seen{Topic: []byte(topic), At: at, Retain: true, Interval: i, Digest: 7}
}

// observe returns the record after flushes of those observations.
func observe(r Record, flushes ...[]Seen) Record {
	for _, batch := range flushes {
		var p pending
		for i := range batch {
			p.add(&batch[i], 10)
		}
		for topic, d := range p.take() {
			r.Topic = []byte(topic)
			r, _ = r.apply(d)
		}
	}
	return r
}

func TestAReplayIsNeverActivity(t *testing.T) {
	r := observe(Record{}, []Seen{replay("a", day+hour, expiry.Seconds(60))}, []Seen{replay("a", day+30*hour, expiry.Seconds(50))})
	if r.LastLive != 0 || r.Times != 0 || r.gap != 0 || r.refreshes != 0 || r.Interval != expiry.NotKnown() {
		t.Errorf("two replays left %+v", r)
	}
	if r.FirstSeen != day+hour || r.LastSeen != day+24*hour || r.Largest != 60 || !r.HasLargest || r.Digest != 7 {
		t.Errorf("what a replay does tell was lost: %+v", r)
	}
}

func TestAReplayOfWhatIsKnownIsNotWrittenAgainOnTheSameDay(t *testing.T) {
	r := observe(Record{}, []Seen{live("a", day+hour, expiry.Seconds(60))})
	for _, c := range []struct {
		name string
		seen Seen
		want bool
	}{
		{"the same on the same day", replay("a", day+2*hour, expiry.Seconds(31)), false},
		{"the same a day later", replay("a", day+25*hour, expiry.Seconds(31)), true},
		{"another payload", Seen{Topic: []byte("a"), At: day + 2*hour, Digest: 8}, true},
		{"a larger interval", replay("a", day+2*hour, expiry.Seconds(61)), true},
		{"without a digest", Seen{Topic: []byte("a"), At: day + 2*hour}, false},
		{"a live publication of the same", live("a", day+2*hour, expiry.Seconds(60)), true},
	} {
		d := &delta{first: c.seen.At, last: c.seen.At}
		d.add(&c.seen)
		if _, got := r.apply(d); got != c.want {
			t.Errorf("%s: changed = %v, want %v", c.name, got, c.want)
		}
	}
}

func TestACadenceIsLearnedFromTwoGapsThatAgree(t *testing.T) {
	for _, c := range []struct {
		name string
		at   []int64 // hours
		want int64
	}{
		{"one", []int64{1}, 0}, {"two", []int64{1, 9}, 0}, {"three at the same distance", []int64{1, 9, 17}, 8},
		{"three at different distances", []int64{1, 9, 11}, 0}, {"a new cadence", []int64{1, 9, 17, 18, 19}, 1},
		{"many", []int64{1, 9, 17, 25, 33, 41}, 8},
	} {
		for _, together := range []bool{true, false} {
			var flushes [][]Seen
			for _, h := range c.at {
				s := live("a", day+h*hour, expiry.None())
				if together && len(flushes) > 0 {
					flushes[0] = append(flushes[0], s)
				} else {
					flushes = append(flushes, []Seen{s})
				}
			}
			got, ok := observe(Record{}, flushes...).Cadence()
			if ok != (c.want != 0) || got != time.Duration(c.want)*time.Hour {
				t.Errorf("%s, together %v: %v, %v; want %d h", c.name, together, got, ok, c.want)
			}
		}
	}
}

func TestTheHistoryIsTheOneAnInventoryWouldHaveLearned(t *testing.T) {
	for name, intervals := range map[string][]expiry.Interval{
		"refreshed":                   {expiry.Seconds(60), expiry.Seconds(60), expiry.Seconds(60), expiry.Seconds(60)},
		"seen once":                   {expiry.Seconds(60)},
		"seen twice":                  {expiry.Seconds(60), expiry.Seconds(60)},
		"never expiring":              {expiry.None(), expiry.None()},
		"fell to never":               {expiry.Seconds(60), expiry.Seconds(60), expiry.None()},
		"gained an expiry":            {expiry.None(), expiry.Seconds(60), expiry.Seconds(60), expiry.Seconds(60)},
		"with a smaller window later": {expiry.Seconds(90), expiry.Seconds(60), expiry.Seconds(60)},
	} {
		var want expiry.History
		var r Record
		last := int64(0)
		for i, interval := range intervals {
			at := day + int64(i)*20_000
			since := uint32(0)
			if last != 0 {
				since = uint32((at - last) / 1000)
			}
			want, last = want.Live(interval, since), at
			r = observe(r, []Seen{live("a", at, interval)})
		}
		if got := r.History(); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestALiveMessageThatIsNotKeptIsActivityAndNothingElse(t *testing.T) {
	r := observe(Record{}, []Seen{live("a", day, expiry.Seconds(60))},
		[]Seen{{Topic: []byte("a"), At: day + hour, Live: true, Interval: expiry.None(), Digest: 9}})
	if r.LastLive != day+hour || r.Times != 2 || r.Interval != expiry.Seconds(60) || r.Digest != 7 || r.refreshes != 1 {
		t.Errorf("%+v", r)
	}
}

// FuzzFlushes compares observations that are written one by one with the same ones cut into flushes anywhere, some of
// which fail and are tried again with what came since. Every byte of the script is one observation and what follows it.
func FuzzFlushes(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		script := make([]byte, 1+random.IntN(16))
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		var got, want Record
		var p pending
		var writing map[string]*delta
		at := day
		for _, b := range script {
			at += int64(b&3) * 10_000
			s := live("a", at, expiry.Seconds(uint32(60+b>>2&1)))
			if b>>2&3 == 3 {
				s.Interval = expiry.None()
			}
			s.Live, s.Retain, s.Digest = b>>4&3 > 0, b>>4&3 > 1, uint64(b&3)
			want = observe(want, []Seen{s})
			p.add(&s, 10)
			switch b >> 6 {
			case 0:
				if writing == nil {
					writing = p.take()
				}
			case 1:
				p.merge(writing)
				writing = nil
			case 2:
				if d := writing["a"]; d != nil {
					got, _ = got.apply(d)
				}
				writing = nil
			}
		}
		p.merge(writing)
		if d := p.take()["a"]; d != nil {
			got, _ = got.apply(d)
		}
		// Where more came in one flush than are kept one by one, less is claimed about the cadence, never more.
		if got.steady > want.steady {
			t.Fatalf("in pieces %+v\none by one %+v", got, want)
		}
		got.Topic, got.steady = want.Topic, want.steady
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("in pieces %+v\none by one %+v", got, want)
		}
	})
}

func TestADigestIsNeverZero(t *testing.T) {
	if Digest(nil) == 0 || DigestOf([32]byte{}) != 1 || Digest([]byte("a")) == Digest([]byte("b")) {
		t.Error("a digest is not what it should be")
	}
}

func TestAKnownTopicCostsNoAllocation(t *testing.T) {
	var p pending
	s := live("home/kitchen/light", day, expiry.Seconds(60))
	p.add(&s, 10)
	if n := testing.AllocsPerRun(100, func() { p.add(&s, 10) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	o, _ := options(day)
	j := open(b, file(b), o)
	batch := make([]Seen, 256)
	for i := range batch {
		batch[i] = live(fmt.Sprintf("home/room%d/sensor/state", i), day, expiry.Seconds(60))
	}
	for b.Loop() {
		for i := range batch {
			batch[i].At++
		}
		j.Observe(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(batch)), "ns/publication")
}
