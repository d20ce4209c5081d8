package tui

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestTypingAFilterLeftTheCursorOnAHitOfTheHalfTypedWord(t *testing.T) {
	for _, flat := range []bool{true, false} {
		s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
		if flat {
			s.keys("t")
		}
		s.types("/state")
		s.wantCursor("STATE/host_old")
		s.types(" -host -airthings")
		s.wantCursor("caldates2mqtt/birthday/state")
		s.keys("ctrl+u")
		if i := s.m.list.line; i != 0 || s.m.list.cur != s.m.list.l.First() {
			t.Fatalf("without the filter the cursor is on %q", s.cursor())
		}
	}
}

func TestACursorsOwnTopicKeepsItWhileAFilterIsTyped(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
	s.keys("t", "end", "up")
	own := s.cursor()
	s.types("/" + own[:len(own)-3])
	s.wantCursor(own)
	s.types("nothing like it")
	s.keys("ctrl+u")
	s.wantCursor(own)
	s.types("state")
	s.keys("down", "down")
	chosen := s.cursor()
	s.types(" 2mqtt")
	s.wantCursor(chosen)
	s.keys("enter", "esc")
	s.wantCursor(chosen)
}

func TestTheFirstScanScrolledTheFirstRowsAway(t *testing.T) {
	src := watching()
	src.link.Scanning = true
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{retained("m/1", "x", expiry.None())})
	s := newStage(t, src, inv, 80, 24, nil)
	for _, topic := range []string{"k", "c", "b", "a"} {
		for i := range 30 {
			inv.Apply([]inventory.Publication{retained(topic+number(int64(i)), "x", expiry.None())})
		}
		s.tick(time.Second)
		s.wantCursor(topic + "0")
	}
	s.keys("down")
	s.inv.Apply([]inventory.Publication{retained("a/new", "x", expiry.None()), retained("0", "x", expiry.None())})
	s.tick(time.Second)
	s.wantCursor("a1")
}
