package tui

import (
	"strings"
	"testing"
	"time"

	"retainscope/expiry"
	"retainscope/inventory"
)

var sizes = [][2]int{{120, 40}, {80, 24}, {40, 10}}

func TestVerifiedDidNotAge(t *testing.T) {
	for _, size := range sizes {
		s := newStage(t, seenAll(watching()), house(t), size[0], size[1], nil)
		s.wants("Verified 14:02:05")
		s.lacks("since")
		for i := range 9 {
			s.inv.Apply([]inventory.Publication{live("new/"+number(int64(i)), "x", expiry.None(), 0)})
		}
		s.tick(time.Second)
		s.wants("Verified", ", +9 since")
		for i := range 9 {
			s.inv.Apply([]inventory.Publication{live("new/"+number(int64(i)), "", expiry.None(), 0)})
		}
		s.inv.Apply([]inventory.Publication{live("gas2mqtt/status", "", expiry.None(), 0)})
		s.tick(time.Second)
		s.wants(", -1 since")
	}
}

func TestTopicsOfAnExtraFilterAreNoChangeSinceTheScan(t *testing.T) {
	src := seenAll(watching())
	src.cov.Seen, src.cov.Known = 329, 329
	src.cov.Grants = append(src.cov.Grants, inventory.Grant{Filter: "$SYS/#"})
	s := newStage(t, src, house(t), 80, 24, nil)
	s.lacks("since")
	s.inv.Apply([]inventory.Publication{live("new", "x", expiry.None(), 0)})
	s.tick(time.Second)
	s.wants(", +1 since")
}

func TestSeenMoreThanAStaleCountOfTheBroker(t *testing.T) {
	src := seenAll(watching())
	src.cov.Known = 318
	for _, size := range sizes[:2] {
		s := newStage(t, src, house(t), size[0], size[1], nil)
		s.lacks("330 of 318")
		s.wants("counted 318")
		s.keys("c")
		s.lacks("330 of 318")
	}
}

func TestVerifiedWithHalfTheStoreHiddenFromTheLogin(t *testing.T) {
	src := seenAll(watching())
	src.cov.Known = 1530
	if got := ClaimWords(src.cov); got != "verified for this login; 1 200 more are counted by the broker" {
		t.Fatalf("in words %q", got)
	}
	for _, size := range sizes {
		s := newStage(t, src, house(t), size[0], size[1], nil)
		s.wants("Verified for this login", "1 200 more")
		if size[0] >= 80 {
			s.wants("1 200 more are counted by the broker")
			s.keys("c")
			s.wants("Verified for this login")
		}
	}
	src.cov.Claim = inventory.Unverified
	if got := ClaimWords(src.cov); got != "unverified" {
		t.Fatalf("in words %q", got)
	}
}

func TestTheClaimBeganWithJargon(t *testing.T) {
	src := seenAll(watching())
	src.cov.Rule = "PINGRESP after SUBACK, then 2s without a retained copy; the broker's own count agrees (330)."
	s := newStage(t, src, house(t), 80, 24, nil)
	s.wants("Verified 14:02:05: the broker's own count agrees (330). PINGRESP after SUBACK,")
	s.keys("c")
	s.wantsProse("PINGRESP after SUBACK, then 2s without a retained copy; the broker's own count agrees (330).")
	for rule, want := range map[string]string{
		"The broker refused every filter: a; b.":   "The broker refused every filter: a; b.",
		"PINGRESP came, but a counter rose; so it": "a counter rose; so it. PINGRESP came.",
		"No PINGRESP came":                         "No PINGRESP came",
	} {
		if got := plainFirst(rule); got != want {
			t.Errorf("%q became %q", rule, got)
		}
	}
}

func TestAFullBarStoodWhileTheScanWentOn(t *testing.T) {
	src := watching()
	src.cov.Claim, src.cov.Rule, src.cov.EndedAt = inventory.Scanning, "The store is being asked for.", time.Time{}
	src.link.Scanning, src.link.ScanDone, src.link.ScanOf = true, 328, 328
	s := newStage(t, src, house(t), 80, 24, nil)
	s.wants("Scanning 328 of 328: checking that nothing more comes")
	s.lacks("█")
	src.link.ScanDone = 330
	s.send(changedMsg{})
	s.tick(time.Second)
	s.wants("Scanning 330: checking that nothing more comes")
}

func TestAnEmptyResultContradictedItself(t *testing.T) {
	src := watching()
	src.cov.Claim = inventory.Unverified
	s := newStage(t, src, inventory.New(inventory.Options{}), 80, 24, nil)
	s.keys("c")
	s.lacks("More came")
	s.wantsProse("Nothing came, and silence alone does not tell why.")
	src.cov.Claim, src.cov.Known = inventory.Verified, 0
	s = newStage(t, src, inventory.New(inventory.Options{}), 80, 24, nil)
	s.wantsProse("its own count says that it holds no retained topic")
	s.lacks("permissions")
	src.cov.Claim, src.cov.Known = inventory.Verified, 12
	s = newStage(t, src, inventory.New(inventory.Options{}), 80, 24, nil)
	s.wantsProse("though it counts 12 retained messages itself")
	if strings.Contains(s.frame(), "store is empty") {
		t.Fatal("an empty store is spoken of although the broker counts something")
	}
}

// A broker's later figures confirm the claim with another count: then the claim is of that instant.
func TestTheClaimShowedACountOfNowUnderTheTimeOfThen(t *testing.T) {
	src := seenAll(watching())
	src.cov.Rule = "the broker's own count agrees (330)."
	s := newStage(t, src, house(t), 120, 40, nil)
	s.wants("Verified 14:02:05: the broker's own count agrees (330)")
	s.inv.Apply([]inventory.Publication{live("gas2mqtt/status", "", expiry.None(), 0)})
	src.cov.Seen, src.cov.Known, src.cov.Rule, src.cov.CountedAt = 329, 329, "the broker's own count agrees (329).", at0.Add(-time.Second)
	s.send(changedMsg{})
	s.tick(time.Second)
	s.wants("Verified 14:02:10: the broker's own count agrees (329)")
	s.lacks("since")
	s.keys("5")
	s.wantsProse("329 retained topics at 14:02:10, of 329 known to the broker")
	s.wants("ended 14:02:05")
	s.inv.Apply([]inventory.Publication{live("gas2mqtt/again", "", expiry.None(), 0), live("gas2mqtt/more", "1", expiry.None(), 0)})
	s.tick(time.Second)
	s.wantsProse("+1 since: the claim is of 14:02:10")
}

func TestTheBrokersOwnTopicsWereTakenOffTwice(t *testing.T) {
	src := seenAll(watching())
	src.cov.KnownFrom = "$SYS/broker/retained messages/count, less the broker's own 53 $SYS topics"
	s := newStage(t, src, house(t), 120, 40, nil)
	s.keys("5")
	s.wantsProse("less the broker's own 53 $SYS topics)")
	s.lacks("without the broker's own")
}
