package tui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestCountdown(t *testing.T) {
	for _, c := range []struct {
		left time.Duration
		want string
		hold time.Duration
	}{
		{-5 * time.Second, "00:00:00", time.Second},
		{1500 * time.Millisecond, "00:00:01", time.Second},
		{23*time.Hour + 41*time.Minute + 7*time.Second, "23:41:07", time.Second},
		{24 * time.Hour, "1d 00:00", time.Second},
		{24*time.Hour + 59*time.Second, "1d 00:00", time.Minute},
		{999*24*time.Hour + 90*time.Second, "999d 00:01", 31 * time.Second},
		{4_294_967_295 * time.Second, "49710d", 23296 * time.Second},
	} {
		if got, hold := countdown(c.left); got != c.want || hold != c.hold || len(got) > 10 {
			t.Errorf("countdown(%v) = %q for %v, want %q for %v", c.left, got, hold, c.want, c.hold)
		}
		// The text really changes then, and not before.
		if c.left > time.Second {
			_, hold := countdown(c.left)
			whole := c.left.Truncate(time.Second)
			if got, _ := countdown(whole - hold + time.Second); got != c.want {
				t.Errorf("%v: the text changed before its time", c.left)
			}
			if got, _ := countdown(whole - hold); got == c.want {
				t.Errorf("%v: the text did not change when it should", c.left)
			}
		}
	}
}

func TestSpanAndExactAndAbout(t *testing.T) {
	for _, c := range []struct {
		d                  time.Duration
		span, exact, about string
	}{
		{0, "0s", "0s", "0s"},
		{59 * time.Second, "59s", "59s", "59s"},
		{4*time.Minute + 10*time.Second, "4m", "4m 10s", "4m 10s"},
		{2*time.Hour - time.Second, "1h", "1h 59m 59s", "2h"},
		{8*time.Hour - 5*time.Second, "7h", "7h 59m 55s", "8h"},
		{28330 * time.Second, "7h", "7h 52m 10s", "7h 52m"},
		{49 * time.Hour, "2d", "2d 1h", "2d 1h"},
		{400*24*time.Hour + time.Minute, "400d", "400d 1m", "400d"},
	} {
		got, hold := span(c.d)
		if got != c.span || exact(c.d) != c.exact || about(c.d) != c.about {
			t.Errorf("%v: span %q, exact %q, about %q", c.d, got, exact(c.d), about(c.d))
		}
		if later, _ := span(c.d + hold); later == got {
			t.Errorf("%v: %q still holds after %v", c.d, got, hold)
		}
		if before, _ := span(c.d + hold - time.Second); before != got {
			t.Errorf("%v: %q does not hold for %v", c.d, got, hold)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9949: "9.9 kB", 9950: "10 kB", 20480: "20 kB",
		999_499: "999 kB", 999_500: "1.0 MB", 5_000_000: "5.0 MB", 268_435_460: "268 MB", 1 << 40: "1.1 TB", 1 << 62: "4611686 TB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	if number(1_234_567) != "1 234 567" || number(-1000) != "-1 000" || number(0) != "0" {
		t.Error(number(1_234_567), number(-1000), number(0))
	}
}

func TestInstant(t *testing.T) {
	for at, want := range map[time.Time]string{
		at0:                      "14:02:11",
		at0.Add(-24 * time.Hour): "13 Mar 14:02:11",
		at0.AddDate(-1, 0, 0):    "14 Mar 2025 14:02",
		{}:                       "?",
	} {
		if got := instant(at, at0); got != want {
			t.Errorf("%v: %q, want %q", at, got, want)
		}
	}
}

func TestPhrases(t *testing.T) {
	now := at0.UnixMilli()
	slot := func(change func(*inventory.Slot)) *inventory.Slot {
		s := &inventory.Slot{Interval: expiry.Seconds(900), ReceivedAt: now, History: expiry.History{Window: 900, Gap: 300, Refreshes: 3, Steady: 1}}
		change(s)
		return s
	}
	for _, c := range []struct {
		want string
		tone tone
		slot *inventory.Slot
	}{
		{"kept alive, 5m", fine, slot(func(*inventory.Slot) {})},
		{"kept alive", fine, slot(func(s *inventory.Slot) { s.History.Steady = 0 })},
		{"one refresh missed", notable, slot(func(s *inventory.Slot) { s.ReceivedAt -= 400_000 })},
		{"two refreshes missed", alarming, slot(func(s *inventory.Slot) { s.ReceivedAt -= 700_000 })},
		{"due", notable, slot(func(s *inventory.Slot) { s.ReceivedAt -= 900_000 })},
		{"expires by itself", calm, slot(func(s *inventory.Slot) { s.History.Refreshes = 1; s.ReceivedAt -= 700_000 })},
		{"never expires", calm, slot(func(s *inventory.Slot) { s.Interval = expiry.None() })},
		{"unknown", calm, slot(func(s *inventory.Slot) { s.Interval = expiry.NotKnown() })},
		{"fell to never", notable, slot(func(s *inventory.Slot) { s.Interval = expiry.None(); s.Flags = inventory.FlagFell })},
		{"still served", notable, slot(func(s *inventory.Slot) { s.ReceivedAt -= 950_000; s.Flags = inventory.FlagStillServed })},
		{"empty replay", alarming, slot(func(s *inventory.Slot) { s.Flags = inventory.FlagEmptyReplay | inventory.FlagLooksEmpty })},
		{"looks empty (2 B)", notable, slot(func(s *inventory.Slot) { s.Size = 2; s.Flags = inventory.FlagLooksEmpty })},
		{"one refresh missed", notable, slot(func(s *inventory.Slot) { s.ReceivedAt -= 400_000; s.StoppedAt = now })},
	} {
		got, tone := phrase(c.slot, now)
		if got != c.want || tone != c.tone || len(got) > 20 {
			t.Errorf("%q (%d), want %q (%d)", got, tone, c.want, c.tone)
		}
		first, _, _ := strings.Cut(c.want, " (")
		first, _, _ = strings.Cut(first, ",")
		if why := reason(c.slot, at0); !strings.HasPrefix(strings.ToLower(why), first) || !strings.HasSuffix(why, ".") {
			t.Errorf("%q is explained by %q", got, why)
		}
		for _, bad := range []string{"dead", "safe"} {
			if strings.Contains(reason(c.slot, at0), bad) {
				t.Errorf("%q claims %q", reason(c.slot, at0), bad)
			}
		}
	}
}

func TestIndentChangesWhiteSpaceOnly(t *testing.T) {
	for _, c := range []string{`{"a":1.0e5,"b":[1,2,{"c":"x, y: {}"}],"a":[],"d":{ },"e":"\"\\"}`, `[]`, `[[[[1]]]]`, ` { "a" : null } `} {
		var want, got bytes.Buffer
		if err := json.Compact(&want, []byte(c)); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&got, indent([]byte(c))); err != nil || got.String() != want.String() {
			t.Errorf("%s became %s: %v", c, indent([]byte(c)), err)
		}
	}
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for _, l := range bytes.Split(indent([]byte(deep)), []byte("\n")) {
		if len(l) > 2*mostIndent+2 {
			t.Fatalf("a line of %d bytes", len(l))
		}
	}
}

func FuzzPayload(f *testing.F) {
	for _, s := range append(hostile, `{"a":"b\"c","d":[1,2]}`, `["`+strings.Repeat("x", 100)+`"]`, `[0,[`) {
		f.Add([]byte(s), uint8(20), uint8(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, width, v uint8) {
		p := pen{right: int(width) + 70, pal: sixteen}
		d := inventory.Detail{Payload: b, Kept: len(b)}
		d.Size = len(b)
		y := layOut(p.m, &d, view(v%4), int(width))
		for i := range y.lines() {
			p.start()
			y.draw(&p, i)
			p.in("")
			safe(t, unstyled(t, string(p.buf)))
		}
		if json.Valid(b) && isStructured(b) {
			var want, got bytes.Buffer
			if json.Compact(&want, b) != nil || json.Compact(&got, indent(b)) != nil || got.String() != want.String() {
				t.Fatalf("%q was changed to %q", b, indent(b))
			}
		}
	})
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ before, after, a, b string }{
		{"same", "same", "", ""},
		{`{"count":180233,"trigger":"CLOSED"}`, `{"count":180234,"trigger":"CLOSED"}`, `…count":180233,"trigger":"…`, `…count":180234,"trigger":"…`},
		{"", "new", "(nothing)", "new"},
		{"old", "", "old", "(nothing)"},
		{"aXb", "ab", "aXb", "ab"},
		{"温度", "温泉", "温度", "温泉"},
	} {
		a, b := difference([]byte(c.before), []byte(c.after), 60)
		if string(a) != c.a || string(b) != c.b {
			t.Errorf("%q to %q: %q and %q", c.before, c.after, a, b)
		}
	}
	long := strings.Repeat("x", 100)
	a, b := difference([]byte("a"+long), []byte("b"+long), 20)
	if len(a) > 30 || len(b) > 30 {
		t.Errorf("%q and %q", a, b)
	}
}

func TestFitShortensAndDropsWhatMattersLeast(t *testing.T) {
	all := []fact{{text: "important", rank: 9}, {text: "a long way to say it", short: "short", rank: 5}, {text: "rest", rank: 1}}
	for width, want := range map[int]string{60: "important a long way to say it rest", 25: "important short rest", 17: "important short", 10: "important", 5: "important"} {
		got := ""
		for i, f := range (measure{}).fit(all, width, 1) {
			if i > 0 {
				got += " "
			}
			got += f.text
		}
		if got != want {
			t.Errorf("%d cells: %q, want %q", width, got, want)
		}
	}
}

func TestColumnsNeverOverlap(t *testing.T) {
	for w := 28; w < 300; w++ {
		c := columnsFor(w, []int{leastLevel, leastTopic}[w%2], w%3 == 0, w%5 == 0)
		at := c.topic + c.topicW
		for _, f := range [][2]int{{c.expiry, c.expiryW}, {c.bar, c.barW}, {c.live, c.liveW}, {c.size, c.sizeW}, {c.reading, c.readingW}} {
			if f[1] == 0 {
				continue
			}
			if f[0] <= at {
				t.Fatalf("at %d cells a column begins at %d, the one before ends at %d: %+v", w, f[0], at, c)
			}
			at = f[0] + f[1]
		}
		if at > w {
			t.Fatalf("at %d cells the last column ends at %d", w, at)
		}
		if w >= 89 && (c.sizeW == 0 || c.readingW == 0 || c.liveW == 0) {
			t.Fatalf("at %d cells a column is missing: %+v", w, c)
		}
	}
}
