package tui

import (
	"strings"
	"testing"
)

func TestAWideScreenShowedLessThanANarrowOne(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 120, 40, nil)
	s.keys("*")
	s.wants("SEEN LIVE", "SIZE", "READING", "│", "d pane")
	s.types("/state")
	s.keys("enter", "d")
	s.wants("SEEN LIVE", "SIZE", "READING", "███", "d pane")
	if strings.Contains(s.frame(), "│") {
		t.Fatalf("the pane is still there:\n%s", s.frame())
	}
	s.keys("enter")
	s.wants("Payload", "d pane")
	s.lacks("READING")
	s.keys("d")
	s.wants("READING", "│", "Payload")
	narrow := small(t)
	narrow.lacks("d pane")
	narrow.keys("d")
	narrow.wants("d is off: a pane stands beside the list from 120 columns on")
}
