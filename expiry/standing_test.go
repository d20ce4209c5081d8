package expiry

import "testing"

func TestStandingAtTheBoundaries(t *testing.T) {
	const window = 900 // 2/3 = 600 s, 1/3 = 300 s, slack = 2 s + 18 s = 20 s
	refreshed := History{Window: window, Refreshes: 2}
	for _, c := range []struct {
		name string
		i    Interval
		h    History
		age  int64 // ms since the receipt
		want Standing
	}{
		{"what is not knowable is not told", NotKnown(), refreshed, 0, NotTold},
		{"what has none never ends", None(), refreshed, 1 << 40, Never},
		{"at first sight it expires", Seconds(window), History{Window: window}, 0, Expires},
		{"one live refresh is a one-shot message still", Seconds(window), History{Window: window, Refreshes: 1}, 800_000, Expires},
		{"two live refreshes keep it alive", Seconds(window), refreshed, 0, KeptAlive},
		{"at two thirds it is alive", Seconds(window), refreshed, 300_000, KeptAlive},
		{"within the slack it is alive", Seconds(window), refreshed, 320_000, KeptAlive},
		{"beyond the slack one refresh is missed", Seconds(window), refreshed, 320_001, MissedOne},
		{"at one third one is missed", Seconds(window), refreshed, 600_000, MissedOne},
		{"within the slack of one third one is missed", Seconds(window), refreshed, 620_000, MissedOne},
		{"beyond it two are missed", Seconds(window), refreshed, 620_001, MissedTwo},
		{"a millisecond before the end two are missed", Seconds(window), refreshed, 899_999, MissedTwo},
		{"at the end it is due", Seconds(window), refreshed, 900_000, Due},
		{"after the end it is due", Seconds(window), refreshed, 1 << 40, Due},
		{"an interval of zero is due at once", Seconds(0), History{}, 0, Due},
		{"a clock that went back makes nobody late", Seconds(window), refreshed, -50_000, KeptAlive},
		{"a replayed remainder is measured against the window", Seconds(500), refreshed, 0, MissedOne},
		{"without a window nothing is missed", Seconds(5), History{Refreshes: 9}, 0, Expires},
		{"a short window has its slack of two seconds", Seconds(3), History{Window: 3, Refreshes: 5}, 2_900, KeptAlive},
		{"the largest window does not overflow", Seconds(4294967295), History{Window: 4294967295, Refreshes: 2}, 0, KeptAlive},
	} {
		if got := At(c.i, c.h, 1_000_000, 1_000_000+c.age); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestStandingsHavePhrases(t *testing.T) {
	seen := map[string]bool{}
	for s := NotTold; s <= Due; s++ {
		if seen[s.String()] {
			t.Errorf("%d is called %q, as another is", s, s)
		}
		seen[s.String()] = true
	}
	if Standing(200).String() != "unknown" {
		t.Errorf("an unheard-of standing is called %q", Standing(200))
	}
}
