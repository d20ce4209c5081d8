package tui

import (
	"testing"
	"time"
)

// A broker that was stopped in the middle keeps its connections: the header must not go on saying live.
func TestABrokerThatDoesNotAnswerWasCalledLive(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{{120, 40, "no answer since 14:01:40"}, {80, 24, "no answer since 14:01:40"}, {40, 10, "silent"}} {
		src := seenAll(watching())
		src.link.Err = "no answer since 14:01:40"
		s := newStage(t, src, house(t), c.w, c.h, nil)
		s.wants(c.want)
		s.lacks("live 14:")
	}
}

// While the first scan waits for the broker's figures nothing was read yet, and that is not "nothing looks left behind".
func TestBeforeTheScanEndedNothingWasSaidToBeLeftBehind(t *testing.T) {
	s := newStage(t, watching(), house(t), 80, 24, func(o *Options) { o.Readings = &known{} })
	s.keys("2")
	s.wantsProse("is worked out when the scan has ended")
	s.lacks("Nothing looks left behind")
	s.keys("b")
	s.lacks("No topic is retained")
}

func TestSilenceStoodStillWhileNothingChanged(t *testing.T) {
	s, k := leftStage(t, 80, 24)
	s.keys("2")
	before := k.asked
	for range 15 {
		s.tick(time.Second)
	}
	if k.asked != before+1 {
		t.Fatalf("the groups were gathered %d times in 15 s without a change, want once", k.asked-before)
	}
}
