package broker

import (
	"strings"
	"testing"

	"retainscope/inventory"
)

func TestADroppedCounterThatPermissionsHideDoesNotVerify(t *testing.T) {
	e := silent()
	e.copies, e.wire, e.held, e.pings = 5212, 5_000_000, 5212, 1
	e.slices = sliceResult{asked: 12, found: 300}
	e.now.version, e.now.live, e.ticked = "mosquitto version 2.0.11", 9, true
	e.before.version = e.now.version
	if claim, rule := e.claim(); claim != inventory.Incomplete {
		t.Errorf("%s: %s", claim, rule)
	}
	e.pings, e.slices = 0, sliceResult{}
	if claim, rule := e.claim(); claim != inventory.Unverified {
		t.Errorf("without a sign of loss: %s: %s", claim, rule)
	}
	e.now.beside = true // the counters beside it are read: one that is silent did not move
	if claim, rule := e.claim(); claim != inventory.Verified {
		t.Errorf("with the counters beside it: %s: %s", claim, rule)
	}
}

func TestEvidenceOfLossWinsOverACounterThatDidNotMove(t *testing.T) {
	for name, change := range map[string]func(*evidence){
		"an unanswered ping":     func(e *evidence) { e.pings = 1 },
		"slices brought more":    func(e *evidence) { e.slices = sliceResult{asked: 3, found: 10} },
		"exact filters did":      func(e *evidence) { e.recovered = 4 },
		"no fence was reached":   func(e *evidence) { e.fenced = false },
		"it was dropped by us":   func(e *evidence) { e.discards = 1 },
		"the counter did move":   func(e *evidence) { e.now.dropped, e.now.dropLive = 20, 2 },
		"the connection was cut": func(e *evidence) { e.ended = "the connection was lost" },
	} {
		e := good()
		e.held = 500
		change(&e)
		if claim, rule := e.claim(); claim != inventory.Incomplete {
			t.Errorf("%s: %s: %s", name, claim, rule)
		}
	}
}

func TestTopicsThatCouldNotBeAskedForDoNotMakeTheCountAgree(t *testing.T) {
	e := good()
	e.copies, e.unsure = 990, 10 // 990 came, ten are held from before: 1000 by chance
	c := e.coverage()
	if c.Claim != inventory.Unverified || !strings.Contains(c.Rule, "10 topics held before did not come") {
		t.Errorf("%s: %s", c.Claim, c.Rule)
	}
	e.now.count = -1
	if claim, rule := e.claim(); claim != inventory.Unverified {
		t.Errorf("without a count: %s: %s", claim, rule)
	}
}

func TestACountBelowWhatIsHeldIsNotShown(t *testing.T) {
	e := good()
	e.now.count -= 12 // topics of the broker's own expired and were collected by somebody
	c := e.coverage()
	if c.Known != -1 || c.KnownFrom != "" || c.Claim != inventory.Verified || c.Missing() != 0 {
		t.Errorf("known %d from %q, %s: %s", c.Known, c.KnownFrom, c.Claim, c.Rule)
	}
}
