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
	s.wants("by expiry↓", "EXPIRY↓")
	for _, want := range []string{"by size↓", "by live↓", "by received↓"} {
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

func TestAFilterWithORFoundNothingInSilence(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
	s.types("/is:odd OR is:empty")
	for _, want := range []string{`word "OR": all words must hold`, "re:ONE|OTHER; in quotes"} {
		s.wantsProse(want)
	}
	s.keys("ctrl+u")
	s.types("is:marked")
	s.wants("10 topics")
}

func TestTypingAFilterOnALowScreenLostItsHint(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 40, 10, nil)
	s.types("/gas")
	s.wants("enter keep  esc clear", "/ gas")
	s.keys("enter")
	s.lacks("enter keep")
	s.wants("Verified")
}
