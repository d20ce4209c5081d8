package tui

import (
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

func TestAGhostRowHasAMarkAndIsCountedInTheHeader(t *testing.T) {
	inv := inventory.New(inventory.Options{})
	inv.BeginScan()
	inv.Apply([]inventory.Publication{retained("a/ghost", "1", expiry.None()), retained("a/there", "1", expiry.None()), retained("b", "1", expiry.None())})
	src := watching()
	s := newStage(t, src, inv, 120, 20, nil)
	s.keys("t")
	s.wants("a/ghost", "3 retained")
	s.lacks("!")
	s.lacks("last scan")

	t.Log("while the second scan runs nothing is said of what it has not brought")
	inv.BeginScan()
	ended := src.cov.EndedAt
	src.link.Scanning, src.cov.Claim, src.cov.EndedAt = true, inventory.Scanning, time.Time{}
	s.send(changedMsg{})
	s.tick(time.Second)
	s.lacks("!")
	s.lacks("last scan")

	t.Log("it ended, and did not bring one of them")
	inv.Apply([]inventory.Publication{retained("a/there", "1", expiry.None()), retained("b", "1", expiry.None())})
	src.link.Scanning, src.cov.Claim, src.cov.EndedAt = false, inventory.NoSignOfLoss, ended.Add(5*time.Second)
	s.send(changedMsg{})
	s.tick(time.Second)
	if row := s.line("! a/ghost"); !strings.Contains(row, wordGhost) {
		t.Errorf("the row of the ghost is %q", row)
	}
	if row := s.line("a/there"); strings.Contains(row, "!") || !strings.Contains(row, "never expires") {
		t.Errorf("the row that was shown is %q", row)
	}
	s.wants("1 not shown by the last scan (!)")

	t.Log("its facts, with the cursor on it")
	s.keys("g", "enter")
	s.wantsProse("Not shown by the last scan")
	s.keys("esc")

	t.Log("it is published: no ghost any more")
	p := live("a/ghost", "2", expiry.None(), 0)
	p.ReceivedAt = s.now.UnixMilli()
	inv.Apply([]inventory.Publication{p})
	s.tick(3 * time.Second)
	s.tick(3 * time.Second)
	s.lacks("last scan")
}
