package tui

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

// goDown goes down until the cursor is on a topic.
func (s *stage) goDown(topic string) {
	s.t.Helper()
	for range 50 {
		if s.cursor() == topic {
			return
		}
		s.keys("down")
	}
	s.wantCursor(topic)
}

// shapes are the ways in which topics are listed, as keys.
var shapes = map[string][]string{"tree": {"*"}, "flat": {"t"}, "flat, newest first": {"t", "s", "s", "s", "S"}}

func TestTheCursorJumpedToAnotherTopicWhenItsRowWentOrCameBack(t *testing.T) {
	const own = "demo/late/state"
	at := func(s *stage, p inventory.Publication) inventory.Publication {
		p.ReceivedAt = s.now.UnixMilli()
		return p
	}
	for name, keys := range shapes {
		for _, filter := range []string{"", "demo/", "is:never"} {
			for what, goes := range map[string]func(s *stage) inventory.Publication{
				"emptied by somebody": func(s *stage) inventory.Publication { return at(s, live(own, "", expiry.None(), 0)) },
				"let through no more": func(s *stage) inventory.Publication { return at(s, live(own, "x", expiry.Seconds(900), 0)) },
			} {
				t.Run(name+" "+filter+" "+what, func(t *testing.T) {
					inv := inventory.New(inventory.Options{})
					for _, topic := range []string{"demo/a/state", own, "demo/mqtt311/state", "demo/z", "other"} {
						inv.Apply([]inventory.Publication{retained(topic, "x", expiry.None())})
					}
					s := newStage(t, watching(), inv, 120, 24, nil)
					s.keys(keys...)
					if filter != "" {
						s.types("/" + filter)
						s.keys("enter", "g")
					}
					s.goDown(own)
					for round := range 2 {
						inv.Apply([]inventory.Publication{goes(s)})
						for range 4 {
							s.tick(time.Second)
							s.wantCursor(own)
						}
						if what == "emptied by somebody" {
							s.wants(wordNotHeld)
							s.keys("a", "x", "y", "e")
							if s.m.form != nil || round > 0 && s.m.dialog == nil {
								t.Fatalf("a key acted on another topic:\n%s", s.frame())
							}
							s.keys("esc")
						} else if filter == "is:never" {
							s.wants("this row is not in the list now")
						}
						s.keys("enter")
						s.tick(time.Second)
						s.wants(own)
						s.keys("esc", "p")
						s.tick(time.Second)
						s.wantCursor(own)
						s.keys("p")
						s.wantCursor(own)
						inv.Apply([]inventory.Publication{at(s, live(own, "back", expiry.None(), 0))})
						for range 4 {
							s.tick(time.Second)
							s.wantCursor(own)
						}
						if r, _ := s.m.row(); !r.Held || staying(r) {
							t.Fatalf("it is back and has no row of the list:\n%s", s.frame())
						}
						s.lacks(wordNotHeld)
					}
				})
			}
		}
	}
}

func TestTheCursorLeftTheTopicThatWasJustClearedWhenItCameBack(t *testing.T) {
	for name, keys := range shapes {
		for _, filter := range []string{"", "caldates2mqtt/"} {
			s, _ := clearStage(t, 120, 40, false)
			s.keys("esc", "t", "t", "t") // the tree
			s.keys(keys...)
			if filter != "" {
				s.types("/" + filter)
				s.keys("enter")
			}
			s.m.list.goal = []byte(birthdayState)
			s.run(s.m.relist())
			s.keys("x")
			s.typeWord("state")
			s.keys("enter")
			s.wantCursor(birthdayState)
			p := live(birthdayState, "late", expiry.None(), 0)
			p.ReceivedAt = s.now.UnixMilli()
			s.inv.Apply([]inventory.Publication{p})
			for range 5 {
				s.tick(time.Second)
				if got := s.cursor(); got != birthdayState {
					t.Fatalf("%s %q: the cursor is on %q:\n%s", name, filter, got, s.frame())
				}
			}
			s.inv.Apply([]inventory.Publication{live(birthdayState, "", expiry.None(), 0)})
			s.tick(actStays + time.Minute)
			s.tick(time.Second)
			if got := s.cursor(); got != birthdayState {
				t.Fatalf("%s %q: after the row's time the cursor is on %q:\n%s", name, filter, got, s.frame())
			}
		}
	}
}

func TestALevelThatEmptiedGaveTheCursorToATopic(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for _, topic := range []string{"a/b/c", "a/d", "e"} {
		inv.Apply([]inventory.Publication{retained(topic, "x", expiry.None())})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("*")
	s.goDown("a/b")
	inv.Apply([]inventory.Publication{live("a/b/c", "", expiry.None(), 0)})
	s.tick(time.Second)
	s.wantCursor("a/b")
	s.keys("left")
	s.wantCursor("a")
	s.keys("down")
	s.wantCursor("a/d")
}

func TestAFilteredTreeOpenedWhatWasClosedByHand(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	for _, topic := range []string{"a/b", "a/c", "d"} {
		inv.Apply([]inventory.Publication{retained(topic, "x", expiry.None())})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.types("/is:never")
	s.keys("enter", "g", "left")
	s.lacks(" b ")
	inv.Apply([]inventory.Publication{live("e", "x", expiry.None(), 0)})
	s.tick(time.Second)
	s.tick(time.Second)
	s.wants(" e ")
	s.wantCursor("a")
	s.lacks(" b ")
}

func TestEnterOnWhatLooksLeftBehindWentToTheRowBesideIt(t *testing.T) {
	s, _ := clearStage(t, 120, 40, false)
	s.keys("esc", "2")
	for range 40 {
		if r, _ := s.m.left.row(); r.member != nil && r.member.Topic == birthdayState {
			break
		}
		s.keys("down")
	}
	s.inv.Apply([]inventory.Publication{live(birthdayState, "", expiry.None(), 0)})
	s.keys("enter")
	s.wantCursor(birthdayState)
	s.tick(time.Second)
	s.wantCursor(birthdayState)
}

func TestNewestFirstTheListScrolledAwayFromItsFirstRow(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	publish := func(s *stage, topic string) {
		p := live(topic, "x", expiry.None(), 0)
		p.ReceivedAt = s.now.UnixMilli()
		inv.Apply([]inventory.Publication{p})
		s.tick(time.Second)
		s.tick(time.Second)
	}
	for i := range 40 {
		inv.Apply([]inventory.Publication{live("t/"+number(int64(i)), "x", expiry.None(), time.Duration(i+1)*time.Minute)})
	}
	s := newStage(t, watching(), inv, 80, 24, nil)
	s.keys("t", "s", "s", "s", "S")
	for i := 10; i < 40; i++ {
		topic := "t/" + number(int64(i))
		publish(s, topic)
		s.wantCursor(topic)
		if i == 20 {
			s.keys("?", "?", "6", "1") // looking elsewhere moves nothing
		}
	}
	s.keys("down")
	on := s.cursor()
	for i := range 30 {
		publish(s, "t/"+number(int64(i)))
		s.wantCursor(on)
	}
	s.wants(" newer above (g)")
	s.keys("g")
	s.wantCursor("t/29")
	s.lacks("newer above")
	publish(s, "t/3")
	s.wantCursor("t/3")
	s.keys("enter") // what is read about does not change under the eyes
	publish(s, "t/4")
	s.wantCursor("t/3")
}

func TestARowThatOnlyTheCursorKeptStayedThroughAnotherFilter(t *testing.T) {
	const other = "gas2mqtt/counter/state"
	for name, keys := range shapes {
		s, _ := clearStage(t, 120, 40, false)
		s.keys("x")
		s.typeWord("state")
		s.keys("enter", "esc", "esc", "t", "t", "t")
		s.keys(keys...)
		s.m.list.goal = []byte(birthdayState)
		s.run(s.m.relist())
		s.wantCursor(birthdayState)
		s.types("/" + other)
		s.tick(time.Second)
		if got := s.cursor(); got != other {
			t.Fatalf("%s: the cursor is on %q:\n%s", name, got, s.frame())
		}
		s.keys("enter")
		s.inv.Apply([]inventory.Publication{live(other, "", expiry.None(), 0)})
		s.tick(time.Second)
		s.tick(time.Second)
		s.wantCursor(other)
		s.types("/") // what passes another filter is what the cursor goes to
		s.keys("ctrl+u")
		s.types("wallpanel2mqtt/panel/state")
		s.tick(time.Second)
		s.wantCursor("wallpanel2mqtt/panel/state")
	}
}

func TestARowThatStaysStoodAmongStrangersOnceTheFilterWasCleared(t *testing.T) {
	s, _ := clearStage(t, 80, 24, false)
	const topic = "homeassistant/sensor/caldates2mqtt/birthday_days/config"
	s.keys("esc", "t")
	s.types("/birthday_days")
	s.keys("enter")
	s.goDown(topic)
	p := live(topic, "", expiry.None(), 0)
	s.inv.Apply([]inventory.Publication{p})
	s.tick(time.Second)
	s.tick(time.Second)
	s.wantCursor(topic)
	s.keys("esc")
	s.tick(time.Second)
	s.wantCursor(topic)
	rows := s.m.list.shown.rows
	for i := 1; i < len(rows); i++ {
		if levelsBefore(rows[i].Prefix, rows[i-1].Prefix) {
			t.Fatalf("%q stands below %q:\n%s", rows[i].Prefix, rows[i-1].Prefix, s.frame())
		}
	}
	s.wants("holidays_days")
}
