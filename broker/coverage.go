package broker

// What a scan may claim, from what it saw. Pure: evidence in, Coverage out; every sentence of it is written here.
// Nothing is ever called complete because it went quiet.

import (
	"fmt"
	"strconv"
	"time"

	"retainscope/inventory"
)

const (
	// safeBytes is how much a broker was never seen to lose from, whatever the reader does: less than its send buffer.
	safeBytes = 4_000_000
	// safeUnix is the same over a unix socket, whose buffer does not grow: less than half of what Linux gives it.
	safeUnix = 100_000
	// safeCopies is the same in messages: fewer than any broker queues.
	safeCopies = 900
)

// evidence is what is known when a scan ends, or when a figure comes later.
type evidence struct {
	unix     bool // over a unix socket
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
	counted  time.Time // when held was counted; zero = at the end of the scan
	held     int64     // retained topics held now, names that begin with $ left out unless they were filtered for
	expired  int64     // topics that expired here, and are not held any more, since the figures in now came
	before   sysValues
	now      sysValues
	ticked   bool          // now holds a tick of the broker that is younger than the last copy
	waited   time.Duration // how long a tick was waited for in vain
	mute     bool          // a PINGREQ sent while it was waited for was never answered
	slices   sliceResult
	after    sysValues // the figures when the scan ended, to tell later drops from those of the scan
	// recovered and unsure are topics held before that the scan did not bring: what an exact filter still brought, and
	// what could not be told.
	recovered, unsure int64
	since             sinceScan // what was learned after it had ended
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

// known returns the broker's count of what we should hold, -1 when there is none to compare with. What expired here
// since the count came is not in what we should hold; nothing else explains a difference.
func (e *evidence) known() int64 {
	if !e.whole() {
		return -1
	}
	if k := e.now.known(); k <= e.held {
		return k
	}
	return max(e.now.known()-e.expired, e.held)
}

// let returns how many topics known leaves out because they expired since.
func (e *evidence) let() int64 { return max(e.now.known()-e.known(), 0) }

// safeSize returns how much the broker of c was never seen to lose from.
func (c Config) safeSize() int64 {
	if a, _ := parseAddress(c.URL); a.network == "unix" {
		return safeUnix
	}
	return safeBytes
}

// safe returns how many bytes a broker was never seen to lose from, on the road that was taken.
func (e *evidence) safe() int64 {
	if e.unix {
		return safeUnix
	}
	return safeBytes
}

// small reports whether less came than any broker was seen to lose from.
func (e *evidence) small() bool { return e.wire < e.safe() || e.copies <= safeCopies }

// agrees reports whether the broker's own count is exactly what this scan brought. What was held before and could not be
// asked for proves nothing: as many others may be missing. Nor does a count that more expired since than it is higher.
func (e *evidence) agrees() bool {
	k := e.known()
	return k >= 0 && k == e.held && e.unsure == 0 && (e.let() == 0 || e.let() == e.expired)
}

// usable returns the broker's count where it can be shown beside what is held, else -1: one that is lower still holds
// too many of the broker's own topics back.
func (e *evidence) usable() int64 {
	if k := e.known(); k >= e.held {
		return k
	}
	return -1
}

// nothingDropped reports whether the broker itself says that it dropped nothing since before the scan.
func (e *evidence) nothingDropped() bool {
	_, moved := e.now.dropsSince(e.before)
	return e.ticked && e.now.countsDrops() && !moved
}

// othersLoss reports whether a loss that the broker tells of is hardly one of this scan: too little came for that, every
// ping was answered, and the count, where there is one, is not higher than what is here.
func (e *evidence) othersLoss() bool {
	return e.small() && e.fenced && e.pings == 0 && e.stalls == 0 && e.recovered == 0 && e.known() <= e.held
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
	// So does one that is not there: mosquitto 2.0 lets it expire a minute after its last change, and tells it anew when
	// it changes; until then the dropped counter is what a claim can rest on.
	return !e.small() || e.suspicious() || (e.whole() && (e.now.count >= 0 || e.now.mayCountDrops()))
}

// noCount says why there is no count of the broker to compare with.
func (e *evidence) noCount() string {
	switch {
	case e.now.count >= 0 && e.now.own >= 0:
		return fmt.Sprintf("Its count of %s is lower than the number of its own $SYS topics that it sent (%s), so the two are not of one instant", grouped(e.now.count), grouped(e.now.own))
	case e.now.count >= 0:
		return "This login may not read all of $SYS, so the broker's own topics cannot be taken from its count"
	case e.now.version == "" && e.now.live == 0:
		return "The broker tells this login nothing under $SYS, no count either"
	case e.now.countsDrops():
		return "Its count of retained messages was not told: mosquitto 2.0 lets it expire a minute after its last change"
	default:
		return "The broker told no count under $SYS to compare with"
	}
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
		return inventory.Verified, fmt.Sprintf("%s, and then %s, which brought %s topics that had been dropped; the broker's own count agrees (%s).",
			rule, e.slices.what(), grouped(e.slices.found), grouped(e.held))
	case e.agrees():
		return inventory.Verified, fmt.Sprintf("%s; the broker's own count agrees (%s).", rule, grouped(e.held))
	case e.copies == 0 && e.slices.found == 0 && e.wildcards == 1:
		return inventory.Incomplete, e.emptyRule(rule)
	case e.copies == 0 && e.slices.found == 0:
		return inventory.Unverified, e.emptyRule(rule)
	case e.discards > 0:
		return inventory.Incomplete, rule + ", but this program had to drop publications."
	case moved && e.othersLoss():
		return inventory.Unverified, rule + "; less came than any broker was seen to lose from, but its dropped counter rose: some client lost messages, and the broker does not say which."
	case moved && dropped > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but %sthe broker's dropped counter rose by %s: some client lost messages.", rule, e.cause(), grouped(dropped))
	case moved:
		return inventory.Incomplete, fmt.Sprintf("%s, but %sthe broker's dropped counter rose: some client lost messages.", rule, e.cause())
	case e.slices.found > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but %s brought %s topics more.", rule, e.slices.what(), grouped(e.slices.found))
	case e.recovered > 0:
		return inventory.Incomplete, fmt.Sprintf("%s, but exact filters brought %s topics that the scan did not.", rule, grouped(e.recovered))
	case e.pings > 0:
		return inventory.Incomplete, rule + ", but the broker left a ping unanswered: that happens when it drops packets."
	case !e.fenced:
		return inventory.Incomplete, rule + ", and that is no end that can be trusted."
	case e.mute && e.known() <= e.held:
		return inventory.Unverified, fmt.Sprintf("%s; then the broker answered nothing for %s, not even a ping.", rule, roundTime(e.waited))
	case e.unsure > 0 && e.known() <= e.held:
		return inventory.Unverified, e.unsureRule(rule)
	case e.nothingDropped():
		return inventory.Verified, e.visibleRule(rule)
	case e.ticked && e.known() > e.held:
		return inventory.Incomplete, fmt.Sprintf("%s, but the broker counts %s topics and %s are here.", rule, grouped(e.known()), grouped(e.held))
	case e.known() > e.held:
		return inventory.Unverified, fmt.Sprintf("%s; the broker's count of %s is older than the scan and did not change within %s.", rule, grouped(e.known()), roundTime(e.waited))
	case e.trickle:
		return inventory.Unverified, rule + "."
	case e.stalls > 0:
		return inventory.Unverified, rule + "; this machine could not read as fast as the broker sent, and the broker tells this login no figure to check against."
	case e.small() && e.whole() && e.known() < 0:
		return inventory.NoSignOfLoss, rule + "; less came than any broker was seen to lose from. " + e.noCount() + ", so what it hides from this login cannot be told."
	case e.small():
		return inventory.NoSignOfLoss, rule + "; less came than any broker was seen to lose from."
	default:
		return inventory.Unverified, fmt.Sprintf("%s; %s came, from %s on a broker may drop in silence, and it tells this login no figure to check against.",
			rule, bytesText(e.wire), bytesText(e.safe()))
	}
}

// cause says that it was we who stood still, where that is so.
func (e *evidence) cause() string {
	if e.stalls == 0 {
		return ""
	}
	return fmt.Sprintf("our own read-ahead was full %s, and ", times(e.stalls))
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

// unseenRule is what is said while topics are asked for that the scan did not bring.
func (e *evidence) unseenRule(n int) string {
	return fmt.Sprintf("%s; the scan brought %s copies, and %s topics held before did not come: the broker is asked for each of them.", e.endRule(), grouped(e.copies), grouped(n))
}

// visibleRule is that of a scan that nothing was lost from, whatever the broker counts: for whom that holds comes first.
func (e *evidence) visibleRule(rule string) string {
	const came = "the broker's dropped counter did not move over a full $SYS interval, so all that is visible to this login came."
	switch n := e.known() - e.held; {
	case e.known() >= 0 && n > 0:
		return fmt.Sprintf("For this login; the broker counts %s more than it was shown. %s; %s", grouped(n), rule, came)
	case e.known() < 0 && e.whole():
		return rule + "; " + came + " " + e.noCount() + "."
	default:
		return rule + "; " + came
	}
}

// unsureRule is that of a list with topics in it that the scan did not bring and that could not be asked for.
func (e *evidence) unsureRule(rule string) string {
	text := fmt.Sprintf("%s; %s topics held before did not come, and the broker could not be asked for them", rule, grouped(e.unsure))
	if e.known() < 0 {
		return text + "."
	}
	return fmt.Sprintf("%s, so its count of %s proves nothing.", text, grouped(e.known()))
}

func (e *evidence) emptyRule(rule string) string {
	switch e.wildcards {
	case 1:
		return rule + "; this broker replays retained messages to exact filters only, not to wildcards."
	case 2:
		return rule + "; nothing was replayed, and an exact filter for a topic published with RETAIN brought nothing either: this login may not be allowed to read, or the broker keeps nothing."
	}
	switch n := e.known(); {
	case n > e.held:
		return fmt.Sprintf("%s; nothing was replayed, yet the broker counts %s: this login may not be allowed to read them, they expired and were not collected yet, or the broker does not replay on wildcards.", rule, grouped(n))
	case !e.whole():
		return rule + "; nothing was replayed. The broker may hold no retained topic under these filters, or this login may not be allowed to read any of them."
	default:
		return rule + "; nothing was replayed. The broker may hold no retained topic, this login may not be allowed to read any, or the broker does not replay on wildcards. " + e.noCount() + "."
	}
}

// coverage returns the whole statement.
func (e *evidence) coverage() inventory.Coverage {
	c := inventory.Coverage{
		Seen: e.held, Known: e.usable(), Dropped: -1, WireBytes: e.allWire, Discarded: e.discards, Slices: e.slices.asked,
		Grants: append(append([]inventory.Grant(nil), e.grants...), e.extra...), CountedAt: e.counted,
	}
	c.Claim, c.Rule = e.claim()
	if c.Known < c.Seen {
		c.Known = -1 // an old count, or of a broker that let go of what expired: no total that a list can be a part of
	}
	if c.Known >= 0 {
		c.KnownFrom = e.now.countFrom
		if e.now.own > 0 {
			c.KnownFrom = fmt.Sprintf("%s, less the broker's own %s $SYS topics", c.KnownFrom, grouped(e.now.own))
		}
		if n := e.let(); n > 0 {
			c.KnownFrom = fmt.Sprintf("%s, less %s that expired since", c.KnownFrom, grouped(n))
		}
	}
	if n, moved := e.now.dropsSince(e.before); n >= 0 && (e.ticked || moved) {
		c.Dropped = n
	}
	c.Gaps = e.gaps(c.Claim)
	c.Remedies = e.remedies(c.Claim)
	e.doubt(&c)
	return c
}

// grouped writes a count as every other room does: 200 000.
func grouped[N int | int64 | uint64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
