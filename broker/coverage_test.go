package broker

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"retainscope/inventory"
)

// good is a scan of the whole store that ended by the rule, with figures of the broker from before and after.
func good() evidence {
	v := sysValues{version: "mosquitto version 2.0.11", count: 1050, countFrom: sysCount, own: 50, countLive: 1, dropped: 7, dropLive: 1, live: 60}
	return evidence{
		filters: []string{"#"}, grants: []inventory.Grant{{Filter: "#"}}, fenced: true, quiet: 2 * time.Second,
		copies: 1000, wire: 50_000, allWire: 50_000, held: 1000, before: v, now: v, ticked: true,
	}
}

// silent is the same on a broker that tells nothing.
func silent() evidence {
	e := good()
	e.before = newFigures().read()
	e.now, e.ticked = e.before, false
	return e
}

func TestTheClaimFollowsTheEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		e    func() evidence
		want inventory.Claim
		says string
	}{
		"a count in groups of three, and the count agrees": {good, inventory.Verified, "own count agrees (1 000)"},
		"the count agrees after slices":                    {func() evidence { e := good(); e.slices = sliceResult{asked: 12, found: 300}; e.pings = 1; return e }, inventory.Verified, "12 slices, which brought 300 topics"},
		"nothing known, little came":                       {silent, inventory.NoSignOfLoss, "hides from this login cannot be told"},
		"nothing known, much came":                         {func() evidence { e := silent(); e.copies, e.wire = 9000, 5_000_000; return e }, inventory.Unverified, "no figure to check against"},
		"few large messages":                               {func() evidence { e := silent(); e.copies, e.wire = 800, 50_000_000; return e }, inventory.NoSignOfLoss, "less came"},
		"nothing was dropped, half is hidden":              {func() evidence { e := good(); e.held = 500; return e }, inventory.Verified, "visible to this login"},
		"half is hidden, said first":                       {func() evidence { e := good(); e.held = 500; return e }, inventory.Verified, "For this login; the broker counts 500 more"},
		"a count that expired":                             {func() evidence { e := good(); e.now.count = -1; return e }, inventory.Verified, "lets it expire a minute after its last change"},
		"$SYS only in part":                                {func() evidence { e := good(); e.now.own, e.ticked = -1, false; return e }, inventory.NoSignOfLoss, "may not read all of $SYS"},
		"nothing under $SYS":                               {silent, inventory.NoSignOfLoss, "tells this login nothing under $SYS"},
		"nothing replayed, filters narrow":                 {func() evidence { e := silent(); e.copies, e.held = 0, 0; e.grants[0].Filter = "a/#"; return e }, inventory.Unverified, "under these filters"},
		"nothing replayed, many are counted":               {func() evidence { e := good(); e.copies, e.held, e.ticked = 0, 0, false; return e }, inventory.Unverified, "yet the broker counts 1 000"},
		"dropped, and the count is higher":                 {func() evidence { e := good(); e.held, e.now.dropped, e.now.dropLive = 500, 507, 2; return e }, inventory.Incomplete, "rose by 500: some client"},
		"dropped, but hardly ours":                         {func() evidence { e := good(); e.held, e.now.dropped, e.now.dropLive = 1001, 507, 2; return e }, inventory.Unverified, "does not say which"},
		"dropped, and the count agrees":                    {func() evidence { e := good(); e.now.dropped, e.now.dropLive = 507, 2; return e }, inventory.Verified, "agrees"},
		"dropped counter was silent, now speaks": {func() evidence {
			e := silent()
			e.pings = 1
			e.now.version = "mosquitto version 2.0.11"
			e.now.dropped, e.now.dropLive = 9, 1
			return e
		}, inventory.Incomplete, "dropped counter rose"},
		"a count without a dropped counter": {func() evidence { e := good(); e.now.version, e.now.dropped = "", -1; e.held = 900; return e }, inventory.Incomplete, "counts 1 000 topics and 900 are here"},
		"an old count that is higher": {func() evidence {
			e := good()
			e.now.version, e.now.dropped, e.ticked = "", -1, false
			e.held = 900
			e.waited = 15 * time.Second
			return e
		}, inventory.Unverified, "older than the scan"},
		"refused altogether": {func() evidence { e := good(); e.grants[0].Code = 0x87; return e }, inventory.Incomplete, `"#": Not authorized (0x87)`},
		"refused in part": {func() evidence {
			e := good()
			e.grants = append(e.grants, inventory.Grant{Filter: "$x/#", Code: 0x8F})
			return e
		}, inventory.Incomplete, "Topic Filter invalid (0x8F)"},
		"cut off":                                 {func() evidence { e := good(); e.ended = "the broker closed the connection without a word"; return e }, inventory.Incomplete, "did not come to its end"},
		"a ping unanswered":                       {func() evidence { e := silent(); e.pings = 1; return e }, inventory.Incomplete, "left a ping unanswered"},
		"no ping answered at all":                 {func() evidence { e := silent(); e.fenced = false; return e }, inventory.Incomplete, "No PINGRESP"},
		"our own read-ahead full":                 {func() evidence { e := silent(); e.stalls = 1; return e }, inventory.Unverified, "could not read as fast"},
		"our own drops":                           {func() evidence { e := silent(); e.discards = 3; return e }, inventory.Incomplete, "had to drop"},
		"nothing replayed":                        {func() evidence { e := silent(); e.copies, e.held = 0, 0; return e }, inventory.Unverified, "not replay on wildcards"},
		"nothing replayed, something live":        {func() evidence { e := silent(); e.copies, e.held = 0, 4; return e }, inventory.Unverified, "not replay on wildcards"},
		"nothing replayed, exact filters do":      {func() evidence { e := silent(); e.copies, e.held, e.wildcards = 0, 4, 1; return e }, inventory.Incomplete, "exact filters only"},
		"nothing replayed, exact filters neither": {func() evidence { e := silent(); e.copies, e.held, e.wildcards = 0, 4, 2; return e }, inventory.Unverified, "brought nothing either"},
		"empty by the broker's count":             {func() evidence { e := good(); e.copies, e.held, e.now.count = 0, 0, 50; return e }, inventory.Verified, "holds no retained topic"},
		"copies that never stop":                  {func() evidence { e := silent(); e.trickle = true; return e }, inventory.Unverified, "kept coming"},
		"an exact filter brought more":            {func() evidence { e := silent(); e.recovered = 3; return e }, inventory.Incomplete, "exact filters brought 3"},
	} {
		e := c.e()
		claim, rule := e.claim()
		if claim != c.want || !strings.Contains(rule, c.says) {
			t.Errorf("%s: %s: %s\nwant %s with %q", name, claim, rule, c.want, c.says)
		}
	}
}

func TestEverySentenceIsWholeAndEveryShortfallExplained(t *testing.T) {
	for i := range 1 << 11 {
		e := good()
		bit := func(n int) bool { return i>>n&1 == 1 }
		if bit(0) {
			e = silent()
		}
		if bit(1) {
			e.held -= 300
		}
		if bit(2) {
			e.pings = 2
		}
		if bit(3) {
			e.wire, e.copies = 9_000_000, 20_000
		}
		if bit(4) {
			e.grants = append(e.grants, inventory.Grant{Filter: "x\x1b/#", Code: 0x80})
		}
		if bit(5) {
			e.now.dropped, e.now.dropLive = 900, 9
		}
		if bit(6) {
			e.slices = sliceResult{asked: 3, planned: 3, found: 10, flat: true}
		}
		if bit(7) {
			e.ticked = false
		}
		if bit(8) {
			e.ended = "the connection was lost"
		}
		if bit(9) {
			e.copies, e.held = 0, 0
		}
		if bit(10) {
			e.stalls, e.stalled = 2, time.Second
		}
		c := e.coverage()
		texts := append([]string{c.Rule}, c.Remedies...)
		for _, g := range c.Gaps {
			texts = append(texts, g.Text)
		}
		for _, s := range texts {
			if !strings.HasSuffix(s, ".") || !unicode.IsUpper([]rune(s)[0]) && s[0] != '%' || strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, "%!") {
				t.Fatalf("case %b: %q is no plain sentence", i, s)
			}
		}
		if c.Claim == inventory.Incomplete && (len(c.Gaps) == 0 || len(c.Remedies) == 0) {
			t.Fatalf("case %b: incomplete without a gap or a remedy: %s", i, c.Rule)
		}
		if c.Missing() > 0 && c.Claim != inventory.Scanning && len(c.Gaps) == 0 {
			t.Fatalf("case %b: %d missing and no gap says why: %s", i, c.Missing(), c.Rule)
		}
		if c.Claim == inventory.Verified && !e.agrees() && !e.nothingDropped() {
			t.Fatalf("case %b: verified without a count and without a counter: %s", i, c.Rule)
		}
	}
}

func TestScansKeepADistanceThatGrowsWithTheStore(t *testing.T) {
	for n, want := range map[int64]time.Duration{0: 10 * time.Second, 100_000: 100 * time.Second, 10_000_000: 15 * time.Minute} {
		if got := scanGap(n); got != want {
			t.Errorf("scanGap(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestTheCountSaysThatTheBrokersOwnTopicsAreTakenFromIt(t *testing.T) {
	e := good()
	if c := e.coverage(); c.KnownFrom != sysCount+", less the broker's own 50 $SYS topics" {
		t.Errorf("known from %q", c.KnownFrom)
	}
	if e.now.own = 0; e.coverage().KnownFrom != sysCount {
		t.Errorf("known from %q where there are none", e.coverage().KnownFrom)
	}
}

func TestAStaleCountIsNoTotalBelowWhatIsHere(t *testing.T) {
	e := good()
	e.held = 1008
	c := e.coverage()
	if c.Known != -1 || c.KnownFrom != "" || c.Seen != 1008 || len(c.Gaps) != 1 || !strings.Contains(c.Gaps[0].Text, "count of 1 000 is lower than the 1 008") {
		t.Errorf("seen %d of %d (%s), gaps %v", c.Seen, c.Known, c.KnownFrom, c.Gaps)
	}
}
