package broker

// What a scan may claim, from what it saw. Pure: evidence in, Coverage out; every sentence of it is written here.
// Nothing is ever called complete because it went quiet.

import (
	"fmt"
	"time"

	"retainscope/inventory"
)

const (
	// safeBytes is how much a broker was never seen to lose from, whatever the reader does: less than its send buffer.
	safeBytes = 4_000_000
	// safeCopies is the same in messages: fewer than any broker queues.
	safeCopies = 900
)

// evidence is what is known when a scan ends, or when a figure comes later.
type evidence struct {
	filters  []string
	grants   []inventory.Grant // answers to filters; extra ones are not among them
	extra    []inventory.Grant
	unseen   []inventory.Grant // filters that were refused to the live connection although they were granted here
	ended    string            // why the scan could not be brought to its end; one sentence, empty when it was
	fenced   bool              // a PINGRESP to a PINGREQ sent after SUBACK came
	pings    int64             // PINGREQ that were never answered although the connection stood
	quiet    time.Duration
	trickle  bool  // copies never stopped; the scan was ended anyway
	copies   int64 // retained copies of the first pass
	wire     int64 // bytes of the first pass
	allWire  int64 // bytes of every pass
	stalls   int64 // how often our own read-ahead was full
	stalled  time.Duration
	discards int64
	held     int64 // retained topics held now, names that begin with $ left out unless they were filtered for
	before   sysValues
	now      sysValues
	ticked   bool          // now holds a tick of the broker that is younger than the last copy
	waited   time.Duration // how long a tick was waited for in vain
	slices   sliceResult
	after    sysValues // the figures when the scan ended, to tell later drops from those of the scan
	// recovered and unsure are topics held before that the scan did not bring: what an exact filter still brought, and
	// what could not be told.
	recovered, unsure int64
	// wildcards is what was learned when nothing came: 0 nothing, 1 exact filters do bring copies, 2 they do not either.
	wildcards int
}

// whole reports whether the filters stand for the whole store, so that the broker's count can be compared.
func (e *evidence) whole() bool {
	for _, g := range e.grants {
		if (g.Filter == "#" || g.Filter == "+/#") && !g.Refused() {
			return true
		}
	}
	return false
}

func (e *evidence) refused() (refused []inventory.Grant) {
	for _, g := range e.grants {
		if g.Refused() {
			refused = append(refused, g)
		}
	}
	return refused
}

// known returns the broker's count of what we should hold, -1 when there is none to compare with.
func (e *evidence) known() int64 {
	if !e.whole() {
		return -1
	}
	return e.now.known()
}

// small reports whether less came than any broker was seen to lose from.
func (e *evidence) small() bool { return e.wire < safeBytes || e.copies <= safeCopies }

// agrees reports whether the broker's own count is exactly what we hold.
func (e *evidence) agrees() bool { k := e.known(); return k >= 0 && k == e.held }

// nothingDropped reports whether the broker itself says that it dropped nothing since before the scan.
func (e *evidence) nothingDropped() bool {
	_, moved := e.now.dropsSince(e.before)
	return e.ticked && e.now.countsDrops() && !moved
}

// suspicious reports whether anything points at a loss that a younger figure of the broker could confirm or settle.
func (e *evidence) suspicious() bool {
	_, moved := e.now.dropsSince(e.before)
	return moved || e.pings > 0 || e.stalls > 0 || e.discards > 0 || e.known() > e.held
}

// needsTick reports whether waiting for the broker's next figures can change the claim.
func (e *evidence) needsTick() bool {
	if e.ticked || e.ended != "" || e.agrees() || len(e.refused()) == len(e.grants) {
		return false
	}
	// A count that disagrees is either old, or of topics that are not here: only the next one tells.
	return !e.small() || e.suspicious() || (e.whole() && e.now.count >= 0)
}

// claim returns what may be said, and the sentence that says by which rule.
func (e *evidence) claim() (inventory.Claim, string) {
	refused := e.refused()
	rule := e.endRule()
	dropped, moved := e.now.dropsSince(e.before)
	switch {
	case len(e.grants) > 0 && len(refused) == len(e.grants):
		return inventory.Incomplete, "The broker refused every filter: " + refusal(refused[0]) + "."
	case e.ended != "":
		return inventory.Incomplete, "The scan did not come to its end: " + e.ended + "."
	case len(refused) > 0:
		return inventory.Incomplete, rule + ", but the broker refused a filter: " + refusal(refused[0]) + "."
	case e.agrees() && e.held == 0:
		return inventory.Verified, rule + "; the broker's own count says that it holds no retained topic."
	case e.agrees() && e.slices.found > 0:
		return inventory.Verified, fmt.Sprintf("%s, and then %s, which brought %d topics that had been dropped; the broker's own count agrees (%d).",
			rule, e.slices.what(), e.slices.found, e.held)
	case e.agrees():
		return inventory.Verified, fmt.Sprintf("%s; the broker's own count agrees (%d).", rule, e.held)
	case e.copies == 0 && e.slices.found == 0 && e.wildcards == 1:
		return inventory.Incomplete, e.emptyRule(rule)
	case e.copies == 0 && e.slices.found == 0:
		return inventory.Unverified, e.emptyRule(rule)
	case e.discards > 0:
		return inventory.Incomplete, rule + ", but this program had to drop publications."
	case e.nothingDropped():
		return inventory.Verified, rule + "; the broker's dropped counter did not move over a full $SYS interval, so all that is visible to this login came."
	case moved && dropped > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but the broker's dropped counter rose by %d: some client lost messages.", rule, dropped)
	case moved:
		return inventory.Incomplete, rule + ", but the broker's dropped counter rose: some client lost messages."
	case e.slices.found > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but %s brought %d topics more.", rule, e.slices.what(), e.slices.found)
	case e.recovered > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but exact filters brought %d topics that the scan did not.", rule, e.recovered)
	case e.pings > 0:
		return inventory.Incomplete, rule + ", but the broker left a ping unanswered: that happens when it drops packets."
	case !e.fenced:
		return inventory.Incomplete, rule + ", and that is no end that can be trusted."
	case e.ticked && e.known() > e.held:
		return inventory.Incomplete, fmt.Sprintf("%s, but the broker counts %d topics and %d are here.", rule, e.known(), e.held)
	case e.known() > e.held:
		return inventory.Unverified, fmt.Sprintf("%s; the broker's count of %d is older than the scan and did not change within %s.", rule, e.known(), roundTime(e.waited))
	case e.trickle:
		return inventory.Unverified, rule + "."
	case e.stalls > 0:
		return inventory.Unverified, rule + "; this machine could not read as fast as the broker sent, and the broker tells this login no figure to check against."
	case e.small() && e.whole() && e.known() < 0:
		return inventory.NoSignOfLoss, rule + "; less came than any broker was seen to lose from. The broker told no count to compare with, so what it hides from this login cannot be told."
	case e.small():
		return inventory.NoSignOfLoss, rule + "; less came than any broker was seen to lose from."
	default:
		return inventory.Unverified, fmt.Sprintf("%s; %s came, from %s on a broker may drop in silence, and it tells this login no figure to check against.",
			rule, bytesText(e.wire), bytesText(safeBytes))
	}
}

// endRule says how the end of the burst was found.
func (e *evidence) endRule() string {
	switch {
	case !e.fenced:
		return fmt.Sprintf("No PINGRESP came; nothing came for %s", roundTime(e.quiet))
	case e.trickle:
		return "PINGRESP after SUBACK, but single retained copies kept coming and were waited for no longer"
	default:
		return fmt.Sprintf("PINGRESP after SUBACK, then %s without a retained copy", roundTime(e.quiet))
	}
}

func (e *evidence) emptyRule(rule string) string {
	switch e.wildcards {
	case 1:
		return rule + "; this broker replays retained messages to exact filters only, not to wildcards."
	case 2:
		return rule + "; nothing was replayed, and an exact filter for a topic published with RETAIN brought nothing either: this login may not be allowed to read, or the broker keeps nothing."
	default:
		return rule + "; nothing was replayed. The broker may hold no retained topic, this login may not be allowed to read any, or the broker does not replay on wildcards."
	}
}

// coverage returns the whole statement.
func (e *evidence) coverage() inventory.Coverage {
	c := inventory.Coverage{
		Seen: e.held, Known: e.known(), Dropped: -1, WireBytes: e.allWire, Discarded: e.discards, Slices: e.slices.asked,
		Grants: append(append([]inventory.Grant(nil), e.grants...), e.extra...),
	}
	c.Claim, c.Rule = e.claim()
	if c.Known >= 0 {
		c.KnownFrom = e.now.countFrom
	}
	if n, moved := e.now.dropsSince(e.before); n >= 0 && (e.ticked || moved) {
		c.Dropped = n
	}
	c.Gaps = e.gaps(c.Claim)
	c.Remedies = e.remedies(c.Claim)
	return c
}

// gaps explains every difference and every possible one.
func (e *evidence) gaps(claim inventory.Claim) (gaps []inventory.Gap) {
	add := func(n int64, format string, args ...any) {
		gaps = append(gaps, inventory.Gap{Count: n, Text: fmt.Sprintf(format, args...)})
	}
	for _, g := range e.refused() {
		add(-1, "Refused: %s.", refusal(g))
	}
	for _, g := range e.unseen {
		add(-1, "Changes are not seen live: %s.", refusal(g))
	}
	if claim == inventory.Verified && e.agrees() {
		return gaps // whatever was lost on the way is here now
	}
	if n := e.known() - e.held; e.known() >= 0 && n > 0 {
		others := "hidden from this login by permissions, expired and not yet collected by the broker, or under names that begin with $"
		switch {
		case e.nothingDropped():
			add(n, "The broker counts %d more than it sent, and it dropped nothing: they are %s.", n, others)
		case claim == inventory.Incomplete:
			add(n, "The broker counts %d more than came: dropped by its queue for this client, %s. Which of them is unexplained.", n, others)
		default:
			add(n, "The broker's count, older than the scan, is %d higher: %s, or cleared since; if none of these, unexplained.", n, others)
		}
	}
	switch n, moved := e.now.dropsSince(e.before); {
	case moved && n > 0:
		add(n, "The broker dropped %d messages for some client since the scan began; it does not say for which.", n)
	case moved:
		add(-1, "The broker dropped messages for some client since the scan began; it does not say how many or for which.")
	}
	if e.pings > 0 {
		add(-1, "The broker left %d of our pings unanswered: its queue for this client was full.", e.pings)
	}
	if e.stalls > 0 {
		add(-1, "Our own read-ahead was full %d times, %s in all: what the broker could not send meanwhile it may have dropped.", e.stalls, roundTime(e.stalled))
	}
	if e.discards > 0 {
		add(e.discards, "This program dropped %d publications itself.", e.discards)
	}
	if e.recovered > 0 {
		add(e.recovered, "The scan did not bring %d topics that were held before and that exact filters still brought: it lost some.", e.recovered)
	}
	if e.unsure > 0 {
		add(e.unsure, "Of %d topics held before and not brought by the scan the broker could not be asked; they are kept and marked.", e.unsure)
	}
	gaps = append(gaps, e.slices.gaps(claim)...)
	if claim == inventory.Incomplete && len(gaps) == 0 {
		add(-1, "How much is missing is not known.")
	}
	return gaps
}

// remedies says what a person can do about a list that is not complete.
func (e *evidence) remedies(claim inventory.Claim) (out []string) {
	if claim != inventory.Incomplete && claim != inventory.Unverified {
		return nil
	}
	if len(e.refused()) > 0 {
		return []string{"Name the filters that this login may read, each with --filter, or use a login that may read more."}
	}
	if e.ended != "" {
		return []string{"Scan again."}
	}
	if e.copies == 0 && e.slices.found == 0 {
		return []string{
			"Name a topic that should be there with --filter: an exact name tells whether this login may read it.",
			"Use a login that may read more.",
		}
	}
	_, moved := e.now.dropsSince(e.before)
	if moved || e.pings > 0 || !e.small() || e.stalls > 0 || e.slices.found > 0 {
		out = append(out,
			"Ask for less at a time with --filter: below about 4 MB or 900 topics a broker was never seen to lose any.",
			"Set max_queued_messages 0 in mosquitto.conf: then nothing is dropped, and a slow reader costs the broker memory instead.",
			"On the broker's host the file mosquitto.db holds the whole store (where persistence is on).")
	}
	if e.known() > e.held {
		out = append(out, "Use a login that may read everything, to see whether permissions explain the difference.")
	}
	if e.known() < 0 && e.whole() {
		out = append(out, "Let this login read $SYS/#: then the broker's own count is compared.")
	}
	return out
}

// refusal names a refused filter and its code.
func refusal(g inventory.Grant) string {
	return fmt.Sprintf("\"%s\": %s", plain(g.Filter), reasonText(g.Code))
}

func bytesText(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
}

// roundTime returns d in a form for a sentence: "2s", "1m30s", "250ms".
func roundTime(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}
