package broker

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"retainscope/inventory"
)

// tapped notes what a tap is told, one line each.
type tapped struct {
	mu    sync.Mutex
	lines []string
	since []time.Time // of every line
}

func (t *tapped) note(format string, args ...any) {
	t.noteAt(time.Now(), format, args...)
}

func (t *tapped) noteAt(at time.Time, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.since = append(t.lines, fmt.Sprintf(format, args...)), append(t.since, at)
}

func (t *tapped) Live(batch []inventory.Publication) {
	for i := range batch {
		t.note("live %s=%s retain=%t replay=%t", batch[i].Topic, batch[i].Payload, batch[i].Retain, batch[i].Origin != inventory.Live)
	}
}

func (t *tapped) Watching(at time.Time, filters []string) { t.noteAt(at, "watching %q", filters) }
func (t *tapped) Blind(at time.Time)                      { t.noteAt(at, "blind") }
func (t *tapped) Scanned()                                { t.note("scanned") }

func (t *tapped) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines)
}

func (t *tapped) at(i int) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.since[i]
}

func TestATapIsToldWhatHappensAndNeverAReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newScriptBroker(t)
		b.refuse = map[string]byte{"secret/#": 0x87}
		b.fill(3)
		var tap tapped
		w, _ := watch(t, WatchConfig{Config: b.config(), Filters: []string{"#", "secret/#"}, Extra: []string{"$SYS/#"}, Tap: &tap})
		scanned(t, w, time.Hour)
		b.retain("a", "1", 0)
		b.publish("b", "2")
		eventually(t, time.Hour, func() bool { return len(tap.all()) >= 4 })
		b.setDown(true)
		quietFor := 20 * time.Second
		last := time.Now()
		time.AfterFunc(quietFor, func() { b.cut(nil) })
		eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.State == inventory.Lost })
		b.setDown(false)
		eventually(t, time.Hour, func() bool { l, _ := w.Status(); return l.State == inventory.Watching && !l.Scanning })
		if err := w.Close(within(t)); err != nil {
			t.Fatal(err)
		}
		got := tap.all()
		want := []string{
			`watching ["#" "$SYS/#"]`, "scanned", "live a=1 retain=true replay=false", "live b=2 retain=false replay=false",
			"blind", `watching ["#" "$SYS/#"]`, "scanned", "blind",
		}
		// What a lost connection means for a scan decides whether it is made good at once or later.
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("the tap was told\n%q, want\n%q", got, want)
		}
		if at := tap.at(4); at.Sub(last) > quietFor/2 {
			t.Errorf("blind since %s after the last publication, and the loss was found %s after it", at.Sub(last), quietFor)
		}
	})
}
