package tui

import (
	"fmt"
	"testing"
)

// BenchmarkLeftBehind draws the screen of what looks left behind with a group of 9 000 topics while the cursor moves.
func BenchmarkLeftBehind(b *testing.B) {
	k := incidents()
	g := &k.left.Groups[1]
	for i := range 9000 {
		g.Members = append(g.Members, members("state", fmt.Sprintf("house/dev%05d/state", i))...)
	}
	s := newStage(b, seenAll(watching()), house(b), 120, 40, func(o *Options) { o.Readings = k })
	s.keys("2")
	for b.Loop() {
		s.m.Update(press("down"))
	}
}

func TestAGroupOfThousandsMovesAsASmallOne(t *testing.T) {
	k := incidents()
	g := &k.left.Groups[1]
	for i := range 9000 {
		g.Members = append(g.Members, members("state", fmt.Sprintf("house/dev%05d/state", i))...)
	}
	s := newStage(t, seenAll(watching()), house(t), 80, 24, func(o *Options) { o.Readings = k })
	s.keys("2", "pgdown", "down")
	at := s.m.left.at
	s.keys("down", "up")
	if s.m.left.at != at || len(s.m.left.rows) < 9000 {
		t.Fatal("the cursor went astray")
	}
	s.keys("end", "left")
	if r, _ := s.m.left.row(); r.group == nil || r.member != nil || r.reason != nil {
		t.Fatalf("the cursor is on %q, not on the head of its group", r.key)
	}
	s.keys("left")
	if r, _ := s.m.left.row(); r.group == nil || r.member != nil {
		t.Fatal("a closed group is closed again")
	}
}
