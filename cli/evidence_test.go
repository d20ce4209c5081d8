package cli

import (
	"sync"
	"testing"
	"time"
)

func TestTheScreenHearsWhatTheReadingsSay(t *testing.T) {
	rows := houseRows(t)
	now := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC).UnixMilli()
	e := newEvidence(straight(t, rows, now), nil)
	left, hazards := map[string]bool{}, 0
	for _, row := range rows {
		p, ok := e.Phrase([]byte(row.Topic), now)
		v, ok2 := e.Evidence([]byte(row.Topic), now)
		if !ok || !ok2 || p != v.Phrase || p.Text == "" {
			t.Fatalf("%q: %+v and %+v", row.Topic, p, v)
		}
		if p.Left {
			left[row.Topic] = true
		}
		if p.Hazard {
			hazards++
		}
		if p.Left && len(v.Findings) == 0 {
			t.Errorf("%q is left behind without a finding", row.Topic)
		}
	}
	all := e.LeftBehind(now)
	sawOther, went := false, 0
	for _, g := range all.Groups {
		if g.Hazard && sawOther {
			t.Errorf("the hazard of %s stands behind others", g.Owner)
		}
		sawOther = sawOther || !g.Hazard
		went += g.Go
		if len(g.Reasons) == 0 || g.Reasons[0].Reason == "" || g.Reasons[0].Strength == "" {
			t.Errorf("%s / %s has no reason", g.Owner, g.Device)
		}
		for _, m := range g.Members {
			if m.Left != left[m.Topic] {
				t.Errorf("%q is left behind %v in its group", m.Topic, m.Left)
			}
		}
	}
	if went != len(left) || hazards != 3 || len(left) == 0 {
		t.Errorf("%d would go by group, %d by topic; %d hazards", went, len(left), hazards)
	}
	topics := 0
	for _, p := range all.Prefixes {
		topics += p.Topics
	}
	if topics != len(rows) {
		t.Errorf("%d topics below first levels", topics)
	}
	if !e.Finding("renamed") || e.Finding("nonsense") {
		t.Error("findings have other names")
	}
	if _, ok := e.Phrase([]byte("not/there"), now); ok {
		t.Error("a topic that is not there has a reading")
	}
}

func TestALongQuestionHoldsUpNoShortOne(t *testing.T) {
	rows := houseRows(t)
	now := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC).UnixMilli()
	e := newEvidence(straight(t, rows, now), nil)
	topic, other := []byte(rows[0].Topic), []byte(rows[1].Topic)
	p, _ := e.Phrase(topic, now)
	v, _ := e.Evidence(topic, now)
	e.hold(true)
	if q, ok := e.Phrase(topic, now); !ok || q != p {
		t.Errorf("meanwhile it is %+v", q)
	}
	if u, ok := e.Evidence(topic, now); !ok || u.Text != v.Text {
		t.Errorf("meanwhile it is %+v", u)
	}
	if _, ok := e.Phrase(other, now); ok {
		t.Error("what was never said is said")
	}
	if _, ok := e.Evidence(other, now); ok {
		t.Error("the evidence of another topic is shown")
	}
	e.hold(false)
	var together sync.WaitGroup
	for range 4 {
		together.Go(func() {
			for range 5 {
				e.LeftBehind(now)
				e.Phrase(other, now)
				e.Evidence(other, now)
			}
		})
	}
	together.Wait()
}

func TestOwnersAreFoundWhateverTheirCase(t *testing.T) {
	rows := houseRows(t)
	now := time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC).UnixMilli()
	j := judge{straight(t, rows, now)}
	topic := []byte("caldates2mqtt/birthday/state")
	if !j.OwnedBy(topic, "CALdates", now) || j.OwnedBy(topic, "zigbee", now) || j.OwnedBy([]byte("not/there"), "", now) {
		t.Error("the owner is another")
	}
	if !j.Found(topic, "unknown-name", now) || j.Found(topic, "renamed", now) || j.Found(topic, "nonsense", now) {
		t.Error("the findings are others")
	}
	if foldASCII("ÄbC") != "Äbc" {
		t.Error("only ASCII letters are folded")
	}
}
