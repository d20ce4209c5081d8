package tui

import (
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestEventsDrownedInChangesOfValues(t *testing.T) {
	s := small(t)
	s.inv.Apply([]inventory.Publication{live("b", "", expiry.None(), 0), live("a/2", "plain", expiry.None(), 0)})
	s.tick(time.Second)
	for i := range 500 {
		for topic := range 11 {
			s.inv.Apply([]inventory.Publication{live("live/"+number(int64(topic)), number(int64(i)), expiry.None(), 0)})
		}
		if i%100 == 0 {
			s.tick(time.Second)
		}
	}
	s.tick(time.Second)
	s.keys("6")
	s.wants("1 cleared by someone, 1 fell to never, 11 appeared, 5 490 replaced", "cleared by someone    b", "fell to never         a/2", "×500")
}

func TestTheLastOfEveryKindIsKept(t *testing.T) {
	var h happenings
	inv := inventory.New(inventory.Options{})
	inv.Apply([]inventory.Publication{live("first", "x", expiry.None(), 0), live("first", "", expiry.None(), 0)})
	for i := range 1020 {
		topic := "t/" + number(int64(i))
		inv.Apply([]inventory.Publication{retained(topic, "x", expiry.None())})
		inv.Vanished([]byte(topic), at0.UnixMilli(), inventory.Gone)
	}
	h.hear(inv, 0)
	if n := len(h.weighty); n != 1+mostOfAKind {
		t.Fatalf("%d are kept", n)
	}
	if e := h.weighty[0]; string(e.Topic) != "first" || e.Kind != inventory.Cleared {
		t.Fatalf("the oldest is %s %s", e.Kind, e.Topic)
	}
	if string(h.weighty[mostOfAKind].Topic) != "t/1 019" || h.weightyCount() != 1021 {
		t.Fatalf("the newest is %s of %d", h.weighty[mostOfAKind].Topic, h.weightyCount())
	}
	for i := range 2 * mostChurn {
		inv.Apply([]inventory.Publication{live("churn/"+number(int64(i)), "x", expiry.None(), time.Duration(2*mostChurn-i)*time.Second)})
	}
	h.hear(inv, 0)
	if all := h.newest(); len(all) != mostChurn || string(all[1].topic) != "churn/599" {
		t.Fatalf("%d topics, the newest but one %s", len(all), all[1].topic)
	}
}

func TestChangesOfValuesPushedOutWhatWent(t *testing.T) {
	s := small(t)
	s.inv.Apply([]inventory.Publication{live("b", "", expiry.None(), 0)})
	for i := range 40_000 { // as on a busy broker while the screen is paused
		s.inv.Apply([]inventory.Publication{live("a/1", number(int64(i)), expiry.None(), time.Second)})
	}
	s.tick(2 * time.Second)
	s.keys("6")
	s.wants("1 cleared by someone", "40 000 replaced", "cleared by someone    b")
	s.wantsProse("came too fast to be noted by topic; the counts above are of all")
}

func TestWhatWentFasterThanEventsAreKeptIsInTheAlarm(t *testing.T) {
	s := small(t)
	const n = 40_000
	for i := range n {
		s.inv.Apply([]inventory.Publication{retained("many/"+number(int64(i)), "x", expiry.None())})
	}
	s.tick(time.Second)
	for i := range n {
		s.inv.Apply([]inventory.Publication{live("many/"+number(int64(i)), "", expiry.None(), 2*time.Second)})
	}
	s.tick(2 * time.Second)
	s.wants("! 40 000 topics went")
	s.keys("6")
	s.wants("40 000 cleared by someone")
	s.wantsProse("40 000 were cleared by someone")
}

func TestABrokerThatLostEverythingWasReportedCalmly(t *testing.T) {
	for _, size := range sizes {
		inv := inventory.New(inventory.Options{})
		for i := range 1020 {
			inv.Apply([]inventory.Publication{retained("t/"+number(int64(i)), "x", expiry.None())})
		}
		src := seenAll(watching())
		src.cov.Seen, src.cov.Known = 0, 0
		s := newStage(t, src, inv, size[0], size[1], nil)
		s.lacks("went")
		for i := range 1020 {
			inv.Vanished([]byte("t/"+number(int64(i))), at0.Add(time.Duration(i)*10*time.Millisecond).UnixMilli(), inventory.Gone)
		}
		s.tick(20 * time.Second)
		s.wants("! 1 020 ", "went")
		if size[0] >= 80 {
			s.wants("! 1 020 topics went between 14:02:11 and 14:02:21", "Verified")
		}
		s.keys("6")
		s.wantsProse("1 020 were not there any more when asked for")
		s.keys("esc")
		s.lacks("! 1 020")
	}
}

func TestAFewThatGoAreNoAlarm(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
	for range 40 {
		for i := range 4 {
			topic := "few/" + number(int64(i))
			p := live(topic, "x", expiry.None(), 0)
			p.ReceivedAt = s.now.UnixMilli()
			q := p
			q.Payload = nil
			s.inv.Apply([]inventory.Publication{p, q})
		}
		s.tick(5 * time.Second)
	}
	s.lacks("! 1")
	if len(s.m.news.losses) != 0 {
		t.Fatalf("%+v", s.m.news.losses)
	}
}

func TestTheLastEventStoodInTheFooterForMinutes(t *testing.T) {
	s := newStage(t, seenAll(watching()), house(t), 80, 24, nil)
	s.wants("cleared by someone: cmnd/gone/POWER")
	s.tick(26 * time.Second)
	s.wants("cleared by someone: cmnd/gone/POWER")
	s.tick(time.Second)
	s.lacks("cleared by someone")
}
