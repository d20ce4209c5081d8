package tui

import (
	"testing"
	"time"
)

func TestTheOrderWasInvisibleOnceAFilterWasSet(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
	s.keys("t", "s")
	s.types("/is:never")
	s.wants("by expiry", "/ is:never", "EXPIRY↑")
	s.keys("enter", "S")
	s.wants("by expiry, turned", "EXPIRY↓")
	for _, want := range []string{"by size, turned", "by live, turned", "by received, turned"} {
		s.keys("s")
		s.wants(want)
	}
	s.wants("RECEIVED↓", "4s ago")
	s.tick(time.Second)
	s.wants("5s ago")
	s.keys("t")
	s.lacks("by received")
	s.wants("SEEN LIVE ")
}
