package expiry

import "testing"

func TestAReplayTeachesOnlyTheWindow(t *testing.T) {
	h := History{}.Replay(Seconds(500)).Replay(Seconds(900)).Replay(Seconds(100)).Replay(None()).Replay(NotKnown())
	if h != (History{Window: 900}) {
		t.Fatalf("learned %+v", h)
	}
	live := History{}.Live(Seconds(600), 0).Replay(Seconds(599))
	if live.Refreshes != 1 || live.Window != 600 {
		t.Fatalf("a replay counted as a refresh: %+v", live)
	}
}

func TestTheCadenceIsKnownAfterThreeLiveRefreshes(t *testing.T) {
	h := History{}
	for n, gap := range []uint32{0, 300, 301, 299} {
		h = h.Live(Seconds(900), gap)
		cadence, ok := h.Cadence()
		if want := n >= 2; ok != want || ok && cadence != gap || !ok && cadence != 0 {
			t.Fatalf("after %d refreshes the cadence is %d, %v", n+1, cadence, ok)
		}
	}
}

func TestTheCadenceIsGivenUpWhenAGapDiffers(t *testing.T) {
	for _, c := range []struct {
		name     string
		gap      uint32
		steadies bool
	}{
		{"the same gap is steady", 300, true},
		{"2 s and a tenth more is steady", 332, true},
		{"2 s and a tenth less is steady", 268, true},
		{"more than that is not", 333, false},
		{"less than that is not", 267, false},
		{"a missed refresh is not", 600, false},
	} {
		h := History{}.Live(Seconds(900), 0).Live(Seconds(900), 300).Live(Seconds(900), c.gap)
		if _, ok := h.Cadence(); ok != c.steadies {
			t.Errorf("%s: %+v", c.name, h)
		}
		if h.Gap != c.gap {
			t.Errorf("%s: the last gap is %d", c.name, h.Gap)
		}
	}
}

func TestALivePublicationSetsTheWindowAndOneWithoutForgetsEverything(t *testing.T) {
	h := History{}.Replay(Seconds(9000)).Live(Seconds(600), 0)
	if h.Window != 600 {
		t.Fatalf("the window is %d, want what the publisher sets now", h.Window)
	}
	for _, i := range []Interval{None(), NotKnown()} {
		if got := h.Live(i, 10); got != (History{}) {
			t.Fatalf("%v left %+v", i, got)
		}
	}
}

func TestTwoPublicationsInOneSecondAreNoGap(t *testing.T) {
	h := History{}.Live(Seconds(60), 0).Live(Seconds(60), 20).Live(Seconds(60), 0)
	if h.Gap != 20 || h.Refreshes != 3 {
		t.Fatalf("learned %+v", h)
	}
}

func TestCountersStopAtTheirMaximum(t *testing.T) {
	h := History{Window: 60, Gap: 20, Refreshes: ^uint16(0), Steady: ^uint16(0)}
	if got := h.Live(Seconds(60), 20); got != h {
		t.Fatalf("%+v became %+v", h, got)
	}
}
