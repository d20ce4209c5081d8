package expiry

import (
	"strings"
	"testing"
)

func copies(h *Habits, n int, i func(k int) Interval) {
	for k := range n {
		h.Copy(i(k))
	}
}

func finite(values ...uint32) func(int) Interval {
	return func(k int) Interval { return Seconds(values[k%len(values)]) }
}

func TestWhetherABrokerCountsDown(t *testing.T) {
	for _, c := range []struct {
		name    string
		feed    func(h *Habits)
		down    bool
		sure    Sureness
		mention string
	}{
		{"nothing seen says what the standard asks for", func(*Habits) {}, true, NotSure, ""},
		{"one interval that fell with the clock is likely", func(h *Habits) { h.Again(Seconds(100), Seconds(90), 10_000) }, true, Likely, ""},
		{"three are certain", func(h *Habits) {
			for range 3 {
				h.Again(Seconds(100), Seconds(91), 10_000)
			}
		}, true, Certain, ""},
		{"three that stayed are certain", func(h *Habits) {
			for range 3 {
				h.Again(Seconds(100), Seconds(100), 10_000)
			}
		}, false, Certain, "does not count"},
		{"two that stayed are nothing", func(h *Habits) {
			h.Again(Seconds(100), Seconds(100), 10_000)
			h.Again(Seconds(100), Seconds(100), 10_000)
		}, true, NotSure, ""},
		{"one that fell outweighs those that stayed", func(h *Habits) {
			for range 9 {
				h.Again(Seconds(100), Seconds(100), 10_000)
			}
			h.Again(Seconds(100), Seconds(90), 10_000)
		}, true, Likely, ""},
		{"copies close together tell nothing", func(h *Habits) {
			for range 9 {
				h.Again(Seconds(100), Seconds(100), 2_999)
			}
		}, true, NotSure, ""},
		{"a refresh in between tells nothing", func(h *Habits) {
			for range 9 {
				h.Again(Seconds(50), Seconds(100), 10_000)
			}
		}, true, NotSure, ""},
		{"an absent one tells nothing", func(h *Habits) {
			for range 9 {
				h.Again(None(), Seconds(100), 10_000)
				h.Again(Seconds(100), NotKnown(), 10_000)
			}
		}, true, NotSure, ""},
	} {
		var h Habits
		c.feed(&h)
		if down, sure := h.CountsDown(); down != c.down || sure != c.sure {
			t.Errorf("%s: %v, %v", c.name, down, sure)
		}
		if notes := strings.Join(h.Notes(), "\n"); (notes != "") != (c.mention != "") || !strings.Contains(notes, c.mention) {
			t.Errorf("%s: notes are %q", c.name, notes)
		}
	}
}

func TestWhetherABrokerStamps(t *testing.T) {
	for _, c := range []struct {
		name    string
		feed    func(h *Habits)
		ceiling uint32
		sure    Sureness
		mention string
	}{
		{"nothing seen is nothing", func(*Habits) {}, 0, NotSure, ""},
		{"a live copy without and a retained one with an interval is proof", func(h *Habits) {
			h.Pair(None(), Seconds(2147483646))
		}, 2147483647, Certain, "68 years"},
		{"so it is with a day", func(h *Habits) { h.Pair(None(), Seconds(86399)) }, 86400, Certain, "one day"},
		{"with an interval of its own a live copy proves nothing", func(h *Habits) { h.Pair(Seconds(60), Seconds(59)) }, 0, NotSure, ""},
		{"every copy within a day and none without is likely", func(h *Habits) { copies(h, 20, finite(86399, 80000, 5)) }, 86400, Likely, "may add"},
		{"19 copies are too few", func(h *Habits) { copies(h, 19, finite(86399)) }, 0, NotSure, ""},
		{"one copy without is enough to say no", func(h *Habits) {
			copies(h, 500, finite(86399))
			h.Copy(None())
		}, 0, NotSure, ""},
		{"one copy above a day is enough to say no", func(h *Habits) {
			copies(h, 500, finite(86399))
			h.Copy(Seconds(86401))
		}, 0, NotSure, ""},
		{"live copies of a day each fit", func(h *Habits) {
			copies(h, 50, finite(86399))
			h.Publish(Seconds(86400))
		}, 86400, Likely, "may add"},
		{"a live copy of another interval does not", func(h *Habits) {
			copies(h, 50, finite(86399))
			h.Publish(Seconds(60))
		}, 0, NotSure, ""},
		{"a live copy without does not", func(h *Habits) {
			copies(h, 50, finite(86399))
			h.Publish(None())
		}, 0, NotSure, ""},
		{"decades on most copies and none without is certain", func(h *Habits) {
			copies(h, 40, finite(2147480000, 2147483646, 3600))
		}, 2147483647, Certain, "68 years"},
		{"decades on a few copies and none without is likely", func(h *Habits) {
			copies(h, 40, finite(4294967290, 60, 60, 60, 60, 60, 60, 60, 60, 60))
		}, 4294967295, Likely, "136 years"},
		{"copies that are not knowable do not count", func(h *Habits) {
			copies(h, 500, func(int) Interval { return NotKnown() })
		}, 0, NotSure, ""},
	} {
		var h Habits
		c.feed(&h)
		if ceiling, sure := h.Stamps(); ceiling != c.ceiling || sure != c.sure {
			t.Errorf("%s: %d, %v", c.name, ceiling, sure)
		}
		if notes := strings.Join(h.Notes(), "\n"); (notes != "") != (c.mention != "") || !strings.Contains(notes, c.mention) {
			t.Errorf("%s: notes are %q", c.name, notes)
		}
	}
}

func TestWhetherABrokerHidesTheLargest(t *testing.T) {
	var h Habits
	h.Pair(Seconds(60), None())
	if h.Hides() != NotSure {
		t.Fatal("a small interval that went says nothing of large ones")
	}
	for n, want := range []Sureness{Likely, Likely, Certain} {
		h.Pair(Seconds(4294967295), None())
		if h.Hides() != want {
			t.Fatalf("after %d: %v", n+1, h.Hides())
		}
	}
	if notes := h.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "largest") {
		t.Fatalf("notes are %q", notes)
	}
}

func TestCopiesAreCounted(t *testing.T) {
	var h Habits
	copies(&h, 3, finite(5))
	h.Copy(None())
	if all, with := h.Copies(); all != 4 || with != 3 {
		t.Fatalf("%d copies, %d with an interval", all, with)
	}
}

func TestSurenessHasNames(t *testing.T) {
	if NotSure.String() != "not sure" || Likely.String() != "likely" || Certain.String() != "certain" {
		t.Fatal(NotSure, Likely, Certain)
	}
}
